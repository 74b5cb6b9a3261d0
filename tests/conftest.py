"""Shapes are checked in tests: every jaxtyping annotation of these packages is enforced by beartype.

Nothing is downloaded in them.
"""

import os

from jaxtyping import install_import_hook

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

install_import_hook(["ldhd.positions", "ldhd.model", "ldhd.train", "ldhd.evaluate"], "beartype.beartype")

import pytest  # noqa: E402
import torch  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("ldhd", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("ldhd")


def pytest_collection_modifyitems(items):
    """Start with the slow tests, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path_factory, monkeypatch):
    """What is remembered in a test stays in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def _one_thread_and_fixed_seed():
    torch.set_num_threads(1)
    torch.manual_seed(0)
