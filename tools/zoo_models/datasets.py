"""Labelled data sets out of packages, split once and for all."""
import collections
import functools
import io
import json
import re
import tarfile
from typing import NamedTuple

import numpy as np

from . import packages


class Split(NamedTuple):
    train_x: np.ndarray
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


def _split(x, y, test_count: int, seed: int = 0) -> Split:
    order = np.random.default_rng(seed).permutation(len(x))
    train, test = order[test_count:], order[:test_count]
    return Split(x[train], y[train], x[test], y[test])


@functools.lru_cache(None)
def mnist() -> Split:
    """10,000 digits as float32 [n, 1, 28, 28] in 0..1; 2,000 of them held out."""
    images, labels = [], []
    for digit in range(10):
        text = packages.read("mnist", f"package/src/digits/{digit}.json")
        pixels = np.asarray(json.loads(text)["data"], np.float32).reshape(-1, 1, 28, 28)
        images.append(pixels)
        labels.append(np.full(len(pixels), digit, np.int64))
    return _split(np.concatenate(images), np.concatenate(labels), 2000)


@functools.lru_cache(None)
def movie_snippets() -> tuple[list[str], np.ndarray]:
    """Snippets of film reviews, and whether people found them favourable (undecided ones left out)."""
    inner = tarfile.open(fileobj=io.BytesIO(packages.read("vader", "*/hutto_ICWSM_2014.tar.gz")))
    member = next(m for m in inner.getmembers()
                  if m.name.endswith("movieReviewSnippets_GroundTruth.txt"))
    text = inner.extractfile(member).read().decode("utf-8", "replace")
    rows = [line.split("\t", 2) for line in text.splitlines() if line.count("\t") >= 2]
    kept = [(snippet.strip(), float(rating) > 0) for _, rating, snippet in rows
            if abs(float(rating)) > 0.2]
    return [t for t, _ in kept], np.array([y for _, y in kept], np.int64)


WORD_COUNT = 32  # tokens a snippet is cut or padded to
PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z']+|[!?.]", text.lower())


@functools.lru_cache(None)
def sentiment() -> tuple[Split, int]:
    """Tokens int64 [n, 32], padded on the left, with labels 0 and 1; and the size of the vocabulary."""
    texts, labels = movie_snippets()
    split = _split(np.arange(len(texts)), labels, len(texts) // 5)
    counts = collections.Counter(w for i in split.train_x for w in _words(texts[i]))
    vocabulary = sorted(w for w, n in counts.items() if n >= 2)
    index = {w: i + FIRST_WORD for i, w in enumerate(vocabulary)}

    def tokens(rows):
        out = np.full((len(rows), WORD_COUNT), PADDING, np.int64)
        for row, i in zip(out, rows):
            ids = [index.get(w, UNKNOWN) for w in _words(texts[i])][:WORD_COUNT]
            row[WORD_COUNT - len(ids):] = ids
        return out

    whole = Split(tokens(split.train_x), split.train_y, tokens(split.test_x), split.test_y)
    return whole, len(vocabulary) + FIRST_WORD
