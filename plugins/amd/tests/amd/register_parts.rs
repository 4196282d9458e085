//! Programs that cut and concatenate tensors in registers, unpack and pack four-bit elements, and use partitioned
//! memory: operations of Triton's "amdg" dialect and layouts that few other programs have.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;

const LAYOUTS: &str = "#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#y = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#scales = #ttg.linear<{register = [], lane = [[0, 0], [0, 0], [0, 1], [0, 0], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#across = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#padded = #ttg.padded_shared<[64:+4] {order = [1, 0], shape = [16, 32]}>
#generic = #ttg.generic_linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 4], [8, 16]], block = []}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [16, 16, 128], isTransposed = true}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#smem = #ttg.shared_memory
";

/// A matrix in global memory: the parameter's name, its size and element type, and the layout of its tensors.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    name: &'a str,
    shape: [u64; 2],
    element: &'a str,
    layout: &'a str,
}

impl Matrix<'_> {
    fn ty(&self) -> String {
        let Self { shape: [rows, columns], element, layout, .. } = self;
        format!("tensor<{rows}x{columns}x{element}, {layout}>")
    }

    fn addresses(&self) -> String {
        let Self { name, shape: [rows, columns], element, layout } = *self;
        let tile = TileAddressText { name, rows, columns, pitch: columns, layout: Some(layout) };
        format!("    {}{}", tile.offsets(), tile.addresses(&format!("{name}_at"), name, element))
    }

    /// Statements that load the matrix as `%name_value`.
    fn load(&self) -> String {
        let Self { name, shape: [rows, columns], element, layout } = self;
        let pointers = format!("tensor<{rows}x{columns}x!tt.ptr<{element}>, {layout}>");
        format!("{}    %{name}_value = tt.load %{name}_at : {pointers}\n", self.addresses())
    }

    /// Statements that store `%value` as the matrix.
    fn store(&self, value: &str) -> String {
        let Self { name, shape: [rows, columns], element, layout } = self;
        let pointers = format!("tensor<{rows}x{columns}x!tt.ptr<{element}>, {layout}>");
        format!("{}    tt.store %{name}_at, %{value} : {pointers}\n", self.addresses())
    }

    fn parameter(&self) -> String {
        format!("%{}: !tt.ptr<{}> {{tt.divisibility = 16 : i32}}", self.name, self.element)
    }

    fn bytes(&self) -> usize {
        let width = match self.element {
            "f32" | "i32" => 4,
            "f16" | "bf16" => 2,
            _ => 1,
        };
        (self.shape[0] * self.shape[1]) as usize * width
    }
}

/// A program of one block of four warps that loads matrices, computes `%result`, and stores it.
struct Program<'a> {
    inputs: &'a [Matrix<'a>],
    output: Matrix<'a>,
    statements: &'a str,
}

impl Program<'_> {
    fn text(&self) -> String {
        let matrices = self.inputs.iter().chain([&self.output]);
        let parameters: Vec<_> = matrices.map(Matrix::parameter).collect();
        let loads: String = self.inputs.iter().map(Matrix::load).collect();
        format!(
            "{LAYOUTS}module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \
             \"ttg.threads-per-warp\" = 64 : i32, ttg.target = \"hip:gfx950\"}} {{\n  tt.func public @k({}) {{\n{loads}{}\n{}    \
             tt.return\n  }}\n}}\n",
            parameters.join(", "),
            self.statements,
            self.output.store("result")
        )
    }

    /// The kernel, and the bytes of the output after it ran on the emulator.
    fn run(&self, inputs: &[Vec<u8>]) -> (Kernel, Vec<u8>) {
        let (text, target) = (self.text(), target("mi355x"));
        let kernel = program_kernel(&target, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let given: Vec<_> = inputs
            .iter()
            .cloned()
            .map(InitialBuffer::Bytes)
            .chain([InitialBuffer::Empty(self.output.bytes())])
            .collect();
        let (left, _) = run_block(&target, &kernel, &given, &[]).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        let module = Module { kernels: vec![kernel.clone()] };
        let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
        target.compile(&module, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (kernel, left.into_iter().next_back().unwrap())
    }
}

fn words(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect()
}

/// A part of a tensor stays in the registers that hold it, without data movement.
#[test]
fn parts_are_taken_out_of_registers() {
    for (offsets, shape) in [([48, 0], [16, 64]), ([0, 64], [64, 64]), ([0, 0], [64, 128]), ([16, 64], [32, 64])] {
        let full = Matrix { name: "a", shape: [64, 128], element: "i32", layout: "#x" };
        let part = Matrix { name: "o", shape, ..full };
        let [down, across] = offsets;
        let statements =
            format!("    %result = amdg.extract_slice %a_value [{down}, {across}] : {} to {}", full.ty(), part.ty());
        let program = Program { inputs: &[full], output: part, statements: &statements };
        let (kernel, left) = program.run(&[words(0..64 * 128)]);
        let expected = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column)));
        let expected = expected.map(|(row, column)| ((row + down) * 128 + column + across) as u32);
        assert_eq!(numbers(&left), expected.collect::<Vec<_>>(), "{offsets:?} {shape:?}");
        assert_eq!(kernel.shared_bytes(), 0, "{offsets:?} {shape:?}");
    }
}

/// Concatenated tensors stay in the registers that hold them; the last axis is the fastest.
#[test]
fn tensors_are_concatenated_row_by_row() {
    for [rows, columns] in [[1, 2], [2, 2], [4, 1], [2, 4]] {
        let part = Matrix { name: "a", shape: [16, 64], element: "i32", layout: "#x" };
        let names: Vec<String> = (0..rows * columns).map(|index| format!("p{index}")).collect();
        let inputs: Vec<_> = names.iter().map(|name| Matrix { name, ..part }).collect();
        let output = Matrix { name: "o", shape: [16 * rows, 64 * columns], ..part };
        let values: Vec<_> = names.iter().map(|name| format!("%{name}_value")).collect();
        let types = vec![part.ty(); names.len()];
        let statements =
            format!("    %result = amdg.concat {} : {} -> {}", values.join(", "), types.join(", "), output.ty());
        let program = Program { inputs: &inputs, output, statements: &statements };
        let given: Vec<_> =
            (0..inputs.len() as u32).map(|index| words((0..16 * 64).map(|i| index << 16 | i))).collect();
        let (kernel, left) = program.run(&given);
        let element = |row: u64, column: u64| {
            let index = row / 16 * columns + column / 64;
            ((index << 16) | (row % 16 * 64 + column % 64)) as u32
        };
        let expected = (0..16 * rows).flat_map(|row| (0..64 * columns).map(move |column| element(row, column)));
        assert_eq!(numbers(&left), expected.collect::<Vec<_>>(), "{rows}x{columns}");
        assert_eq!(kernel.shared_bytes(), 0, "{rows}x{columns}");
    }
}

/// Four-bit elements that memory packs along M are packed along K in registers.
#[test]
fn nibbles_are_packed_along_another_axis() {
    let input = Matrix { name: "a", shape: [32, 256], element: "i8", layout: "#x" };
    let output = Matrix { name: "o", shape: [64, 128], element: "i8", layout: "#left" };
    let memory = "!ttg.memdesc<32x256xi8, #across, #smem, mutable>";
    let statements = format!(
        "    %m = ttg.local_alloc %a_value : ({}) -> {memory}
    %result = amdg.local_load_packed_transposed %m : {memory} -> {}",
        input.ty(),
        output.ty()
    );
    let given: Vec<u8> = (0..32 * 256u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let (_, left) = Program { inputs: &[input], output, statements: &statements }.run(std::slice::from_ref(&given));
    let nibble = |row: usize, column: usize| given[row / 2 * 256 + column] >> (4 * (row % 2)) & 15;
    let expected = (0..64).flat_map(|row| (0..128).map(move |byte| (row, byte)));
    let expected: Vec<u8> =
        expected.map(|(row, byte)| nibble(row, 2 * byte) | nibble(row, 2 * byte + 1) << 4).collect();
    assert_eq!(left, expected);
}

/// The nonnegative E2M1 numbers, by their codes.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// Returns the code of the E2M1 number nearest to `value`; of two equally near ones, the even code.
fn e2m1(value: f32) -> u8 {
    let magnitude = f64::from(value.abs());
    let distance = |code: usize| (E2M1[code] - magnitude).abs();
    let nearest = (0..8).min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a % 2).cmp(&(b % 2)))).unwrap();
    nearest as u8 | u8::from(value.is_sign_negative()) << 3
}

/// Numbers are divided by the power of two of their 32 elements, and rounded to four or eight bits.
#[test]
fn numbers_are_divided_by_scales_and_rounded() {
    let input = Matrix { name: "a", shape: [16, 64], element: "f32", layout: "#wide" };
    let scales = Matrix { name: "s", shape: [16, 2], element: "i8", layout: "#scales" };
    let given: Vec<f32> =
        (0..16 * 64u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 65536.0 * 0.25 - 8.0).collect();
    let powers: Vec<i32> = (0..32).map(|i| i % 7 - 3).collect();
    let scaled = |index: usize| given[index] / 2f32.powi(powers[index / 64 * 2 + index % 64 / 32]);
    let inputs = [words(given.iter().map(|x| x.to_bits())), powers.iter().map(|power| (power + 127) as u8).collect()];
    let statements = |name: &str, output: &Matrix<'_>| {
        let (a, s, to) = (input.ty(), scales.ty(), output.ty());
        format!("    %result = amdg.{name} %a_value scale %s_value {{axis = 1 : i32}} : {a}, {s} -> {to}")
    };
    let packed = Matrix { name: "o", shape: [16, 32], element: "i8", layout: "#x" };
    let (_, left) =
        Program { inputs: &[input, scales], output: packed, statements: &statements("scaled_downcast_fp4", &packed) }
            .run(&inputs);
    let expected: Vec<u8> = (0..16 * 32).map(|i| e2m1(scaled(2 * i)) | e2m1(scaled(2 * i + 1)) << 4).collect();
    assert_eq!(left, expected);
    let bytes = Matrix { name: "o", shape: [16, 64], element: "f8E5M2", layout: "#wide" };
    let (_, left) =
        Program { inputs: &[input, scales], output: bytes, statements: &statements("scaled_downcast_fp8", &bytes) }
            .run(&inputs);
    for (index, byte) in left.iter().enumerate() {
        let (found, exact) = (tilewright_target::FloatFormat::E5M2.decode(u64::from(*byte)), f64::from(scaled(index)));
        // Two bits of mantissa: at most an eighth of the value is lost.
        assert!((found - exact).abs() <= exact.abs() / 8.0 + 1.0 / 131_072.0, "{index}: {exact} became {found}");
    }
}

/// Tensors keep their elements in partitioned memory, and in a layout whose warps move along two axes.
#[test]
fn partitioned_memory_and_generic_layouts_hold_every_element() {
    let input = Matrix { name: "a", shape: [64, 64], element: "i32", layout: "#x" };
    let output = Matrix { layout: "#y", name: "o", ..input };
    for layout in [
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 0, partitionLayout = #flat}>",
        "#ttg.partitioned_shared<{numPartitions = 4, numGroups = 2, partitionDim = 1, partitionLayout = #across}>",
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = #padded}>",
    ] {
        let memory = format!("!ttg.memdesc<64x64xi32, {layout}, #smem, mutable>");
        let statements = format!(
            "    %m = ttg.local_alloc : () -> {memory}
    ttg.local_store %a_value, %m : {} -> {memory}
    %result = ttg.local_load %m : {memory} -> {}",
            input.ty(),
            output.ty()
        );
        let (kernel, left) = Program { inputs: &[input], output, statements: &statements }.run(&[words(0..64 * 64)]);
        assert_eq!(numbers(&left), (0..64 * 64).collect::<Vec<_>>(), "{layout}");
        assert!(kernel.shared_bytes() >= 64 * 64 * 4, "{layout}");
    }
    let (input, output) = (Matrix { shape: [16, 64], ..input }, Matrix { shape: [16, 64], ..output });
    let generic = Matrix { layout: "#generic", ..input };
    let statements = format!(
        "    %g = ttg.convert_layout %a_value : {} -> {}
    %twice = arith.addi %g, %g : {}
    %result = ttg.convert_layout %twice : {} -> {}",
        input.ty(),
        generic.ty(),
        generic.ty(),
        generic.ty(),
        output.ty()
    );
    let (_, left) = Program { inputs: &[input], output, statements: &statements }.run(&[words(0..16 * 64)]);
    assert_eq!(numbers(&left), (0..16 * 64).map(|i| 2 * i).collect::<Vec<_>>());
}

/// Layout assignment chooses open layouts (layouts that the program leaves open), up to the operation that sets one.
#[test]
fn open_layouts_are_chosen() {
    let open = Matrix { name: "a", shape: [64, 64], element: "i32", layout: "#gluon.auto_encoding" };
    let output = Matrix { name: "o", layout: "#y", ..open };
    let statements = format!(
        "    %twice = arith.addi %a_value, %a_value : {}
    %result = gluon.set_auto_layout %twice : {} -> {}",
        open.ty(),
        open.ty(),
        output.ty()
    );
    let (_, left) = Program { inputs: &[open], output, statements: &statements }.run(&[words(0..64 * 64)]);
    assert_eq!(numbers(&left), (0..64 * 64).map(|i| 2 * i).collect::<Vec<_>>());
    // Coalesced layouts are left open too.
    let coalesced = Matrix { layout: "#gluon.coalesced_encoding", ..open };
    let same = Matrix { name: "o", ..coalesced };
    let statements = format!("    %result = arith.addi %a_value, %a_value : {}", coalesced.ty());
    let (_, left) = Program { inputs: &[coalesced], output: same, statements: &statements }.run(&[words(0..64 * 64)]);
    assert_eq!(numbers(&left), (0..64 * 64).map(|i| 2 * i).collect::<Vec<_>>());
}

/// Several copies of blocks by one operation copy the same as one copy after another.
#[test]
fn fused_copies_copy_each_block() {
    let output = Matrix { name: "o", shape: [32, 32], element: "i32", layout: "#x" };
    let given = Matrix { name: "a", layout: "#x", ..output };
    let other = Matrix { name: "b", ..given };
    let memory = "!ttg.memdesc<32x32xi32, #flat, #smem, mutable>";
    let ty = output.ty();
    let statements = format!(
        "    %c32 = arith.constant 32 : i32
    %c32_64 = arith.constant 32 : i64
    %c1 = arith.constant 1 : i64
    %da = tt.make_tensor_descriptor %a, [%c32, %c32], [%c32_64, %c1] : <i32>, !tt.tensordesc<32x32xi32>
    %db = tt.make_tensor_descriptor %b, [%c32, %c32], [%c32_64, %c1] : <i32>, !tt.tensordesc<32x32xi32>
    %ma = ttg.local_alloc : () -> {memory}
    %mb = ttg.local_alloc : () -> {memory}
    %t = amdg.async_tdm_fused_copy_global_to_local %da, %db into %ma, %mb {{warp_used_hints = array<i32: 3, 12>}} : !tt.tensordesc<32x32xi32>, !tt.tensordesc<32x32xi32> -> {memory}, {memory}
    %w = amdg.async_tdm_wait %t {{num = 0 : i32}}
    %va = ttg.local_load %ma : {memory} -> {ty}
    %vb = ttg.local_load %mb : {memory} -> {ty}
    %result = arith.subi %va, %vb : {ty}"
    );
    let program = Program { inputs: &[given, other], output, statements: &statements };
    let (_, left) = program.run(&[words((0..1024).map(|i| 3 * i)), words(0..1024)]);
    assert_eq!(numbers(&left), (0..1024).map(|i| 2 * i).collect::<Vec<_>>());
}
