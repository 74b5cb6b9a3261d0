"""The package as it is installed elsewhere: its wheel, its metadata, and what belongs to a release."""

import json
import re
import runpy
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import ldhd

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
release = runpy.run_path(str(ROOT / "scripts/release.py"))


def test_versions_agree():
    citation, changes = (ROOT / "CITATION.cff").read_text(), (ROOT / "CHANGELOG.md").read_text()
    assert PROJECT["version"] == ldhd.__version__
    assert f"\nversion: {ldhd.__version__}\n" in citation
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == ldhd.__version__


def test_the_promised_pythons_are_those_from_the_oldest_on():
    named = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", text) for text in PROJECT["classifiers"]]
    minors = [int(found[1]) for found in named if found]
    assert PROJECT["requires-python"] == f">=3.{minors[0]}"
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert sys.version_info.minor in minors


def test_every_extra_that_an_error_names_exists():
    named = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"pip install -e '\.\[([\w-]+)\]'", path.read_text())
    }
    assert named
    assert named <= PROJECT["optional-dependencies"].keys()
    assert PROJECT["optional-dependencies"].keys() >= {"tensorboard", "wandb", "trackio"}


def test_links_of_a_release_lead_to_its_files():
    text = "![A](results/a.png) and [B](docs/b.md#c), [D](https://d.org), [E](#e)"
    expected = "![A](https://h/v1/results/a.png) and [B](https://h/v1/docs/b.md#c), [D](https://d.org), [E](#e)"
    assert release["with_absolute_links"](text, "https://h/v1/") == expected
    readme = (ROOT / "README.md").read_text()
    assert "](results/" not in release["with_absolute_links"](readme, "https://h/v1")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A virtual environment with the wheel, whose other packages are those of this one; it does not see the source."""
    folder = tmp_path_factory.mktemp("elsewhere")
    release["copy_source"](folder)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder / "wheel", folder], check=True)
    (wheel,) = (folder / "wheel").glob("ldhd-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    subprocess.run([*pip, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True)
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")  # their own .pth files are not read
    (folder / "empty").mkdir()
    return folder


def called(folder, *arguments):
    """What `ldhd` of the wheel prints, called in an empty folder."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [folder / "venv/bin/ldhd", *arguments],
        cwd=folder / "empty",
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.slow
def test_the_wheel_works_outside_the_repository(elsewhere):
    assert called(elsewhere, "--version") == f"ldhd {ldhd.__version__}\n"
    shown = json.loads(called(elsewhere, "show", "copy", "b314159=", "--json"))  # with a packaged model
    assert (shown["output"], shown["correct"]) == ("314159e", True)
    assert "stored results are in the repository of ldhd" in " ".join(called(elsewhere, "reproduce", "--list").split())
    assert list((elsewhere / "empty").iterdir()) == []


@pytest.mark.slow
def test_the_wheel_holds_what_the_package_needs(elsewhere):
    (site,) = (elsewhere / "venv/lib").glob("python*/site-packages")
    for path in (ROOT / "src/ldhd").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert (site / path.relative_to(ROOT / "src")).is_file(), f"the wheel lacks {path.relative_to(ROOT)}"
    metadata = next(site.glob("ldhd-*.dist-info")).joinpath("METADATA").read_text()
    assert "Project-URL: Paper, https://arxiv.org/abs/2410.08898" in metadata
    assert "License-Expression: MIT" in metadata
