"""Completion of names in the shell, which `ldhd --install-completion` sets up."""


def task_names(incomplete: str) -> list[str]:
    """Return the tasks whose names begin so."""
    from ldhd.tasks import ALL_TASKS

    return [name for name in ALL_TASKS if name.startswith(incomplete)]


def position_names(incomplete: str) -> list[str]:
    """Complete the last of some embeddings that are joined by `,` or `+`."""
    from ldhd.positions import POSITIONS

    start = max(incomplete.rfind(","), incomplete.rfind("+")) + 1
    return [incomplete[:start] + name for name in POSITIONS if name.startswith(incomplete[start:])]


def preset_names(incomplete: str) -> list[str]:
    """Return the presets whose names begin so."""
    from ldhd.experiments.presets import PRESETS

    return [name for name in (*PRESETS, "all") if name.startswith(incomplete)]
