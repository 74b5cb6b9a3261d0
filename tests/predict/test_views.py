"""What a head can know."""

from ldhd.positions import LatentWindow, Position
from ldhd.predict.analysis import Head
from ldhd.predict.views import views


def names(position):
    return [str(Head(view, ())) for view in views(position, "b+=")]


def test_a_head_of_a_latent_window_is_of_one_kind_and_chooses_its_anchors():
    anchors = ["b + =", "b =", "b +", "b"]
    assert names(LatentWindow(4, 2)) == [f"LatentWindow from {kept}" for kept in anchors]
    both = [f"LatentWindow from {kept}{kind}" for kind in ("", ", of the key") for kept in anchors]
    assert names(LatentWindow(4, 2, absolute=True)) == both


def test_heads_that_count_from_the_start_have_nothing_to_choose():
    position = LatentWindow(4, 2, absolute="start")
    *rest, last = views(position, "b+=")
    assert len(rest) == 4
    (part,) = last
    assert part.name == "LatentWindow from the start"
    (row,) = part.classes("b7+12=", [5], training=False)[0]
    assert row == ["outside", -1, "outside", "outside", "outside", "outside"]


def test_a_head_may_count_from_the_end_of_a_number():
    position = LatentWindow(4, 4, ends=True, absolute="start", segments=3)
    *rest, last = views(position, "b=")
    assert [part.name for (part,) in rest] == [
        f"LatentWindow from {kept}{kind}" for kind in ("", " from the end") for kept in ("b =", "b")
    ]
    (row,) = rest[2][0].classes("b12=", [3], training=False)[0]
    assert row == ["outside", "outside", (-1, 1), "outside"]
    (row,) = last[0].classes("b12=", [3], training=False)[0]
    assert row == ["outside", -1, "outside", "outside"]


def test_an_embedding_of_a_user_needs_to_say_nothing():
    """Its relation is enough: a head may use the whole of it, the key's half of a pair, or nothing."""

    class Distance(Position):
        def relation(self, tokens, j, i):
            return j - i

    class Pair(Position):
        def relation(self, tokens, j, i):
            return j, i

    assert names(Distance(4, 2)) == ["Distance", "content alone"]
    assert names(Pair(4, 2)) == ["Pair", "Pair of the key", "content alone"]
    options = {"max_distance": 3, "other": 1}
    assert Pair.equivalent_settings(Pair.relation_settings(options), 2) == options
