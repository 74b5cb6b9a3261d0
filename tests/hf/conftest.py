"""One run for all tests of exports."""

import pytest

from contracts.hub import trained


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("runs"))
