"""The Triton backend: kernels of the stock wheel run on the emulator, and faults name the kernel's line."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
import tilewright as tw

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

TARGETS = ["h100", "mi300x", "max1550"]


on_targets = pytest.mark.parametrize("target", TARGETS, indirect=True)


@triton.jit
def scale(x_ptr, out_ptr, count, factor, flag, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(flag, x * factor, x), mask=inside)


@triton.jit
def line_of(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)  # beyond the end
    tl.store(out_ptr + at, x)


@triton.jit
def races(out_ptr, limit, BLOCK: tl.constexpr):
    tl.device_assert(tl.program_id(0) < limit, "too many programs")
    tl.store(out_ptr + tl.arange(0, BLOCK), 1)


@triton.jit
def sums(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.sum(x, axis=0))
    tl.store(out_ptr + 1, tl.max(x, axis=0))


@on_targets
def test_scalars_of_every_kind(target: str) -> None:
    x = np.arange(200, dtype=np.float32)
    for factor, flag in [(0.25, True), (3.0, False), (1.0, True)]:
        out = np.zeros_like(x)
        scale[(2,)](tw.array(x), tw.array(out), x.size, factor, flag, BLOCK=128)
        np.testing.assert_array_equal(out, x * factor if flag else x)


@on_targets
def test_integers_and_reductions(target: str) -> None:
    x = np.random.default_rng(0).integers(-1000, 1000, 256).astype(np.int64)
    out = np.zeros(2, np.int64)
    sums[(1,)](tw.array(x), tw.array(out), N=256)
    assert out.tolist() == [x.sum(), x.max()]


@on_targets
def test_a_fault_names_the_line_of_the_kernel(target: str) -> None:
    x, out = np.zeros(100, np.float32), np.zeros(128, np.float32)
    with pytest.raises(tw.Fault) as caught:
        line_of[(1,)](tw.array(x), tw.array(out), BLOCK=128)
    source, first = inspect.getsourcelines(line_of.fn)
    line = first + next(number for number, text in enumerate(source) if "beyond the end" in text)
    assert caught.value.kind == "out_of_bounds"
    assert (os.path.basename(caught.value.file or ""), caught.value.line) == (os.path.basename(__file__), line)


@triton.autotune([triton.Config({"N": size}, num_warps=1) for size in (256, 16)], key=[])
@triton.jit
def square(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    at = at[:, None] * N + at[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.dot(x, x))


@pytest.mark.parametrize("target", ["h100"], indirect=True)
def test_the_autotuner_skips_what_needs_too_many_registers(target: str) -> None:
    x, out = np.ones((256, 256), np.float16), np.zeros((256, 256), np.float32)
    with pytest.raises(tw.UnsupportedError):
        square.fn[(1,)](tw.array(x), tw.array(out), N=256, num_warps=1)
    square[(1,)](tw.array(x), tw.array(out))
    assert square.best_config.kwargs == {"N": 16} and (out.reshape(-1)[:256] == 16).all()


@triton.autotune([triton.Config({}, num_warps=warps) for warps in (128, 2)], key=[])
@triton.jit
def tuned_sums(x_ptr, out_ptr, N: tl.constexpr):
    sums(x_ptr, out_ptr, N)


@on_targets
def test_the_autotuner_skips_what_needs_too_many_lanes(target: str) -> None:
    x, out = np.arange(4096, dtype=np.int32), np.zeros(2, np.int32)
    with pytest.raises(tw.UnsupportedError, match="128 warps have"):
        sums[(1,)](tw.array(x), tw.array(out), N=4096, num_warps=128)
    tuned_sums[(1,)](tw.array(x), tw.array(out), N=4096)
    assert (tuned_sums.best_config.num_warps, out.tolist()) == (2, [x.sum(), 4095])


@triton.autotune([triton.Config({"N": size}, num_warps=1) for size in (32, 64, 128)], key=[])
@triton.jit
def count_up(out_ptr, N: tl.constexpr):
    for _ in range(100):
        tl.atomic_add(out_ptr + tl.program_id(0) * N + tl.arange(0, N), 1)


@on_targets
def test_the_autotuner_changes_no_tensor(target: str) -> None:
    out = np.zeros(1 << 16, np.int32)
    count_up.cache.clear()
    count_up[lambda meta: (out.size // meta["N"],)](tw.array(out))
    assert (out == 100).all()


@triton.jit
def clamped(x_ptr, out_ptr, rows, stride, STRIDE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    row = tl.arange(0, M)
    row = tl.max_contiguous(tl.multiple_of(tl.where(row < rows, row, 0), M), M)
    at = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + row[:, None] * STRIDE + at)
    for _ in range(2):
        x += tl.load(x_ptr + row[:, None] * stride + at)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + at, x)


@on_targets
def test_rows_that_a_kernel_clamps_stay_in_bounds_despite_its_hints(target: str) -> None:
    x, out = np.random.default_rng(0).random((20, 32)).astype(np.float32), np.zeros((64, 32), np.float32)
    clamped[(1,)](tw.array(x), tw.array(out), 20, 32, STRIDE=32, M=64, N=32, num_warps=1)
    np.testing.assert_array_equal(out, 3 * x[[row if row < 20 else 0 for row in range(64)]])


@on_targets
def test_an_assertion_of_the_kernel_is_a_fault(target: str) -> None:
    out = np.zeros(32, np.int32)
    with pytest.raises(tw.Fault, match="too many programs") as caught:
        races[(3,)](tw.array(out), 2, BLOCK=32, debug=True)
    assert caught.value.kind == "assertion" and caught.value.block == (2, 0, 0)


@on_targets
def test_a_block_fits_the_registers(target: str) -> None:
    x = np.ones(1024, np.float32)
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    for warps in (1, 8):
        kernel = scale.warmup(tw.array(x), tw.array(x), 1024, 1.5, True, BLOCK=1024, num_warps=warps, grid=(1,))
        kernel._init_handles()
        assert 0 < kernel.n_regs * properties["warpSize"] * warps <= properties["max_num_regs"]


@triton.jit
def rotate_and_double(x_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.debug_barrier()
    tl.store(x_ptr + (at + 1) % N, x)
    tl.debug_barrier()
    x = tl.load(x_ptr + at)
    tl.debug_barrier()
    tl.store(x_ptr + (N - 1 - at), 2 * x)


@on_targets
def test_barriers_order_the_warps(target: str) -> None:
    x = np.arange(512, dtype=np.float32)
    expected = 2 * np.roll(x, 1)[::-1]
    rotate_and_double[(1,)](tw.array(x), N=512)
    np.testing.assert_array_equal(x, expected)


@triton.jit
def polls(flag_ptr, out_ptr):
    tl.store(out_ptr, tl.atomic_poll(flag_ptr, 1))


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="Triton has `atomic_poll` from 3.9 on")
@on_targets
def test_a_poll_without_timeout_takes_no_shared_memory(target: str) -> None:
    flag, out = np.ones(1, np.int32), np.zeros(1, np.int32)
    kernel = polls[(1,)](tw.array(flag), tw.array(out), num_warps=4)
    assert (out.tolist(), kernel.metadata.shared) == ([1], 0)


@triton.jit
def assembly(x_ptr, out_ptr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    scalar = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [tl.load(x_ptr)], dtype=tl.float32, is_pure=True, pack=1)
    y = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + at, tl.where(at == 0, scalar, y))


@on_targets
def test_assembly_of_one_instruction(target: str) -> None:
    x = np.linspace(0.25, 9, 64, dtype=np.float32)
    expected = {
        ("tanh.approx.f32 $0, $1;", "=f,f"): np.tanh,
        ("sin.approx.f32 $0, $1;", "=f,f"): np.sin,
        ("cos.approx.ftz.f32 $0, $1;", "=f,f"): np.cos,
        ("ex2.approx.ftz.f32 $0, $1;", "=f,f"): np.exp2,
        ("lg2.approx.f32 $0, $1;", "=f,f"): np.log2,
        ("rcp.approx.ftz.f32 $0, $1;", "=f,f"): np.reciprocal,
        ("rsqrt.approx.f32 $0, $1;", "=f,f"): lambda x: 1 / np.sqrt(x),
        ("mov.f32 $0, $1;", "=f,f"): np.array,
        ("v_rcp_f32 $0, $1", "=v,v"): np.reciprocal,
        ("v_rndne_f32 $0, $1", "=v,v"): np.rint,
        ("v_exp_f32 $0, $1", "=v,v"): np.exp2,
    }
    for (text, constraints), function in expected.items():
        out = np.zeros_like(x)
        assembly[(1,)](tw.array(x), tw.array(out), TEXT=text, CONSTRAINTS=constraints)
        np.testing.assert_allclose(out, function(x), rtol=1e-5, atol=1e-6, err_msg=text)


@on_targets
def test_other_assembly_is_a_fault(target: str) -> None:
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(tw.Fault, match="does not execute assembly"):
        assembly[(1,)](tw.array(x), tw.array(out), TEXT="popc.b32 $0, $1;", CONSTRAINTS="=r,r")


class Pointer:
    """A pointer into an array, without a size."""

    def __init__(self, array: tw.HostArray, offset: int) -> None:
        self.dtype, self.address = array.dtype, array.data_ptr() + offset * array.element_size()

    def data_ptr(self) -> int:
        return self.address

    def untyped_storage(self) -> "Pointer":
        return self


@on_targets
def test_pointers_without_a_size(target: str) -> None:
    x, out = np.arange(200, dtype=np.float32), np.zeros(200, np.float32)
    arrays = tw.array(x), tw.array(out)
    scale[(1,)](*(Pointer(array, 100) for array in arrays), 100, 2.0, True, BLOCK=128)
    np.testing.assert_array_equal(out, np.where(np.arange(200) < 100, 0, 2 * x))
    with pytest.raises(tw.Fault):
        scale[(1,)](*(Pointer(array, 100) for array in arrays), 128, 2.0, True, BLOCK=128)
    with pytest.raises(tw.InputError, match="is unknown"):
        scale[(1,)](*(Pointer(array, 100000) for array in arrays), 100, 2.0, True, BLOCK=128)


@triton.jit
def store_and_load(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * 2)


@on_targets
def test_a_program_loads_what_it_has_stored(target: str) -> None:
    # There are more lanes than elements: only one of the warps with an element stores it.
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    store_and_load[(1,)](tw.array(x), tw.array(out), N=16)
    np.testing.assert_array_equal(x, np.arange(16) + 1)
    np.testing.assert_array_equal(out, 2 * x)


@triton.jit
def two_passes(x_ptr, out_ptr, sum_ptr, count, N: tl.constexpr):
    at = tl.arange(0, N)
    for start in range(0, count, N):
        inside = start + at < count
        x = tl.load(x_ptr + start + at, inside, other=0) + 1
        tl.store(out_ptr + start + at, x, inside)
    to = out_ptr + at
    total = tl.zeros([N], tl.float32)
    for start in range(0, count, N):
        total += tl.load(to, start + at < count, other=0)
        to += N
    tl.store(sum_ptr + at, total)


@on_targets
def test_a_loop_loads_what_an_earlier_one_has_stored(target: str) -> None:
    x, out, sums = np.arange(14, dtype=np.float32), np.zeros(14, np.float32), np.zeros(4, np.float32)
    two_passes[(1,)](tw.array(x), tw.array(out), tw.array(sums), 14, N=4)
    np.testing.assert_array_equal(sums, np.append(x + 1, [0, 0]).reshape(4, 4).sum(0))


@triton.jit
def sum_blocks(x_ptr, out_ptr, M, N, B: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (0, 0), (B, B), (1, 0))
    total = tl.zeros([B, B], tl.float32)
    for _ in range(0, N, B):
        total += tl.load(x, boundary_check=(0, 1), padding_option="zero")
        x = tl.advance(x, (0, B))
    out = tl.make_block_ptr(out_ptr, (M, B), (B, 1), (0, 0), (B, B), (1, 0))
    tl.store(out, total, boundary_check=(0,))


@pytest.mark.skipif(tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9), reason="Triton 3.9 has no block pointers")
@on_targets
def test_block_pointers_of_older_versions(target: str) -> None:
    x, out = np.arange(13 * 40, dtype=np.float32).reshape(13, 40), np.zeros((13, 16), np.float32)
    sum_blocks[(1,)](tw.array(x), tw.array(out), 13, 40, B=16)
    padded = np.pad(x, ((0, 0), (0, 8)))
    np.testing.assert_array_equal(out, padded.reshape(13, 3, 16).sum(1))


@triton.jit
def copy_through_caches(x_ptr, out_ptr, count, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at, at < count, 0.0, cache_modifier=".cg", eviction_policy="evict_last")
    tl.store(out_ptr + at, x, at < count, cache_modifier=".cs", eviction_policy="evict_first")


@on_targets
def test_cache_policies_change_no_value(target: str) -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    copy_through_caches[(1,)](tw.array(x), tw.array(out), 60, N=64)
    np.testing.assert_array_equal(out[:60], x[:60])


@triton.jit
def prints_and_counts(count_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    count = tl.load(count_ptr)
    tl.store(count_ptr, count + 1)
    total = at
    for _ in range(count):
        total += at
    tl.store(out_ptr + at, total)
    tl.device_print("total", total)


@on_targets
def test_all_warps_load_before_one_stores_and_each_element_is_printed_once(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    count, out = np.full(1, 2, np.int32), np.zeros(8, np.int32)
    prints_and_counts[(1,)](tw.array(count), tw.array(out), N=8)
    assert count[0] == 3 and out.tolist() == [3 * at for at in range(8)]
    expected = [f"pid (0, 0, 0) idx ({at}) total: {3 * at}" for at in range(8)]
    assert sorted(capsys.readouterr().out.splitlines()) == expected


@on_targets
def test_the_device_answers(target: str) -> None:
    driver = triton.runtime.driver.active
    properties = driver.utils.get_device_properties(0)
    assert properties["warpSize"] == tw.target(target).lanes and properties["multiprocessor_count"] > 0
    asked = driver.get_device_interface().get_device_properties("cuda")
    assert (asked.multi_processor_count, asked.warp_size) == (properties["multiprocessor_count"], properties["warpSize"])
    x = np.ones(128, np.float32)
    time = triton.testing.do_bench(lambda: scale[(1,)](tw.array(x), tw.array(x), 128, 1.5, True, BLOCK=128), rep=1)
    assert time > 0


@on_targets
def test_the_target_has_the_name_that_a_gpu_answers(target: str) -> None:
    current = triton.runtime.driver.active.get_current_target()
    capability = triton.runtime.driver.active.get_device_capability()
    expected = {"h100": (90, (9, 0)), "mi300x": ("gfx942", (9, 4)), "max1550": ("pvc", (0, 0))}
    assert (current.arch, capability) == expected[target]
    # Programs take the backend's name as the device of tensors, which are the CPU's.
    assert current.backend == "cpu" and current.name == target


@pytest.mark.parametrize("target", ["h100"], indirect=True)
def test_a_caller_names_the_target(target: str) -> None:
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "N": "constexpr"}
    source = ASTSource(sums, signature, {"N": 256})
    kernel = triton.compile(source, target=GPUTarget("tilewright", "mi300x", 64))
    assert kernel.metadata.warp_size == 64 and "threadsPerWarp = [64]" in kernel.asm["ttgir"]


def test_tensors_of_torch_on_the_cpu() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(64, dtype=torch.bfloat16)
    base = torch.zeros(200, dtype=torch.bfloat16)
    scale[(1,)](x, base[37:], 64, 2.0, True, BLOCK=64)
    assert torch.equal(base[37:101], x * 2) and not base[:37].any() and not base[101:].any()


def test_without_its_variable_the_backend_is_not_there() -> None:
    script = "import triton; print(triton.backends.backends['tilewright'].driver.is_active())"
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_DEFAULT_BACKEND"}
    output = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "False"


@on_targets
def test_a_table_of_pointers(target: str) -> None:
    torch = pytest.importorskip("torch")
    sources = [torch.full((32,), float(value)) for value in range(3)]
    table = torch.tensor([one.data_ptr() for one in sources], dtype=torch.int64)
    out = torch.full((3 * 32,), -1.0)
    gather_rows[(3,)](table, out, N=32)
    assert torch.equal(out, torch.cat(sources))
    table[1] += 8 * 1024 * 1024
    with pytest.raises(tw.Fault, match="out of bounds"):
        gather_rows[(3,)](table, out, N=32)


@triton.jit
def gather_rows(table_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    source = tl.load(table_ptr + row).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, N)
    tl.store(out_ptr + row * N + at, tl.load(source + at))


@on_targets
def test_descriptors_of_the_host_and_of_the_kernel(target: str) -> None:
    torch = pytest.importorskip("torch")
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = torch.arange(32 * 16, dtype=torch.float32).reshape(32, 16)
    out = torch.zeros(16, 16)
    lower_half[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), out, TILE=16)
    assert torch.equal(out, x[16:])
    out = torch.zeros(32, 16)
    twice[(2,)](x, out, 32, 16, TILE=16)
    assert torch.equal(out, 2 * x)


@triton.jit
def lower_half(descriptor, out_ptr, TILE: tl.constexpr):
    x = descriptor.load([TILE, 0])
    at = tl.arange(0, TILE)
    tl.store(out_ptr + at[:, None] * TILE + at[None, :], x)


@triton.jit
def twice(x_ptr, out_ptr, rows, columns, TILE: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [TILE, TILE])
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [TILE, TILE])
    row = tl.program_id(0) * TILE
    out.store([row, 0], x.load([row, 0]) * 2)
