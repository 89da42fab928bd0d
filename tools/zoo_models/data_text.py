"""Inputs of the models that read: real sentences, each model's own tokenizer."""
import functools

import numpy as np

from . import datasets, ort, packages
from .data import SAMPLES

LENGTH = 64  # tokens a sentence is padded to, with the mask that says so
BERT_LENGTH = 128


@functools.lru_cache(None)
def _tokenizer(package: str, file: str):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_str(packages.read(package, file).decode())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


MINILM = ("minilm", "all-minilm-l6-v2-tokenizer.json")
E5 = ("e5-small-q", "e5-small-v2-q-tokenizer.json")
T5 = ("traceforge", "*/span/tokenizer.json")


def _sentences():
    """Every 20th snippet, so that short and long, kind and unkind ones are among them."""
    texts, _ = datasets.movie_snippets()
    return texts[::20][:SAMPLES]


def _encode(texts, tokenizer, length):
    """ids and mask, int64 [n, length]; a text that is too long keeps its closing token."""
    ids = np.zeros((len(texts), length), np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        tokens = _tokenizer(*tokenizer).encode(text).ids
        if len(tokens) > length:
            tokens = tokens[:length - 1] + tokens[-1:]
        ids[row, :len(tokens)] = tokens
        mask[row, :len(tokens)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def _bert(texts, tokenizer=MINILM, length=LENGTH):
    encoded = _encode(texts, tokenizer, length)
    return encoded | {"token_type_ids": np.zeros_like(encoded["input_ids"])}


def _long():
    """Several snippets one after the other: the whole length is used."""
    texts, _ = datasets.movie_snippets()
    return [" ".join(texts[i * 12:i * 12 + 12]) for i in range(SAMPLES)]


def _t5_encoder():
    return _encode(["summarize: " + t for t in _sentences()], T5, LENGTH)


def _t5_decoder():
    """The encoder's real states, and the first eight tokens of the text as what was said so far."""
    encoded, session = _t5_encoder(), ort.session("flan_t5_small_encoder_int8")
    states = [session.run(None, {k: v[i:i + 1] for k, v in encoded.items()})[0]
              for i in range(len(encoded["input_ids"]))]
    said = np.concatenate([np.zeros((SAMPLES, 1), np.int64), encoded["input_ids"][:, 4:11]], 1)
    return {"input_ids": said, "encoder_hidden_states": np.concatenate(states),
            "encoder_attention_mask": encoded["attention_mask"]}


def _sentiment():
    split, _ = datasets.sentiment()
    return {"tokens": split.test_x, "label": split.test_y}


def arrays(name):
    match name:
        case "minilm_l6" | "bert_base":
            return _bert(_long(), length=BERT_LENGTH)
        case "e5_small_v2_int8":
            return _bert(["query: " + t for t in _sentences()], E5)
        case "paraphrase_minilm_l3_v2":
            return _encode(_sentences(), MINILM, LENGTH)
        case "flan_t5_small_encoder_int8":
            return _t5_encoder()
        case "flan_t5_small_decoder_int8":
            return _t5_decoder()
        case "sentiment_lstm":
            return _sentiment()
    return _bert(_sentences())  # the other MiniLMs
