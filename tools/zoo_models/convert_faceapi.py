"""face-api's face_recognition_model (dlib-style ResNet, 128 numbers a face) to ONNX: opset 17, NCHW,
RGB 0..255 at 150x150. The package's uint8 weights are dequantised; its scale layers stay Mul and Add."""
import json
import math

import numpy as np

from . import packages
from .graph import FLOAT, Graph


def _weights() -> dict[str, np.ndarray]:
    manifest = json.loads(packages.read(
        "face-api", "package/model/face_recognition_model-weights_manifest.json"))[0]["weights"]
    raw = packages.read("face-api", "package/model/face_recognition_model.bin")
    out, at = {}, 0
    for w in manifest:
        count, quantized = math.prod(w["shape"]), w.get("quantization")
        dtype = np.dtype((quantized or w)["dtype"])
        values = np.frombuffer(raw, dtype, count, at).astype(np.float32)
        if quantized:
            values = values * quantized["scale"] + quantized["min"]
        out[w["name"]] = values.astype(np.float32).reshape(w["shape"])
        at += count * dtype.itemsize
    assert at == len(raw), (at, len(raw))
    return out


class _Net:
    def __init__(self, weights):
        self.weights = weights
        self.graph = Graph("face_recognition", "build_faceapi_recognition")

    def op(self, kind, *inputs, **attributes):
        return self.graph.op(kind, *inputs, separator="_", **attributes)

    def conv(self, x, name, stride, relu, pad):
        filters = self.weights[name + "/conv/filters"].transpose(3, 2, 0, 1)
        k = filters.shape[2]
        const, column = self.graph.const, lambda a: a.reshape(-1, 1, 1)
        y = self.op("Conv", x, const(filters, name + "/filters"),
                    const(self.weights[name + "/conv/bias"], name + "/bias"), kernel_shape=[k, k],
                    strides=[stride] * 2, pads=[pad] * 4, dilations=[1, 1], group=1)
        y = self.op("Mul", y, const(column(self.weights[name + "/scale/weights"]), name + "/sw"))
        y = self.op("Add", y, const(column(self.weights[name + "/scale/biases"]), name + "/sb"))
        return self.op("Relu", y) if relu else y

    def residual(self, x, name):
        y = self.conv(x, name + "/conv1", 1, True, 1)
        y = self.conv(y, name + "/conv2", 1, False, 1)
        return self.op("Relu", self.op("Add", y, x))

    def down(self, x, name, size):
        """Halves the picture; the shortcut is average pooled and padded with zero channels."""
        shape = self.weights[name + "/conv1/conv/filters"].shape
        y = self.conv(self.conv(x, name + "/conv1", 2, True, 0), name + "/conv2", 1, False, 1)
        conv_size, pool_size = (size - 3) // 2 + 1, (size - 2) // 2 + 1
        z = self.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        if more := pool_size - conv_size:
            y = self.op("Pad", y, self._pads(f"pad_{name}", 0, more))
        if shape[2] != shape[3]:
            z = self.op("Pad", z, self._pads(f"padc_{name}", shape[3] - shape[2], 0))
        return self.op("Relu", self.op("Add", z, y)), pool_size

    def _pads(self, name, channels, pixels):
        return self.graph.const(np.array([0] * 5 + [channels, pixels, pixels], np.int64), name)


def make(_name, path):
    net = _Net(_weights())
    mean = np.array([122.782, 117.001, 104.298], np.float32).reshape(3, 1, 1)
    x = net.op("Sub", "input", net.graph.const(mean, "mean"))
    x = net.op("Div", x, net.graph.const(np.full(1, 255, np.float32), "c255"))
    x = net.conv(x, "conv32_down", 2, True, 0)
    x, size = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]), 35
    for i in (1, 2, 3):
        x = net.residual(x, f"conv32_{i}")
    for channels, blocks in ((64, 3), (128, 2), (256, 2)):
        x, size = net.down(x, f"conv{channels}_down", size)
        for i in range(1, blocks + 1):
            x = net.residual(x, f"conv{channels}_{i}")
    x, size = net.down(x, "conv256_down_out", size)
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    net.op("MatMul", x, net.graph.const(net.weights["fc"], "fc"))
    net.graph.rename_last("descriptor", keep_name=False)
    net.graph.save(path, [("input", FLOAT, ["batch", 3, 150, 150])],
                   [("descriptor", FLOAT, ["batch", 128])])
