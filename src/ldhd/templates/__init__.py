"""What `ldhd new` writes: a task or an embedding to start from, and its test. Both run as they are."""

import importlib.util
import keyword
import re
from pathlib import Path

from ldhd.files import write_bytes
from ldhd.names import lookup_only

KINDS = {
    "task": "a task, with a latent space, a concept and a format",
    "position": "a position embedding, with a term of the logits and its relation",
}


def write_new(kind: str, name: str, folder: Path) -> tuple[list[Path], str]:
    """Write the module of a new task or position and its test; return both paths and the class as `module:NAME`.

    `name` is written in any of the usual ways: `my-task`, `my_task` or `MyTask`. Nothing is overwritten.
    """
    lookup_only(kind, KINDS, "kind")
    words = _words(name)
    module, title = "_".join(words), "".join(word.capitalize() for word in words)
    paths = [folder / f"{module}.py", folder / f"test_{module}.py"]
    for path in paths:
        if path.exists():
            raise ValueError(f"{path} exists already; choose another name")
    if importlib.util.find_spec(module) is not None:
        raise ValueError(f"there is a module {module} already, which Python would import instead; choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    for path, template in zip(paths, (f"my_{kind}.py", f"test_my_{kind}.py"), strict=True):
        text = Path(__file__).with_name(template).read_text(encoding="utf-8")
        own = {f"my_{kind}": module, f"my-{kind}": "-".join(words), f"My{kind.capitalize()}": title}
        own[f"My {kind}"] = " ".join(words).capitalize()
        pattern = "|".join(map(re.escape, own))
        write_bytes(path, re.sub(pattern, lambda found, own=own: own[found[0]], text).encode())  # type: ignore[misc]
    return paths, f"{module}:{title}"


def _words(name: str) -> list[str]:
    """Return the words of a name in small letters; ValueError if no module can have it."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().replace("_", "-").split("-")
    module = "_".join(words)
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", module) or len(module) > 60:
        raise ValueError(f"a name has letters, digits and '-' and begins with a letter, such as my-task, got {name!r}")
    if keyword.iskeyword(module):
        raise ValueError(f"{module!r} means something in Python; choose another name")
    return words
