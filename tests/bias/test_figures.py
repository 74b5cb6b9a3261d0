"""The figures of measured biases: what is drawn, and that it can be read."""

from pathlib import Path

import numpy as np
import pytest

from ldhd.bias.cells import read_cells
from ldhd.bias.task_cells import read_task_cells
from ldhd.bias.task_summary import groups
from ldhd.report.figures.bias import GREY, bias_map, figures, training_path
from ldhd.report.figures.bias_task import figures as task_figures
from ldhd.report.figures.marks import Band, HeatMap, Line, Text

RESULTS = Path(__file__).parents[2] / "results/bias"
STUDY = read_cells(RESULTS)


def luminance(rgb):
    """The relative luminance of WCAG 2."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def rgb(color):
    return np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def color_of(heat, value):
    colors = np.array([rgb(color) for color in heat.colors])
    place = np.clip((value - heat.low) / (heat.high - heat.low), 0, 1) * (len(colors) - 1)
    return np.array([np.interp(place, range(len(colors)), channel) for channel in colors.T])


@pytest.mark.parametrize("panel", bias_map(STUDY).panels, ids=["means", "closest"])
def test_texts_stand_out_from_their_cells(panel):
    (heat,) = (mark for mark in panel.marks if isinstance(mark, HeatMap))
    texts = [mark for mark in panel.marks if isinstance(mark, Text) and mark.color != GREY]
    assert len(texts) == sum(value is not None for line in heat.values for value in line)
    for text in texts:
        cell = luminance(color_of(heat, heat.values[int(text.y)][int(text.x)]))
        low, high = sorted([cell, luminance(rgb(text.color))])
        assert (high + 0.05) / (low + 0.05) > 4


def test_concepts_on_different_cubes_make_no_curve():
    """Curves over N or width join the cells of one model on one concept, of which the study has one each."""
    assert {row["N"] for row in STUDY} == {6, 8}
    assert figures(STUDY).keys() == {"map"}


def test_one_model_on_several_cubes_does():
    cell = next(row for row in STUDY if row["model"] == "mlp" and row["N"] == 8)
    assert figures([cell, {**cell, "N": 9}]).keys() == {"N"}


def test_training_shows_the_profile_and_the_range_of_the_leakage():
    moment = {"step": 1, "training_error": 1.0, "leakage": 0.2, "leakages": [0.1, 0.3], "profile": [0.0, 0.9, 0.1]}
    moments = [{**moment, "distances": {"fourier": 1.0}}, {**moment, "step": 2, "distances": {"fourier": 0.5}}]
    cell = next(row for row in STUDY if row["model"] == "mlp")
    _, panel = training_path({**cell, "path": moments}).panels
    lines = {mark.label: list(mark.y) for mark in panel.marks if isinstance(mark, Line)}
    assert lines["degree 1"] == [0.9, 0.9]
    assert "degree 0" not in lines
    (band,) = (mark for mark in panel.marks if isinstance(mark, Band))
    assert (list(band.low), list(band.high)) == ([0.1, 0.1], [0.3, 0.3])


def test_answer_tokens_are_drawn_with_every_seed():
    rows = read_task_cells(RESULTS)
    group = next(group for group in groups(rows) if group.rows[0]["cube"] == "words")
    same = group.rows
    assert len(same) >= 3
    panel = task_figures([group])["tasks"].panels[0]
    drawn = [list(mark.y) for mark in panel.marks if isinstance(mark, Line) and not mark.label]
    for row in same:
        values = [part["compared"]["suffix"]["agreement"] for part in row["path"][-1]["parts"]]
        assert values in drawn
    means = next(list(mark.y) for mark in panel.marks if isinstance(mark, Line) and mark.label == "as suffix")
    assert np.allclose(means, np.mean(drawn[-len(same) :], axis=0))


def test_embeddings_have_their_titles():
    """Embeddings are called as papers write them, as references and as cases alike."""
    means, _ = bias_map(STUDY).panels
    assert {"RPE", "RPE-Square", "fourier"} <= {label.replace("\n", "") for label in means.x.tick_labels}
    panels = [panel for panel in task_figures(groups(read_task_cells(RESULTS)))["tasks"].panels if panel]
    words = [panel.title for panel in panels] + [
        mark.label for panel in panels for mark in panel.marks if isinstance(mark, Line)
    ]
    assert {"copy, RPE-Square", "token 5 of copy, NoPE", "RPE", "parity, RPE"} <= set(words)
