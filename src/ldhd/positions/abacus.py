"""Abacus: digits know their place, and delimiters stay where they are."""

from ldhd.positions.digit_places import DigitPlaces, Ids


class Abacus(DigitPlaces):
    """x_i + p_{id(i)}, where id counts 1, 2, ... along each run of digits and is 0 for other tokens.

    In training all ids of a sequence but the zeros are raised by one random number from 0 to `max_offset`, so that
    the ids of longer numbers are trained too; at test time they start at 1. Its authors draw one number for a batch
    (`offset_for`) of up to 99 (mcleish7/arithmetic, abacus.py).
    McLeish et al., Transformers Can Do Arithmetic with the Right Embeddings, 2024.
    """

    name = "abacus"
    title = "Abacus"
    color = "#CC79A7"

    @staticmethod
    def raised(ids: Ids, offset: Ids) -> Ids:
        return ids + offset * (ids > 0)
