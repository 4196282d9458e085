//! Tile programs that clusters of several blocks execute: every program gives the same result as with one block.

use crate::prelude::*;

const HEAD: &str = r#"#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#tall = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0], CGALayout = [[0, 1]]}>
#both = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[0, 0]]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8], CGALayout = [[0, 1]]}>
#dota = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dotb = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#own = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0], CGALayout = [[1, 0]]}>
#other = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0], CGALayout = [[0, 1]]}>
#each = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0], CGALayout = [[0, 0]]}>
#sh16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#shb16 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#acc = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CGALayout = [[1, 0]], twoCTAs = true>
#rowacc = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CGALayout = [[1, 0]]>
#shared16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
"#;

/// Returns a program for clusters of `blocks` blocks of four warps.
fn program(blocks: u32, parameters: &str, statements: &str) -> String {
    let parameters: Vec<String> = parameters
        .split(' ')
        .filter(|name| !name.is_empty())
        .map(|name| {
            let (name, element) = name.split_once(':').unwrap();
            format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}")
        })
        .collect();
    format!(
        "{HEAD}module attributes {{\"ttg.num-ctas\" = {blocks} : i32, \"ttg.num-warps\" = 4 : i32, \
         \"ttg.threads-per-warp\" = 32 : i32, ttg.target = \"cuda:90\"}} {{
  tt.func public @k({}) {{
{statements}    tt.return
  }}
}}
",
        parameters.join(", ")
    )
}

/// The tile of a matrix, whose offsets have the pointer's name as suffix.
fn tile<'a>(name: &'a str, rows: u64, columns: u64, layout: Option<&'a str>) -> TileAddressText<'a> {
    TileAddressText { name, rows, columns, pitch: columns, layout }
}

/// Returns the type of a matrix of f32, or of another element.
fn ty(rows: u64, columns: u64, element: &str, layout: Option<&str>) -> String {
    let layout = layout.map_or_else(String::new, |layout| format!(", {layout}"));
    format!("tensor<{rows}x{columns}x{element}{layout}>")
}

/// Returns statements that load the matrix at the pointer `%name` as `%name_value`.
fn load(name: &str, rows: u64, columns: u64, element: &str, layout: Option<&str>) -> String {
    let tile = tile(name, rows, columns, layout);
    let pointers = ty(rows, columns, &format!("!tt.ptr<{element}>"), layout);
    let addresses = tile.addresses(&format!("{name}_at"), name, element);
    format!("    {}{addresses}    %{name}_value = tt.load %{name}_at : {pointers}\n", tile.offsets())
}

/// Returns statements that store the matrix `%value` at the pointer `%name`.
fn store(name: &str, value: &str, rows: u64, columns: u64, layout: Option<&str>) -> String {
    let tile = tile(name, rows, columns, layout);
    let pointers = ty(rows, columns, "!tt.ptr<f32>", layout);
    let addresses = tile.addresses(&format!("{name}_at"), name, "f32");
    format!("    {}{addresses}    tt.store %{name}_at, %{value} : {pointers}\n", tile.offsets())
}

/// Runs `programs` programs on the emulator; returns the contents of the buffers; the last is the output.
fn run(text: &str, programs: u32, buffers: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let target = target("h100");
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = GlobalMemory::new();
    let buffers: Vec<_> = buffers.iter().map(|bytes| memory.allocate_with(bytes)).collect();
    let arguments: Vec<_> = buffers.iter().map(|&buffer| Argument::Buffer(buffer)).collect();
    let semantics = SemanticsTable::from_instructions(target.instructions());
    let emulator = Emulator::new(&kernel, target.description()).unwrap().with_semantics(&semantics);
    let grid = [programs * kernel.launch.blocks, 1, 1];
    emulator
        .run(grid, &arguments, &mut memory, &RunLimits::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let options = CompileOptions { emit: vec![CodeFormat::Assembly, CodeFormat::Object], ..CompileOptions::default() };
    let blocks = kernel.launch.blocks;
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    assert_eq!(artifact.kernels[0].blocks, blocks);
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    assert!(ptx.contains(&format!(".reqnctapercluster {blocks}")), "{ptx}");
    buffers.iter().map(|&buffer| memory.read_all(buffer).unwrap().to_vec()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Returns small integers, whose sums are exact in f32.
fn integers(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at * 7 / 3 % 11) as f32 - 5.0).collect()
}

/// Runs a program of one input and one output of f32.
fn mapped(text: &str, input: &[f32], output: usize) -> Vec<f32> {
    floats(&run(text, 1, vec![bytes(input), vec![0; 4 * output]])[1])
}

/// Conversions move elements between blocks, and barriers of the cluster separate phases.
#[test]
fn layouts_divide_tensors_among_blocks() {
    let [rows, columns, both] = ["#rows", "#columns", "#both"].map(Some);
    for (from, to) in [(rows, columns), (columns, rows), (both, rows), (rows, both), (columns, both)] {
        let types = [from, to].map(|layout| ty(32, 64, "f32", layout));
        let statements = [
            load("x", 32, 64, "f32", from),
            format!("    %moved = ttg.convert_layout %x_value : {} -> {}\n", types[0], types[1]),
            format!("    ttng.cluster_barrier\n    %twice = arith.addf %moved, %moved : {}\n", types[1]),
            store("y", "twice", 32, 64, to),
        ];
        let input = integers(32 * 64);
        let expected: Vec<f32> = input.iter().map(|number| 2.0 * number).collect();
        assert_eq!(
            mapped(&program(2, "x:f32 y:f32", &statements.concat()), &input, 32 * 64),
            expected,
            "{from:?} {to:?}"
        );
    }
}

/// A block stores to its own shared memory; elements that another block needs are converted.
#[test]
fn shared_memory_of_clusters_is_divided_among_blocks() {
    for memory in ["#own", "#other", "#each"] {
        let memory = format!("!ttg.memdesc<32x64xf32, {memory}, #smem, mutable>");
        let [rows, columns] = ["#rows", "#columns"].map(|layout| ty(32, 64, "f32", Some(layout)));
        let statements = [
            load("x", 32, 64, "f32", Some("#rows")),
            format!("    %m = ttg.local_alloc %x_value : ({rows}) -> {memory}\n"),
            format!("    %c = ttg.local_load %m : {memory} -> {columns}\n"),
            format!("    %d = arith.addf %c, %c : {columns}\n    ttg.local_store %d, %m : {columns} -> {memory}\n"),
            format!("    %r = ttg.local_load %m : {memory} -> {rows}\n"),
            store("y", "r", 32, 64, Some("#rows")),
        ];
        let input = integers(32 * 64);
        let expected: Vec<f32> = input.iter().map(|number| 2.0 * number).collect();
        assert_eq!(mapped(&program(2, "x:f32 y:f32", &statements.concat()), &input, 32 * 64), expected, "{memory}");
    }
}

/// A store that completes on mbarriers reaches the blocks that hold its elements.
#[test]
fn asynchronous_stores_reach_other_blocks() {
    let memory = "!ttg.memdesc<32x64xf32, #other, #smem, mutable>";
    let mbarrier = "!ttg.memdesc<2xi64, #bar, #smem, mutable>";
    let [rows, columns] = ["#rows", "#columns"].map(|layout| ty(32, 64, "f32", Some(layout)));
    let statements = [
        load("x", 32, 64, "f32", Some("#rows")),
        format!(
            "    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %m = ttg.local_alloc : () -> {memory}
    %b = ttg.local_alloc : () -> {mbarrier}
    ttng.init_barrier %b, 1 : {mbarrier}
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier {{relaxed = true}}
    ttng.barrier_expect %b, 4096, %true : {mbarrier}
    ttng.async_shared_store %x_value, %m, %b : {rows} -> {memory}, {mbarrier}
    ttng.wait_barrier %b, %zero : {mbarrier}
    %c = ttg.local_load %m : {memory} -> {columns}
"
        ),
        store("y", "c", 32, 64, Some("#columns")),
    ];
    let input = integers(32 * 64);
    assert_eq!(mapped(&program(2, "x:f32 y:f32", &statements.concat()), &input, 32 * 64), input);
}

/// A combine region that adds two numbers.
const ADD: &str = "({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      \"tt.OP.return\"(%s) : (f32) -> ()
    })";

/// Reductions and scans combine elements of all blocks, with given layouts and with assigned ones.
#[test]
fn reductions_and_scans_cross_blocks() {
    let input = integers(32 * 64);
    for (layout, blocks) in [(Some("#rows"), 2), (Some("#columns"), 2), (Some("#both"), 2), (None, 2), (None, 4)] {
        let tensor = ty(32, 64, "f32", layout);
        for axis in [0, 1] {
            let line = match layout {
                Some(parent) => {
                    format!("tensor<{}xf32, #ttg.slice<{{dim = {axis}, parent = {parent}}}>>", [64, 32][axis])
                }
                None => format!("tensor<{}xf32>", [64, 32][axis]),
            };
            let spread = ty([1, 32][axis], [64, 1][axis], "f32", layout);
            let statements = [
                load("x", 32, 64, "f32", layout),
                format!(
                    "    %sum = \"tt.reduce\"(%x_value) <{{axis = {axis} : i32}}> {} : ({tensor}) -> {line}
    %scan = \"tt.scan\"(%x_value) <{{axis = {axis} : i32, reverse = false}}> {} : ({tensor}) -> {tensor}
    %one = tt.expand_dims %sum {{axis = {axis} : i32}} : {line} -> {spread}
    %all = tt.broadcast %one : {spread} -> {tensor}
    %both = arith.addf %all, %scan : {tensor}
",
                    ADD.replace("OP", "reduce"),
                    ADD.replace("OP", "scan")
                ),
                store("y", "both", 32, 64, layout),
            ];
            let expected: Vec<f32> = (0..32 * 64)
                .map(|at| {
                    let (row, column) = (at / 64, at % 64);
                    let of = |index: usize| input[if axis == 0 { index * 64 + column } else { row * 64 + index }];
                    let (length, here) = if axis == 0 { (32, row) } else { (64, column) };
                    (0..length).map(of).sum::<f32>() + (0..=here).map(of).sum::<f32>()
                })
                .collect();
            let text = program(blocks, "x:f32 y:f32", &statements.concat());
            assert_eq!(mapped(&text, &input, 32 * 64), expected, "{layout:?} axis {axis} blocks {blocks}");
        }
    }
}

/// Blocks multiply their shares of M or N, in layouts that the program states and in assigned ones.
#[test]
fn dots_are_divided_among_blocks() {
    let (m, n, k) = (64, 32, 64);
    let plain = (
        None,
        "    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %d = tt.dot %a_value, %b_value, %zero : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
",
    );
    let explicit = (
        Some("#rows"),
        "    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %ao = ttg.convert_layout %a_value : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #dota>
    %bo = ttg.convert_layout %b_value : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #dotb>
    %e = tt.dot %ao, %bo, %zero : tensor<64x64xf16, #dota> * tensor<64x32xf16, #dotb> -> tensor<64x32xf32, #mma>
    %d = ttg.convert_layout %e : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #rows>
",
    );
    for ((layout, dot), blocks) in [(plain, 2), (plain, 4), (explicit, 2)] {
        let statements = [
            load("a", m, k, "f16", layout),
            load("b", k, n, "f16", layout),
            dot.to_owned(),
            store("y", "d", m, n, layout),
        ];
        let text = program(blocks, "a:f16 b:f16 y:f32", &statements.concat());
        check_dot(&text, [m, n, k].map(|size| size as usize));
    }
}

/// Checks a program that multiplies two matrices of f16.
fn check_dot(text: &str, [m, n, k]: [usize; 3]) {
    let number = |at: usize, by: usize| (at * by / 3 % 5) as i32 - 2;
    let matrix = |count: usize, by: usize| -> Vec<u8> {
        let bits = |at: usize| [0xc000u16, 0xbc00, 0, 0x3c00, 0x4000][(number(at, by) + 2) as usize].to_le_bytes();
        (0..count).flat_map(bits).collect()
    };
    let expected: Vec<f32> = (0..m * n)
        .map(|at| (0..k).map(|k_at| number(at / n * k + k_at, 7) * number(k_at * n + at % n, 11)).sum::<i32>() as f32)
        .collect();
    let left = run(text, 1, vec![matrix(m * k, 7), matrix(k * n, 11), vec![0; 4 * m * n]]);
    assert_eq!(floats(&left[2]), expected, "{text}");
}

/// An MMA of two blocks multiplies the matrices of both.
#[test]
fn mmas_of_two_blocks_multiply_the_matrices_of_both() {
    let statements = [
        load("a", 256, 64, "f16", Some("#rows")),
        load("b", 64, 64, "f16", Some("#rows")),
        "    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant 0 : i32
    %ma = ttg.local_alloc %a_value : (tensor<256x64xf16, #rows>) -> !ttg.memdesc<256x64xf16, #sh16, #smem>
    %mb = ttg.local_alloc %b_value : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shb16, #smem>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<256x64xf32, #acc, #ttng.tensor_memory, mutable>
    ttng.tc_gen5_mma %ma, %mb, %d, %false, %true, %bar[%true] {is_async, two_ctas} : !ttg.memdesc<256x64xf16, #sh16, #smem>, !ttg.memdesc<64x64xf16, #shb16, #smem>, !ttg.memdesc<256x64xf32, #acc, #ttng.tensor_memory, mutable>, !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.wait_barrier %bar, %zero : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %r = ttng.tmem_load %d : !ttg.memdesc<256x64xf32, #acc, #ttng.tensor_memory, mutable> -> tensor<256x64xf32, #tall>
"
        .to_owned(),
        store("y", "r", 256, 64, Some("#tall")),
    ];
    let text = program(2, "a:f16 b:f16 y:f32", &statements.concat()).replace("cuda:90", "cuda:100");
    check_dot(&text, [256, 64, 64]);
}

/// Multicast arrivals and MMAs complete the mbarriers of all blocks, which expect one arrival of each.
#[test]
fn multicasts_arrive_at_the_mbarriers_of_all_blocks() {
    let statements = [
        load("a", 256, 64, "f16", Some("#rows")),
        load("b", 64, 64, "f16", Some("#rows")),
        "    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant 0 : i32
    %ma = ttg.local_alloc %a_value : (tensor<256x64xf16, #rows>) -> !ttg.memdesc<256x64xf16, #sh16, #smem>
    %mb = ttg.local_alloc %b_value : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared16, #smem>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 2 : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.wait_barrier %bar, %zero : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<256x64xf32, #rowacc, #ttng.tensor_memory, mutable>
    ttng.tc_gen5_mma %ma, %mb, %d, %false, %true, %bar[%true] {is_async, multicast} : !ttg.memdesc<256x64xf16, #sh16, #smem>, !ttg.memdesc<64x64xf16, #shared16, #smem>, !ttg.memdesc<256x64xf32, #rowacc, #ttng.tensor_memory, mutable>, !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %one = arith.constant 1 : i32
    ttng.wait_barrier %bar, %one : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %r = ttng.tmem_load %d : !ttg.memdesc<256x64xf32, #rowacc, #ttng.tensor_memory, mutable> -> tensor<256x64xf32, #tall>
"
        .to_owned(),
        store("y", "r", 256, 64, Some("#tall")),
    ];
    let text = program(2, "a:f16 b:f16 y:f32", &statements.concat()).replace("cuda:90", "cuda:100");
    check_dot(&text, [256, 64, 64]);
}

/// A partition of warps cannot wait for the other blocks of a cluster, so such a program gets an error and no kernel.
#[test]
fn partitions_do_not_wait_for_other_blocks() {
    let statements = "    ttg.warp_specialize()
    default {
      %at = tt.splat %y : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #line>
      %one = arith.constant dense<1> : tensor<128xi32, #line>
      %all = arith.constant dense<true> : tensor<128xi1, #line>
      %old = tt.atomic_rmw add, relaxed, gpu, %at, %one, %all : (tensor<128x!tt.ptr<i32>, #line>, tensor<128xi32, #line>, tensor<128xi1, #line>) -> tensor<128xi32, #line>
      tt.store %at, %old : tensor<128x!tt.ptr<i32>, #line>
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
";
    let line = "sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]";
    let text = format!("#line = #ttg.blocked<{{{line}}}>\n{}", program(2, "y:i32", statements));
    let error = program_kernel(&target("h100"), &text).unwrap_err().to_string();
    assert!(error.contains("partitions of warps cannot"), "{error}");
}

/// A program is executed by the blocks of one cluster: they share its index, and update each element once.
#[test]
fn programs_are_numbered_by_cluster() {
    let statements = "    %id = tt.get_program_id x : i32
    %count = tt.get_num_programs x : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %old = tt.atomic_rmw add, acq_rel, gpu, %y, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %base = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %far = arith.constant dense<1> : tensor<64xi32>
    %offset = arith.addi %range, %far : tensor<64xi32>
    %at = tt.addptr %base, %offset : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %ones = arith.constant dense<1> : tensor<64xi32>
    %all = arith.constant dense<true> : tensor<64xi1>
    %before = tt.atomic_rmw add, relaxed, gpu, %at, %ones, %all : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
    %first = arith.constant 65 : i32
    %stride = arith.constant 66 : i32
    %skip = arith.muli %id, %stride : i32
    %start = arith.addi %skip, %first : i32
    %cell = tt.addptr %y, %start : !tt.ptr<i32>, i32
    %hundred = arith.constant 100 : i32
    %both = arith.muli %count, %hundred : i32
    %number = arith.addi %both, %id : i32
    tt.store %cell, %number : !tt.ptr<i32>
    %next = tt.addptr %cell, %one : !tt.ptr<i32>, i32
    tt.store %next, %old : !tt.ptr<i32>
    %rest = tt.splat %next : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %places = tt.addptr %rest, %offset : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %places, %before : tensor<64x!tt.ptr<i32>>
";
    for blocks in [2, 4] {
        let left = run(&program(blocks, "y:i32", statements), 3, vec![vec![0; 4 * (65 + 3 * 66)]]);
        let words: Vec<i32> =
            left[0].chunks_exact(4).map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect();
        assert_eq!(words[..65], [3; 65]);
        let mut old = Vec::new();
        for id in 0..3 {
            let own = &words[65 + 66 * id..][..66];
            assert_eq!(own[0], 300 + id as i32);
            old.push(own[1]);
            // All elements were updated before or after those of another program.
            assert!(own[2..].iter().all(|before| (0..3).contains(before)), "{own:?}");
        }
        old.sort_unstable();
        assert_eq!(old, [0, 1, 2]);
    }
}

/// Indexed elements and counts are found in whatever block holds them.
#[test]
fn gathers_and_histograms_see_all_blocks() {
    let statements = "    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %base = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %at = tt.addptr %base, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %value = tt.load %at : tensor<256x!tt.ptr<i32>>
    %last = arith.constant dense<255> : tensor<256xi32>
    %turned = arith.subi %last, %range : tensor<256xi32>
    %mirror = tt.gather %value[%turned] {axis = 0 : i32} : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi32>
    %counts = tt.histogram %value : tensor<256xi32> -> tensor<256xi32>
    %thousand = arith.constant dense<1000> : tensor<256xi32>
    %high = arith.muli %counts, %thousand : tensor<256xi32>
    %sum = arith.addi %high, %mirror : tensor<256xi32>
    %out = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %to = tt.addptr %out, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %to, %sum : tensor<256x!tt.ptr<i32>>
";
    let input: Vec<i32> = (0..256).map(|at| at * at % 37).collect();
    let words: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let left = run(&program(2, "x:i32 y:i32", statements), 1, vec![words, vec![0; 1024]]);
    let found: Vec<i32> = left[1].chunks_exact(4).map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect();
    let count = |bin: usize| input.iter().filter(|&&value| value == bin as i32).count() as i32;
    let expected: Vec<i32> = (0..256).map(|at| 1000 * count(at) + input[255 - at]).collect();
    assert_eq!(found, expected);
}

/// A target without clusters rejects the program with the reason.
#[test]
fn targets_without_clusters_reject_clusters() {
    let text =
        program(2, "x:f32 y:f32", &[load("x", 32, 64, "f32", None), store("y", "x_value", 32, 64, None)].concat());
    let error = program_kernel(&target("a100"), &text).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("clusters of at most 1"), "{error}");
}
