"""A small decoder-only transformer with random weights and a key-value cache, in numpy."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exporter.demo import vocabulary

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_WEIGHTS_SEED = 20_260_101
_WEIGHT_SCALE = 0.08
# Random weights would end one answer in a hundred tokens; with this it is one in some four hundred.
_END_BIAS = -1.5


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of the model; the default has 1.38 million parameters, 0.52 of them positions."""

    vocabulary: int = vocabulary.SIZE
    width: int = 128
    layers: int = 4
    heads: int = 4
    context: int = 4096
    """The most tokens, prompt and answer together, that one sequence can have."""

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.width // self.heads


class KvCache:
    """Keys and values of several sequences, one a row; memory is touched only as it fills."""

    def __init__(self, shape: Shape, *, rows: int, length: int) -> None:
        size = (shape.layers, rows, shape.heads, length, shape.head_width)
        self.keys: Floats = np.zeros(size, np.float32)
        self.values: Floats = np.zeros(size, np.float32)

    def copy_row(self, row: int, source: "KvCache", source_row: int, length: int) -> None:
        """Make the first ``length`` positions of ``row`` those of the source's row."""
        self.keys[:, row, :, :length] = source.keys[:, source_row, :, :length]
        self.values[:, row, :, :length] = source.values[:, source_row, :, :length]


@dataclass(frozen=True, slots=True)
class _Block:
    qkv: Floats
    out: Floats
    up: Floats
    down: Floats


class Transformer:
    """Pre-norm multi-head attention with learned positions, always the same random weights."""

    def __init__(self, shape: Shape | None = None) -> None:
        self.shape = shape or Shape()
        rng = np.random.default_rng(_WEIGHTS_SEED)

        def draw(rows: int, columns: int) -> Floats:
            return rng.standard_normal((rows, columns), np.float32) * np.float32(_WEIGHT_SCALE)

        width = self.shape.width
        self._embedding = draw(self.shape.vocabulary, width)
        self._positions = draw(self.shape.context, width)
        self._head = draw(width, self.shape.vocabulary)
        self._blocks = [
            _Block(draw(width, 3 * width), draw(width, width), draw(width, 4 * width), draw(4 * width, width))
            for _ in range(self.shape.layers)
        ]

    @property
    def parameters(self) -> int:
        """How many weights there are."""
        blocks = sum(b.qkv.size + b.out.size + b.up.size + b.down.size for b in self._blocks)
        return blocks + self._embedding.size + self._positions.size + self._head.size

    def forward(self, tokens: Ints, cache: KvCache, starts: Ints) -> Floats:
        """Run ``tokens`` (rows, steps) through the model and return the states (rows, steps, width).

        Row r holds the tokens at positions ``starts[r]`` onward of the sequence in row r of the cache,
        which gets their keys and values.  One row of many steps is prefill, many rows of one step decode.
        """
        rows, steps = tokens.shape
        at = starts[:, None] + np.arange(steps)
        x = self._embedding[tokens] + self._positions[at]
        reach = int(at.max()) + 1
        future = np.arange(reach) > at[:, None, :, None]
        mask = np.where(future, np.float32(-np.inf), np.float32(0))
        row = np.arange(rows)[:, None]
        for block, layer_keys, layer_values in zip(self._blocks, cache.keys, cache.values, strict=True):
            qkv = (_norm(x) @ block.qkv).reshape(rows, steps, 3, self.shape.heads, self.shape.head_width)
            layer_keys[row, :, at] = qkv[:, :, 1]
            layer_values[row, :, at] = qkv[:, :, 2]
            attended = _attend(
                qkv[:, :, 0].transpose(0, 2, 1, 3),
                layer_keys[:rows, :, :reach],
                layer_values[:rows, :, :reach],
                mask,
            )
            x = x + attended.transpose(0, 2, 1, 3).reshape(rows, steps, self.shape.width) @ block.out
            x = x + np.maximum(_norm(x) @ block.up, 0) @ block.down
        return _norm(x)

    def logits(self, states: Floats) -> Floats:
        """Return the scores of the next token (rows, vocabulary) for states (rows, width)."""
        scores: Floats = states @ self._head
        scores[:, vocabulary.END] += np.float32(_END_BIAS)
        return scores


def _norm(x: Floats) -> Floats:
    centred = x - x.mean(-1, keepdims=True)
    scaled: Floats = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5))
    return scaled


def _attend(queries: Floats, keys: Floats, values: Floats, mask: Floats) -> Floats:
    """Scaled dot-product attention; all but the mask (rows, 1, steps, reach) have the heads second."""
    scores = queries @ keys.transpose(0, 1, 3, 2) * np.float32(queries.shape[-1] ** -0.5) + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    attended: Floats = weights @ values
    return attended
