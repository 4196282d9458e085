//! Instructions of tensor memory: registers compared with published tables, accumulators with the plugin's families,
//! descriptors with the PTX ISA; their semantics on the emulator, and their code.

use crate::atom_types::element;
use crate::layouts::tensor_memory;
use crate::prelude::*;
use crate::tensor_atoms::atoms;
use serde_json::Value;
use tilewright_nvidia_tables::ARCHITECTURES;
use tilewright_vendor_testkit::rows::{expect_tensor_memory_operand, find_constant_operand, memory};
use tilewright_verify::kernels::build_instruction_kernel_with_tensor_memory;

fn tensor_rows(architecture: &str) -> Vec<Instruction> {
    instructions_of(architecture).into_iter().filter(|row| row.name.starts_with("tcgen05")).collect()
}

/// Returns the MMAs with both operands in shared memory and without scales.
fn plain_mmas() -> Vec<Instruction> {
    let is_plain = |row: &Instruction| row.name.contains(".ss.") && !row.takes_scales();
    tensor_rows("sm_100a").into_iter().filter(is_plain).collect()
}

#[test]
fn only_processors_that_have_tensor_memory_have_rows_of_it() {
    let counts = |architecture: &str| {
        let all = tensor_rows(architecture);
        let moves = all.iter().filter(|row| row.name.contains(".ld.") || row.name.contains(".st.")).count();
        [moves, all.len() - moves]
    };
    // Moves, with column counts that are powers of two: by shape 6, 7, 8, 8 and 8. MMAs: six sizes of N for 64 rows,
    // five for 128; 16-bit operands are K-major or MN-major; sm_103a has no integer MMAs. With A in tensor memory only
    // B has both majornesses. With scales: 128 rows with six sizes of N, of four and three pairs of types; and one copy
    // of scales.
    let scaled = 6 * (4 + 3) + 1;
    assert_eq!(counts("sm_100a"), [2 * 37, 11 * (3 * 4 + 13) + 11 * (3 * 2 + 13) + scaled]);
    assert_eq!(counts("sm_103a"), [2 * 37, 11 * (3 * 4 + 9) + 11 * (3 * 2 + 9) + scaled]);
    for architecture in ARCHITECTURES.iter().filter(|name| !["sm_100a", "sm_103a"].contains(name)) {
        assert_eq!(counts(architecture), [0, 0], "{architecture}");
    }
}

/// Returns the load or store that an atom stands for: `SM100_TMEM_LOAD_16dp256b4x` is `tcgen05.ld...16x256b.x4`. Atoms
/// of 16 rows and 32 bits move two halves (`16x32bx2`).
fn move_of(atom: &Value) -> Option<(String, &'static str)> {
    let name = atom["name"].as_str()?;
    if name.contains("_STAT_") {
        return None;
    }
    let (word, side, rest) = match name.strip_prefix("SM100_TMEM_LOAD_") {
        Some(rest) => ("ld", "DstLayout_bits", rest),
        None => ("st", "SrcLayout_bits", name.strip_prefix("SM100_TMEM_STORE_")?),
    };
    // Atoms that move halves of words, and moves that also reduce, are not listed.
    let (rows, rest) = rest.split_once("dp")?;
    let (bits, times) = rest.split_once('b')?;
    let times: u32 = times.strip_suffix('x')?.parse().ok()?;
    let pair_suffix = if (rows, bits) == ("16", "32") { "x2" } else { "" };
    Some((format!("tcgen05.{word}.sync.aligned.{rows}x{bits}b{pair_suffix}.x{times}.b32"), side))
}

#[test]
fn registers_of_moves_are_as_published() {
    check_registers_of_moves_are_as_published(Answers::Sample);
}

pub fn check_registers_of_moves_are_as_published(answers: Answers) {
    let all = tensor_rows("sm_100a");
    let mut checked = BTreeSet::new();
    for atom in atoms(answers, "reference/copy_instruction_tv_layouts.json") {
        let Some((name, side)) = move_of(&atom) else { continue };
        let row = all.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{} has no row", atom["name"]));
        let published = ThreadValue::parse(atom[side].as_str().unwrap());
        let register_layout = row.operands.iter().find_map(InstructionOperand::register_layout).unwrap();
        let columns = 1u64 << expect_tensor_memory_operand(row).layout.in_bits(Dim::COL);
        assert_eq!(published.size(1), 32 << register_layout.in_bits(Dim::REGISTER), "{name}");
        for (thread, register) in (0..32).flat_map(|lane| (0..published.size(1) / 32).map(move |at| (lane, at))) {
            let coordinates = register_layout.apply(&[(Dim::REGISTER, register), (Dim::LANE, thread)]).unwrap();
            // Bits of the published tile are counted along its columns, then down its rows.
            let word = published.index(thread, 32 * register) / 32;
            assert_eq!(
                (coordinates[0].1, coordinates[1].1),
                (word / columns, word % columns),
                "{name} {thread} {register}"
            );
        }
        assert_eq!(find_constant_operand(row), name.contains("bx2.").then_some(columns / 2), "{name}");
        checked.insert(name);
    }
    let own = all.into_iter().map(|row| row.name);
    let own: BTreeSet<_> = own.filter(|name| name.contains(".ld.") || name.contains(".st.")).collect();
    assert!(checked.is_subset(&own) && checked.len() >= 20);
    assert!(checked == own || answers == Answers::Sample);
}

#[test]
fn mmas_have_the_published_shapes() {
    check_mmas_have_the_published_shapes(Answers::Sample);
}

pub fn check_mmas_have_the_published_shapes(answers: Answers) {
    let all = tensor_rows("sm_100a");
    let mut checked = 0;
    for atom in atoms(answers, "reference/matrix_instruction_tv_layouts.json") {
        let name = atom["name"].as_str().unwrap();
        let dense = ["TF32_SS[", "F16BF16_SS[", "F8F6F4_SS[", "S8_SS["];
        if !dense.iter().any(|kind| name.strip_prefix("SM100_MMA_").is_some_and(|name| name.starts_with(kind))) {
            continue;
        }
        let [m, n, k] = [0, 1, 2].map(|axis| atom["shape_mnk"][axis].as_u64().unwrap());
        let [d, a, b] = ["D", "A", "B"].map(|role| element(atom["val_types"][role].as_str().unwrap()).unwrap());
        let name_fragment = format!(".m{m}n{n}k{k}.{d}.{a}.{b}.ss.");
        let rows: Vec<_> = all.iter().filter(|row| row.name.contains(&name_fragment)).collect();
        assert_eq!(rows.len(), if a == "f16" { 4 } else { 1 }, "{name}");
        for row in rows {
            let accumulator =
                [0, 1].map(|axis| 1u64 << expect_tensor_memory_operand(row).layout.out_bits(Dim::tensor(axis)));
            assert_eq!(accumulator, [m, n], "{}", row.name);
            assert_eq!((memory(row, "a").shape, memory(row, "b").shape), ([m, k], [k, n]), "{}", row.name);
        }
        checked += 1;
    }
    assert!(checked >= 8);
}

/// Checks accumulators against the layout family (which other tests compare with Triton's) and PTX ISA, figures of the
/// data path layouts D (M is 128) and F (M is 64).
#[test]
fn accumulators_have_the_layout_of_the_family() {
    let families = NvidiaFamilies::for_architecture("sm_100a");
    for row in tensor_rows("sm_100a").iter().filter(|row| row.name.contains(".mma.")) {
        let accumulator = expect_tensor_memory_operand(row);
        let size = [0, 1].map(|axis| 1u64 << accumulator.layout.out_bits(Dim::tensor(axis)));
        let spec = tensor_memory(size[0], size[1]);
        let family = families.resolve(&spec, &size, &families).unwrap();
        assert_eq!(accumulator.layout, *family.linear(), "{}", row.name);
        let warp_rows: BTreeSet<u64> = accumulator.element_positions().iter().map(|([row, _], _)| row % 32).collect();
        assert_eq!(warp_rows.len() as u64, size[0] / 4, "each warp has a quarter");
    }
}

/// Compares instruction descriptors with PTX ISA, table of the instruction descriptor for `.kind::tf32`, `.f16`,
/// `.f8f6f4` and `.i8`.
#[test]
fn instruction_descriptors_say_types_sizes_and_majorness() {
    let field = |word: u64, at: u32, width: u32| word >> at & ((1 << width) - 1);
    let mut words = BTreeSet::new();
    for row in plain_mmas() {
        let row = &row;
        let word = find_constant_operand(row).unwrap();
        let (a, b) = (memory(row, "a"), memory(row, "b"));
        let sum = match expect_tensor_memory_operand(row).element.as_str() {
            "f16" => 0,
            "f32" => 1,
            "s32" => 2,
            other => panic!("{other}"),
        };
        let code = |element: &str| match element {
            "f16" | "e4m3" | "u8" => 0,
            "bf16" | "e5m2" | "s8" => 1,
            "tf32" => 2,
            other => panic!("{other}"),
        };
        assert_eq!(
            [field(word, 4, 2), field(word, 7, 3), field(word, 10, 3)],
            [sum, code(&a.element), code(&b.element)]
        );
        assert_eq!([field(word, 17, 6) * 8, field(word, 24, 5) * 16], [b.shape[1], a.shape[0]], "{}", row.name);
        // The canonical layouts have the same contiguous axis as the descriptor.
        let neighbour = |operand: &MemoryOperand, k_axis: usize| {
            let first = operand.layouts[0].axes[1 - k_axis][0].stride;
            u64::from(first == tilewright_target::CanonicalLayoutStride::Bytes(u64::from(operand.bits / 8)))
        };
        assert_eq!([field(word, 15, 1), field(word, 16, 1)], [neighbour(a, 1), neighbour(b, 0)], "{}", row.name);
        // The bits for sparse, saturating and negated forms and all reserved bits are zero.
        assert_eq!(word & !(0x3 << 4 | 0x3f << 7 | 0x3 << 15 | 0x3f << 17 | 0x1f << 24), 0, "{}", row.name);
        words.insert((word, row.name.split('.').nth(3).unwrap().to_owned()));
    }
    assert_eq!(words.len(), 11 * (3 * 4 + 13), "no two of a kind are the same");
}

/// Checks that operands in shared memory have the layouts of warpgroup MMAs, which other tests compare with the
/// vendor's. The descriptor has other modes and a version.
#[test]
fn operands_have_the_layouts_of_warpgroup_mmas() {
    let by_four: Vec<_> = instructions_of("sm_90a").into_iter().filter(|row| row.name.starts_with("wgmma")).collect();
    let mut checked = 0;
    for row in plain_mmas().iter().filter(|row| row.name.contains(".m64")) {
        let ending = row.name.split_once(".m64").unwrap().1;
        let other = by_four.iter().find(|other| other.name.ends_with(&format!(".m64{ending}")));
        let other = other.unwrap_or_else(|| panic!("{} has no counterpart", row.name));
        for role in ["a", "b"] {
            let (own, other) = (memory(row, role), memory(other, role));
            // PTX ISA, shared memory descriptor: bits 61 to 63, and 0b001 in bits 46 to 48.
            let modes: Vec<_> = own.layouts.iter().map(|one| (one.name.as_str(), one.mode)).collect();
            let all = [
                ("swizzle of 128 bytes", 2),
                ("swizzle of 64 bytes", 4),
                ("swizzle of 32 bytes", 6),
                ("no swizzle", 0),
            ];
            assert!(modes.iter().all(|mode| all.contains(mode)), "{modes:?}");
            assert_eq!((own.descriptor.mode.at, own.descriptor.fixed), (61, 1 << 46));
            let lying = |operand: &MemoryOperand| -> Vec<_> {
                let all = operand.layouts.iter();
                all.map(|one| (one.name.clone(), one.axes.clone(), one.swizzle, one.alignment)).collect()
            };
            assert_eq!(lying(own), lying(other), "{role} of {}", row.name);
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * 6 * (3 * 4 + 13));
}

/// Returns the instructions to test: every load and store; of the MMAs all types and majornesses at the least number of
/// columns, and all numbers of columns of one type.
fn samples() -> Vec<Instruction> {
    let is_sample = |row: &Instruction| {
        !row.name.contains(".mma.")
            || row.name.contains("m64n8k")
            || row.name.contains("m128n16k")
            || row.name.contains("f32.bf16.bf16.ss.kk")
    };
    let all: Vec<_> = tensor_rows("sm_100a").into_iter().filter(is_sample).collect();
    // Of these, 2 * 19 have A in tensor memory, seven have scales, and one is the copy of scales.
    assert_eq!(all.len(), 74 + 2 * 25 + 9 + 2 * 19 + 7 + 1);
    all
}

#[test]
fn on_the_emulator_instructions_are_moves_and_plain_mmas() {
    let target = target("b200");
    let context = build_plan_context(&target);
    for row in samples() {
        build_instruction_case(&row, context)
            .and_then(|case| check_emulated(&case, context))
            .unwrap_or_else(|error| panic!("{}: {error}", row.name));
    }
}

/// Returns a module with a kernel for each tested instruction, which issues it once.
pub fn issue_of_samples(context: PlanContext<'_>) -> Module {
    let kernels = samples();
    let kernels = kernels
        .iter()
        .enumerate()
        .map(|(at, row)| build_instruction_kernel_with_tensor_memory(&format!("issue{at}"), row, context).unwrap());
    Module { kernels: kernels.collect() }
}

#[test]
fn rows_are_one_statement_each() {
    let target = target("b200");
    let context = build_plan_context(&target);
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
    let artifact = target.compile(&issue_of_samples(context), &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    for (row, text) in samples().iter().zip(ptx.split(".entry").skip(1)) {
        // Kernels of MMAs are named by the mnemonic up to the kind.
        let mnemonic = row.name.split(".m64").next().unwrap().split(".m128").next().unwrap();
        let count = |word: &str| text.match_indices(word).count();
        let times = text.match_indices(&format!("{mnemonic} ")).count();
        let is_mma = row.name.contains(".mma.");
        let is_copy = row.name.contains(".cp.");
        assert!(if is_mma { times == 1 } else { times >= 1 }, "{}: {text}", row.name);
        assert_eq!((count("tcgen05.alloc."), count("tcgen05.dealloc."), count("tcgen05.relinquish")), (1, 1, 1));
        assert_eq!(count("tcgen05.commit."), usize::from(is_mma || is_copy), "{}", row.name);
        assert!(count("tcgen05.wait::ld") >= 1 && (is_copy || count("tcgen05.wait::st") >= 1), "{}", row.name);
        if is_mma {
            let word = find_constant_operand(row).unwrap();
            assert!(text.contains(&word.to_string()), "{} lacks {word}", row.name);
        }
    }
}

/// Returns the PTX of a kernel that allocates tensor memory once in each iteration of a loop.
fn ptx_of_allocation(head: &str, end: &str) -> String {
    let text = format!(
        "kernel k(%0 n: i32) lanes 32 warps 4 {{
           shared 0: 4 bytes align 4
           %1: ptr.shared = shared_address 0
           %2: i32 = constant 0
           %3: i32 = constant 1
           %4: i1 = compare lt_u %2, %0
           {head} {{
             tensor_allocate %1, 32
             barrier block all
             %6: i32 = load %1 align 4
             %7: i32 = assume_uniform warp %6
             tensor_free %7, 32
             yield{end}
           }}
         }}"
    );
    let module = tilewright_kernel::text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 0, ..CompileOptions::default() };
    target("b200").compile(&module, &options).unwrap().payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

/// A kernel that has given up the permit to allocate must not allocate again.
#[test]
fn a_kernel_that_allocates_in_a_loop_keeps_the_permit() {
    for (head, end) in [("for %2 to %0 step %3 (%5: i32)", ""), ("while", " %4")] {
        let ptx = ptx_of_allocation(head, end);
        assert!(ptx.contains("tcgen05.alloc.") && !ptx.contains("tcgen05.relinquish"), "{head}: {ptx}");
    }
}
