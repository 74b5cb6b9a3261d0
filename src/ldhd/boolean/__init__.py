"""Functions on {-1, 1}^N: Fourier expansions, bases, degree profiles and min-degree interpolators.

Needs numpy only and imports nothing else of ldhd. Values are indexed with bit k = (1 - x_{k+1}) / 2, Fourier keys are
rising tuples of 1-based indices, points are rows of -1 and 1.
"""

from ldhd.boolean.cube import cube_points, point_indices, scale, subcube_points
from ldhd.boolean.function import BooleanFunction
from ldhd.boolean.transform import fourier, inverse_fourier, walsh_hadamard

__all__ = [
    "BooleanFunction",
    "cube_points",
    "fourier",
    "inverse_fourier",
    "point_indices",
    "scale",
    "subcube_points",
    "walsh_hadamard",
]
