//! Programs that slice and copy tensors in tensor memory, and multiply scaled operands with scales there.

use crate::prelude::*;
use crate::virtual_device::bench::{Given as DeviceGiven, Shape, device_of, run_on};

const LAYOUTS: &str = r#"#p = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#sh32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#sh8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#sh8t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#sh64 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#sh64t = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#padt = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8, fp4Padded = true}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tm64 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
#smem = #ttg.shared_memory
"#;

/// Returns a program of one block of four warps with these parameters and statements.
fn program(parameters: &str, statements: &str) -> String {
    format!(
        "{LAYOUTS}module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \
         \"ttg.threads-per-warp\" = 32 : i32, ttg.target = \"cuda:100\"}} {{
  tt.func public @k({parameters}) {{
    %true = arith.constant true
    %false = arith.constant false
{statements}    tt.return
  }}
}}
"
    )
}

/// Returns statements that load a matrix from the pointer `%name` as `%name_value`.
fn load(name: &str, rows: u64, columns: u64, element: &str) -> String {
    let tile = TileAddressText { name, rows, columns, pitch: columns, layout: Some("#p") };
    format!(
        "{}{}    %{name}_value = tt.load %{name}_at : tensor<{rows}x{columns}x!tt.ptr<{element}>, #p>\n",
        tile.offsets(),
        tile.addresses(&format!("{name}_at"), name, element)
    )
}

/// Returns statements that store the matrix `%value` at the pointer `%to`.
fn store(to: &str, value: &str, rows: u64, columns: u64, element: &str) -> String {
    let tile = TileAddressText { name: to, rows, columns, pitch: columns, layout: Some("#p") };
    format!(
        "{}{}    tt.store %{to}_at, %{value} : tensor<{rows}x{columns}x!tt.ptr<{element}>, #p>\n",
        tile.offsets(),
        tile.addresses(&format!("{to}_at"), to, element)
    )
}

fn pointer(name: &str, element: &str) -> String {
    format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}")
}

/// Runs the program for a target on the emulator, and from PTX on the virtual device if this executes all instructions;
/// returns the last buffer, which is the same of both.
fn last_buffer(name: &str, text: &str, inputs: &[Vec<u8>], output: usize) -> Vec<u8> {
    let (target, mut device) = device_of(name);
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let given: Vec<_> =
        inputs.iter().cloned().map(InitialBuffer::Bytes).chain([InitialBuffer::Empty(output)]).collect();
    let (left, _) = run_block(&target, &kernel, &given, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    let shape = Shape { warps: 4, grid: [1; 3], shared_bytes: kernel.shared_bytes() };
    // If an assembler is installed, it makes the object from the PTX.
    let options = CompileOptions { emit: vec![CodeFormat::Assembly, CodeFormat::Object], ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    let last = left.into_iter().next_back().unwrap();
    if ptx.contains("tcgen05.") {
        return last;
    }
    let buffers = inputs.iter().cloned().chain([vec![0; output]]).map(DeviceGiven::Buffer);
    let (on_device, _) = run_on(&mut device, ptx, "k", shape, &buffers.collect::<Vec<_>>())
        .unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let found = on_device.last().unwrap();
    let differs = (0..last.len()).find(|&at| last.get(at) != found.get(at));
    assert!(differs.is_none(), "{name}: emulator and virtual device differ from byte {differs:?} on\n{ptx}");
    last
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

fn bytes(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A slice of columns has the tensor's elements in these columns, even if its first column is no multiple of its size.
#[test]
fn slices_of_tensor_memory_are_parts_of_the_tensor() {
    let matrix: Vec<f32> = (0..128 * 128).map(|at| at as f32).collect();
    for (first, columns) in [(0, 64), (64, 64), (32, 64), (96, 32), (16, 64)] {
        let part = "!ttg.memdesc<128x64xf32, #tm, #tmem, mutable, 128x128>".replace("x64x", &format!("x{columns}x"));
        let tensor = format!("tensor<128x{columns}xf32, #p>");
        let statements = [
            load("x", 128, 128, "f32"),
            format!(
                "    %all = ttng.tmem_alloc %x_value : (tensor<128x128xf32, #p>) -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %part = ttng.tmem_subslice %all {{offset = {first} : i32}} : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> {part}
    %value = ttng.tmem_load %part : {part} -> {tensor}
    %twice = arith.addf %value, %value : {tensor}
    ttng.tmem_store %twice, %part, %true : {tensor} -> {part}
    %left = ttng.tmem_load %all : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> tensor<128x128xf32, #p>
"
            ),
            store("y", "left", 128, 128, "f32"),
        ];
        let text = program(&[pointer("x", "f32"), pointer("y", "f32")].join(", "), &statements.concat());
        let expected: Vec<f32> = (0..128 * 128)
            .map(|at| matrix[at] * if (first..first + columns).contains(&(at % 128)) { 2.0 } else { 1.0 })
            .collect();
        for name in ["b200", "h100"] {
            let found = floats(&last_buffer(name, &text, &[bytes(matrix.iter().copied())], 4 * 128 * 128));
            assert!(found == expected, "{name}: columns {first} to {}", first + columns);
        }
    }
}

/// A row block of a tensor and one of its buffers are slices too; a slice of a slice begins at the sum of both offsets.
#[test]
fn slices_take_rows_and_buffers() {
    let statements = [
        load("x", 128, 64, "f32"),
        "    %two = ttng.tmem_alloc : () -> !ttg.memdesc<2x256x128xf32, #tm64, #tmem, mutable>
    %one = arith.constant 1 : i32
    %second = ttg.memdesc_index %two[%one] : !ttg.memdesc<2x256x128xf32, #tm64, #tmem, mutable> -> !ttg.memdesc<256x128xf32, #tm64, #tmem, mutable>
    %lower = ttng.tmem_subslice %second {offset = 128 : i32, dim = 0 : i32} : !ttg.memdesc<256x128xf32, #tm64, #tmem, mutable> -> !ttg.memdesc<128x128xf32, #tm64, #tmem, mutable, 256x128>
    %part = ttng.tmem_subslice %lower {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tm64, #tmem, mutable, 256x128> -> !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable, 256x128>
    ttng.tmem_store %x_value, %part, %true : tensor<128x64xf32, #p> -> !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable, 256x128>
    %right = ttng.tmem_subslice %second {offset = 64 : i32, dim = 1 : i32} : !ttg.memdesc<256x128xf32, #tm64, #tmem, mutable> -> !ttg.memdesc<256x64xf32, #tm64, #tmem, mutable, 256x128>
    %same = ttng.tmem_subslice %right {offset = 128 : i32, dim = 0 : i32} : !ttg.memdesc<256x64xf32, #tm64, #tmem, mutable, 256x128> -> !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable, 256x128>
    %left = ttng.tmem_load %same : !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable, 256x128> -> tensor<128x64xf32, #p>
"
        .to_owned(),
        store("y", "left", 128, 64, "f32"),
    ];
    // 256 KiB of tensor memory do not fit in the shared memory that stands for it; half the rows do.
    let text = program(&[pointer("x", "f32"), pointer("y", "f32")].join(", "), &statements.concat());
    let text = text.replace("xf32, #tm64, #tmem", "xf16, #tm64, #tmem").replace("<128x64xf32, #p>", "<128x64xf16, #p>");
    let text = text.replace("!tt.ptr<f32>", "!tt.ptr<f16>");
    let given: Vec<u8> = (0..128 * 64u16).flat_map(|at| (at & 0x3bff).to_le_bytes()).collect();
    assert!(last_buffer("b200", &text, std::slice::from_ref(&given), given.len()) == given);
}

/// Columns of a tensor may be reused for elements of another type; the other columns keep their elements.
#[test]
fn slices_become_tensors_of_other_elements() {
    let statements = [
        load("x", 128, 128, "f32"),
        load("h", 128, 64, "f16"),
        "    %all = ttng.tmem_alloc %x_value : (tensor<128x128xf32, #p>) -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %part = ttng.tmem_subslice %all {offset = 96 : i32} : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> !ttg.memdesc<128x32xf32, #tm, #tmem, mutable, 128x128>
    %half = ttg.memdesc_reinterpret %part : !ttg.memdesc<128x32xf32, #tm, #tmem, mutable, 128x128> -> !ttg.memdesc<128x64xf16, #tm64, #tmem, mutable>
    ttng.tmem_store %h_value, %half, %true : tensor<128x64xf16, #p> -> !ttg.memdesc<128x64xf16, #tm64, #tmem, mutable>
    %back = ttng.tmem_load %half : !ttg.memdesc<128x64xf16, #tm64, #tmem, mutable> -> tensor<128x64xf16, #p>
    %wide = arith.extf %back : tensor<128x64xf16, #p> to tensor<128x64xf32, #p>
    %rest = ttng.tmem_subslice %all {offset = 32 : i32} : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> !ttg.memdesc<128x64xf32, #tm, #tmem, mutable, 128x128>
    %kept = ttng.tmem_load %rest : !ttg.memdesc<128x64xf32, #tm, #tmem, mutable, 128x128> -> tensor<128x64xf32, #p>
    %sum = arith.addf %wide, %kept : tensor<128x64xf32, #p>
"
        .to_owned(),
        store("y", "sum", 128, 64, "f32"),
    ];
    let parameters = [pointer("x", "f32"), pointer("h", "f16"), pointer("y", "f32")].join(", ");
    let text = program(&parameters, &statements.concat());
    let narrow: Vec<u8> = (0..128 * 64).flat_map(|at| [0x3c00u16, 0x4000][at % 3 % 2].to_le_bytes()).collect();
    let inputs = [bytes((0..128 * 128).map(|at| at as f32)), narrow];
    let expected: Vec<f32> =
        (0..128 * 64).map(|at| [1.0, 2.0][at % 3 % 2] + (at / 64 * 128 + at % 64 + 32) as f32).collect();
    assert!(floats(&last_buffer("b200", &text, &inputs, 4 * 128 * 64)) == expected);
}

/// Loads with a reduction return the minimum or maximum of each row in addition to the tensor.
#[test]
fn loads_reduce_rows() {
    let matrix: Vec<f32> = (0..128 * 64).map(|at| ((at * 37 + at / 64 * 11) % 101) as f32 - 50.5).collect();
    for (kind, magnitudes) in [("min", false), ("max", false), ("min", true), ("max", true)] {
        let statements = [
            load("x", 128, 64, "f32"),
            format!(
                "    %all, %t = ttng.tmem_alloc %x_value : (tensor<128x64xf32, #p>) -> (!ttg.memdesc<128x64xf32, #tm64, #tmem, mutable>, !ttg.async.token)
    %value, %u, %red = ttng.tmem_load %all[%t] {{redOp = #ttng.redOp<{kind}>, abs = {magnitudes}}} : !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable> -> tensor<128x64xf32, #p>, tensor<128xf32, #ttg.slice<{{dim = 1, parent = #p}}>>
    %column = tt.expand_dims %red {{axis = 1 : i32}} : tensor<128xf32, #ttg.slice<{{dim = 1, parent = #p}}>> -> tensor<128x1xf32, #p>
    %spread = tt.broadcast %column : tensor<128x1xf32, #p> -> tensor<128x64xf32, #p>
    %sum = arith.addf %value, %spread : tensor<128x64xf32, #p>
"
            ),
            store("y", "sum", 128, 64, "f32"),
        ];
        let text = program(&[pointer("x", "f32"), pointer("y", "f32")].join(", "), &statements.concat());
        let row = |at: usize| {
            let numbers =
                matrix[at / 64 * 64..][..64].iter().map(|&number| if magnitudes { number.abs() } else { number });
            numbers.reduce(if kind == "min" { f32::min } else { f32::max }).unwrap()
        };
        let expected: Vec<f32> = (0..128 * 64).map(|at| matrix[at] + row(at)).collect();
        let found = floats(&last_buffer("b200", &text, &[bytes(matrix.iter().copied())], 4 * 128 * 64));
        assert!(found == expected, "{kind}, magnitudes: {magnitudes}");
    }
}

/// A copy from shared memory keeps every element's coordinates, whatever the swizzle is.
#[test]
fn copies_to_tensor_memory_keep_coordinates() {
    let statements = [
        load("x", 128, 128, "f32"),
        "    %s = ttg.local_alloc %x_value : (tensor<128x128xf32, #p>) -> !ttg.memdesc<128x128xf32, #sh32, #smem, mutable>
    %all = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    ttng.tmem_copy %s, %all : !ttg.memdesc<128x128xf32, #sh32, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %left = ttng.tmem_load %all : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> tensor<128x128xf32, #p>
"
        .to_owned(),
        store("y", "left", 128, 128, "f32"),
    ];
    let text = program(&[pointer("x", "f32"), pointer("y", "f32")].join(", "), &statements.concat());
    let given = bytes((0..128 * 128).map(|at| at as f32));
    assert!(last_buffer("b200", &text, std::slice::from_ref(&given), given.len()) == given);
}

/// The numbers of e2m1, by encoding.
const E2M1: [f32; 16] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0];

/// Encodings of e4m3 and their numbers.
const E4M3: [(u8, f32); 5] = [(0x38, 1.0), (0xb8, -1.0), (0x40, 2.0), (0x30, 0.5), (0, 0.0)];

/// Scales in tensor memory multiply blocks of 32 elements along K, and an MMA adds to its accumulator only if its flag
/// is set.
#[test]
fn scaled_mmas_apply_scales_from_tensor_memory() {
    let k = 128;
    let statements = [
        load("a", 128, 128, "i8"),
        load("b", 128, 64, "i8"),
        load("s", 128, 4, "i8"),
        load("t", 64, 4, "i8"),
        "    %af = tt.bitcast %a_value : tensor<128x128xi8, #p> -> tensor<128x128xf8E4M3FN, #p>
    %bf = tt.bitcast %b_value : tensor<128x64xi8, #p> -> tensor<128x64xf8E4M3FN, #p>
    %ma = ttg.local_alloc %af : (tensor<128x128xf8E4M3FN, #p>) -> !ttg.memdesc<128x128xf8E4M3FN, #sh8, #smem, mutable>
    %mb = ttg.local_alloc %bf : (tensor<128x64xf8E4M3FN, #p>) -> !ttg.memdesc<128x64xf8E4M3FN, #sh8t, #smem, mutable>
    %ss = ttg.local_alloc %s_value : (tensor<128x4xi8, #p>) -> !ttg.memdesc<128x4xi8, #flat, #smem, mutable>
    %ms = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    ttng.tmem_copy %ss, %ms : !ttg.memdesc<128x4xi8, #flat, #smem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    %mt = ttng.tmem_alloc %t_value : (tensor<64x4xi8, #p>) -> !ttg.memdesc<64x4xi8, #tms, #tmem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable>
    MMA %false, %true lhs = e4m3 rhs = e4m3, %bar[%true] {is_async} : TYPES, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %phase = arith.constant 0 : i32
    ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    MMA %true, %true lhs = e4m3 rhs = e4m3 : TYPES
    MMA %true, %false lhs = e4m3 rhs = e4m3 : TYPES
    %left = ttng.tmem_load %d : !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable> -> tensor<128x64xf32, #p>
"
        .replace("MMA", "ttng.tc_gen5_mma_scaled %ma, %mb, %d, %ms, %mt,")
        .replace(
            "TYPES",
            "!ttg.memdesc<128x128xf8E4M3FN, #sh8, #smem, mutable>, !ttg.memdesc<128x64xf8E4M3FN, #sh8t, #smem, mutable>, !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>, !ttg.memdesc<64x4xi8, #tms, #tmem, mutable>",
        ),
        store("y", "left", 128, 64, "f32"),
    ];
    let parameters = [("a", "i8"), ("b", "i8"), ("s", "i8"), ("t", "i8"), ("y", "f32")];
    let text = program(&parameters.map(|(name, element)| pointer(name, element)).join(", "), &statements.concat());
    let pick = |at: usize, by: usize| E4M3[at * by / 3 % E4M3.len()];
    let exponent = |at: usize, by: usize| (at * by % 4) as u8;
    let inputs = [
        (0..128 * k).map(|at| pick(at, 7).0).collect(),
        (0..k * 64).map(|at| pick(at, 11).0).collect(),
        (0..128 * 4).map(|at| 127 + exponent(at, 5)).collect(),
        (0..64 * 4).map(|at| 126 + exponent(at, 3)).collect::<Vec<u8>>(),
    ];
    let scale = |at: usize, by: usize, below: i32| f32::exp2(f32::from(exponent(at, by)) - below as f32);
    let expected: Vec<f32> = (0..128 * 64)
        .map(|at| {
            let (row, column) = (at / 64, at % 64);
            let term = |k: usize| {
                let scales = scale(row * 4 + k / 32, 5, 0) * scale(column * 4 + k / 32, 3, 1);
                pick(row * 128 + k, 7).1 * pick(k * 64 + column, 11).1 * scales
            };
            2.0 * (0..k).map(term).sum::<f32>()
        })
        .collect();
    for name in ["b200", "h100"] {
        assert!(floats(&last_buffer(name, &text, &inputs, 4 * 128 * 64)) == expected, "{name}");
    }
}

/// Elements of e2m1 operands share bytes along K.
#[test]
fn scaled_mmas_of_four_bits_share_bytes_along_k() {
    let statements = [
        load("a", 128, 128, "i8"),
        load("b", 128, 64, "i8"),
        load("s", 128, 8, "i8"),
        load("t", 64, 8, "i8"),
        "    %ma = ttg.local_alloc %a_value : (tensor<128x128xi8, #p>) -> !ttg.memdesc<128x128xi8, #sh8, #smem, mutable>
    %mb = ttg.local_alloc %b_value : (tensor<128x64xi8, #p>) -> !ttg.memdesc<128x64xi8, #sh8t, #smem, mutable>
    %ms = ttng.tmem_alloc %s_value : (tensor<128x8xi8, #p>) -> !ttg.memdesc<128x8xi8, #tms, #tmem, mutable>
    %mt = ttng.tmem_alloc %t_value : (tensor<64x8xi8, #p>) -> !ttg.memdesc<64x8xi8, #tms, #tmem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable>
    ttng.tc_gen5_mma_scaled %ma, %mb, %d, %ms, %mt, %false, %true lhs = e2m1 rhs = e2m1 : !ttg.memdesc<128x128xi8, #sh8, #smem, mutable>, !ttg.memdesc<128x64xi8, #sh8t, #smem, mutable>, !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable>, !ttg.memdesc<128x8xi8, #tms, #tmem, mutable>, !ttg.memdesc<64x8xi8, #tms, #tmem, mutable>
    %left = ttng.tmem_load %d : !ttg.memdesc<128x64xf32, #tm64, #tmem, mutable> -> tensor<128x64xf32, #p>
"
        .to_owned(),
        store("y", "left", 128, 64, "f32"),
    ];
    let parameters = [("a", "i8"), ("b", "i8"), ("s", "i8"), ("t", "i8"), ("y", "f32")];
    let text = program(&parameters.map(|(name, element)| pointer(name, element)).join(", "), &statements.concat());
    let code = |at: usize, by: usize| (at * by / 5 % 256) as u8;
    let exponent = |at: usize, by: usize| (at * by % 3) as u8;
    let inputs = [
        (0..128 * 128).map(|at| code(at, 77)).collect(),
        (0..128 * 64).map(|at| code(at, 131)).collect(),
        (0..128 * 8).map(|at| 127 + exponent(at, 5)).collect(),
        (0..64 * 8).map(|at| 127 + exponent(at, 7)).collect::<Vec<u8>>(),
    ];
    let half = |byte: u8, k: usize| E2M1[usize::from(byte >> (4 * (k % 2)) & 15)];
    let expected: Vec<f32> = (0..128 * 64)
        .map(|at| {
            let (row, column) = (at / 64, at % 64);
            let term = |k: usize| {
                let exponents = exponent(row * 8 + k / 32, 5) + exponent(column * 8 + k / 32, 7);
                let a = half(code(row * 128 + k / 2, 77), k);
                a * half(code(k / 2 * 64 + column, 131), k) * f32::exp2(f32::from(exponents))
            };
            (0..256).map(term).sum()
        })
        .collect();
    for name in ["b200", "h100"] {
        assert!(floats(&last_buffer(name, &text, &inputs, 4 * 128 * 64)) == expected, "{name}");
    }
}

/// Operands of e2m1 share bytes across K if K is not the contiguous axis of their layout.
#[test]
fn scaled_mmas_of_four_bits_share_bytes_across_k() {
    for ([a_layout, b_layout], [a_across, b_across]) in
        [(["#sh64t", "#sh64"], [true, true]), (["#flat", "#sh64"], [false, true]), (["#padt", "#flat"], [true, false])]
    {
        let (a_rows, a_columns) = if a_across { (64, 128) } else { (128, 64) };
        let (b_rows, b_columns) = if b_across { (128, 64) } else { (64, 128) };
        let a_type = format!("!ttg.memdesc<{a_rows}x{a_columns}xi8, {a_layout}, #smem, mutable>");
        let b_type = format!("!ttg.memdesc<{b_rows}x{b_columns}xi8, {b_layout}, #smem, mutable>");
        let (d_type, s_type) =
            ("!ttg.memdesc<128x128xf32, #tm, #tmem, mutable>", "!ttg.memdesc<128x4xi8, #tms, #tmem, mutable>");
        let statements = [
            load("a", a_rows, a_columns, "i8"),
            load("b", b_rows, b_columns, "i8"),
            load("s", 128, 4, "i8"),
            format!(
                "    %ma = ttg.local_alloc %a_value : (tensor<{a_rows}x{a_columns}xi8, #p>) -> {a_type}
    %mb = ttg.local_alloc %b_value : (tensor<{b_rows}x{b_columns}xi8, #p>) -> {b_type}
    %ms = ttng.tmem_alloc %s_value : (tensor<128x4xi8, #p>) -> {s_type}
    %d = ttng.tmem_alloc : () -> {d_type}
    ttng.tc_gen5_mma_scaled %ma, %mb, %d, %ms, %ms, %false, %true lhs = e2m1 rhs = e2m1 : {a_type}, {b_type}, {d_type}, {s_type}, {s_type}
    %left = ttng.tmem_load %d : {d_type} -> tensor<128x128xf32, #p>
"
            ),
            store("y", "left", 128, 128, "f32"),
        ];
        let parameters = [("a", "i8"), ("b", "i8"), ("s", "i8"), ("y", "f32")];
        let text = program(&parameters.map(|(name, element)| pointer(name, element)).join(", "), &statements.concat());
        let code = |at: usize, by: usize| (at * by / 5 % 256) as u8;
        let exponent = |line: usize, k: usize| ((line * 4 + k / 32) * 5 % 3) as u8;
        let inputs = [
            (0..128 * 64).map(|at| code(at, 77)).collect(),
            (0..128 * 64).map(|at| code(at, 131)).collect(),
            (0..128 * 4).map(|at| 127 + exponent(at / 4, at % 4 * 32)).collect::<Vec<u8>>(),
        ];
        let half = |byte: u8, index: usize| E2M1[usize::from(byte >> (4 * (index % 2)) & 15)];
        let a = |row: usize, k: usize| match a_across {
            true => half(code(row / 2 * 128 + k, 77), row),
            false => half(code(row * 64 + k / 2, 77), k),
        };
        let b = |k: usize, column: usize| match b_across {
            true => half(code(k * 64 + column / 2, 131), column),
            false => half(code(k / 2 * 128 + column, 131), k),
        };
        let product = |row: usize, column: usize| -> f32 {
            let scale = |k: usize| f32::exp2(f32::from(exponent(row, k) + exponent(column, k)));
            (0..128).map(|k| a(row, k) * b(k, column) * scale(k)).sum()
        };
        let expected: Vec<f32> = (0..128 * 128).map(|at| product(at / 128, at % 128)).collect();
        for name in ["b200", "h100"] {
            let found = floats(&last_buffer(name, &text, &inputs, 4 * 128 * 128));
            assert!(found == expected, "{name}: {a_layout}, {b_layout}");
        }
    }
}

/// With `is_unsigned`, bytes are numbers from 0 to 255.
#[test]
fn mmas_of_bytes_may_be_unsigned() {
    let memory = |element: &str, layout: &str, space: &str| {
        format!("!ttg.memdesc<128x128x{element}, {layout}, {space}, mutable>")
    };
    let (bytes_type, accumulator) = (memory("i8", "#sh8", "#smem"), memory("i32", "#tm", "#tmem"));
    for is_unsigned in [false, true] {
        let flag = if is_unsigned { " {is_unsigned}" } else { "" };
        let statements = [
            load("a", 128, 128, "i8"),
            load("b", 128, 128, "i8"),
            format!(
                "    %ma = ttg.local_alloc %a_value : (tensor<128x128xi8, #p>) -> {bytes_type}
    %mb = ttg.local_alloc %b_value : (tensor<128x128xi8, #p>) -> {bytes_type}
    %d = ttng.tmem_alloc : () -> {accumulator}
    ttng.tc_gen5_mma %ma, %mb, %d, %false, %true{flag} : {bytes_type}, {bytes_type}, {accumulator}
    %left = ttng.tmem_load %d : {accumulator} -> tensor<128x128xi32, #p>
"
            ),
            store("y", "left", 128, 128, "i32"),
        ];
        let parameters = [("a", "i8"), ("b", "i8"), ("y", "i32")].map(|(name, element)| pointer(name, element));
        let text = program(&parameters.join(", "), &statements.concat());
        let code = |at: usize, by: usize| (at * by / 7 % 256) as u8;
        let inputs = [77, 131].map(|by| (0..128 * 128).map(|at| code(at, by)).collect::<Vec<u8>>());
        let number = |code: u8| if is_unsigned { i32::from(code) } else { i32::from(code as i8) };
        let product = |row: usize, column: usize| -> i32 {
            (0..128).map(|k| number(code(row * 128 + k, 77)) * number(code(k * 128 + column, 131))).sum()
        };
        let expected: Vec<u8> = (0..128 * 128).flat_map(|at| product(at / 128, at % 128).to_le_bytes()).collect();
        assert!(last_buffer("b200", &text, &inputs, 4 * 128 * 128) == expected, "unsigned: {is_unsigned}");
    }
}

/// Packed arithmetic computes each element alone, rounded as a scalar operation.
#[test]
fn packed_arithmetic_computes_each_element() {
    let tensor = "tensor<64x64xf32, #p>";
    let of = |kind: &str, operands: &str, count: usize| {
        format!("ttng.packed_arith {kind} {operands} : ({}) -> {tensor}\n", vec![tensor; count].join(", "))
    };
    let statements = [
        load("x", 64, 64, "f32"),
        load("w", 64, 64, "f32"),
        format!("    %add = {}", of("add", "%x_value, %w_value", 2)),
        format!("    %sub = {}", of("sub", "%x_value, %w_value", 2)),
        format!("    %mul = {}", of("mul", "%add, %sub", 2)),
        format!("    %fma = {}", of("fma", "%mul, %w_value, %x_value", 3)),
        store("y", "fma", 64, 64, "f32"),
    ];
    let parameters = [("x", "f32"), ("w", "f32"), ("y", "f32")].map(|(name, element)| pointer(name, element));
    let text = program(&parameters.join(", "), &statements.concat());
    let x: Vec<f32> = (0..64 * 64).map(|at| (at as f32).sqrt()).collect();
    let w: Vec<f32> = (0..64 * 64).map(|at| 1.0 / (at as f32 + 3.0)).collect();
    let expected: Vec<f32> = x.iter().zip(&w).map(|(x, w)| ((x + w) * (x - w)).mul_add(*w, *x)).collect();
    for name in ["b200", "h100"] {
        let found = floats(&last_buffer(name, &text, &[bytes(x.clone()), bytes(w.clone())], 4 * 64 * 64));
        assert!(found == expected, "{name}");
    }
    let narrow = text.replace("f32", "f16").replace("packed_arith add", "packed_arith max");
    let narrow = narrow.replace("packed_arith sub", "packed_arith min");
    let [first, second] = [7, 5].map(|by| (0..64 * 64).map(|at| (at * by % 32) as f32).collect::<Vec<f32>>());
    let half = |numbers: &[f32]| -> Vec<u8> {
        // Integers below 32 in binary16: the exponent and the leading bits of binary32.
        numbers.iter().flat_map(|number| half_bits(*number).to_le_bytes()).collect()
    };
    let expected: Vec<f32> = first.iter().zip(&second).map(|(x, w)| (x.max(*w) * x.min(*w)).mul_add(*w, *x)).collect();
    let found = last_buffer("b200", &narrow, &[half(&first), half(&second)], 2 * 64 * 64);
    let found: Vec<f32> = found.chunks_exact(2).map(|two| half_value(u16::from_le_bytes([two[0], two[1]]))).collect();
    for (at, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
        // Only the last operation rounds.
        let error = expected * f32::exp2(-11.0);
        assert!((found - expected).abs() <= error, "[{at}] is {found}, expected {expected}");
    }
}

/// A program that takes over work of other programs while any is left executes its own work only.
#[test]
fn programs_without_cancelled_launches_do_their_own_work() {
    let memory = "!ttg.memdesc<2xi64, #bar, #smem, mutable>";
    let mbarrier = "!ttg.memdesc<1xi64, #bar, #smem, mutable>";
    let statements = format!(
        "    %zero = arith.constant 0 : i32
    %sixteen = arith.constant 16 : i32
    %answer = ttg.local_alloc : () -> {memory}
    %bar = ttg.local_alloc : () -> {mbarrier}
    ttng.init_barrier %bar, 1 : {mbarrier}
    %own = tt.get_program_id x : i32
    %count = scf.while (%rounds = %zero, %more = %true) : (i32, i1) -> i32 {{
      scf.condition(%more) %rounds : i32
    }} do {{
    ^bb0(%rounds: i32):
      ttng.barrier_expect %bar, 16, %true : {mbarrier}
      ttng.clc_try_cancel %answer, %bar : {memory}, {mbarrier}
      ttng.wait_barrier %bar, %rounds : {mbarrier}
      %result = ttng.clc_load_result %answer : {memory} -> i128
      %taken = ttng.clc_is_canceled %result : i128 -> i1
      %other = ttng.clc_get_program_id %result, x : i128 -> i32
      %one = arith.constant 1 : i32
      %next = arith.addi %rounds, %one : i32
      scf.yield %next, %taken : i32, i1
    }}
    tt.store %y, %count : !tt.ptr<i32>
"
    );
    let text = program(&pointer("y", "i32"), &statements);
    assert_eq!(last_buffer("b200", &text, &[], 4), [1, 0, 0, 0]);
}

/// Returns the bits of a nonnegative integer below 2048 in binary16.
fn half_bits(number: f32) -> u16 {
    if number == 0.0 {
        return 0;
    }
    let bits = number.to_bits();
    ((bits >> 23) as u16 - 127 + 15) << 10 | (bits >> 13 & 0x3ff) as u16
}

/// Returns the number of a nonnegative normal binary16, or zero.
fn half_value(bits: u16) -> f32 {
    if bits == 0 {
        return 0.0;
    }
    f32::from_bits((u32::from(bits >> 10) + 127 - 15) << 23 | u32::from(bits & 0x3ff) << 13)
}
