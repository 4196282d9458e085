"""Layouts against formulas computed here, and plans against facts of the hardware."""

import itertools
import json

import numpy as np
import pytest
import tilewright as tw

BLOCKED = "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>"


def blocked(register: int, lane: int, warp: int) -> dict[str, int]:
    """The element of BLOCKED, by the definition of a blocked layout."""
    return {
        "dim0": register // 4 + 2 * (lane // 8) + 8 * (warp // 2),
        "dim1": register % 4 + 4 * (lane % 8) + 32 * (warp % 2),
    }


def test_a_family_has_the_elements_of_its_definition() -> None:
    layout = tw.layout(BLOCKED, (16, 64))
    for register, lane, warp in itertools.product(range(8), range(32), range(4)):
        assert layout.apply(register=register, lane=lane, warp=warp) == blocked(register, lane, warp)
    assert dict(layout.in_dims) == {"register": 8, "lane": 32, "warp": 4, "block": 1}
    assert layout["lane"] == layout.bases["lane"] and len(layout) == 4


def test_indices_may_be_arrays() -> None:
    layout = tw.layout(BLOCKED, (16, 64))
    lanes = np.arange(32)
    result = layout(register=3, lane=lanes)
    assert [int(value) for value in result["dim1"]] == [blocked(3, lane, 0)["dim1"] for lane in lanes]
    table = layout.table()
    assert table.shape == (1, 4, 32, 8, 2)
    assert dict(zip(layout.out_dims, table[0, 2, 9, 5].tolist())) == blocked(5, 9, 2)


def test_operations_have_both_names_and_keep_their_laws() -> None:
    lanes = tw.LinearLayout.identity1D(4, "lane", "dim0")
    registers = tw.LinearLayout.strided_1d(8, 1, "register", "dim1")
    both = lanes * registers
    assert both.apply(lane=2, register=3) == {"dim0": 2, "dim1": 3}
    assert both.flattenIns().in_dims == {"lane": 32}
    assert both.transpose_outs(["dim1", "dim0"]).reshape_outs({"dim0": 32}).out_dims == {"dim0": 32}
    assert both.invert().compose(both) == tw.LinearLayout.identity1D(4, "dim0", "dim0") * tw.LinearLayout.identity1D(
        8, "dim1", "dim1"
    )
    rows, columns = tw.layout(BLOCKED, (16, 64)), tw.layout(BLOCKED.replace("[1, 0]", "[0, 1]"), (16, 64))
    assert rows.invertAndCompose(columns).compose(columns) == rows
    assert rows.is_invertible and rows.operation("rank") == 10
    swizzle = tw.LinearLayout({"offset": [[0, 1], [0, 2], [1, 0], [2, 2]]}, ["dim0", "dim1"])
    assert swizzle.apply(offset=8) == {"dim0": 2, "dim1": 2}
    assert tw.LinearLayout.from_json(json.dumps(swizzle.to_json())) == swizzle


def test_errors_say_what_was_expected() -> None:
    with pytest.raises(tw.InputError, match="no input dim 'lanes'; it has register, lane"):
        tw.layout(BLOCKED, (16, 64)).apply(lanes=1)
    with pytest.raises(tw.InputError, match="expected 0 to 31"):
        tw.layout(BLOCKED, (16, 64)).apply(lane=32)
    with pytest.raises(tw.InputError, match="h1000"):
        tw.target("h1000")
    with pytest.raises(tw.InputError):
        tw.layout("#ttg.blocked<{sizePerThread = [1,", (8, 8))


def test_bank_conflicts_are_those_of_the_hardware() -> None:
    lanes = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>"
    shared = "#ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"
    # 32 lanes of 16 bytes, one row of 128 bytes each: without a swizzle eight lanes of a phase use the same four banks.
    assert tw.bank_conflicts(lanes, shared.format(8), (32, 64), 16) == 0
    assert tw.bank_conflicts(lanes, shared.format(1), (32, 64), 16) > 0
    plain = tw.access(lanes, (32, 64), 16, "h100", memory=tw.layout(shared.format(1), (32, 64)))
    swizzled = tw.access(lanes, (32, 64), 16, "h100", memory=shared.format(8))
    assert plain["load"]["wavefronts_loaded"] == 8 * swizzled["load"]["wavefronts_loaded"]


def test_plans_and_pictures_show_in_a_notebook() -> None:
    rows, columns = tw.layout(BLOCKED, (16, 64)), tw.layout(BLOCKED.replace("[1, 0]", "[0, 1]"), (16, 64))
    plan = tw.convert(rows, columns, (16, 64), 32, "h100")
    assert (
        plan["wavefronts_loaded"] >= plan["bound"]["wavefronts_loaded"]
        and "<table>" in plan._repr_html_()
        and repr(plan).startswith("Plan(")
    )
    svg = rows._repr_svg_()
    assert svg is not None and svg.startswith("<svg") and "</svg>" in svg
    assert "</html>" in rows.picture("html") and "lane" in rows._repr_html_()


def test_cute_layouts_compose() -> None:
    assert tw.cute("composition", "(4,8):(8,1)", "8:2") == "(2,4):(16,1)"
