"""Compilation and runs of programs in Triton IR."""

import numpy as np
import pytest
import tilewright as tw

COPY = """tt.func @copy(%from: !tt.ptr<f32>, %to: !tt.ptr<f32>, %count: i32, %factor: f32) {
  %block = arith.constant 128 : i32
  %program = tt.get_program_id x : i32
  %start = arith.muli %program, %block : i32
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %starts = tt.splat %start : i32 -> tensor<128xi32>
  %at = arith.addi %starts, %i : tensor<128xi32>
  %most = tt.splat %count : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %at, %most : tensor<128xi32>
  %from0 = tt.splat %from : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %from1 = tt.addptr %from0, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %x = tt.load %from1, %inside : tensor<128x!tt.ptr<f32>>
  %factors = tt.splat %factor : f32 -> tensor<128xf32>
  %y = arith.mulf %x, %factors : tensor<128xf32>
  %to0 = tt.splat %to : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %to1 = tt.addptr %to0, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %to1, %y, %inside : tensor<128x!tt.ptr<f32>>
  tt.return
}"""


@pytest.mark.parametrize("target", ["h100", "mi300x", "max1550"])
def test_a_run_changes_the_arrays(target: str) -> None:
    kernel = tw.compile(COPY, target)
    assert kernel.lanes == tw.target(target).lanes and kernel.parameters[2][1] == "i32"
    x = np.arange(300, dtype=np.float32)
    out = np.full(300, -1, np.float32)
    run = kernel.run(3, x, out, 290, 0.5)
    np.testing.assert_array_equal(out[:290], x[:290] / 2)
    assert (out[290:] == -1).all() and run.counts["sectors_stored"] >= 290 * 4 // 128


def test_views_of_one_array_alias() -> None:
    memory = np.arange(256, dtype=np.float32)
    expected = memory.copy()
    expected[100:200] = expected[0:100] * 2
    tw.run(COPY, "h100", 1, memory, memory[100:], 100, 2.0)
    np.testing.assert_array_equal(memory, expected)


def test_an_access_out_of_bounds_is_a_fault() -> None:
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    with pytest.raises(tw.Fault) as caught:
        tw.run(COPY, "h100", 1, x, out, 128, 1.0)
    assert caught.value.kind == "out_of_bounds" and caught.value.block == (0, 0, 0) and caught.value.line is None
    assert not out.any(), "a run that failed changes nothing"


def test_errors_of_programs_have_a_place() -> None:
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(COPY.replace("arith.mulf %x", "arith.mulf %z"), "h100")
    assert caught.value.line == COPY[: COPY.index("arith.mulf")].count("\n") + 1
    with pytest.raises(tw.InputError, match="takes 4 arguments, 1 are given"):
        tw.run(COPY, "h100", 1, np.zeros(4, np.float32))


def test_a_limit_ends_an_endless_loop() -> None:
    x = np.ones(128, np.float32)
    with pytest.raises(tw.Fault) as caught:
        tw.compile(COPY, "h100").run(1, x, x, 128, 1.0, max_steps=5)
    assert caught.value.kind == "step_limit"


def test_code_without_llvm() -> None:
    assert tw.compile(COPY, "max1550").code("object")[:4] == (0x07230203).to_bytes(4, "little"), "the magic of SPIR-V"


@pytest.mark.parametrize(("target", "words"), [("h100", ".target sm_90"), ("mi300x", "gfx942")])
def test_code_with_the_wheel_of_llvm(target: str, words: str) -> None:
    pytest.importorskip("tilewright_llvm")
    assert words in tw.compile(COPY, target).asm
