"""The models whose bias is measured: each has its settings, and learns a problem with several seeds."""

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ldhd import seeds
from ldhd.bias.embedding import embedding_matrices
from ldhd.bias.mlp import MLPs
from ldhd.bias.problem import Problem
from ldhd.bias.references import check_columns, kernel_limit, on_cube
from ldhd.bias.training import train
from ldhd.bias.transformer import AttentionKind, Transformers
from ldhd.boolean import GrpeBasis, PlaaBasis, min_degree_interpolator
from ldhd.boolean.cube import Points
from ldhd.experiments.parts import explain, position_terms
from ldhd.model import ModelConfig
from ldhd.names import lookup_only
from ldhd.theory.ape import train_ape
from ldhd.theory.claims_features import SQUARE_V
from ldhd.theory.feature_kernel import LINEAR, RELU, SHIFTED_SINE
from ldhd.theory.grpe import grpe_rates, train_grpe
from ldhd.theory.plaa import plaa
from ldhd.theory.random_features import RandomFeatures as SampledFeatures
from ldhd.theory.random_features import minimum_norm, sample_features

Floats = NDArray[np.float64]
Learned = Iterator[tuple[int, Floats]]
"""Steps of training so far, and what each seed has learned by then: the values on the cube, (S, 2^N)."""

ACTIVATIONS = {activation.name: activation for activation in (RELU, SHIFTED_SINE, LINEAR)}

CONVERGED = 23.0
"""exp(-23) is 1e-10: so much of the slowest parameter of GRPE is left at the end of training."""


class Model(BaseModel):
    """The settings of a model."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @abstractmethod
    def learn(self, problem: Problem, chosen: Sequence[int]) -> Learned:
        """Train on a problem with these seeds; ValueError if the model does not apply to it."""


class RandomFeatures(Model):
    """The RFM, or with a projection the RFMP (Definition 4), trained to its limit; width None is infinite width."""

    width: int | None = Field(default=4096, ge=1, le=10**6)
    activation: Literal["relu", "sin(1+x)", "1+x"] = "relu"
    projection: str | None = None

    def learn(self, problem: Problem, chosen: Sequence[int]) -> Learned:
        activation = ACTIVATIONS[self.activation]
        V = None if self.projection is None else parse_projection(self.projection, problem.dimension)
        if self.width is None:
            limit = kernel_limit(problem, activation, V)
            yield 0, np.repeat(limit[None], len(chosen), axis=0)
            return
        square = np.eye(problem.dimension) if V is None else V
        learned = []
        for seed in chosen:
            generator = np.random.default_rng(seeds.derive(seed, "bias", "features"))
            features = sample_features(activation, square, self.width, generator)
            weights = minimum_norm(features, problem.points, problem.labels)
            learned.append(on_cube(partial(_mix, features, weights), problem.dimension))
        yield 0, np.array(learned)


class MultiLayerPerceptron(Model):
    """ReLU layers, trained by Adam."""

    width: int = Field(default=128, ge=1, le=10**5)
    layers: int = Field(default=2, ge=1, le=100)
    steps: int = Field(default=500, ge=1)
    rate: float = Field(default=1e-3, gt=0)

    def learn(self, problem: Problem, chosen: Sequence[int]) -> Learned:
        networks = MLPs(problem.dimension, self.width, self.layers, chosen)
        return train(networks, problem, chosen, self.steps, self.rate)


class Ape(Model):
    """PLAA with APE (Definition 6), by gradient descent from P^T P = alpha I; all seeds are alike."""

    alpha: float = Field(default=1e-6, gt=0)

    def learn(self, problem: Problem, chosen: Sequence[int]) -> Learned:
        basis = PlaaBasis(problem.dimension)
        target = np.zeros((problem.dimension, problem.dimension))
        for (i, j), value in _on_subcube(problem, basis).items():
            target[i - 1, j - 1] = value
        found = train_ape(target, problem.scale, self.alpha)
        yield found.steps, _repeated(found.attention, problem, chosen)


class Grpe(Model):
    """PLAA with GRPE (Definition 7) for the U_k of an embedding, by gradient descent from 0; all seeds are alike."""

    position: str = "rpe"

    def learn(self, problem: Problem, chosen: Sequence[int]) -> Learned:
        U = embedding_matrices(self.position, problem.dimension)
        basis = GrpeBasis(U)
        coefficients = _on_subcube(problem, basis)
        target = np.array([coefficients[k] for k in range(1, len(U) + 1)])
        rates = grpe_rates(U, problem.scale)
        moving = rates[rates > 0]
        steps = int(CONVERGED * moving.max() / moving.min()) + 1 if len(moving) else 1
        path = train_grpe(U, target, problem.scale, 1 / moving.max() if len(moving) else 1.0, steps)
        for step in sorted({max(1, steps >> k) for k in range(8)}):
            yield step, _repeated(np.tensordot(path[step], U, axes=1), problem, chosen)


class Transformer(Model):
    """A GPT that reads the word of a point, trained by Adam; with `attention` linear there is no softmax."""

    position: str = "rpe"
    attention: AttentionKind = "softmax"
    reading: Literal["word", "whole"] | None = None
    """By default the word x_1 .. x_n(x) where N0 < N, otherwise the whole of x."""
    layers: int = Field(default=1, ge=1, le=100)
    heads: int = Field(default=4, ge=1)
    width: int = Field(default=32, ge=1, le=10**4)
    steps: int = Field(default=500, ge=1)
    rate: float = Field(default=4e-3, gt=0)

    def learn(self, problem: Problem, chosen: Sequence[int]) -> Learned:
        position_terms(self.position)
        config = ModelConfig(layers=self.layers, heads=self.heads, dimension=self.width)
        reading = self.reading or ("word" if problem.has_blanks else "whole")
        models = Transformers(problem.dimension, config, self.position, {}, self.attention, reading, chosen)
        return train(models, problem, chosen, self.steps, self.rate)


MODELS: dict[str, Model] = {
    "rf": RandomFeatures(),
    "rfmp": RandomFeatures(projection="square"),
    "mlp": MultiLayerPerceptron(),
    "plaa-ape": Ape(),
    "plaa-rpe": Grpe(),
    "plaa-rpe-square": Grpe(position="rpe-square"),
    "transformer-absolute": Transformer(position="absolute"),
    "transformer-rpe": Transformer(),
    "transformer-rpe-square": Transformer(position="rpe-square"),
    "transformer-rpe-2": Transformer(layers=2),
    "linear-rpe": Transformer(attention="linear"),
}
"""The models of the study. More are named `transformer-POSITION`, `linear-POSITION` and `plaa-POSITION`."""


def make_model(name: str, settings: Mapping[str, Any] | None = None) -> Model:
    """Return the model of this name with other settings; a ValueError names what is wrong."""
    found = MODELS.get(name)
    if found is None and (match := re.fullmatch(r"(transformer|linear|plaa)-(.+)", name)):
        kind, position = match.groups()
        position_terms(position)
        attention: AttentionKind = "linear" if kind == "linear" else "softmax"
        found = Grpe(position=position) if kind == "plaa" else Transformer(position=position, attention=attention)
    if found is None:
        found = lookup_only(name, MODELS, "model", " or transformer-POSITION, linear-POSITION, plaa-POSITION")
    unknown = sorted((settings or {}).keys() - type(found).model_fields)
    if unknown:
        allowed = ", ".join(sorted(type(found).model_fields))
        raise ValueError(f"{name} has no setting {unknown[0]!r}; its settings are {allowed}")
    try:
        return type(found)(**{**found.model_dump(), **(settings or {})})
    except ValidationError as error:
        raise ValueError(explain(error, f"{name}: ")) from None


def parse_projection(text: str, dimension: int) -> Floats:
    """Return V: `square` mixes variables three by three, otherwise columns such as `0.8,0.6;0.6,-0.8`.

    Columns are scaled to length one; whether they are orthogonal is checked where V is used.
    """
    if text == "square":
        V = np.eye(dimension)
        for start in range(0, dimension - 2, 3):
            V[start : start + 3, start : start + 3] = SQUARE_V
        return V
    try:
        columns = [[float(number) for number in column.split(",")] for column in text.split(";")]
    except ValueError:
        raise ValueError(f"a projection is `square` or columns such as 0.8,0.6;0.6,-0.8, got {text!r}") from None
    for column in columns:
        if len(column) != dimension or not np.all(np.isfinite(column)) or not any(column):
            raise ValueError(f"each column of a projection has N = {dimension} numbers, not all 0, got {column}")
    V = np.array(columns).T
    return check_columns(V / np.linalg.norm(V, axis=0), dimension)


def _mix(features: SampledFeatures, weights: Floats, points: Points) -> Floats:
    return features(points) @ weights


def _on_subcube(problem: Problem, basis: PlaaBasis | GrpeBasis) -> Mapping[Any, float]:
    """Return coefficients of the concept on X_N0; ValueError if PLAA cannot take its values or sees other points."""
    if not problem.whole:
        raise ValueError("PLAA is trained on all of X_N0; leave out the choice of points, samples and priming")
    try:
        return min_degree_interpolator(problem.points, problem.labels, basis)
    except ValueError as error:
        raise ValueError(f"{problem.name} is outside the span of PLAA on X_{problem.scale}: {error}") from None


def _repeated(attention: Floats, problem: Problem, chosen: Sequence[int]) -> Floats:
    values = on_cube(lambda points: plaa(points, attention), problem.dimension)
    return np.repeat(values[None], len(chosen), axis=0)
