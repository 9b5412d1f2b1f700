"""The bounded memory: stretches never overlap, come back, and join."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from seer_core.engine.key_pool import Extent, KeyPool
from tests.unit.engine.stage import SIZES


def pool(places: int = 20) -> KeyPool:
    return KeyPool(SIZES, places, torch.zeros(1))


def test_the_sink_is_nobodys_and_holds_numbers() -> None:
    extent = pool().take(20)
    assert extent == Extent(1, 20)
    places = pool()
    assert not any(part[0].any() for part in (*places.keys, *places.values))


def test_what_does_not_fit_now_is_not_given() -> None:
    places = pool()
    held = places.take(15)
    assert held is not None
    assert places.take(6) is None
    places.give_back(held)
    assert places.take(20) is not None


def test_the_smallest_stretch_that_holds_it_is_cut() -> None:
    places = pool()
    taken = [places.take(size) for size in (8, 3, 4)]
    for extent in (taken[0], taken[2]):  # the last joins the rest behind it
        assert extent is not None
        places.give_back(extent)
    assert places.take(7) == Extent(1, 7)


def test_keys_and_values_are_found_where_they_were_put() -> None:
    places = pool()
    before = places.keys[0].clone()
    keys, values = torch.randn(3, SIZES.kv_heads, SIZES.head_size), torch.randn(3, SIZES.kv_heads, SIZES.head_size)
    places.write(1, torch.tensor([4, 2, 9]), keys, values)
    assert torch.equal(places.keys[1][[4, 2, 9]], keys)
    assert torch.equal(places.values[1][[4, 2, 9]], values)
    assert torch.equal(places.keys[0].nan_to_num(), before.nan_to_num())


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 12)), max_size=60))
def test_no_two_rows_share_a_place_and_none_is_lost(moves: list[tuple[bool, int]]) -> None:
    places, held = pool(40), list[Extent]()
    for returns, size in moves:
        if returns and held:
            places.give_back(held.pop(size % len(held)))
        elif (extent := places.take(size)) is not None:
            held.append(extent)
        taken = [place for each in held for place in range(each.start, each.start + each.places)]
        assert len(set(taken)) == len(taken)
        assert not taken or (min(taken) >= 1 and max(taken) <= 40)
        assert places.free_places == 40 - len(taken)
    for extent in held:
        places.give_back(extent)
    assert places.take(40) == Extent(1, 40)
