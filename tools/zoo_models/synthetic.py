"""Standard architectures with seeded random weights: for latency, where no trained model is at hand."""
import numpy as np
from onnx import helper

from .graph import FLOAT, INT64, Graph


def _conv_norm(g, x, c_in, c_out, k, stride=1, group=1):
    y = g.op("Conv", x, g.weight(c_out, c_in // group, k, k), kernel_shape=[k, k],
             strides=[stride] * 2, pads=[k // 2] * 4, group=group)
    limits = ((0.8, 1.2), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2))  # scale, bias, mean, variance
    parts = [g.const(g.rng.uniform(lo, hi, c_out).astype(np.float32)) for lo, hi in limits]
    return g.op("BatchNormalization", y, *parts)


def _dense(g, x, n_in, n_out):
    """x[..., n_in] · W[n_in, n_out] + b, as exporters write it."""
    w = g.const((g.rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)).astype(np.float32))
    return g.op("Add", g.op("MatMul", x, w), g.const(np.zeros(n_out, np.float32)))


def _ints(g, *values):
    return g.const(np.array(values, np.int64))


def _classify(g, x, channels, path):
    """The head of an image classifier, and the end of the graph."""
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    g.op("Gemm", x, g.weight(1000, channels, gain=1.0), g.const(np.zeros(1000, np.float32)), transB=1)
    g.rename_last("logits")
    g.save(path, [("image", FLOAT, ["batch", 3, 224, 224])], [("logits", FLOAT, ["batch", 1000])])


def resnet50(path):
    g = Graph("resnet50", "zoo", seed=1)
    x = g.op("Relu", _conv_norm(g, "image", 3, 64, 7, 2))
    x, c_in = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
    for width, blocks, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = g.op("Relu", _conv_norm(g, x, c_in, width, 1))
            y = g.op("Relu", _conv_norm(g, y, width, width, 3, stride))
            y = _conv_norm(g, y, width, width * 4, 1)
            if block == 0:
                x = _conv_norm(g, x, c_in, width * 4, 1, stride)
            x, c_in = g.op("Relu", g.op("Add", y, x)), width * 4
    _classify(g, x, 2048, path)


def mobilenet_v2(path):
    g = Graph("mobilenet_v2", "zoo", seed=2)

    def relu6(x):
        return g.op("Clip", x, g.const(np.float32(0)), g.const(np.float32(6)))

    x, c_in = relu6(_conv_norm(g, "image", 3, 32, 3, 2)), 32
    for expansion, c_out, blocks, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                                   (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                                   (6, 320, 1, 1)):
        for block in range(blocks):
            stride, hidden, y = (first_stride if block == 0 else 1), c_in * expansion, x
            if expansion != 1:
                y = relu6(_conv_norm(g, y, c_in, hidden, 1))
            y = relu6(_conv_norm(g, y, hidden, hidden, 3, stride, group=hidden))
            y = _conv_norm(g, y, hidden, c_out, 1)
            x = g.op("Add", x, y) if stride == 1 and c_in == c_out else y
            c_in = c_out
    _classify(g, relu6(_conv_norm(g, x, 320, 1280, 1)), 1280, path)


class _Bert:
    """BERT-family encoder and classifier as PyTorch exports it (LayerNorm and GELU decomposed)."""

    def __init__(self, name, layers, hidden, heads, inner, classes, seed=3):
        self.g = Graph(name, "zoo", seed)
        self.layers, self.hidden, self.heads = layers, hidden, heads
        self.inner, self.classes = inner, classes

    def number(self, value):
        return self.g.const(np.float32(value))

    def embedding(self, rows, index):
        table = (self.g.rng.standard_normal((rows, self.hidden)) * 0.02).astype(np.float32)
        return self.g.op("Gather", self.g.const(table), index)

    def layer_norm(self, x):
        g = self.g
        d = g.op("Sub", x, g.op("ReduceMean", x, axes=[-1]))
        variance = g.op("ReduceMean", g.op("Pow", d, self.number(2)), axes=[-1])
        y = g.op("Div", d, g.op("Sqrt", g.op("Add", variance, self.number(1e-12))))
        y = g.op("Mul", y, g.const(np.ones(self.hidden, np.float32)))
        return g.op("Add", y, g.const(np.zeros(self.hidden, np.float32)))

    def gelu(self, x):
        g = self.g
        e = g.op("Erf", g.op("Div", x, self.number(np.sqrt(2))))
        return g.op("Mul", g.op("Mul", x, g.op("Add", e, self.number(1))), self.number(0.5))

    def attention(self, x, bias):
        g, h, width = self.g, self.hidden, self.hidden // self.heads

        def part(perm):
            y = g.op("Reshape", _dense(g, x, h, h), _ints(g, 0, 0, self.heads, width))
            return g.op("Transpose", y, perm=perm)

        q, k, v = part([0, 2, 1, 3]), part([0, 2, 3, 1]), part([0, 2, 1, 3])
        s = g.op("Div", g.op("MatMul", q, k), self.number(np.sqrt(width)))
        y = g.op("MatMul", g.op("Softmax", g.op("Add", s, bias), axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), _ints(g, 0, 0, h))
        return _dense(g, y, h, h)

    def write(self, path, vocabulary=30522, positions=512):
        g, h = self.g, self.hidden
        length = g.op("Slice", g.op("Shape", "input_ids"), _ints(g, 1), _ints(g, 2), _ints(g, 0))
        all_positions = g.const(np.arange(positions, dtype=np.int64)[None])
        position = g.op("Slice", all_positions, _ints(g, 0), length, _ints(g, 1))
        x = g.op("Add", self.embedding(vocabulary, "input_ids"), self.embedding(2, "token_type_ids"))
        x = self.layer_norm(g.op("Add", x, self.embedding(positions, position)))
        mask = g.op("Cast", g.op("Unsqueeze", "attention_mask", _ints(g, 1, 2)), to=FLOAT)
        bias = g.op("Mul", g.op("Sub", self.number(1), mask), self.number(-10000))
        for _ in range(self.layers):
            x = self.layer_norm(g.op("Add", self.attention(x, bias), x))
            y = _dense(g, self.gelu(_dense(g, x, h, self.inner)), self.inner, h)
            x = self.layer_norm(g.op("Add", y, x))
        first = g.op("Gather", x, g.const(np.int64(0)), axis=1)
        _dense(g, g.op("Tanh", _dense(g, first, h, h)), h, self.classes)
        g.rename_last("logits")
        names = ("input_ids", "attention_mask", "token_type_ids")
        g.save(path, [(n, INT64, ["batch", "seq"]) for n in names],
               [("logits", FLOAT, ["batch", self.classes])])


def dlrm(path, tables=26, rows=20000, dim=32):
    """Click-through-rate ranking: embedding bags, pairwise dot products, top MLP."""
    g = Graph("dlrm", "zoo", seed=5)

    def mlp(x, dims, last):
        for i, (n_in, n_out) in enumerate(zip(dims, dims[1:])):
            x = g.op("Gemm", x, g.weight(n_out, n_in), g.const(np.zeros(n_out, np.float32)), transB=1)
            x = g.op("Relu" if i < len(dims) - 2 else last, x)
        return x

    bottom = mlp("dense", [13, 512, 256, dim], "Relu")
    parts = [g.op("Unsqueeze", bottom, _ints(g, 1))]
    for t in range(tables):
        table = g.const((g.rng.standard_normal((rows, dim)) * 0.1).astype(np.float32))
        parts.append(g.op("Gather", table, g.op("Gather", "sparse", _ints(g, t), axis=1)))
    t = g.op("Concat", *parts, axis=1)
    z = g.op("MatMul", t, g.op("Transpose", t, perm=[0, 2, 1]))
    n = tables + 1
    flat = g.op("Reshape", z, _ints(g, 0, n * n))
    lower = [i * n + j for i in range(n) for j in range(i)]
    pairs = g.op("Gather", flat, _ints(g, *lower), axis=1)
    mlp(g.op("Concat", bottom, pairs, axis=1), [dim + len(lower), 512, 256, 1], "Sigmoid")
    g.rename_last("ctr")
    g.save(path, [("dense", FLOAT, ["batch", 13]), ("sparse", INT64, ["batch", tables])],
           [("ctr", FLOAT, ["batch", 1])])


def lstm(path, features=80, hidden=256, layers=2, classes=40):
    """A speech-style recurrent model: a time-major LSTM stack and a classifier of each frame."""
    g = Graph("lstm", "zoo", seed=6)
    x, n = "frames", features

    def uniform(*shape):
        return g.const((g.rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32))

    for _ in range(layers):
        inputs = [x, uniform(1, 4 * hidden, n), uniform(1, 4 * hidden, hidden),
                  g.const(np.zeros((1, 8 * hidden), np.float32))]
        out = f"y{g.count}"
        g.nodes.append(helper.make_node("LSTM", inputs, [out], hidden_size=hidden))
        x, n = g.op("Squeeze", out, _ints(g, 1)), hidden
    _dense(g, x, hidden, classes)
    g.rename_last("scores")
    g.save(path, [("frames", FLOAT, ["time", "batch", features])],
           [("scores", FLOAT, ["time", "batch", classes])])


MAKERS = {
    "resnet50": resnet50,
    "mobilenet_v2": mobilenet_v2,
    "minilm_l6": lambda path: _Bert("minilm_l6", 6, 384, 12, 1536, classes=64).write(path),
    "bert_base": lambda path: _Bert("bert_base", 12, 768, 12, 3072, classes=2).write(path),
    "dlrm": dlrm,
    "lstm": lstm,
}


def make(name, path):
    MAKERS[name](path)
