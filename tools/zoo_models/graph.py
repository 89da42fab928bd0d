"""A tiny ONNX graph writer: every call adds one node and returns the name of its output."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    """Nodes and weights are numbered in one sequence, weights named w<N> unless a name is given."""

    def __init__(self, name: str, producer: str, seed: int = 0, opset: int = 17):
        self.name, self.producer, self.opset = name, producer, opset
        self.rng = np.random.default_rng(seed)
        self.nodes, self.inits, self.count = [], {}, 0

    def const(self, array, name: str | None = None) -> str:
        if name is None:
            self.count += 1
            name = f"w{self.count}"
        if name not in self.inits:
            self.inits[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def weight(self, *shape, gain=2.0) -> str:
        """He-initialised, so that activations stay in range and timings are those of a trained model."""
        fan = int(np.prod(shape[1:])) or 1
        values = self.rng.standard_normal(shape) * np.sqrt(gain / fan)
        return self.const(values.astype(np.float32))

    def op(self, kind: str, *inputs: str, separator: str = "", **attributes) -> str:
        self.count += 1
        out = f"{kind.lower()}{separator}{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out

    def rename_last(self, output: str, keep_name: bool = True) -> None:
        self.nodes[-1].output[0] = output
        if not keep_name:
            self.nodes[-1].ClearField("name")

    def save(self, path, inputs, outputs) -> None:
        """inputs, outputs: (name, element type, shape) each."""
        values = [[helper.make_tensor_value_info(*v) for v in side] for side in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, self.name, *values, list(self.inits.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8, producer_name=self.producer)
        onnx.checker.check_model(model, full_check=True)
        with open(path, "wb") as f:
            f.write(model.SerializeToString())
