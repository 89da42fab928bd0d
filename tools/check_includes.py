#!/usr/bin/env python3
"""Checks who includes whom: the right-hand column of the table of rooms in docs/ARCHITECTURE.md.

usage: tools/check_includes.py        exit code 1 and one line a wrong include
"""
import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"

ENGINE = ["ir", "onnx", "ops", "passes", "kernels", "plan", "exec", "adapters"]
ROOMS = {
    "base": [],
    "engine/ir": ["base"],
    "engine/kernels": [],
    "engine/ops": ["base", "engine/ir", "engine/kernels"],
    "engine/onnx": ["base", "engine/ir", "engine/ops"],
    "engine/passes": ["base", "engine/ir", "engine/ops"],
    "engine/plan": ["base", "engine/ir", "engine/ops", "engine/kernels"],
    "engine/exec": ["base", "engine/ir", "engine/ops", "engine/kernels", "engine/passes", "engine/plan"],
    "engine/adapters": ["base"] + [f"engine/{r}" for r in ENGINE],
    "measure": ["base", "engine"],
    "improve": ["base", "engine", "measure"],
    "pipeline": ["base", "engine", "measure"],
    "protocol": ["base"],
    "serve": ["base", "engine", "measure", "pipeline", "protocol"],
    "load": ["base", "measure", "protocol"],
    "report": ["base", "measure"],
    "cli": ["base", "engine", "measure", "improve", "pipeline", "protocol", "serve", "load", "report"],
}
# Tier files see nothing of ours but the kernels; selecting a tier needs to know the tiers.
EXTRA = {"engine/kernels/select.h": ["base"], "engine/kernels/select.cpp": ["base"]}


def room(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "engine" and len(parts) > 2 else parts[0]


def allowed(target, rooms):
    return any(target == r or target.startswith(r + "/") for r in rooms)


def main():
    wrong = 0
    for file in sorted(SRC.rglob("*")):
        if file.suffix not in (".h", ".cpp", ".inc"):
            continue
        name = file.relative_to(SRC).as_posix()
        mine = room(name)
        if mine not in ROOMS:
            print(f"src/{name}: room '{mine}' is not in the table of tools/check_includes.py")
            wrong += 1
            continue
        rooms = ROOMS[mine] + [mine] + EXTRA.get(name, [])
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match or "/" not in match[1]:
                continue
            if not (SRC / match[1]).exists():
                continue
            if not allowed(room(match[1]), rooms):
                print(f"src/{name}:{number}: {mine} may not include {match[1]}")
                wrong += 1
    if wrong == 0:
        print("includes: as the architecture says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
