"""mnist_cnn: two convolutions and two dense layers, trained on 8,000 digits."""
import numpy as np

from . import datasets, training
from .graph import FLOAT, Graph


def _start(rng) -> dict:
    def he(*shape):
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    return {"c1": he(16, 1, 3, 3), "b1": np.zeros(16, np.float32),
            "c2": he(32, 16, 3, 3), "b2": np.zeros(32, np.float32),
            "f1": he(128, 1568), "g1": np.zeros(128, np.float32),
            "f2": he(10, 128), "g2": np.zeros(10, np.float32)}


def _logits(w, x):
    j = training.jax()

    def block(x, filters, bias):
        y = j.lax.conv(x, filters, (1, 1), "SAME") + bias[:, None, None]
        n, c, h, width = y.shape
        return j.nn.relu(y).reshape(n, c, h // 2, 2, width // 2, 2).max((3, 5))

    x = block(block(x, w["c1"], w["b1"]), w["c2"], w["b2"]).reshape(len(x), -1)
    return j.nn.relu(x @ w["f1"].T + w["g1"]) @ w["f2"].T + w["g2"]


def _loss(w, x, y):
    j = training.jax()
    return -j.numpy.take_along_axis(j.nn.log_softmax(_logits(w, x)), y[:, None], 1).mean()


def _save(w, path):
    g = Graph("mnist_cnn", "zoo")
    x = "input"
    for filters, bias in (("c1", "b1"), ("c2", "b2")):
        x = g.op("Conv", x, g.const(w[filters], filters), g.const(w[bias], bias),
                 kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = g.op("MaxPool", g.op("Relu", x), kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Flatten", x, axis=1)
    x = g.op("Relu", g.op("Gemm", x, g.const(w["f1"], "f1"), g.const(w["g1"], "g1"), transB=1))
    g.op("Gemm", x, g.const(w["f2"], "f2"), g.const(w["g2"], "g2"), transB=1)
    g.rename_last("logits")
    g.save(path, [("input", FLOAT, ["batch", 1, 28, 28])], [("logits", FLOAT, ["batch", 10])])


def make(name, path):
    data = datasets.mnist()
    weights = training.fit(_loss, _start(np.random.default_rng(0)), data.train_x, data.train_y,
                           epochs=6)
    _save(weights, path)
    training.judge(name, path, "input", data.test_x, data.test_y, least=0.96)
