"""Reads a state_dict in torch.save's old (non-zip) format without torch."""
import collections
import pickle
import struct
from typing import BinaryIO, NamedTuple

import numpy as np

STORAGE = {"FloatStorage": np.float32, "LongStorage": np.int64, "HalfStorage": np.float16,
           "IntStorage": np.int32}


class Tensor(NamedTuple):
    storage: tuple  # ("storage", kind, key, location, length)
    offset: int
    size: tuple
    stride: tuple


class _Reader(pickle.Unpickler):
    """Knows the four names that a state_dict holds and refuses every other."""

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, *_: Tensor(storage, offset, size, stride)
        if module in ("torch", "torch.storage") and name in STORAGE:
            return name
        raise pickle.UnpicklingError(f"{module}.{name} does not belong into a state_dict")

    def persistent_load(self, saved_id):
        return saved_id


def load(f: BinaryIO) -> dict[str, np.ndarray]:
    for _ in range(3):  # magic number, protocol version, system facts
        _Reader(f).load()
    tensors = {k: t for k, t in _Reader(f).load().items() if isinstance(t, Tensor)}
    kinds = {t.storage[2]: t.storage[1] for t in tensors.values()}
    storages = {}
    for key in _Reader(f).load():
        (length,) = struct.unpack("<q", f.read(8))
        dtype = np.dtype(STORAGE[kinds[key]])
        storages[key] = np.frombuffer(f.read(length * dtype.itemsize), dtype)
    arrays = {}
    for name, t in tensors.items():
        values = storages[t.storage[2]]
        strides = [s * values.itemsize for s in t.stride]
        view = np.lib.stride_tricks.as_strided(values[t.offset:], t.size, strides)
        arrays[name] = view.copy()
    return arrays
