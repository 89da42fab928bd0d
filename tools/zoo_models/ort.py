"""ONNX Runtime as the makers of data and the checks use it."""
import functools

from . import models


def open_file(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # its warnings are about the models, and nothing to be done here
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@functools.lru_cache(None)
def session(name: str):
    """The session of a model of the zoo, brought if it isn't there."""
    return open_file(models.bring(name))
