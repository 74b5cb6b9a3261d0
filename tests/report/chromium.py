"""What the tests of pages share: Debian's Chromium, and how to wait for a page."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium")


def wait_for(page, truth):
    """Until something holds on the page, whose own rules forbid playwright's way of waiting."""
    for _ in range(200):
        if page.evaluate(truth):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never on the page: {truth}")
