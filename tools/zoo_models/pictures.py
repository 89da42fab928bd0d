"""Real pictures out of packages, and how they are cut for the models that look at them."""
import functools
import io

import numpy as np
from PIL import Image

from . import packages

SCENES = {
    "scikit-image": ("skimage/data/*.png", "skimage/data/*.jpg"),
    "face-api": ("package/demo/sample*.jpg",),
}


@functools.lru_cache(None)
def load(package: str, file: str) -> Image.Image:
    return Image.open(io.BytesIO(packages.read_file(package, file))).convert("RGB")


def scenes(least_bytes: int = 60000) -> list[Image.Image]:
    """Photographs (and a few drawings); the smallest files are icons and test patterns."""
    return [load(package, name) for package, patterns in SCENES.items() for pattern in patterns
            for name in packages.members(package, pattern)
            if len(packages.read_file(package, name)) > least_bytes]


def named(name: str) -> Image.Image:
    return load("scikit-image", f"skimage/data/{name}")


def centre_square(image: Image.Image, share: float = 0.875) -> Image.Image:
    w, h = image.size
    k = int(min(w, h) * share)
    x, y = (w - k) // 2, (h - k) // 2
    return image.crop((x, y, x + k, y + k))


def views(images: list[Image.Image], count: int, share: float = 0.875):
    """`count` square views: the centre of each picture first, then corners and mirror images."""
    def view(image, i):
        if i == 0:
            return centre_square(image, share)
        w, h = image.size
        k = int(min(w, h) * share)
        spots = ((0, 0), (w - k, 0), (0, h - k), (w - k, h - k), ((w - k) // 2, (h - k) // 2))
        x, y = spots[(i - 1) % len(spots)]
        square = image.crop((x, y, x + k, y + k))
        return square.transpose(Image.FLIP_LEFT_RIGHT) if i % 2 else square

    rounds = -(-count // len(images))
    return [view(image, i) for i in range(rounds) for image in images][:count]


def nchw(image: Image.Image, size: int | None = None, mean=0.0, scale=1.0,
         resample=Image.BICUBIC) -> np.ndarray:
    """(pixels - mean) / scale as float32 [3, H, W]."""
    if size is not None:
        image = image.resize((size, size), resample)
    pixels = np.asarray(image, np.float32)
    return np.ascontiguousarray(((pixels - mean) / scale).transpose(2, 0, 1), np.float32)


def efficientnet(square: Image.Image) -> np.ndarray:
    return nchw(square, 224, 127, 128)
