"""Position coupling: tokens of the same significance share a position."""

from ldhd.positions.digit_places import DigitPlaces, Ids


class Coupled(DigitPlaces):
    """x_i + p_{s + id(i)}, where id counts 1, 2, ... along each run of digits and is 0 for other tokens.

    Numbers are written from the same end, so that digits of one significance have one id. In training the start s of a
    sequence is a random number from 0 to `max_offset`, for its delimiters too, which is the difference from Abacus: no
    id tells by itself what is a delimiter. At test time s is 0. As in its authors' data (HanseulJo/position-coupling,
    src/data/addition.py), every sequence has a start of its own and a test has the first one.
    Cho et al., Position Coupling: Improving Length Generalization of Arithmetic Transformers Using Task Structure,
    2024.
    """

    name = "coupled"
    title = "Position coupling"
    color = "#882255"

    @staticmethod
    def raised(ids: Ids, offset: Ids) -> Ids:
        return ids + offset
