"""Models made out of other models: symbolic dims, and static int8 by ONNX Runtime's quantizer."""
import logging
import tempfile

import onnx
from onnx.tools.update_model_dims import update_inputs_outputs_dims

from . import datasets, models, packages, pictures


def _centerface_dyn(path):
    model = onnx.load(models.bring("centerface"))
    dims = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input}
    dims["input.1"] = ["B", 3, "H", "W"]
    channels = {"537": 1, "538": 2, "539": 2, "540": 10}
    outputs = {name: ["B", c, "h", "w"] for name, c in channels.items()}
    onnx.save(update_inputs_outputs_dims(model, dims, outputs), path)


def _quantize(source, path, input_name, samples):
    packages.python_module("sympy", "sympy==1.14.0")  # the quantizer's shape inference asks for it
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.calibrate import CalibrationDataReader
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.feeds = iter({input_name: s[None]} for s in samples)

        def get_next(self):
            return next(self.feeds, None)

    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        prepared = f"{folder}/prepared.onnx"
        quant_pre_process(str(models.bring(source)), prepared, skip_symbolic_shape=True)
        quantize_static(prepared, str(path), Reader(), quant_format=QuantFormat.QDQ,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        per_channel=True)


def _efficientnet(path):
    squares = [pictures.centre_square(p) for p in pictures.scenes()]
    _quantize("efficientnet_lite0", path, "input", [pictures.efficientnet(s) for s in squares])


def _mnist(path):
    _quantize("mnist_cnn", path, "input", datasets.mnist().test_x[:200])


MAKERS = {
    "centerface_dyn": _centerface_dyn,
    "efficientnet_lite0_qdq_int8": _efficientnet,
    "mnist_cnn_qdq_int8": _mnist,
}


def make(name, path):
    MAKERS[name](path)
