"""Inputs of the models that look at photographs."""
import io

import numpy as np
from PIL import Image

from . import faces, packages, pictures
from .data import SAMPLES

IMAGENET_MEAN = np.array([123.675, 116.28, 103.53], np.float32)
IMAGENET_STD = np.array([58.395, 57.12, 57.375], np.float32)


def _each(images, function):
    return np.stack([function(i) for i in images])


def _squares():
    return pictures.views(pictures.scenes(), SAMPLES)


def _efficientnet():
    return {"input": _each(_squares(), pictures.efficientnet)}


def _imagenet():
    """The usual normalisation, for nets of standard shape."""
    return {"image": _each(_squares(), lambda s: pictures.nchw(s, 224, IMAGENET_MEAN, IMAGENET_STD))}


def _open_nsfw():
    """As its authors do: 256 bilinear, through JPEG, the middle 224, BGR minus mean, NHWC."""
    def one(square):
        jpeg = io.BytesIO()
        square.resize((256, 256), Image.BILINEAR).save(jpeg, "JPEG", quality=95)
        pixels = np.asarray(Image.open(jpeg).convert("RGB"), np.float32)[16:240, 16:240, ::-1]
        return pixels - np.array([104, 117, 123], np.float32)

    return {"input_0": _each(pictures.views(pictures.scenes(), SAMPLES, share=1.0), one)}


def _fill(image, width, height):
    """Scaled and cut to cover width x height."""
    scale = max(width / image.width, height / image.height)
    image = image.resize((round(image.width * scale), round(image.height * scale)), Image.BICUBIC)
    x, y = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((x, y, x + width, y + height))


def _portraits():
    files = [("face-api", f) for f in packages.members("face-api", "package/demo/sample*.jpg")]
    files += [("face-recognition", f)
              for f in packages.members("face-recognition", "*/tests/test_images/*.*g")]
    return [pictures.named("astronaut.png")] + [pictures.load(*f) for f in files]


def _centerface():
    images = _portraits() + pictures.scenes()[:11]
    return {"input.1": _each(images, lambda i: pictures.nchw(_fill(i, 640, 480)))}


def _faceapi():
    """Each face as found, then a little moved, wider and mirrored."""
    found = [(image, face) for image in _portraits() for face in faces.find(image)]
    moves = [(1.15, 0, 0), (1.15, 0.04, 0), (1.15, -0.04, 0.02), (1.25, 0, 0.03), (1.1, 0, -0.03)]
    crops = []
    for i in range(-(-SAMPLES // len(found))):
        for image, face in found:
            square = faces.crop(image, face, *moves[i // 2 % len(moves)])
            crops.append(square.transpose(Image.FLIP_LEFT_RIGHT) if i % 2 else square)
    return {"input": _each(crops[:SAMPLES], lambda s: pictures.nchw(s, 150))}


def _nudenet():
    """Padded to a square at the right and below, 320, 0..1."""
    def one(image):
        side = max(image.size)
        square = Image.new("RGB", (side, side))
        square.paste(image, (0, 0))
        return pictures.nchw(square, 320, scale=255)

    return {"images": _each(_portraits() + pictures.scenes()[:19], one)}


def arrays(name):
    return {
        "efficientnet_lite0": _efficientnet,
        "efficientnet_lite0_qdq_int8": _efficientnet,
        "open_nsfw": _open_nsfw,
        "resnet50": _imagenet,
        "mobilenet_v2": _imagenet,
        "centerface_dyn": _centerface,
        "faceapi_recognition": _faceapi,
        "nudenet_yolov8n_320": _nudenet,
    }[name]()
