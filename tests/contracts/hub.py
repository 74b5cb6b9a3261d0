"""Runs small enough to export in a test."""

import pytest

pytest.importorskip("transformers", minversion="5")

import ldhd

SETTINGS = {
    "model.dimension": 32,
    "train.batch_size": 32,
    "train.samples": 2000,
    "train.learning_rate": 0.005,
    "train.evaluate_every": 1000,
    "test_instances": 20,
}


def trained(out, position="rpe-square", steps=150, **settings):
    """The folder of a run that is right now and then: copy, trained on scales 1-3 for a second."""
    config = ldhd.make_config(
        "copy",
        position,
        model="small",
        steps=steps,
        train_scales=(1, 2, 3),
        test_scales=(1, 3, 5),
        settings={**SETTINGS, **settings},
    )
    ldhd.run(config, out)
    return out / config.hash
