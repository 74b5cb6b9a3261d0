"""A verdict in one sentence, in the terms of attention."""

from ldhd.predict.fitting import HEADS
from ldhd.predict.prediction import Prediction, Witness


def reason(found: Prediction) -> str:
    """Return the verdict in one sentence that says where attention succeeds or goes wrong."""
    slots = " and ".join(f"`{slot.slot}`" for slot in found.slots if slot.witness is None) or "no other token"
    if found.verdict == "generalises":
        return f"Each answer token finds {slots} at relations that training has taught, and at no other token."
    if found.verdict == "undecided":
        return f"On sampled strings each answer token finds {slots}, but strings of other shapes may differ."
    witness = found.witness
    assert witness is not None
    if found.verdict == "does not fit":
        means = f"{HEADS} heads" if found.layers == 1 else "two layers"
        told = f"and {means} cannot tell the tokens of all training strings apart one by one"
        return f"No attention score finds `{witness.slot}` in all training strings, {told}."
    return _failure(found, witness)


def _failure(found: Prediction, witness: Witness) -> str:
    step = witness.constraints[0]
    if witness.kind == "uncovered":
        return (
            f"At scale {step.scale} the answer needs `{witness.slot}` at a relation, or with a content, at which "
            "training never needed it."
        )
    if witness.kind == "conflict":
        where = "training strings" if not found.explains_training else f"strings up to scale {step.scale}"
        return (
            f"The relation that finds `{witness.slot}` in one string leads to another token in the next: no attention "
            f"score is right for all {where}, so what fits does not extend."
        )
    if witness.kind == "unseen":
        return (
            f"From scale {step.scale} on the query for `{witness.slot}` also sees tokens at relations that no training "
            f"string contains, and their untrained scores take attention away."
        )
    return (
        f"From scale {step.scale} on so many more tokens than in training share the attention of the query for "
        f"`{witness.slot}` that not every token of so long an answer stays right."
    )
