"""The command line of tools/zoo."""
import argparse
import sys
import time

from . import models
from .store import Failure, say


def _list() -> None:
    for m in models.table().values():
        here = "here" if models.is_there(m.name) else "-"
        source = "made here" if m.package == "made" else m.package
        print(f"{m.name:28} {here:5} {source:15} {m.licence:30} {m.what}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tools/zoo",
        description="Brings or makes models as $HASTEN_CACHE/models/NAME.onnx "
        "(~/.cache/hasten by default), all of them if none is named.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="show the names, change nothing")
    parser.add_argument("--data", action="store_true",
                        help="also write real inputs, $HASTEN_CACHE/data/NAME.npz, and what ONNX's "
                        "reference evaluator makes of them where a model is quantized")
    parser.add_argument("--check", action="store_true",
                        help="also run each model with ONNX Runtime on its data and judge the answers")
    args = parser.parse_args(arguments)
    if args.list:
        _list()
        return 0
    start = time.monotonic()
    names = args.names or list(models.table())
    for name in names:
        models.bring(name)
        if args.data or args.check:
            from . import data
            data.bring(name)
            from . import expected
            expected.bring(name)
        if args.check:
            from . import check
            check.run(name)
    say(f"{len(names)} model{'s' if len(names) != 1 else ''} ready in {models.MODELS} "
        f"({time.monotonic() - start:.1f} s)")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as e:
        print(f"zoo: error: {e}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
