"""The ledger's entries on the framework: formats, learning and degree profiles, each computed when called."""

from collections.abc import Callable

from ldhd.theory.claims_formats import abstraction_1, appendix_d_needs, appendix_d_sampler, example_1, example_2
from ldhd.theory.claims_learning import definition_1, remark_priming, section_3_linear_class, section_5_1_cot, theorem_1
from ldhd.theory.claims_profiles import appendix_a_fourier, definition_2, definition_3
from ldhd.theory.finding import Finding

CLAIMS: dict[str, Callable[[], Finding]] = {
    "abstraction-1": abstraction_1,
    "example-1": example_1,
    "example-2": example_2,
    "definition-1": definition_1,
    "theorem-1": theorem_1,
    "section-3-linear-class": section_3_linear_class,
    "remark-priming": remark_priming,
    "definition-2": definition_2,
    "definition-3": definition_3,
    "section-5.1-cot": section_5_1_cot,
    "appendix-a-fourier": appendix_a_fourier,
    "appendix-d-needs": appendix_d_needs,
    "appendix-d-sampler": appendix_d_sampler,
}
