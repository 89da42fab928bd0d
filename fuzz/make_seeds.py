"""Writes the small models from which fuzz_onnx_load starts: python fuzz/make_seeds.py DIR."""
import pathlib
import sys

import numpy as np
from onnx import AttributeProto, TensorProto as T, helper as h, numpy_helper as nh

SEEDS = {}


def seed(f):
    SEEDS[f.__name__] = f
    return f


def port(name, dims=(2, 3), dtype=T.FLOAT):
    return h.make_tensor_value_info(name, dtype, dims)


def array(name, values, dtype=np.float32):
    return nh.from_array(np.array(values, dtype), name)


def graph(nodes, inputs=("x",), outputs=("y",), weights=(), **more):
    ports = [[p if not isinstance(p, str) else port(p) for p in side] for side in (inputs, outputs)]
    return h.make_graph(list(nodes), "g", *ports, initializer=list(weights), **more)


def model(g, opset=17, functions=(), ir=8, domains=()):
    ids = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]
    return h.make_model(g, opset_imports=ids, functions=list(functions), ir_version=ir)


n = h.make_node


@seed
def chain():
    m = model(graph([n("Add", ["x", "c"], ["a"]), n("Relu", ["a"], ["y"])], weights=[array("c", [1, 2, 3])]))
    h.set_model_props(m, {"author": "me", "task": "test"})
    return m


@seed
def convolutions():
    w, k = np.ones((4, 3, 3, 3)) / 9, np.ones((4, 1, 3, 3))
    return model(graph([
        n("Conv", ["x", "w", "b"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        n("BatchNormalization", ["a", "b", "b", "b", "v"], ["bn"]),
        n("Clip", ["bn", "", "six"], ["r"]),
        n("Conv", ["r", "k"], ["d"], group=4, pads=[1, 1, 1, 1]),
        n("Add", ["d", "r"], ["s"]),
        n("MaxPool", ["s"], ["p"], kernel_shape=[2, 2], ceil_mode=1),
        n("GlobalAveragePool", ["p"], ["q"]), n("Flatten", ["q"], ["f"]),
        n("Gemm", ["f", "m", "b"], ["y"], transB=1, alpha=0.5)],
        [port("x", ("batch", 3, 6, 6))], [port("y", ("batch", 4))],
        [array("w", w), array("k", k), array("b", [1, 2, 3, 4]), array("v", [1, 1, 1, 1]),
         array("six", 6), array("m", np.eye(4))]))


@seed
def typed_data():
    """Each field that elements may lie in."""
    fields = [(T.FLOAT, [1.5, -2]), (T.INT32, [1, -2]), (T.INT8, [1, -2]), (T.UINT8, [1, 255]),
              (T.INT16, [1, -2]), (T.UINT16, [1, 2]), (T.BOOL, [1, 0]), (T.INT64, [1, -2]),
              (T.DOUBLE, [1.5, -2]), (T.UINT32, [1, 2]), (T.UINT64, [1, 2]), (T.FLOAT16, [1.5, -2]),
              (T.STRING, [b"a", b"\xc3\xbc"])]
    weights = [h.make_tensor(f"t{d}", d, [2], v) for d, v in fields]
    bf = T(name="bf", data_type=T.BFLOAT16, dims=[2], int32_data=[0x3F80, 0x4000])
    outputs = [port(f"o{d}", (2,), d) for d, _ in fields] + [port("obf", (2,), T.BFLOAT16)]
    return model(graph([n("Identity", [f"t{d}"], [f"o{d}"]) for d, _ in fields] + [n("Identity", ["bf"], ["obf"])],
                       [], outputs, weights + [bf]))


@seed
def constants():
    kinds = {"value": array("", [1, 2]), "value_float": 1.5, "value_floats": [1.0, 2.0], "value_int": 3,
             "value_ints": [4, 5], "value_string": "s", "value_strings": ["a", "b"]}
    return model(graph([n("Constant", [], [k], **{k: v}) for k, v in kinds.items()], [],
                       [h.make_empty_tensor_value_info(k) for k in kinds]))


@seed
def attributes():
    """A node of an unknown domain with an attribute of each type."""
    inner = graph([n("Identity", ["x"], ["i"])], [], ["i"])
    tp = h.make_tensor_type_proto(T.FLOAT, [1, "n"])
    node = n("Foo", ["x"], ["y"], domain="mine", f=1.5, i=-1, s="text", t=array("t", [1]), g=inner,
             floats=[1.0], ints=[1, -1], strings=["a", ""])
    node.attribute.extend([h.make_attribute("tp", tp), h.make_attribute("tensors", [array("a", 1), array("b", 2)]),
                           h.make_attribute("graphs", [inner, inner]), h.make_attribute("tps", [tp, tp])])
    return model(graph([node]), domains=["mine"])


def branch(op, name):
    return h.make_graph([n(op, ["a"], [name])], name, [], [port(name, None)])


@seed
def if_captures():
    return model(graph([n("Abs", ["x"], ["a"]), n("ReduceSum", ["x"], ["r"], keepdims=0), n("Greater", ["r", "z"], ["c"]),
                        n("If", ["c"], ["y"], then_branch=branch("Neg", "t"), else_branch=branch("Exp", "e"))],
                       weights=[array("z", 0)]))


def loop_body():
    return h.make_graph([n("Add", ["v", "x"], ["w"]), n("Identity", ["c"], ["d"]), n("Identity", ["w"], ["s"])], "body",
                        [port("i", (), T.INT64), port("c", (), T.BOOL), port("v")],
                        [port("d", (), T.BOOL), port("w"), port("s")])


@seed
def loop():
    return model(graph([n("Loop", ["m", "", "x"], ["y", "all"], body=loop_body())], outputs=["y", port("all", None)],
                       weights=[array("m", 3, np.int64)]))


@seed
def scan():
    body = h.make_graph([n("Add", ["s", "e"], ["t"]), n("Identity", ["t"], ["o"])], "body",
                        [port("s", (3,)), port("e", (3,))], [port("t", (3,)), port("o", (3,))])
    return model(graph([n("Scan", ["z", "x"], ["last", "y"], body=body, num_scan_inputs=1, scan_input_directions=[1])],
                       outputs=[port("last", (3,)), "y"], weights=[array("z", [0, 0, 0])]))


def function(name, nodes, inputs=("p",), outputs=("q",), attributes=(), domain="mine"):
    ids = [h.make_opsetid("", 17), h.make_opsetid("mine", 1)]
    return h.make_function(domain, name, list(inputs), list(outputs), list(nodes), ids, list(attributes))


@seed
def functions():
    leaky = n("LeakyRelu", ["p"], ["q"])
    leaky.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    twice = function("Twice", [n("Soft", ["p"], ["a"], domain="mine", slope=0.1), n("Soft", ["a"], ["q"], domain="mine", slope=0.2)])
    return model(graph([n("Twice", ["x"], ["y"], domain="mine")]), domains=["mine"],
                 functions=[function("Soft", [leaky], attributes=["slope"]), twice])


@seed
def sequences():
    return model(graph([n("SequenceConstruct", ["x", "x"], ["s"]), n("SequenceInsert", ["s", "x"], ["t"]),
                        n("SequenceAt", ["t", "i"], ["a"]), n("ConcatFromSequence", ["t"], ["b"], axis=0),
                        n("SplitToSequence", ["b"], ["u"], axis=0), n("SequenceLength", ["u"], ["l"]),
                        n("SequenceErase", ["u"], ["v"]), n("Optional", ["x"], ["o"]), n("OptionalHasElement", ["o"], ["h"]),
                        n("OptionalGetElement", ["o"], ["y"])],
                       outputs=["y", port("a", None), port("l", (), T.INT64), port("h", (), T.BOOL),
                                h.make_tensor_sequence_value_info("v", T.FLOAT, None)],
                       weights=[array("i", 0, np.int64)]), 18)


@seed
def shapes():
    """Arithmetic on symbolic dims."""
    return model(graph([n("Shape", ["x"], ["s"]), n("Gather", ["s", "one"], ["d"]), n("Mul", ["d", "two"], ["e"]),
                        n("Unsqueeze", ["e", "zero"], ["u"]), n("Concat", ["minus", "u"], ["to"], axis=0),
                        n("Concat", ["x", "x"], ["xx"], axis=0), n("Reshape", ["xx", "to"], ["r"]),
                        n("Expand", ["r", "to2"], ["ex"]), n("Slice", ["ex", "zero", "ends", "zero"], ["sl"]),
                        n("Pad", ["sl", "pads"], ["pd"]), n("Tile", ["pd", "reps"], ["y"]),
                        n("ConstantOfShape", ["s"], ["k"], value=array("", [2])), n("Range", ["rz", "d", "rone"], ["rg"])],
                       [port("x", ("rows", "columns"))], [port("y", None), port("k", None), port("rg", None, T.INT64)],
                       [array("one", 1, np.int64), array("two", 2, np.int64), array("zero", [0], np.int64),
                        array("minus", [-1], np.int64), array("to2", [1, 1], np.int64), array("ends", [9223372036854775807], np.int64),
                        array("pads", [0, 1, 0, 1], np.int64), array("reps", [2, 1], np.int64), array("rz", 0, np.int64),
                        array("rone", 1, np.int64)]))


@seed
def data_dependent():
    return model(graph([n("NonZero", ["x"], ["nz"]), n("Transpose", ["nz"], ["t"]), n("GatherND", ["x", "t"], ["g"]),
                        n("Unique", ["g"], ["u", "", "inv"], sorted=1), n("TopK", ["u", "k"], ["y", "at"], axis=0),
                        n("Compress", ["x", "c"], ["cc"], axis=1)],
                       outputs=[port("y", None), port("at", None, T.INT64), port("inv", None, T.INT64), port("cc", None)],
                       weights=[array("k", [1], np.int64), array("c", [True, False, True], bool)]))


@seed
def attention():
    return model(graph([n("MatMul", ["x", "w"], ["q"]), n("Transpose", ["q"], ["kt"], perm=[0, 2, 1]),
                        n("MatMul", ["q", "kt"], ["s"]), n("Softmax", ["s"], ["p"], axis=-1), n("MatMul", ["p", "q"], ["o"]),
                        n("LayerNormalization", ["o", "g", "g"], ["ln"]), n("Erf", ["ln"], ["e"]), n("Mul", ["e", "ln"], ["y"])],
                       [port("x", ("b", "t", 4))], [port("y", ("b", "t", 4))], [array("w", np.eye(4)), array("g", np.ones(4))]))


@seed
def recurrent():
    i, hid = 3, 2
    return model(graph([n("LSTM", ["x", "w", "r", "b"], ["l", "", "c"], hidden_size=hid, direction="forward"),
                        n("Squeeze", ["l", "one"], ["ls"]), n("GRU", ["ls", "gw", "gr"], ["y"], hidden_size=hid, linear_before_reset=1)],
                       [port("x", ("t", "b", i))], [port("y", None), port("c", None)],
                       [array("w", np.ones((1, 4 * hid, i))), array("r", np.ones((1, 4 * hid, hid))), array("b", np.ones((1, 8 * hid))),
                        array("gw", np.ones((1, 3 * hid, hid))), array("gr", np.ones((1, 3 * hid, hid))), array("one", [1], np.int64)]))


@seed
def quantized():
    return model(graph([n("QuantizeLinear", ["x", "s", "z"], ["q"]), n("DequantizeLinear", ["q", "s", "z"], ["d"]),
                        n("DynamicQuantizeLinear", ["d"], ["dq", "ds", "dz"]), n("MatMulInteger", ["dq", "w", "dz"], ["mi"]),
                        n("Cast", ["mi"], ["f"], to=T.FLOAT), n("Mul", ["f", "ds"], ["y"])],
                       weights=[array("s", 0.1), array("z", 3, np.uint8), array("w", np.ones((3, 2)), np.int8)]))


@seed
def resized():
    return model(graph([n("Resize", ["x", "", "scales"], ["r"], mode="linear", coordinate_transformation_mode="align_corners"),
                        n("DepthToSpace", ["r"], ["d"], blocksize=2, mode="CRD"), n("GridSample", ["d", "grid"], ["y"])],
                       [port("x", (1, 4, 2, 2)), port("grid", (1, 3, 3, 2))], [port("y", None)], [array("scales", [1, 1, 2, 2])]))


@seed
def strings():
    return model(graph([n("StringNormalizer", ["x"], ["y"], case_change_action="LOWER", stopwords=["a"])],
                       [port("x", (3,), T.STRING)], [port("y", None, T.STRING)]))


@seed
def external():
    t = T(name="c", data_type=T.FLOAT, dims=[2, 3], data_location=T.EXTERNAL)
    for k, v in (("location", "w.bin"), ("offset", "0"), ("length", "24")):
        t.external_data.add(key=k, value=v)
    return model(graph([n("Add", ["x", "c"], ["y"])], weights=[t]))


@seed
def unsorted_and_old():
    return model(graph([n("Relu", ["b"], ["y"]), n("Softmax", ["a"], ["b"]), n("Upsample", ["x4"], ["up"], scales=[1.0, 1.0, 2.0, 2.0]),
                        n("Dropout", ["x"], ["a", "mask"], ratio=0.5)], [port("x"), port("x4", (1, 1, 2, 2))], ["y", port("up", None)],
                       value_info=[port("b", (2, 3)), port("a", ("n", 3))]), 8, ir=3)


@seed
def einsum_and_more():
    return model(graph([n("Einsum", ["x", "x"], ["e"], equation="ij,kj->ik"), n("CumSum", ["e", "ax"], ["c"], reverse=1),
                        n("OneHot", ["idx", "depth", "vals"], ["oh"], axis=-1), n("Where", ["w", "x", "x"], ["wh"]),
                        n("ScatterND", ["x", "sn", "up"], ["sc"]), n("ReduceMean", ["sc"], ["y"], axes=[1], keepdims=0),
                        n("ArgMax", ["wh"], ["am"], axis=1), n("Split", ["x", "parts"], ["p", "q"], axis=1), n("Clip", ["p"], ["cl"])],
                       outputs=[port("y", None), port("c", None), port("oh", None), port("am", None, T.INT64), port("cl", None), port("q", None)],
                       weights=[array("ax", 0, np.int64), array("idx", [1, -1], np.int64), array("depth", 3, np.int64), array("vals", [0, 1]),
                                array("w", [[True], [False]], bool), array("sn", [[0, 1]], np.int64), array("up", [5]),
                                array("parts", [1, 2], np.int64)]))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SEEDS.items():
        (folder / f"{name}.onnx").write_bytes(make().SerializeToString())
