"""Maintainers only: teach the English encoder our scenarios' language. Needs ``jax`` (CPU), which the product does not.

    python ops/fit_encoder.py FOLDER OUT [--keep 0.5] [--epochs 5] [--hold-out FILE]

FOLDER holds ``model.safetensors`` and ``vocab.txt`` of all-MiniLM-L6-v2 (32-bit). The six layers are trained to tell the
topics of every scenario's ``phrasings.toml`` apart (examples only, never tests), then blended with the checkpoint they
started from (``--keep`` is the start's share), so that scenarios written later lose nothing. OUT receives a checkpoint
for ``ops/pack_encoder.py``. ``--hold-out`` names a file with messages, one a line as JSON strings, that are left out: so
that the gain can be cross-validated.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "platform"), str(ROOT / "ops")]

from pack_encoder import LAYERS, read_safetensors  # noqa: E402

from scenarios.kit.phrasings import is_chinese, load_phrasings  # noqa: E402
from stakeholders.matcher.fitted import examples_of  # noqa: E402
from stakeholders.matcher.wordpiece import WordPiece  # noqa: E402

HEADS, WIDTH = 12, 384
LENGTH, BATCH = 40, 32  #: tokens a message, messages a step
RATE, DECAY, SHARPNESS = 5e-5, 0.01, 20.0

Tensors = dict[str, Any]


def messages(held_out: set[str]) -> list[tuple[str, str]]:
    """(message, scenario:class) of every English example of every scenario; what belongs to no topic is one class each."""
    found = []
    for file in sorted((ROOT / "scenarios").glob("*/phrasings.toml")):
        for message, name in examples_of(load_phrasings(file)):
            if not is_chinese(message) and message not in held_out:
                found.append((message, f"{file.parent.name}:{name}" if "/" in name else name))
    return found


def forward(layers: Tensors, fixed: Tensors, tokens: Any, mask: Any) -> Any:
    """(messages, 384) unit vectors; ``tokens`` and ``mask`` are (messages, LENGTH)."""
    states = fixed["embeddings.word_embeddings.weight"][tokens]
    states += fixed["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    states += fixed["embeddings.token_type_embeddings.weight"][0]
    states = _normal(states, fixed, "embeddings.LayerNorm")
    count, length, _ = states.shape
    blind = (1 - mask)[:, None, None, :] * -1e9
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            _dense(states, layers, f"{name}.attention.self.{part}")
            .reshape(count, length, HEADS, WIDTH // HEADS)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        weights = jax.nn.softmax(query @ key.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS) + blind)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(count, length, WIDTH)
        mixed = _dense(mixed, layers, f"{name}.attention.output.dense")
        states = _normal(states + mixed, layers, f"{name}.attention.output.LayerNorm")
        inner = jax.nn.gelu(_dense(states, layers, f"{name}.intermediate.dense"), approximate=False)
        states = _normal(states + _dense(inner, layers, f"{name}.output.dense"), layers, f"{name}.output.LayerNorm")
    pooled = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return pooled / jnp.linalg.norm(pooled, axis=1, keepdims=True)


def _dense(states: Any, tensors: Tensors, name: str) -> Any:
    return states @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def _normal(states: Any, tensors: Tensors, name: str) -> Any:
    centred = states - states.mean(-1, keepdims=True)
    spread = jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return centred * spread * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def train(tensors: Tensors, vocabulary: Path, examples: list[tuple[str, str]], epochs: int) -> Tensors:
    """The layers after training; the embedding table stays as it is. Seeded: the same input gives the same weights."""
    pieces = {piece: row for row, piece in enumerate(vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n"))}
    tokens, mask = _tokens(WordPiece(pieces), [message for message, _ in examples])
    classes = sorted({name for _, name in examples})
    labels = np.array([classes.index(name) for _, name in examples])
    fixed = {name: jnp.asarray(value) for name, value in tensors.items() if name.startswith("embeddings.")}
    layers = {name: jnp.asarray(value) for name, value in tensors.items() if name.startswith("encoder.")}
    encode = jax.jit(forward)
    start = np.concatenate(
        [
            np.asarray(encode(layers, fixed, tokens[at : at + BATCH], mask[at : at + BATCH]))
            for at in range(0, len(tokens), BATCH)
        ]
    )
    centres = np.stack([start[labels == place].mean(axis=0) for place in range(len(classes))])
    centres -= centres.mean(axis=0)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    model = {"layers": layers, "head": jnp.asarray(centres.T * 0.5), "offset": jnp.zeros(len(classes))}
    moments = (jax.tree.map(jnp.zeros_like, model), jax.tree.map(jnp.zeros_like, model))
    steps = epochs * (len(examples) // BATCH)

    def loss(model: Any, tokens: Any, mask: Any, labels: Any) -> Any:
        logits = forward(model["layers"], fixed, tokens, mask) @ model["head"] * SHARPNESS + model["offset"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()

    @jax.jit
    def step(model: Any, moments: Any, at: Any, tokens: Any, mask: Any, labels: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(model, tokens, mask, labels)
        first = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, moments[0], slope)
        second = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new * new, moments[1], slope)
        warm = jnp.minimum(1.0, (at + 1) / (steps / 10))
        rate = RATE * warm * 0.5 * (1 + jnp.cos(jnp.pi * at / steps))
        model = jax.tree.map(
            lambda old, one, two: old
            - rate * (one / (1 - 0.9 ** (at + 1)) / (jnp.sqrt(two / (1 - 0.999 ** (at + 1))) + 1e-8) + DECAY * old),
            model, first, second,
        )  # fmt: skip
        return model, (first, second), value

    generator, at = np.random.default_rng(0), 0
    for epoch in range(epochs):
        order, losses, began = generator.permutation(len(examples)), [], time.monotonic()
        for begin in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[begin : begin + BATCH]
            model, moments, value = step(model, moments, at, tokens[rows], mask[rows], labels[rows])
            losses.append(float(value))
            at += 1
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s", flush=True)
    return {name: np.asarray(value) for name, value in model["layers"].items()}


def _tokens(pieces: WordPiece, texts: list[str]) -> tuple[Any, Any]:
    tokens, mask = np.zeros((len(texts), LENGTH), np.int32), np.zeros((len(texts), LENGTH), np.float32)
    for row, text in enumerate(texts):
        encoded = [pieces.start, *pieces.encode(text)[: LENGTH - 2], pieces.end]
        tokens[row, : len(encoded)], mask[row, : len(encoded)] = encoded, 1
    return tokens, mask


def write_safetensors(path: Path, tensors: Tensors) -> None:
    header, offset = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    head = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value, dtype=np.float32).tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--keep", type=float, default=0.5, help="share of the checkpoint started from, 0 to 1")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--hold-out", type=Path)
    options = parser.parse_args()
    held_out = {json.loads(line) for line in options.hold_out.read_text().splitlines()} if options.hold_out else set()
    tensors: Tensors = dict(read_safetensors(options.folder / "model.safetensors"))
    trained = train(tensors, options.folder / "vocab.txt", messages(held_out), options.epochs)
    for name, value in trained.items():
        tensors[name] = (options.keep * tensors[name] + (1 - options.keep) * value).astype(np.float32)
    options.out.mkdir(parents=True, exist_ok=True)
    write_safetensors(options.out / "model.safetensors", tensors)
    shutil.copyfile(options.folder / "vocab.txt", options.out / "vocab.txt")


if __name__ == "__main__":
    main()
