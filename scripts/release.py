"""Build the sdist and the wheel of a release: `python scripts/release.py https://HOST/OWNER/ldhd/raw/v0.1.0`.

The links and pictures of the README are relative, and lead nowhere on a package index. In the built packages they lead
to the address that is given, where the files of the released commit are found.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
PARTS = ("pyproject.toml", "README.md", "LICENSE", "src")


def with_absolute_links(text: str, address: str) -> str:
    """Return a page of markdown whose relative links lead to files below an address."""
    return LINK.sub(lambda link: f"]({address.rstrip('/')}/{link[1]})", text)


def copy_source(folder: Path) -> None:
    """Copy what a package is built from, so that nothing is left in the source tree."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / name)


def build(address: str, out: Path) -> None:
    """Write the sdist and the wheel into a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_source(folder)
        readme = folder / "README.md"
        readme.write_text(with_absolute_links(readme.read_text(), address))
        subprocess.run([sys.executable, "-m", "build", "--outdir", out.resolve(), folder], check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].startswith("https://"):
        sys.exit("usage: python scripts/release.py https://HOST/OWNER/ldhd/raw/vVERSION")
    build(sys.argv[1], ROOT / "dist")
