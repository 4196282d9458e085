//! Loops that multiply blocks which tensor descriptors load: bulk tensor copies (TMA) into buffers in shared memory,
//! from which `wgmma` reads. The emulator executes the kernel, and the virtual device its PTX; both must match integer
//! arithmetic.

use std::path::PathBuf;

use crate::prelude::*;
use tilewright_assign::FunctionReport;
use tilewright_assign::stages::LoopPipelineReport;
use tilewright_target::Optimization;
use tilewright_verify::case::{
    CaseArgument, CaseBuffer, CaseElement, CaseElementValue, CaseValue, ExpectedContents, ProgramCase, Tolerance,
};
use tilewright_virtual_ptx::VirtualDevice;

/// A matmul whose operands are copied and multiplied in tiles.
#[derive(Debug, Clone, Copy)]
struct Matmul {
    /// The element type of the operands.
    element: &'static str,
    /// The element type of the accumulator.
    accumulator: &'static str,
    /// The sizes of a tile along M, N and K.
    tile: [u64; 3],
    /// The sizes of the matrices along M, N and K.
    size: [u64; 3],
    /// Whether memory has B by rows of N, so that the program transposes its tiles.
    transposed: bool,
    /// Whether blocks have a further axis of size one in front, which the program removes.
    batched: bool,
    /// Whether all iterations multiply the first tile of A, which the program loads before the loop.
    resident: bool,
    /// Whether one block multiplies all tiles of a column of tiles, in a loop that stores one tile in each iteration.
    persistent: bool,
    /// Whether the loop carries the offset of the tiles along K.
    carried: bool,
    /// The operation that gives the pointer to A, `%base`.
    base: &'static str,
    /// The number of warps.
    warps: u32,
}

const MATMUL: Matmul = Matmul {
    element: "f16",
    accumulator: "f32",
    tile: [64, 64, 32],
    size: [100, 72, 80],
    transposed: true,
    batched: false,
    resident: false,
    persistent: false,
    carried: false,
    base: "%base = tt.addptr %a, %zero : !tt.ptr<f16>, i32",
    warps: 4,
};

/// The programs whose descriptors a launch can encode.
const COPIED: [Matmul; 7] = [
    Matmul { base: "", ..MATMUL },
    Matmul { base: "", transposed: false, ..MATMUL },
    Matmul { base: "", tile: [64, 32, 64], size: [64, 50, 200], ..MATMUL },
    Matmul { base: "", tile: [128, 64, 64], size: [130, 64, 64], warps: 8, ..MATMUL },
    Matmul { base: "", element: "i8", accumulator: "i32", tile: [64, 64, 64], ..MATMUL },
    Matmul { base: "", element: "f32", tile: [64, 32, 32], ..MATMUL },
    Matmul { base: "", batched: true, ..MATMUL },
];

/// The programs that store a tile in each iteration of a loop.
const PERSISTENT: [Matmul; 2] = [
    Matmul { base: "", persistent: true, size: [200, 72, 80], ..MATMUL },
    Matmul { base: "", persistent: true, tile: [128, 64, 64], size: [390, 64, 64], warps: 8, ..MATMUL },
];

/// The program whose loop carries the offset of its tiles.
const CARRIED: Matmul = Matmul { base: "", carried: true, ..MATMUL };

/// The programs whose MMAs read the same tile of A in each iteration.
const RESIDENT: [Matmul; 2] = [
    Matmul { base: "", resident: true, ..MATMUL },
    Matmul { base: "", resident: true, tile: [128, 64, 64], size: [130, 64, 200], warps: 8, ..MATMUL },
];

impl Matmul {
    /// Number of elements between rows of A and B in memory, and of C.
    fn pitches(&self) -> [u64; 3] {
        let [_, n, k] = self.size;
        let b = if self.transposed { k } else { n };
        [k, b, n].map(|size| size.next_multiple_of(16) + 16)
    }

    fn text(&self) -> String {
        let (mut text, ends) = (self.text_of_block(), "\n    tt.return");
        if self.carried {
            let changes = [
                ("%sum = scf.for %at", "%sum:2 = scf.for %i"),
                ("iter_args(%acc = %none) -> (", "iter_args(%at = %zero, %acc = %none) -> (i32, "),
                ("scf.yield %next : ", "%after = arith.addi %at, %step : i32\n      scf.yield %after, %next : i32, "),
                (", %sum : ", ", %sum#1 : "),
            ];
            text = changes.into_iter().fold(text, |text, (from, to)| text.replace(from, to));
        }
        if !self.persistent {
            return text;
        }
        let tiles = "%tiles = arith.ceildivsi %m, %rows : i32\n    scf.for %x = %zero to %tiles step %one : i32 {";
        text.replace("%x = tt.get_program_id x : i32", tiles).replace(ends, &format!("\n    }}{ends}"))
    }

    fn text_of_block(&self) -> String {
        let Self { element, accumulator, tile: [m, n, k], base, .. } = self;
        let batch = |shape: String| if self.batched { format!("1x{shape}") } else { shape };
        let (block_a, block_b) = match self.transposed {
            true => (format!("{m}x{k}"), format!("{n}x{k}")),
            false => (format!("{m}x{k}"), format!("{k}x{n}")),
        };
        let (pointer, zero) =
            (if base.is_empty() { "%a" } else { "%base" }, if *accumulator == "i32" { "0" } else { "0.0" });
        let (size_b, index_b) = if self.transposed { ("%n, %k", "%column, %at") } else { ("%k, %n", "%at, %column") };
        let of = |sizes: &str, pitch: &str| match self.batched {
            true => format!("[%one, {sizes}], [{pitch}, {pitch}, %wide]"),
            false => format!("[{sizes}], [{pitch}, %wide]"),
        };
        let index = |index: &str| if self.batched { format!("%zero, {index}") } else { index.to_owned() };
        let loaded = |name: &str, block: &str| match self.batched {
            true => {
                format!("%{name} = tt.reshape %{name}_block : tensor<1x{block}x{element}> -> tensor<{block}x{element}>")
            }
            false => String::new(),
        };
        let name = if self.batched { "_block" } else { "" };
        let b = match self.transposed {
            true => format!(
                "%tb = tt.trans %bb {{order = array<i32: 1, 0>}} : tensor<{block_b}x{element}> -> tensor<{k}x{n}x{element}>"
            ),
            false => String::new(),
        };
        let operand_b = if self.transposed { "%tb" } else { "%bb" };
        let load_a = format!(
            "%aa{name} = tt.descriptor_load %da[{}] : !tt.tensordesc<{block}x{element}> -> tensor<{block}x{element}>",
            index(if self.resident { "%row, %zero" } else { "%row, %at" }),
            block = batch(block_a.clone()),
        );
        let (before_loop, in_loop) = if self.resident { (load_a, String::new()) } else { (String::new(), load_a) };
        format!(
            "module {{
  tt.func public @matmul(%a: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %b: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %c: !tt.ptr<{accumulator}> {{tt.divisibility = 16 : i32}}, %m: i32, %n: i32, %k: i32 {{tt.divisibility = 8 : i32}}, %pitch_a: i32 {{tt.divisibility = 16 : i32}}, %pitch_b: i64 {{tt.divisibility = 16 : i32}}, %pitch_c: i32 {{tt.divisibility = 16 : i32}}) {{
    %none = arith.constant dense<{zero}> : tensor<{m}x{n}x{accumulator}>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %wide = arith.constant 1 : i64
    %step = arith.constant {k} : i32
    %rows = arith.constant {m} : i32
    %columns = arith.constant {n} : i32
    {base}
    %wide_a = arith.extsi %pitch_a : i32 to i64
    %wide_c = arith.extsi %pitch_c : i32 to i64
    %da = tt.make_tensor_descriptor {pointer}, {of_a} : <{element}>, <{batch_a}x{element}>
    %db = tt.make_tensor_descriptor %b, {of_b} : <{element}>, <{batch_b}x{element}>
    %dc = tt.make_tensor_descriptor %c, [%m, %n], [%wide_c, %wide] : <{accumulator}>, <{m}x{n}x{accumulator}>
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %row = arith.muli %x, %rows : i32
    %column = arith.muli %y, %columns : i32
    {before_loop}
    %sum = scf.for %at = %zero to %k step %step iter_args(%acc = %none) -> (tensor<{m}x{n}x{accumulator}>) : i32 {{
      {in_loop}
      {loaded_a}
      %bb{name} = tt.descriptor_load %db[{index_b}] : !tt.tensordesc<{batch_b}x{element}> -> tensor<{batch_b}x{element}>
      {loaded_b}
      {b}
      %next = tt.dot %aa, {operand_b}, %acc, inputPrecision = tf32 : tensor<{m}x{k}x{element}> * tensor<{k}x{n}x{element}> -> tensor<{m}x{n}x{accumulator}>
      scf.yield %next : tensor<{m}x{n}x{accumulator}>
    }}
    tt.descriptor_store %dc[%row, %column], %sum : !tt.tensordesc<{m}x{n}x{accumulator}>, tensor<{m}x{n}x{accumulator}>
    tt.return
  }}
}}
",
            of_a = of("%m, %k", "%wide_a"),
            of_b = of(size_b, "%pitch_b"),
            batch_a = batch(block_a.clone()),
            batch_b = batch(block_b.clone()),
            index_b = index(index_b),
            loaded_a = loaded("aa", &block_a),
            loaded_b = loaded("bb", &block_b),
        )
    }

    /// The case: small integers, whose sums are all exact. Rows of memory end in numbers that no tile may have.
    fn case(&self) -> ProgramCase {
        let [m, n, k] = self.size;
        let [pitch_a, pitch_b, pitch_c] = self.pitches();
        let element = CaseElement::from_name(self.element).expect("an element type");
        let result = CaseElement::from_name(self.accumulator).expect("an element type");
        let encoded = |element: CaseElement, value: i64| {
            let value = match element {
                CaseElement::Float(_) => CaseElementValue::Float(value as f64),
                _ => CaseElementValue::Integer(value.into()),
            };
            element.encode(value).expect("a small number").to_le_bytes()[..element.bytes()].to_vec()
        };
        let of = |row: u64, column: u64, seed: u64| ((row * 7 + column * 5 + row * column + seed) % 7) as i64 - 3;
        let matrix = |rows: u64, columns: u64, pitch: u64, seed: u64| -> Vec<u8> {
            let at = |row, column| if column < columns { of(row, column, seed) } else { 5 };
            (0..rows).flat_map(|row| (0..pitch).flat_map(move |column| encoded(element, at(row, column)))).collect()
        };
        let at_b = |depth: u64, column: u64| if self.transposed { of(column, depth, 2) } else { of(depth, column, 2) };
        let in_a = |at: u64| if self.resident { at % self.tile[2] } else { at };
        let element_at = |row: u64, column: u64| (0..k).map(|at| of(row, in_a(at), 0) * at_b(at, column)).sum::<i64>();
        let expected = (0..m).flat_map(|row| {
            (0..pitch_c).flat_map(move |column| encoded(result, if column < n { element_at(row, column) } else { 9 }))
        });
        let rows_b = if self.transposed { [n, k] } else { [k, n] };
        let buffer = |name: &str, element, shape, before: Vec<u8>, after| CaseBuffer {
            name: name.to_owned(),
            element,
            shape,
            before,
            after,
        };
        let before: Vec<u8> = (0..m * pitch_c).flat_map(|_| encoded(result, 9)).collect();
        let after = ExpectedContents::Expected { bytes: expected.collect(), tolerance: Tolerance::default() };
        let buffers = vec![
            buffer("a", element, vec![m, pitch_a], matrix(m, k, pitch_a, 0), ExpectedContents::Unchanged),
            buffer(
                "b",
                element,
                vec![rows_b[0], pitch_b],
                matrix(rows_b[0], rows_b[1], pitch_b, 2),
                ExpectedContents::Unchanged,
            ),
            buffer("c", result, vec![m, pitch_c], before, after),
        ];
        let numbers = [m, n, k, pitch_a, pitch_b, pitch_c].into_iter().zip([32, 32, 32, 32, 64, 32]);
        let numbers = numbers.map(|(bits, width)| CaseValue::Scalar { bits, width });
        let values = (0..3).map(CaseValue::Buffer).chain(numbers);
        let names = ["a", "b", "c", "m", "n", "k", "pitch_a", "pitch_b", "pitch_c"];
        let arguments =
            names.into_iter().zip(values).map(|(name, value)| CaseArgument { name: name.to_owned(), value });
        let blocks = |axis: usize| self.size[axis].div_ceil(self.tile[axis]) as u32;
        ProgramCase {
            name: format!("{self:?}"),
            program: PathBuf::new(),
            entry: "matmul".to_owned(),
            grid: [if self.persistent { 1 } else { blocks(0) }, blocks(1), 1],
            warps: self.warps,
            stages: None,
            blocks: 1,
            arguments: arguments.collect(),
            buffers,
        }
    }

    /// Compiles the program, runs it on the emulator, and returns the kernel with the report of its loop.
    fn checked(&self, target: &dyn Target, stages: u32) -> (Kernel, LoopPipelineReport, Counts) {
        self.checked_with(target, self.options(stages), "")
    }

    fn options(&self, stages: u32) -> ProgramOptions {
        ProgramOptions::default().with_warps(self.warps).with_stages(Some(stages))
    }

    /// As [`Self::checked`], with these options, and these attributes of the loop.
    fn checked_with(
        &self,
        target: &dyn Target,
        options: ProgramOptions,
        attributes: &str,
    ) -> (Kernel, LoopPipelineReport, Counts) {
        self.checked_text(target, options, &self.text_with(attributes, "    tt.descriptor_store"))
    }

    /// The program with these attributes of the loop before the operation `next`.
    fn text_with(&self, attributes: &str, next: &str) -> String {
        self.text().replace(&format!("    }}\n{next}"), &format!("    }} {attributes}\n{next}"))
    }

    /// As [`Self::checked`], with these options, of the program `text`.
    fn checked_text(
        &self,
        target: &dyn Target,
        options: ProgramOptions,
        text: &str,
    ) -> (Kernel, LoopPipelineReport, Counts) {
        let (case, mut lines) = (self.case(), Vec::new());
        let stages = options.stages;
        let kernel = compiler(target).compile_kernel(text, &options, &mut |stage| {
            if let CompilationStageOutput::Layouts(assigned) = stage {
                tilewright_tile::verify_transformed_module(&assigned.module).unwrap_or_else(|error| panic!("{error}"));
                lines.clone_from(&assigned.report.functions[0].loops);
            }
        });
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let ran = case.run_emulated(&kernel, build_plan_context(target), &RunLimits::default());
        let ran = ran.unwrap_or_else(|error| panic!("{self:?}, {stages:?} stages: {error}\n{kernel}"));
        let differences: Vec<String> = ran.differences.iter().map(ToString::to_string).collect();
        assert!(differences.is_empty(), "{self:?}, {stages:?} stages: {differences:?}");
        (kernel, lines.swap_remove(0), ran.report.counts)
    }
}

/// Whether a kernel has a bulk tensor copy from shared to global memory.
fn is_stored_by_tma(kernel: &Kernel) -> bool {
    kernel.to_string().contains("global.shared::cta.tile.bulk_group")
}

/// Checks that both operands are copied and the result is stored by TMA, in as many stages as requested.
#[test]
fn descriptors_are_copied_by_tma() {
    let target = target("h100");
    for matmul in COPIED {
        for stages in [2, 4] {
            let (kernel, line, counts) = matmul.checked(&target, stages);
            let copied = line
                .loads
                .iter()
                .filter(|load| load.by.as_ref().is_some_and(|by| by.starts_with("copied by cp.async.bulk.tensor")));
            let iterations = matmul.size[2].div_ceil(matmul.tile[2]);
            assert_eq!(copied.count(), 2, "{matmul:?}: {line}");
            assert_eq!(line.stages, stages, "{matmul:?}: {line}");
            assert_eq!(counts.asynchronous_copies, 0, "{matmul:?}: {counts:?}");
            let maps = kernel.parameters.iter().filter_map(|parameter| parameter.rows.as_ref());
            assert!(maps.clone().all(|rows| !rows.sizes.is_empty()) && maps.count() == 3, "{kernel}");
            assert!(counts.bulk_copies >= 2 * iterations && is_stored_by_tma(&kernel), "{matmul:?}: {kernel}");
        }
    }
}

/// Checks that the virtual device executes the PTX correctly, with bulk copies that complete as late as possible.
#[test]
fn the_virtual_device_runs_descriptor_loops() {
    let target = target("h100");
    for matmul in COPIED.into_iter().chain(RESIDENT).chain(PERSISTENT).chain([CARRIED]) {
        let (kernel, ..) = matmul.checked(&target, 3);
        assert!(is_stored_by_tma(&kernel), "{matmul:?}: {kernel}");
        let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
        let checked = matmul.case().to_test_case(kernel).and_then(|case| check_on_device(&case, &target, &mut device));
        checked.unwrap_or_else(|wrong| panic!("{matmul:?}: {wrong}"));
    }
}

/// Checks that an operand that is the same in each iteration is stored to shared memory once, before the loop.
#[test]
fn an_operand_of_all_iterations_is_stored_once() {
    let target = target("h100");
    for matmul in RESIDENT {
        let with_depth = |depth: u64| {
            let (_, line, counts) = Matmul { size: [64, 64, depth], ..matmul }.checked(&target, 3);
            let stored: Vec<_> = line.loads.iter().filter(|load| load.is_invariant).collect();
            assert!(matches!(stored[..], [load] if load.conflicts == 0 && load.bytes > 0), "{line}");
            assert!(line.to_string().contains("stored before the loop: by "), "{line}");
            counts.wavefronts_stored
        };
        assert_eq!(with_depth(3 * matmul.tile[2]), with_depth(7 * matmul.tile[2]), "{matmul:?}");
    }
}

/// Checks that loads stay plain if a launch cannot encode a tensor map, and on targets without TMA.
#[test]
fn other_descriptors_need_no_tensor_map() {
    for (matmul, gpu_model) in [(MATMUL, "h100"), (COPIED[0], "a100")] {
        let (kernel, line, counts) = matmul.checked(&target(gpu_model), 3);
        let maps = kernel.parameters.iter().filter(|parameter| parameter.rows.is_some()).count();
        let expected = if gpu_model == "h100" { 2 } else { 0 };
        assert_eq!((maps, counts.bulk_copies > 0), (expected, expected > 0), "{matmul:?}: {line}");
    }
}

/// Checks that, on a target without TMA, both operands are prefetched by `cp.async` if a mask covers whole vectors, and
/// that blocks at the edges of the matrices are right.
#[test]
fn descriptors_are_copied_by_lanes_without_tma() {
    let target = target("a100");
    for matmul in COPIED {
        let (kernel, line, counts) = matmul.checked(&target, 3);
        let is_copied = |by: &str| by.starts_with("copied by cp.async");
        let copied = line.loads.iter().filter(|load| load.by.as_deref().is_some_and(is_copied)).count();
        // Without a transposition the rows of B end at N, and N is unknown, so that a mask covers one element.
        assert_eq!(copied, if matmul.transposed { 2 } else { 1 }, "{matmul:?}: {line}");
        assert!(counts.asynchronous_copies > 0, "{matmul:?}: {counts:?}");
        let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
        let checked = matmul.case().to_test_case(kernel).and_then(|case| check_on_device(&case, &target, &mut device));
        checked.unwrap_or_else(|wrong| panic!("{matmul:?}: {wrong}"));
    }
}

/// Checks that MMAs are in flight while an iteration issues its copies: one block barrier an iteration, none before the
/// MMAs, and a wait that leaves the MMAs of the iteration in flight.
#[test]
fn mmas_overlap_with_the_copies_of_an_iteration() {
    let target = target("h100");
    let barriers = |depth: u64, stages: u32| {
        let matmul = Matmul { size: [64, 64, depth], ..COPIED[0] };
        let (kernel, _, counts) = matmul.checked(&target, stages);
        assert!(kernel.to_string().contains("wait products 1"), "{kernel}");
        counts.barriers
    };
    for stages in 2..=4 {
        assert_eq!(barriers(224, stages) - barriers(96, stages), 4, "{stages} stages");
    }
}

/// Checks that a loop waits for a bulk store only before it overwrites the shared memory that the store reads, and that
/// the kernel waits for the last one.
#[test]
fn bulk_stores_are_waited_for_at_reuse() {
    let target = target("h100");
    for (matmul, waits) in [(COPIED[0], 1), (PERSISTENT[0], 2)] {
        let kernel = matmul.checked(&target, 3).0.to_string();
        let (stored, waited) = (kernel.find("bulk_group"), kernel.rfind("wait bulk_reads 0"));
        assert!(stored < waited && kernel.matches("wait bulk_reads 0").count() == waits, "{matmul:?}: {kernel}");
    }
}

/// Compiles a program; returns the kernel with the report of layout assignment.
fn reported(text: &str, options: &ProgramOptions) -> (Kernel, FunctionReport) {
    let mut found = None;
    let kernel = compiler(&target("h100")).compile_kernel(text, options, &mut |stage| {
        if let CompilationStageOutput::Layouts(assigned) = stage {
            found = Some(assigned.report.functions[0].clone());
        }
    });
    (kernel.unwrap_or_else(|error| panic!("{error}\n{text}")), found.expect("layouts"))
}

/// Checks that the report of layout assignment lists each bulk store with its instructions and the bytes of its buffer.
#[test]
fn bulk_stores_are_reported() {
    for matmul in [COPIED[0], COPIED[3], PERSISTENT[1]] {
        let (_, report) = reported(&matmul.text(), &matmul.options(3));
        let [store] = &report.bulk_stores[..] else { panic!("{matmul:?}: {report}") };
        let [m, n, _] = matmul.tile;
        assert_eq!((&*store.value, store.bytes, store.conflicts), ("%sum", 4 * m * n, 0), "{report}");
        assert!(store.by.contains("copied by cp.async.bulk.tensor"), "{report}");
        assert!(report.to_string().contains(&format!("  bulk stores\n    %sum: {}", store.by)), "{report}");
    }
}

/// Checks the predicted shared memory of plain programs with bulk stores against the memory that lowering allocates. A
/// producer warp fills buffers while consumers store a tile of a persistent program, so that both take memory.
#[test]
fn kernels_take_the_predicted_shared_memory() {
    for matmul in COPIED.into_iter().chain(PERSISTENT) {
        for attributes in ["{tt.warp_specialize}", "{tt.warp_specialize = false}"] {
            let text = matmul.text_with(attributes, "    tt.descriptor_store");
            let options = ProgramOptions::default().with_warps(matmul.warps);
            let (kernel, report) = reported(&text, &options);
            let predicted = report.prediction.as_ref().map_or(0, |prediction| prediction.shared_bytes);
            let taken = kernel.shared_bytes();
            // The prediction aligns the end of the last mbarrier, too.
            let is_exact = (taken..taken + 16).contains(&predicted);
            assert!(is_exact, "{matmul:?} {attributes}: {taken} bytes, {predicted} predicted: {report}");
        }
    }
    // Seven stages of a tile and the buffer of its store exceed the shared memory of a block.
    let matmul = Matmul { tile: [128, 128, 64], size: [256, 128, 512], warps: 8, ..PERSISTENT[1] };
    let text = matmul.text_with("{tt.warp_specialize}", "    tt.descriptor_store");
    let (_, report) = reported(&text, &matmul.options(7));
    let line = &report.loops[0];
    assert!(line.producers == 1 && (2..=5).contains(&line.stages), "{report}");
}

/// Checks stores of a value that the program has in shared memory, as Triton's bulk copies from there are imported: the
/// copy reads the program's tensor if TMA can read its layout, and a buffer of its own otherwise.
#[test]
fn bulk_stores_read_tensors_of_the_program() {
    let target = target("h100");
    let matmul = COPIED[0];
    let of_layout = |layout: &str| {
        let memory = format!("!ttg.memdesc<64x64xf32, {layout}, #ttg.shared_memory, mutable>");
        let store = "tt.descriptor_store %dc[%row, %column], %sum : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>";
        let copied = format!(
            "%own = ttg.local_alloc %sum : (tensor<64x64xf32>) -> {memory}
    %moved = ttg.local_load %own : {memory} -> tensor<64x64xf32>
    {}",
            store.replace("%sum", "%moved")
        );
        let text = matmul.text().replace(store, &copied);
        let (kernel, _, counts) = matmul.checked_text(&target, matmul.options(2), &text);
        assert!(is_stored_by_tma(&kernel), "{kernel}");
        let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
        let ran = matmul.case().to_test_case(kernel.clone());
        let ran = ran.and_then(|case| check_on_device(&case, &target, &mut device));
        ran.unwrap_or_else(|wrong| panic!("{wrong}"));
        (counts.barriers, counts.shared_loads + counts.matrix_loads)
    };
    let (barriers, loads) =
        of_layout("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>");
    let (with_buffer, with_loads) =
        of_layout("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 8, order = [1, 0]}>");
    assert!(barriers < with_buffer && loads == 0 && with_loads > 0, "{barriers} {loads}, {with_buffer} {with_loads}");
}

/// Checks that lanes store a result whose completion the program may observe: it loads the result, or has an atomic
/// operation, by which it may signal another block. They store it without the optimization, too.
#[test]
fn observed_results_are_stored_by_lanes() {
    let target = target("h100");
    let text = COPIED[0].text();
    let followed_by = |ops: &str| text.replace("\n    tt.return", &format!("\n    {ops}\n    tt.return"));
    let loaded = followed_by("%seen = tt.load %c : !tt.ptr<f32>\n    tt.store %c, %seen : !tt.ptr<f32>");
    let signal = "%true = arith.constant true\n    %unit = arith.constant 1.0 : f32\n    \
                  %old = tt.atomic_rmw fadd, acq_rel, gpu, %c, %unit, %true : (!tt.ptr<f32>, f32, i1) -> f32";
    let options = ProgramOptions::default().with_warps(COPIED[0].warps);
    let without = options.clone().with_disabled([Optimization::TensorCopies].into_iter().collect());
    let signalled = followed_by(signal);
    let direct = options.clone().with_disabled([Optimization::BulkStores].into_iter().collect());
    let cases = [(&text, &options, true), (&loaded, &options, false), (&signalled, &options, false)];
    for (text, options, expected) in cases.into_iter().chain([(&text, &without, false), (&text, &direct, false)]) {
        let kernel = compiler(&target).compile_kernel(text, options, &mut |_| {});
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(is_stored_by_tma(&kernel), expected, "{text}\n{kernel}");
    }
}

/// Checks loops that ask for a producer warp: it is part of the launch, no iteration has a block barrier, and results are
/// right on the emulator and the virtual device, also if the addresses of copies depend on values that the loop carries.
#[test]
fn loops_have_the_producer_warps_they_ask_for() {
    let target = target("h100");
    for matmul in COPIED.into_iter().chain(RESIDENT).chain([CARRIED]).chain(PERSISTENT) {
        let checked = |attributes: &str| matmul.checked_with(&target, matmul.options(3), attributes);
        let (kernel, line, counts) = checked("{tt.warp_specialize}");
        assert!(line.producers == 1 && kernel.launch.warps > matmul.warps, "{matmul:?}: {line}");
        assert!(line.to_string().contains("copies issued by 1 producer warp"), "{line}");
        let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
        let ran = matmul.case().to_test_case(kernel).and_then(|case| check_on_device(&case, &target, &mut device));
        ran.unwrap_or_else(|wrong| panic!("{matmul:?}: {wrong}"));
        let (kernel, line, _) = checked("{tt.warp_specialize = false}");
        assert!(line.producers == 0 && kernel.launch.warps == matmul.warps, "{matmul:?}: {line}");
        assert!(counts.bulk_copies > 0, "{matmul:?}: {counts:?}");
    }
    let barriers = |depth: u64| {
        let matmul = Matmul { size: [64, 64, depth], ..COPIED[0] };
        matmul.checked_with(&target, matmul.options(3), "{tt.warp_specialize}").2.barriers
    };
    assert_eq!(barriers(96), barriers(224));
}

/// Checks loops within loops with a producer warp, for tiles of fewer iterations than buffers, of as many, and of more,
/// if loads depend on values that the outer loop carries, and with MMAs in flight at the end of the inner loop. No tile
/// has a barrier of all warps, and the producer fills buffers for the next tile before the consumers store one.
#[test]
fn producer_warps_execute_enclosing_loops() {
    let target = target("h100");
    let attributes = "{tt.warp_specialize, tt.flatten}";
    let barriers = |tiles: u64, depth: u64, stages: u32| {
        let matmul = Matmul { size: [64 * tiles, 64, depth], ..PERSISTENT[0] };
        let options = matmul.options(stages);
        let carried = matmul.text_with(attributes, "    tt.return");
        let carried = carried.replace("scf.for %x = %zero to", "%last = scf.for %also = %zero to");
        let carried = carried.replace("step %one : i32 {", "step %one iter_args(%x = %zero) -> (i32) : i32 {");
        let next = "%next_x = arith.addi %x, %one : i32\n      scf.yield %next_x : i32\n    } {tt";
        let carried = carried.replace("    } {tt", &format!("      {next}"));
        for text in [matmul.text_with(attributes, "    tt.return"), carried] {
            let (kernel, line, _) = matmul.checked_text(&target, options.clone(), &text);
            assert!(line.producers == 1 && kernel.launch.warps > matmul.warps, "{line}\n{text}");
            let written = kernel.to_string();
            assert_eq!(written.matches("named_barrier 0, ").count(), 4, "{written}");
            let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
            let ran = matmul.case().to_test_case(kernel).and_then(|case| check_on_device(&case, &target, &mut device));
            ran.unwrap_or_else(|wrong| panic!("{tiles} tiles of {depth}, {stages} stages: {wrong}"));
        }
        matmul.checked_with(&target, options, "{tt.warp_specialize}").2.barriers
    };
    for stages in 2..=4 {
        let of_tiles = [1, 4].map(|tiles| barriers(tiles, 32, stages));
        assert_eq!(of_tiles, [1, 4].map(|tiles| barriers(tiles, 160, stages)), "{stages} stages");
        assert_eq!(barriers(3, 96, stages) - barriers(2, 96, stages), (of_tiles[1] - of_tiles[0]) / 3);
    }
}

/// Checks that the step of a loop over tiles that begins at the index of the block is the number of blocks for which the
/// time is predicted: one for each compute unit, which hides no latency behind other blocks, so that a producer warp gains.
#[test]
fn persistent_programs_launch_the_blocks_of_their_step() {
    let matmul = Matmul { tile: [128, 128, 64], size: [256, 128, 4096], warps: 8, ..PERSISTENT[1] };
    let of_step = |step: u32| {
        let loop_over_tiles = format!(
            "%blocks = arith.constant {step} : i32
    %id = tt.get_program_id x : i32
    scf.for %x = %id to %tiles step %blocks"
        );
        let text = matmul.text().replace("scf.for %x = %zero to %tiles step %one", &loop_over_tiles);
        let text = text.replace("%y = tt.get_program_id y : i32", "%y = arith.constant 0 : i32");
        let (_, report) = reported(&text, &ProgramOptions::default().with_warps(matmul.warps));
        let blocks = report.prediction.as_ref().map(|prediction| prediction.blocks_per_compute_unit);
        (blocks, report.loops[0].producers)
    };
    assert_eq!([132, 264, 1].map(of_step), [(Some(1), 1), (Some(2), 0), (Some(16), 0)]);
}

/// Checks that a host can forbid further warps, whatever the program asks for.
#[test]
fn producer_warps_can_be_forbidden() {
    let target = target("h100");
    let disabled = || [Optimization::ProducerWarps].into_iter().collect();
    for matmul in [COPIED[0], PERSISTENT[0]] {
        let options = matmul.options(3).with_disabled(disabled());
        let (kernel, line, _) = matmul.checked_with(&target, options, "{tt.warp_specialize}");
        assert!(line.producers == 0 && kernel.launch.warps == matmul.warps, "{matmul:?}: {line}");
    }
}

/// A matmul of one warp group, whose result a bulk copy stores: only branches use the index of the warp.
const STORED_BY_COPY: &str = "tt.func @stored(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32},
    %b: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %k: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %one = arith.constant 1 : i64
  %row = arith.constant 64 : i64
  %pitch = arith.extsi %k : i32 to i64
  %as = tt.make_tensor_descriptor %a, [%c128, %k], [%pitch, %one] : <f8E4M3FN>, <128x128xf8E4M3FN>
  %bs = tt.make_tensor_descriptor %b, [%c64, %k], [%pitch, %one] : <f8E4M3FN>, <64x128xf8E4M3FN>
  %cs = tt.make_tensor_descriptor %c, [%c128, %c64], [%row, %one] : <f16>, <128x64xf16>
  %sum = scf.for %i = %c0 to %k step %c128 iter_args(%before = %zero) -> (tensor<128x64xf32>) : i32 {
    %x = tt.descriptor_load %as[%c0, %i] : !tt.tensordesc<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %w = tt.descriptor_load %bs[%c0, %i] : !tt.tensordesc<64x128xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
    %y = tt.trans %w {order = array<i32: 1, 0>} : tensor<64x128xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %next = tt.dot %x, %y, %before : tensor<128x128xf8E4M3FN> * tensor<128x64xf8E4M3FN> -> tensor<128x64xf32>
    scf.yield %next : tensor<128x64xf32>
  }
  %rounded = arith.truncf %sum : tensor<128x64xf32> to tensor<128x64xf16>
  tt.descriptor_store %cs[%c0, %c0], %rounded : !tt.tensordesc<128x64xf16>, tensor<128x64xf16>
  tt.return
}";

/// Checks that the branch of the warp that issues copies compares the warp's index, not the thread's: `ptxas` finds that
/// only the former is uniform, and would otherwise let each MMA wait for the one before it.
#[test]
fn branches_of_a_warp_compare_its_index() {
    let target = target("h100");
    let options =
        ProgramOptions::default().with_warps(4).with_disabled([Optimization::ProducerWarps].into_iter().collect());
    let kernel = compiler(&target).compile_kernel(STORED_BY_COPY, &options, &mut |_| ()).expect("a kernel");
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 3, ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).expect("PTX");
    let ptx = artifact.payload_text(CodeFormat::Assembly).expect("text");
    let thread = ptx.lines().find_map(|line| line.trim().strip_prefix("mov.u32")?.trim().strip_suffix(", %tid.x;"));
    let thread = thread.expect("the index of the thread");
    let compares = |line: &&str| line.contains("setp") && line.contains(&format!("{thread},"));
    assert!(ptx.contains("wgmma.mma_async") && ptx.contains("cp.async.bulk.tensor"), "{ptx}");
    assert_eq!(ptx.lines().filter(compares).collect::<Vec<_>>(), [""; 0], "{ptx}");
}
