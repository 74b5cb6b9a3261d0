"""Trained models that come with the package: one run of the record for each task, by the name of the task."""

from pathlib import Path

import ldhd

MODELS_PATH = Path(ldhd.__file__).parent / "models"


def packaged() -> list[str]:
    """Return the names of the tasks that have a trained model."""
    return sorted(path.name for path in MODELS_PATH.iterdir() if (path / "model.safetensors").exists())


def run_path(run: Path) -> Path:
    """Return the folder of a run; a task's name stands for the trained model that comes with the package."""
    name = str(run)
    return MODELS_PATH / name if not run.exists() and name in packaged() else run
