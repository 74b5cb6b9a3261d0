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
from ldhd.theory.feature_kernel import Activation, Floats

# J_k is a difference of kernel values: below this multiple of the largest nothing but rounding error may be left.
ROUNDING = 1e-14


def feature_spectrum(activation: Activation, dimension: int, variables: int | None = None) -> Floats:
    """(J_0, .., J_N) of the RFM in N variables, or of its kernel restricted to the cube of the first few `variables`.

    k(x, y) is a function of the number d of coordinates in which x and y disagree. A factor x_i halves the difference
    between agreeing and disagreeing at i; the other coordinates are averaged: with n variables,
    J_k = E over m ~ Bin(n - k, 1/2) of the k-th halved difference at m. The absolute error is about 1e-16 of the
    largest value, and what is less than 1e-14 of it, which J_k is at high degrees, is given as 0.
    """
    count = (dimension if variables is None else variables) + 1
    variance = np.full(count, (dimension + 1) / dimension)
    by_distance = activation.mean_product(variance, variance, (dimension + 1 - 2 * np.arange(count)) / dimension)
    result, differences = np.empty(count), by_distance
    for degree in range(count):
        rest = count - 1 - degree
        weights = np.array([comb(rest, m) / 2**rest for m in range(rest + 1)])
        result[degree] = weights @ differences
        differences = (differences[:-1] - differences[1:]) / 2
    return np.where(result > ROUNDING * np.max(np.abs(by_distance)), result, 0.0)


def decay_slope(activation: Activation, degree: int, dimension: int) -> float:
    """log2 of J_k(2N) / J_k(N): the power of N with which J_k decays.

    Strongly expressive up to degree P (Abbe et al., arXiv 2301.13105) asks J_k = Omega(N^-k), slope >= -k, for k <= P.
    """
    small, large = (feature_spectrum(activation, n)[degree] for n in (dimension, 2 * dimension))
    return log2(large / small)


def retained_share(activation: Activation, degree: int, dimension: int, scale: int) -> float:
    """f^(S) / g^(S) = J_{|S|} / sum over u of C(N - N0, u) J_{|S|+u}: what the min-degree coefficient keeps, |S| = k.

    The sum is computed as the coefficient of the kernel on the N0-cube: its terms would drown in rounding error.
    """
    total = feature_spectrum(activation, dimension, scale)[degree]
    return float(feature_spectrum(activation, dimension)[degree] / total)


def closed_form(activation: Activation, values: Any, dimension: int) -> BooleanFunction:
    """The infinite-width RFM in N variables trained on these 2^N0 values of X_{N0}, on the whole cube."""
    coefficients = fourier(np.asarray(values, np.float64))
    scale = len(coefficients).bit_length() - 1
    check_memory(4 * 2**dimension, f"a function of {dimension} variables")
    within, outside = subset_sizes(scale).astype(int), subset_sizes(dimension - scale).astype(int)
    shares = coefficients / feature_spectrum(activation, dimension, scale)[within]
    # S is the low bits of the index of S + U, U the high ones.
    sizes = outside[:, None] + within
    return BooleanFunction(inverse_fourier((feature_spectrum(activation, dimension)[sizes] * shares).reshape(-1)))
