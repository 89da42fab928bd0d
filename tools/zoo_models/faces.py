"""Finds faces with CenterFace, for the models that look at one face."""
from typing import NamedTuple

import numpy as np
from PIL import Image

from . import ort, pictures


class Face(NamedTuple):
    x: float  # centre, in pixels of the picture
    y: float
    size: float  # the longer side of its box
    score: float


def find(image: Image.Image, least: float = 0.5) -> list[Face]:
    """Best first; the picture is looked at with its longer side at about 640 pixels."""
    w, h = (max(32, round(s * 640 / max(image.size) / 32) * 32) for s in image.size)
    x = pictures.nchw(image.resize((w, h), Image.BILINEAR))[None]
    heat, scale, offset, _ = ort.session("centerface_dyn").run(None, {"input.1": x})
    heat, scale, offset = heat[0, 0], np.exp(scale[0]) * 4, offset[0]
    found = []
    for r, c in sorted(np.argwhere(heat > least), key=lambda at: -heat[tuple(at)]):
        face = Face((c + offset[1, r, c] + 0.5) * 4 * image.width / w,
                    (r + offset[0, r, c] + 0.5) * 4 * image.height / h,
                    max(scale[1, r, c] * image.width / w, scale[0, r, c] * image.height / h),
                    float(heat[r, c]))
        if all(np.hypot(face.x - f.x, face.y - f.y) > 0.5 * f.size for f in found):
            found.append(face)
    return found


def crop(image: Image.Image, face: Face, widen: float, dx: float = 0, dy: float = 0) -> Image.Image:
    """A square around a face, moved by (dx, dy) parts of its size."""
    half, x, y = face.size * widen / 2, face.x + dx * face.size, face.y + dy * face.size
    box = (round(x - half), round(y - half), round(x + half), round(y + half))
    return image.crop(box)
