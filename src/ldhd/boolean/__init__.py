"""Functions on {-1, 1}^N: Fourier expansions, bases, degree profiles and min-degree interpolators.

Needs numpy only and imports nothing else of ldhd. Values are indexed with bit k = (1 - x_{k+1}) / 2, Fourier keys are
rising tuples of 1-based indices, points are rows of -1 and 1.
"""

from ldhd.boolean.basis import Basis, Expansion, FourierBasis
from ldhd.boolean.cube import cube_points, point_indices, scale, subcube_points
from ldhd.boolean.encoding import Encoding
from ldhd.boolean.function import BooleanFunction
from ldhd.boolean.interpolator import degree_profile, expand, min_degree_interpolator
from ldhd.boolean.plaa import GrpeBasis, PlaaBasis, rpe_matrices
from ldhd.boolean.projection import ProjectionBasis
from ldhd.boolean.transform import fourier, inverse_fourier, walsh_hadamard

__all__ = ["Basis", "BooleanFunction", "Encoding", "Expansion", "FourierBasis", "GrpeBasis", "PlaaBasis"]
__all__ += ["ProjectionBasis", "cube_points", "degree_profile", "expand", "fourier", "inverse_fourier"]
__all__ += ["min_degree_interpolator", "point_indices", "rpe_matrices", "scale", "subcube_points", "walsh_hadamard"]
