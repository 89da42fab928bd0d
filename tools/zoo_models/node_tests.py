"""ONNX's own node tests, out of the `onnx` package, as files: the folder form of libonnx-testdata.

usage: python -m zoo_models.node_tests FOLDER

FOLDER/within holds what opset 21 without float8, 4-bit and complex numbers can say, FOLDER/beyond
the rest, to see that it is refused. Many cases carry the newest opset though nothing they use has
changed: those are written as opset 21.
"""
import sys
import warnings
from collections import Counter
from pathlib import Path

import onnx
from onnx import TensorProto, checker, defs, numpy_helper, shape_inference

OPSET, IR_VERSION = 21, 10
REFUSED = {t for name, t in TensorProto.DataType.items()
           if name.startswith(("FLOAT4", "FLOAT6", "FLOAT8", "INT2", "INT4", "UINT2", "UINT4", "COMPLEX"))}


def nodes_of(graph):
    """The nodes of a graph and of those within it."""
    for node in graph.node:
        yield node
        for a in node.attribute:
            for inner in [a.g, *a.graphs] if a.HasField("g") else a.graphs:
                yield from nodes_of(inner)


def dtypes_of(message) -> set[int]:
    """Every element type that a model mentions: of values, tensors, and attributes that name one."""
    found = set()
    if isinstance(message, TensorProto):
        found.add(message.data_type)
    elif isinstance(message, onnx.AttributeProto) and message.name in ("to", "dtype", "output_dtype"):
        found.add(message.i)
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in [value] if hasattr(value, "ListFields") else value:
                found |= dtypes_of(one)
        elif field.name == "elem_type":
            found.add(value)
    return found


def schema(node, opset):
    """The schema of a node's operator as of an opset, None if it has none."""
    try:
        return defs.get_schema(node.op_type, max_inclusive_version=opset, domain=node.domain)
    except defs.SchemaError:
        return None


def type_text(t) -> str:
    """A TypeProto as schemas name it: seq(tensor(float))."""
    if t.HasField("sequence_type"):
        return f"seq({type_text(t.sequence_type.elem_type)})"
    if t.HasField("optional_type"):
        return f"optional({type_text(t.optional_type.elem_type)})"
    name = TensorProto.DataType.Name(t.tensor_type.elem_type).lower()
    return f"tensor({name})" if t.HasField("tensor_type") else "?"


def admits(ports, names, types) -> bool:
    """Do the inputs or outputs of a schema take these values?"""
    variadic = defs.OpSchema.FormalParameterOption.Variadic
    for i, name in enumerate(names):
        if i >= len(ports) and not (ports and ports[-1].option == variadic):
            return False
        port = ports[min(i, len(ports) - 1)]
        if name in types and types[name] not in {t.replace(" ", "") for t in port.types}:
            return False
    return True


def as_opset_21(model):
    """The model as of opset 21, None where it says something that opset 21 cannot."""
    old = onnx.ModelProto()
    old.CopyFrom(model)
    del old.opset_import[:]  # some import domains of which no node is left
    old.opset_import.add(domain="", version=OPSET)
    old.ir_version = IR_VERSION
    for node in nodes_of(old.graph):
        s = schema(node, OPSET)
        if s is None or any(a.name not in s.attributes for a in node.attribute):
            return None
    try:
        checker.check_model(old)
        typed = shape_inference.infer_shapes(old, check_type=True, strict_mode=True)
    except (checker.ValidationError, shape_inference.InferenceError):
        return None
    g = typed.graph
    types = {v.name: type_text(v.type) for v in [*g.input, *g.output, *g.value_info]}
    types |= {t.name: f"tensor({TensorProto.DataType.Name(t.data_type).lower()})" for t in g.initializer}
    for node in g.node:
        s = schema(node, OPSET)
        if not admits(s.inputs, node.input, types) or not admits(s.outputs, node.output, types):
            return None
        if is_float_mod(node, types):
            return None
    return old


def is_float_mod(node, types) -> bool:
    """Only words, not its types, keep opset 21's Mod from floats where fmod is 0."""
    fmod = next((a.i for a in node.attribute if a.name == "fmod"), 0)
    return node.op_type == "Mod" and fmod == 0 and "int" not in types.get(node.input[0], "int")


def opset_of(model) -> int | None:
    return next((o.version for o in model.opset_import if o.domain == ""), None)


def same_schemas(model) -> bool:
    """Has no operator of the model got a newer version after opset 21?"""
    newest = opset_of(model)
    return all((old := schema(n, OPSET)) is not None and old.since_version == schema(n, newest).since_version
               for n in nodes_of(model.graph))


def sort_case(case):
    """Which kind a case is, and the model to write if it is within what opset 21 says."""
    model = case.model
    if {n.domain for n in nodes_of(model.graph)} != {""}:
        return "of other domains", None
    if dtypes_of(model) & REFUSED:
        return "with float8, 4-bit or complex numbers", None
    if opset_of(model) <= OPSET:
        return f"of opset {OPSET} or older", model
    old = as_opset_21(model)
    if old is None:
        return f"newer than opset {OPSET}", None
    if same_schemas(model):
        return f"with operators unchanged since opset {OPSET}", old
    return f"whose operators changed after opset {OPSET} in nothing that the case uses", old


def write_value(path: Path, value, kind, name: str) -> None:
    if kind.HasField("sequence_type"):
        message = numpy_helper.from_list(value, name)
    elif kind.HasField("optional_type"):
        message = numpy_helper.from_optional(value, name)
    elif isinstance(value, TensorProto):
        message = value
    else:
        message = numpy_helper.from_array(value, name)
    path.write_bytes(message.SerializeToString())


def write_case(folder: Path, case, model) -> None:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, data_set in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        for stem, values, ports in zip(("input", "output"), data_set, (model.graph.input, model.graph.output)):
            for j, (value, port) in enumerate(zip(values, ports, strict=True)):
                write_value(data / f"{stem}_{j}.pb", value, port.type, port.name)


def main(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases overflow and divide by zero on purpose
        from onnx.backend.test.case.node import collect_testcases
        cases = collect_testcases(None)
    count = Counter()
    for case in cases:
        kind, model = sort_case(case)
        count[kind, "within" if model else "beyond"] += 1
        write_case(folder / ("within" if model else "beyond") / case.name, case, model or case.model)
    print(f"{len(cases)} node tests of onnx {onnx.__version__}")
    for (kind, place), n in sorted(count.items(), key=lambda item: (item[0][1] == "beyond", -item[1])):
        print(f"{n:6} {place}: {kind}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
