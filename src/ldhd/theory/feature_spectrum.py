"""The plain random feature model in the Fourier basis: J_k, and the infinite-width solution at finite N in closed form.

For V = I the kernel depends on the number d of coordinates where x and y disagree. Its Fourier coefficients are

    J_k = E[phi^(T)^2] for |T| = k,    k(x, y) = sum over T of J_|T| chi_T(x) chi_T(y),

and on X_{N0}, where the characters S + U for all U outside [N0] are one and the same, they add up to the coefficients
of the kernel on the N0-cube. Training on g there gives each of these characters its share:

    f^(S + U) = g^(S) J_{|S|+|U|} / sum over u of C(N - N0, u) J_{|S|+u}.

The min-degree interpolator would leave all of g^(S) at U = {}. Since J_{k+1} / J_k is about 1/N for a strongly
expressive activation, it is reached as N grows with N - N0 fixed; at fixed N0 the share that stays tends to less
than 1.
"""

from math import comb, log2
from typing import Any

import numpy as np

from ldhd.boolean import BooleanFunction, fourier, inverse_fourier
from ldhd.boolean.function import subset_sizes
from ldhd.boolean.memory import check_memory
from ldhd.theory.activations import Activation, Floats
from ldhd.theory.plaa import check_training_scale

# J_k is a difference of kernel values: below this multiple of the largest nothing but rounding error may be left.
ROUNDING = 1e-14


def kernel_by_distance(activation: Activation, dimension: int, largest: int | None = None) -> Floats:
    """[d] = k(x, y) for x, y in {-1, 1}^N that disagree in d coordinates, d = 0 .. N (or `largest`)."""
    if dimension < 1:
        raise ValueError(f"the dimension N is a whole number from 1 up, got {dimension!r}")
    count = (dimension if largest is None else largest) + 1
    variance = np.full(count, (dimension + 1) / dimension)
    covariance = (dimension + 1 - 2 * np.arange(count)) / dimension
    return activation.mean_product(variance, variance, covariance)


def spectrum(by_distance: Floats) -> Floats:
    """The Fourier coefficients (J_0, .., J_n) of a function of the number of disagreeing coordinates of the n-cube.

    A factor x_i halves the difference between agreeing and disagreeing at i; the other coordinates are averaged:
    J_k = E over m ~ Bin(n - k, 1/2) of the k-th halved difference at m. The absolute error is about 1e-16 of the
    largest value, and what is less than 1e-14 of it, which J_k is at high degrees, is given as 0.
    """
    differences = np.asarray(by_distance, np.float64)
    result = np.empty(len(differences))
    for degree in range(len(result)):
        rest = len(result) - 1 - degree
        weights = np.array([comb(rest, m) / 2**rest for m in range(rest + 1)])
        result[degree] = weights @ differences
        differences = (differences[:-1] - differences[1:]) / 2
    return np.where(result > ROUNDING * np.max(np.abs(by_distance)), result, 0.0)


def feature_spectrum(activation: Activation, dimension: int) -> Floats:
    """(J_0, .., J_N) of the RFM in N variables."""
    return spectrum(kernel_by_distance(activation, dimension))


def decay_slope(activation: Activation, degree: int, dimension: int = 256) -> float:
    """log2 of J_k(2N) / J_k(N): the power of N with which J_k decays.

    Strongly expressive up to degree P (Abbe et al., arXiv 2301.13105) asks J_k = Omega(N^-k), slope >= -k, for k <= P.
    """
    small, large = (_entry(activation, degree, n) for n in (dimension, 2 * dimension))
    if not large:
        raise ValueError(f"J_{degree} of {activation.name} at N = {2 * dimension} is below rounding: no slope")
    return log2(large / small)


def retained_share(activation: Activation, degree: int, dimension: int, scale: int) -> float:
    """f^(S) / g^(S) = J_{|S|} / sum over u of C(N - N0, u) J_{|S|+u}: what the min-degree coefficient keeps, |S| = k.

    The sum is computed as the coefficient of the kernel on the N0-cube: its terms would drown in rounding error.
    """
    check_training_scale(dimension, scale)
    if not 0 <= degree <= scale:
        raise ValueError(f"S lies within [N0], so its size is 0 .. N0 = {scale}, got {degree}")
    total = spectrum(kernel_by_distance(activation, dimension, scale))[degree]
    return _entry(activation, degree, dimension) / _nonzero(total, activation, degree)


def closed_form(activation: Activation, values: Any, dimension: int) -> BooleanFunction:
    """The infinite-width RFM in N variables trained on these 2^N0 values of X_{N0}, on the whole cube."""
    coefficients = fourier(np.asarray(values, np.float64))
    scale = len(coefficients).bit_length() - 1
    check_training_scale(dimension, scale)
    check_memory(4 * 2**dimension, f"a function of {dimension} variables")
    J = feature_spectrum(activation, dimension)
    totals = spectrum(kernel_by_distance(activation, dimension, scale))
    within, outside = subset_sizes(scale).astype(int), subset_sizes(dimension - scale).astype(int)
    shares = np.zeros(len(coefficients))
    for index in np.flatnonzero(np.abs(coefficients) > ROUNDING * np.max(np.abs(coefficients))):
        shares[index] = coefficients[index] / _nonzero(totals[within[index]], activation, int(within[index]))
    # S is the low bits of the index of S + U, U the high ones.
    return BooleanFunction(inverse_fourier((J[outside[:, None] + within] * shares).reshape(-1)))


def _entry(activation: Activation, degree: int, dimension: int) -> float:
    """J_k alone."""
    if not 0 <= degree <= dimension:
        raise ValueError(f"J_k exists for k = 0 .. N = {dimension}, got k = {degree}")
    return float(feature_spectrum(activation, dimension)[degree])


def _nonzero(total: float, activation: Activation, degree: int) -> float:
    if not total:
        raise ValueError(f"{activation.name} features have no degree {degree}: they cannot take these values")
    return float(total)
