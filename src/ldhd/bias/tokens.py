"""The answer tokens of a task as functions on a cube, with the references that a model is compared with.

On the cube of words (`WordCube`) every answer token is a function of the word. On the cube of steps the last answer
token is a function of all tokens before it, right or wrong: those of a word of n symbols and of the answer so far.
"""

from collections.abc import Hashable, Sequence
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray

from ldhd.bias.parts import Part, TableBasis, fourier_reference, solved
from ldhd.bias.words import CHUNK, Floats, WordCube, answer_symbols, codes, expected_codes, next_tokens
from ldhd.boolean import BooleanFunction
from ldhd.model import GPT
from ldhd.positions import Position
from ldhd.tasks import Task

LARGEST_STEP = 16
"""Variables of a cube of steps."""


def word_parts(cube: WordCube, train_scale: int, primed: Sequence[int], position: Position) -> list[Part]:
    """Return a part for each answer token, trained on X_N0 and the primed points.

    Its references are the min-degree interpolators in the Fourier basis and in that of the embedding, and the answer to
    the last N0 symbols of the word, `suffix`.
    """
    seen = train_scale * cube.width
    rows = np.array([*range(2**seen), *sorted(primed)])
    shifted = np.arange(2**cube.dimension) >> cube.width * np.maximum(cube.lengths - train_scale, 0)
    missing, by_embedding = {}, None
    try:
        by_embedding = embedding_reference(cube, position, rows)
    except ValueError as error:
        missing["embedding"] = str(error)
    parts = []
    for token in range(cube.answers.shape[1]):
        concept = codes(cube.answers[:, token], cube.width)
        asked = (cube.answer_lengths >= token) & (cube.lengths > 0)
        references = {"suffix": codes(cube.answers[shifted, token], cube.width).astype(np.float64)}
        own = dict(missing)
        try:
            references["fourier"] = fourier_reference(concept, rows)
        except ValueError as error:
            own["fourier"] = str(error)
        if by_embedding is not None:
            references["embedding"] = by_embedding[token]
        parts.append(Part(f"token {token + 1}", concept, rows, asked, seen, references, own))
    return parts


def attention_values(cube: WordCube, position: Position) -> Floats:
    """Return the set of position-only attention to the word: (size, tokens, 2^D).

    A class of the embedding's relation holds pairs of a query, the token before an answer token, and a key, a symbol of
    the word. For each class and each bit, the set has the sum of the bits of the symbols in that class, a function of
    the answer token and the word: all answer tokens share its coefficient. For words of bits and the first answer
    token it is that of PLAA with GRPE (`GrpeBasis`), up to the norms of the U_k.
    """
    tokens = cube.answers.shape[1]
    classes: dict[Hashable, list[tuple[int, int, int]]] = {}
    for token, n in product(range(tokens), range(1, cube.scale + 1)):
        text = ["b", *"0" * n, "=", *"0" * token]
        for i in range(1, n + 1):
            classes.setdefault(position.relation(text, n + 1 + token, i), []).append((token, i, n))
    bits = codes(cube.symbols, cube.width)
    by_length = [cube.lengths == n for n in range(cube.scale + 1)]
    values = np.zeros((len(classes), cube.width, tokens, 2**cube.dimension))
    for own, pairs in zip(values, classes.values(), strict=True):
        for token, i, n in pairs:
            own[:, token] += bits[:, :, i - 1] * by_length[n]
    return values.reshape(-1, tokens, 2**cube.dimension)


def embedding_reference(cube: WordCube, position: Position, rows: NDArray[np.int64]) -> Floats:
    """Return the interpolator of all answer tokens in the set of position-only attention: (tokens, width, 2^D).

    It takes the symbols of the answers to the words trained on; `e` and what follows are not interpolated, and the
    interpolator has the value of the blank there. The degree of an element is its largest over the answer tokens.
    """
    values = attention_values(cube, position)
    size, tokens, points = values.shape
    more = (tokens - 1).bit_length()  # variables that name the answer token and count for no degree
    wide = np.zeros((size, 2**more, points))
    wide[:, :tokens] = values
    degrees = [max(BooleanFunction(row).degree for row in element) for element in values]
    basis = TableBasis(wide.reshape(size, -1), degrees)
    written = cube.answer_lengths[None, :] > np.arange(tokens)[:, None]
    trained = np.concatenate([token * points + rows[written[token, rows]] for token in range(tokens)])
    found = np.ones((tokens, cube.width, points))
    for bit, symbols in enumerate(codes(cube.answers.T, cube.width).astype(np.float64)):
        labels = np.zeros((2**more, points))
        labels[:tokens] = symbols
        solution = solved(labels.reshape(-1), trained, basis).reshape(-1, points)[:tokens]
        found[:, bit] = np.where(written, solution, 1.0)
    return found


class StepCube:
    """All strings of a word of n symbols and an answer up to its last symbol, whether that answer is right or not."""

    def __init__(self, task: Task, base: int, scale: int) -> None:
        self.task, self.base, self.scale = task, base, scale
        self.width = base.bit_length() - 1
        right = [task.instance(word) for word in product(range(base), repeat=scale)]
        answers = [answer_symbols(instance, base) for instance in right]
        if len({len(answer) for answer in answers}) != 1 or not answers[0]:
            raise ValueError(f"the answers of {task.name} at scale {scale} are not equally long")
        self.before = len(answers[0]) - 1
        self.dimension = (scale + self.before) * self.width
        if self.dimension > LARGEST_STEP:
            raise ValueError(f"all strings of scale {scale} take {self.dimension} variables, at most {LARGEST_STEP}")
        places = self.width * np.arange(scale + self.before)
        self.symbols: NDArray[np.int64] = np.arange(2**self.dimension)[:, None] >> places & (base - 1)
        powers = base ** np.arange(scale + self.before)
        strings = [[*instance.latent, *answer[:-1]] for instance, answer in zip(right, answers, strict=True)]
        self.rows: NDArray[np.int64] = np.sort(np.array(strings) @ powers)
        self.by_word = {instance.latent: answer[-1] for instance, answer in zip(right, answers, strict=True)}
        self.by_needs, self.places = self._rule()

    def _rule(self) -> tuple[dict[tuple[int, ...], int], list[int]]:
        """The last answer symbol by the contents of the tokens it needs, and where these are among the symbols."""
        found: dict[tuple[int, ...], int] = {}
        places: list[int] = []
        for word, last in self.by_word.items():
            instance = self.task.instance(word)
            needed = self.task.needs(instance)[self.before].values()
            own = sorted(index for index in needed if index is not None)
            if places and own != places:
                raise ValueError(f"what {self.task.name} needs depends on the symbols, not on places alone")
            places = own
            if found.setdefault(tuple(int(instance.text[index]) for index in own), last) != last:
                raise ValueError(f"the needs of {self.task.name} do not determine its answer")
        return found, [index - 1 - (index > self.scale) for index in places]

    def part(self, trained: bool) -> Part:
        """Return the last answer symbol as a function of what it needs, and as one of the word alone."""
        words = map(tuple, self.symbols[:, : self.scale].tolist())
        contents = map(tuple, self.symbols[:, self.places].tolist())
        concept = codes(np.array([self.by_needs[content] for content in contents]), self.width)
        answer = codes(np.array([self.by_word[word] for word in words]), self.width)
        everywhere = np.ones(2**self.dimension, bool)
        references, missing = {"answer": answer.astype(np.float64)}, {}
        try:
            references["fourier"] = fourier_reference(concept, self.rows)
        except ValueError as error:
            missing["fourier"] = str(error)
        return Part(f"scale {self.scale}", concept, self.rows, everywhere, None, references, missing, trained)

    def evaluate(self, model: GPT) -> Floats:
        """Return the values at the last answer token: (width, 2^D)."""
        begin, equals = self.task.vocabulary.encode("b=")
        symbols = torch.as_tensor(self.symbols)
        found = []
        for start in range(0, len(symbols), CHUNK):
            own = symbols[start : start + CHUNK]
            frame = [torch.full((len(own), 1), token) for token in (begin, equals)]
            inputs = torch.cat([frame[0], own[:, : self.scale], frame[1], own[:, self.scale :]], dim=1)
            found.append(expected_codes(next_tokens(model, inputs)[:, -1], self.base))
        return np.concatenate(found, axis=1)
