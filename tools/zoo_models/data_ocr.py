"""Inputs of the models that read text in pictures: screenshots, scanned pages, captchas."""
import functools

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from . import ort, pictures
from .data import SAMPLES

TEXT_PICTURES = (("scikit-image", "skimage/data/page.png"), ("scikit-image", "skimage/data/text.png"),
                 ("face-api", "package/demo/screenshot-images.png"),
                 ("face-api", "package/demo/screenshot-webcam.png"))
LINE_WIDTH = 320  # pixels: the width to which PP-OCR pads a short line


def _screens():
    """The text pictures at a size where PP-OCR reads them: small scans twice as large."""
    for source in TEXT_PICTURES:
        image = pictures.load(*source)
        k = 2 if max(image.size) < 600 else 1
        yield image.resize((image.width * k, image.height * k), Image.BICUBIC)


def _normalised(image):
    return pictures.nchw(image, None, 127.5, 127.5)


def _padded(image, multiple=32):
    """White at the right and below, up to a multiple."""
    w, h = (-(-s // multiple) * multiple for s in image.size)
    out = Image.new("RGB", (w, h), "white")
    out.paste(image, (0, 0))
    return out


def _regions(mask):
    """Boxes (left, top, right, bottom) of the connected regions of a bitmap, by runs in each row."""
    parent, boxes, above = [], [], []

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for y, row in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        runs = []
        for left, right in zip(edges[::2], edges[1::2]):
            i = len(parent)
            parent.append(i)
            boxes.append([left, y, right, y + 1])
            for other_left, other_right, j in above:
                if left < other_right and other_left < right:
                    a, b = sorted((root(i), root(j)))
                    parent[b] = a
            runs.append((left, right, i))
        above = runs
    merged = {}
    for i, (left, top, right, bottom) in enumerate(boxes):
        box = merged.setdefault(root(i), [left, top, right, bottom])
        box[:] = [min(box[0], left), min(box[1], top), max(box[2], right), max(box[3], bottom)]
    return list(merged.values())


@functools.lru_cache(None)
def lines() -> list[Image.Image]:
    """Text lines as PP-OCRv4's detector finds them, box grown as its post-processing does."""
    found = []
    for screen in _screens():
        heat = ort.session("ppocrv4_det").run(None, {"x": _normalised(_padded(screen))[None]})[0]
        for left, top, right, bottom in sorted(_regions(heat[0, 0] > 0.3), key=lambda b: (b[1], b[0])):
            w, h = right - left, bottom - top
            if h < 5 or w < 12 or heat[0, 0, top:bottom, left:right].mean() < 0.4:
                continue
            grow = w * h * 1.6 / (2 * (w + h))
            box = (max(0, left - grow), max(0, top - grow), min(screen.width, right + grow),
                   min(screen.height, bottom + grow))
            found.append(screen.crop(tuple(round(v) for v in box)))
    return found


def _line_views(height, width):
    """Real lines at a height; what is wider than `width` gives several pieces, and each line is seen
    again a few pixels further on until there are enough."""
    views, shift = [], 0
    while len(views) < SAMPLES:
        for line in lines():
            scaled = line.resize((max(8, round(line.width * height / line.height)), height),
                                 Image.BICUBIC)
            for x in range(shift, max(1, scaled.width - width // 4), width * 3 // 4):
                if shift == 0 or scaled.width - x >= width // 2:
                    views.append(scaled.crop((x, 0, min(x + width, scaled.width), height)))
        shift += height
    return views[:SAMPLES]


def _recognition():
    """Height 48, padded with zeros (after normalisation) to the right, as PP-OCR does."""
    out = np.zeros((SAMPLES, 3, 48, LINE_WIDTH), np.float32)
    for row, view in zip(out, _line_views(48, LINE_WIDTH)):
        row[:, :, :view.width] = _normalised(view)
    return {"x": out}


def _orientation():
    """Every other line upside down: label 0 is upright, 1 is turned by 180 degrees."""
    out, label = np.zeros((SAMPLES, 3, 48, 192), np.float32), np.arange(SAMPLES) % 2
    for row, view, turned in zip(out, _line_views(48, 192), label):
        row[:, :, :view.width] = _normalised(view.rotate(180) if turned else view)
    return {"x": out, "label": label.astype(np.int64)}


def _detection():
    """Pieces of 640 x 480, each with some text on it."""
    pieces = []
    for screen in _screens():
        page = Image.new("RGB", (max(640, screen.width), max(480, screen.height)), "white")
        page.paste(screen, (0, 0))
        for y in range(0, page.height - 479, 240):
            for x in range(0, page.width - 639, 120):
                pieces.append(page.crop((x, y, x + 640, y + 480)))
    return {"x": np.stack([_normalised(p) for p in pieces[:32]])}


LETTERS = "23456789abcdefghkmnpqrstuvwxyz"


def captcha(rng, width=192, height=64) -> tuple[Image.Image, str]:
    text = "".join(rng.choice(list(LETTERS), rng.integers(4, 6)))
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=42)  # comes with Pillow
    x = 14
    for letter in text:
        draw.text((x, int(rng.integers(2, 12))), letter, font=font, fill=tuple(rng.integers(0, 110, 3)))
        x += round(draw.textlength(letter, font)) + 6
    for _ in range(3):
        ends = [(0, int(rng.integers(height))), (width, int(rng.integers(height)))]
        draw.line(ends, fill=tuple(rng.integers(120, 200, 3)))
    return image, text


def captchas(count=SAMPLES):
    rng = np.random.default_rng(0)
    return [captcha(rng) for _ in range(count)]


def _captcha_grey():
    grey = [np.asarray(image.convert("L"), np.float32)[None] / 255 for image, _ in captchas()]
    return {"input1": np.stack(grey)}


def _captcha_boxes():
    """YOLOX's letter box: 416 x 416, the rest 114, BGR 0..255."""
    rng, out = np.random.default_rng(1), np.full((32, 3, 416, 416), 114, np.float32)
    for row in out:
        picture, _ = captcha(rng, 416, int(rng.integers(180, 300)))
        row[:, :picture.height] = pictures.nchw(picture)[::-1]
    return {"images": out}


def arrays(name):
    return {
        "ppocrv4_det": _detection,
        "ppocrv4_rec": _recognition,
        "ppocrv2_cls": _orientation,
        "ddddocr_common": _captcha_grey,
        "ddddocr_common_old": _captcha_grey,
        "ddddocr_det": _captcha_boxes,
    }[name]()
