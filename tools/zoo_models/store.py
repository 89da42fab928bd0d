"""The cache folder: where files are, how they are written whole or not at all, and their sums."""
import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

CACHE = Path(os.environ.get("HASTEN_CACHE") or Path.home() / ".cache" / "hasten")
MODELS = CACHE / "models"
DATA = CACHE / "data"


class Failure(Exception):
    """Something the user should read: one message, no traceback."""


def say(text: str) -> None:
    print(f"zoo: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def written_whole(path: Path):
    """Gives a path beside `path` to write to; it takes the place of `path` only when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


class Sums:
    """Checksums, remembered by size and time of change so that an unchanged file is read once."""

    _file = CACHE / "sums.json"
    _known: dict | None = None

    @classmethod
    def of(cls, path: Path) -> str | None:
        """The sha256 of a file, None if there is no such file."""
        try:
            stat = path.stat()
        except OSError:
            return None
        if cls._known is None:
            try:
                cls._known = json.loads(cls._file.read_text())
            except (OSError, ValueError):
                cls._known = {}
        key, mark = str(path), [stat.st_size, stat.st_mtime_ns]
        if cls._known.get(key, [None])[0] != mark:
            cls._known[key] = [mark, sha256(path)]
            with written_whole(cls._file) as out:
                out.write_text(json.dumps(cls._known, indent=0))
        return cls._known[key][1]

    @classmethod
    def check(cls, path: Path, want: str) -> bool:
        return cls.of(path) == want

    @staticmethod
    def require(path: Path, want: str, what: str) -> None:
        if (got := sha256(path)) != want:
            raise Failure(f"{what} has sha256 {got}, expected {want}; nothing was kept")
