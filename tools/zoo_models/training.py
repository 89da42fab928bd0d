"""What the two small models trained here share: Adam with cosine decay in jax, from a fixed seed."""
import numpy as np

from . import ort, packages
from .store import Failure, say


def jax():
    return packages.python_module("jax", "jax==0.10.2")


def fit(loss, weights: dict, x, y, epochs: int, batch: int = 64, rate: float = 2e-3) -> dict:
    """The weights after `epochs` passes over (x, y); loss(weights, x, y) is a number."""
    j = jax()
    steps_per_epoch = len(x) // batch
    total = epochs * steps_per_epoch

    @j.jit
    def step(weights, m, v, i, x, y):
        grads = j.grad(loss)(weights, x, y)
        now = 0.5 * rate * (1 + j.numpy.cos(j.numpy.pi * i / total))
        m = j.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = j.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)

        def moved(w, m, v):
            return w - now * (m / (1 - 0.9 ** (i + 1))) / (
                j.numpy.sqrt(v / (1 - 0.999 ** (i + 1))) + 1e-8)

        return j.tree.map(moved, weights, m, v), m, v

    m = v = j.tree.map(lambda w: j.numpy.zeros_like(w), weights)
    rng, i = np.random.default_rng(0), 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for k in range(steps_per_epoch):
            rows = order[k * batch:(k + 1) * batch]
            weights, m, v = step(weights, m, v, np.float32(i), x[rows], y[rows])
            i += 1
    return {k: np.asarray(w) for k, w in weights.items()}


def judge(name: str, path, input_name: str, x, y, least: float) -> None:
    """Accuracy of the written file on what was held out, by ONNX Runtime; too low is a failure."""
    (out,) = ort.open_file(path).run(None, {input_name: x})
    guess = out.argmax(1) if out.shape[1] > 1 else (out[:, 0] > 0.5)
    accuracy = float((guess == y).mean())
    say(f"{name}: accuracy {accuracy:.4f} on {len(y)} held out")
    if accuracy < least:
        raise Failure(f"{name} was trained to an accuracy of only {accuracy:.4f}, expected {least}")
