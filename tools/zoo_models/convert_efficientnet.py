"""EfficientNet-Lite0 (ImageNet-1k): PyTorch weights to ONNX, unfused (Conv, BatchNormalization and
Clip apart, as exporters write it), opset 17, NCHW."""
import io

import numpy as np

from . import packages, torch_pickle
from .graph import FLOAT, Graph

# repeats, kernel, stride, expansion, input channels, output channels
STAGES = ((1, 3, 1, 1, 32, 16), (2, 3, 2, 6, 16, 24), (2, 5, 2, 6, 24, 40), (3, 3, 2, 6, 40, 80),
          (3, 5, 1, 6, 80, 112), (4, 5, 2, 6, 112, 192), (1, 3, 1, 6, 192, 320))


class _Net:
    def __init__(self, weights):
        self.weights = weights
        self.graph = Graph("efficientnet_lite0", "build_effnet_lite0")
        self.graph.const(np.zeros(1, np.float32), "zero")
        self.graph.const(np.full(1, 6, np.float32), "six")

    def op(self, kind, *inputs, **attributes):
        return self.graph.op(kind, *inputs, separator="_", **attributes)

    def weight(self, name):
        return self.graph.const(self.weights[name], name)

    def conv(self, x, name, stride, size, group=1):
        """Convolution with TensorFlow's SAME padding; gives the output and its height."""
        k = self.weights[name + ".weight"].shape[2]
        out = -(-size // stride)
        pad = max((out - 1) * stride + k - size, 0)
        pads = [pad // 2, pad // 2, pad - pad // 2, pad - pad // 2]
        y = self.op("Conv", x, self.weight(name + ".weight"), kernel_shape=[k, k],
                    strides=[stride] * 2, pads=pads, group=group, dilations=[1, 1])
        return y, out

    def norm(self, x, name):
        parts = [self.weight(name + s) for s in (".weight", ".bias", ".running_mean", ".running_var")]
        return self.op("BatchNormalization", x, *parts, epsilon=1e-3)

    def relu6(self, x):
        return self.op("Clip", x, "zero", "six")

    def block(self, x, prefix, stride, size, expansion, c_in, c_out):
        y = x
        if expansion != 1:
            y, _ = self.conv(y, prefix + "_expand_conv", 1, size)
            y = self.relu6(self.norm(y, prefix + "_bn0"))
        y, out = self.conv(y, prefix + "_depthwise_conv", stride, size, group=c_in * expansion)
        y = self.relu6(self.norm(y, prefix + "_bn1"))
        y, _ = self.conv(y, prefix + "_project_conv", 1, out)
        y = self.norm(y, prefix + "_bn2")
        return (self.op("Add", y, x) if stride == 1 and c_in == c_out else y), out


def make(_name, path):
    net = _Net(torch_pickle.load(io.BytesIO(packages.read("efficientnet-lite0", "*.pth"))))
    x, size = net.conv("input", "_conv_stem", 2, 224)
    x = net.relu6(net.norm(x, "_bn0"))
    index = 0
    for repeats, _kernel, stride, expansion, c_in, c_out in STAGES:
        for j in range(repeats):
            x, size = net.block(x, f"_blocks.{index}.", stride if j == 0 else 1, size, expansion,
                                c_in if j == 0 else c_out, c_out)
            index += 1
    x, _ = net.conv(x, "_conv_head", 1, size)
    x = net.relu6(net.norm(x, "_bn1"))
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    net.op("Gemm", x, net.weight("_fc.weight"), net.weight("_fc.bias"), transB=1)
    net.graph.rename_last("logits", keep_name=False)
    net.graph.save(path, [("input", FLOAT, ["batch", 3, 224, 224])],
                   [("logits", FLOAT, ["batch", 1000])])
