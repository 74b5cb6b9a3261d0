"""The figure of how the time of attention grows with the length of the string."""

from ldhd.bench import Case
from ldhd.report.bench import growth_figure

VARIANTS = ["rpe-square", *(f"rpe-square {name}" for name in ("w=2", "w=3", "w=3 separate", "unclipped", "w=3 hard"))]


def test_every_variant_of_an_embedding_has_a_line_style_of_its_own():
    measured = [
        Case(f"{name}, forward", f"n={n}", n / 8, (1, 1), "rpe", "growth", n) for name in VARIANTS for n in (8, 16)
    ]
    (panel,) = growth_figure(measured).panels
    assert panel.marks[-1].label == "RPE-Square w=3 hard"
    assert len({line.style.dash for line in panel.marks}) == len(VARIANTS)
