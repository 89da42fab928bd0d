"""sentiment_lstm: is a film review favourable? Embedding, LSTM, maximum over time, one number."""
import numpy as np

from . import datasets, training
from .graph import FLOAT, INT64, Graph

WIDTH = HIDDEN = 64


def _start(rng, vocabulary: int) -> dict:
    def normal(*shape, scale):
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    return {"e": normal(vocabulary, WIDTH, scale=0.1),
            "W": normal(4 * HIDDEN, WIDTH, scale=1 / np.sqrt(WIDTH)),
            "R": normal(4 * HIDDEN, HIDDEN, scale=1 / np.sqrt(HIDDEN)),
            "B": np.zeros(4 * HIDDEN, np.float32),
            "f": normal(1, HIDDEN, scale=0.1), "g": np.zeros(1, np.float32)}


def _logit(w, tokens):
    """Gates in ONNX's order: input, output, forget, cell."""
    j = training.jax()
    x = w["e"][tokens].transpose(1, 0, 2) @ w["W"].T + w["B"]

    def step(state, x):
        h, c = state
        i, o, f, g = j.numpy.split(x + h @ w["R"].T, 4, axis=1)
        c = j.nn.sigmoid(f) * c + j.nn.sigmoid(i) * j.numpy.tanh(g)
        h = j.nn.sigmoid(o) * j.numpy.tanh(c)
        return (h, c), h

    zero = j.numpy.zeros((tokens.shape[0], HIDDEN))
    _, h = j.lax.scan(step, (zero, zero), x)
    return (h.max(0) @ w["f"].T + w["g"])[:, 0]


def _loss(w, tokens, y):
    j = training.jax()
    z = _logit(w, tokens)
    return (j.nn.softplus(z) - y * z).mean()


def _save(w, path):
    g = Graph("sentiment_lstm", "zoo")
    bias = np.concatenate([w["B"], np.zeros(4 * HIDDEN, np.float32)])[None]
    x = g.op("Transpose", g.op("Gather", g.const(w["e"], "e"), "tokens"), perm=[1, 0, 2])
    x = g.op("LSTM", x, g.const(w["W"][None], "W"), g.const(w["R"][None], "R"), g.const(bias, "B"),
             hidden_size=HIDDEN)
    x = g.op("Squeeze", x, g.const(np.array([1], np.int64)))
    x = g.op("ReduceMax", x, axes=[0], keepdims=0)
    g.op("Sigmoid", g.op("Gemm", x, g.const(w["f"], "f"), g.const(w["g"], "g"), transB=1))
    g.rename_last("prob")
    g.save(path, [("tokens", INT64, ["batch", "seq"])], [("prob", FLOAT, ["batch", 1])])


def make(name, path):
    data, vocabulary = datasets.sentiment()
    weights = training.fit(_loss, _start(np.random.default_rng(0), vocabulary), data.train_x,
                           data.train_y, epochs=4)
    _save(weights, path)
    training.judge(name, path, "tokens", data.test_x, data.test_y, least=0.72)
