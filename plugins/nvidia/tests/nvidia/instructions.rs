//! The instruction table of this plugin compared with published tables, and with the plugin's layout families.

use crate::atom_types::element;
use crate::layouts::{dot_operand, mma, spec};
use crate::prelude::*;
use serde_json::Value;
use tilewright_nvidia_tables::instructions::omitted_instructions_of;
use tilewright_vendor_testkit::rows::{check_published_layout, expect_register_operand, resolve_family_layout};

const MATRIX_INSTRUCTIONS: &str = include_str!("../data/matrix_instructions.json");
const SPARSE: &str = include_str!("../data/sparse_instructions.json");
const MOVES: &str = include_str!("../data/matrix_moves.json");

fn by_name(name: &str) -> Option<Instruction> {
    instructions_of("sm_90a").into_iter().find(|row| row.name == name)
}

/// Returns the name of the instruction that a published single-warp atom stands for; `None` unless all its types are
/// plain numbers.
fn name_of(atom: &Value) -> Option<String> {
    let plain = atom["vendor"] == "nvidia" && atom["thr_id"] == "32:1" && atom["arch"] != "SM120";
    let shape: Vec<u64> = atom["shape_mnk"].as_array()?.iter().filter_map(Value::as_u64).collect();
    let types: Option<Vec<_>> = ["D", "A", "B", "C"].iter().map(|t| element(atom["val_types"][t].as_str()?)).collect();
    let types = types.filter(|_| plain)?;
    let [m, n, k] = shape[..] else { return None };
    let kinds = [("ANDPOPC", ".and.popc"), ("XORPOPC", ".xor.popc")];
    let suffix = kinds.iter().find(|(kind, _)| atom["name"].as_str().is_some_and(|name| name.ends_with(kind)));
    let suffix = suffix.map_or("", |(_, suffix)| suffix);
    Some(format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{}{suffix}", types.join(".")))
}

/// Returns the kind of the compute capability 12.x instructions that a published atom stands for; such an atom stands
/// for all types.
fn kind_of(atom: &Value) -> Option<&'static str> {
    match atom["name"].as_str()? {
        "SM120_16x8x32_TN" => Some("kind::f8f6f4"),
        "SM120_16x8x32_TN_VS" => Some("kind::mxf8f6f4"),
        "SM120_16x8x64_TN_VS" => Some("kind::mxf4"),
        _ => None,
    }
}

#[test]
fn operands_of_scaled_mmas_are_as_published() {
    check_operands_of_scaled_mmas_are_as_published(Answers::Sample);
}

pub fn check_operands_of_scaled_mmas_are_as_published(answers: Answers) {
    let all = instructions_of("sm_120a");
    let mut checked = BTreeSet::new();
    for atom in answers.entries(MATRIX_INSTRUCTIONS, "reference/matrix_instruction_tv_layouts.json", "atoms") {
        let Some(kind) = kind_of(&atom) else { continue };
        let [m, n] = [0, 1].map(|axis| atom["shape_mnk"][axis].as_u64().expect("a size"));
        // `mxf4` stands for `mxf4nvf4` too.
        for row in all.iter().filter(|row| row.name.contains(kind)) {
            check_published_layout(row, "a", &atom["ALayout"], m, false);
            check_published_layout(row, "b", &atom["BLayout"], n, true);
            check_published_layout(row, "d", &atom["CLayout"], m, false);
            checked.insert(row.name.clone());
        }
    }
    let own: BTreeSet<_> = all.into_iter().map(|row| row.name).filter(|name| name.contains("kind::")).collect();
    assert_eq!(checked, own);
    assert_eq!(own.len(), 16 * 2 + 16 + 3);
    assert!(
        !instructions_of("sm_120")
            .iter()
            .chain(&instructions_of("sm_100a"))
            .any(|row| row.name.starts_with("mma") && row.name.contains("kind::"))
    );
}

#[test]
fn scales_lie_as_their_family_has_them() {
    let mut checked = 0;
    for row in instructions_of("sm_120a").iter().filter(|row| row.name.contains("block_scale")) {
        for (index, role) in [(0i64, "scale_a"), (1, "scale_b")] {
            let (_, bits, layout) = expect_register_operand(row, role);
            let family = FamilySpec::new("mma_scale")
                .with_parameter("operand_index", index)
                .with_parameter("warps_per_cta", [1, 1]);
            let sizes = [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis)));
            assert_eq!((bits, &of_one_warp(&family, &sizes)), (8, layout), "{role} of {}", row.name);
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * 19);
}

#[test]
fn matrix_operands_are_as_published() {
    check_matrix_operands_are_as_published(Answers::Sample);
}

pub fn check_matrix_operands_are_as_published(answers: Answers) {
    let mut checked = BTreeSet::new();
    for atom in answers.entries(MATRIX_INSTRUCTIONS, "reference/matrix_instruction_tv_layouts.json", "atoms") {
        let Some(name) = name_of(&atom) else { continue };
        let row = by_name(&name).unwrap_or_else(|| panic!("{} has no row {name}", atom["name"]));
        let [m, n] = [0, 1].map(|axis| atom["shape_mnk"][axis].as_u64().expect("a size"));
        // Published tiles are M x K, N x K and M x N, column-major.
        check_published_layout(&row, "a", &atom["ALayout"], m, false);
        check_published_layout(&row, "b", &atom["BLayout"], n, true);
        check_published_layout(&row, "c", &atom["CLayout"], m, false);
        check_published_layout(&row, "d", &atom["CLayout"], m, false);
        checked.insert(name);
    }
    let wrapping_names: BTreeSet<_> =
        instructions_of("sm_90a").into_iter().map(|row| row.name).filter(|name| is_wrapping(name)).collect();
    assert_eq!(checked, wrapping_names, "every row has a published counterpart and the other way round");
}

fn is_wrapping(name: &str) -> bool {
    name.starts_with("mma") && !name.contains("satfinite")
}

/// Checks that saturating MMAs have the layouts of wrapping ones. PTX ISA: `.satfinite` exists for integers except
/// single bits.
#[test]
fn saturating_mmas_have_the_layouts_of_wrapping_ones() {
    for (architecture, count) in [("sm_75", 8), ("sm_80", 24), ("sm_90a", 24), ("sm_120a", 24)] {
        let all = instructions_of(architecture);
        let saturating: Vec<_> = all.iter().filter(|row| row.name.contains("satfinite")).collect();
        let saturating = saturating.into_iter().filter(|row| row.name.starts_with("mma")).collect::<Vec<_>>();
        assert_eq!(saturating.len(), count, "{architecture}");
        for row in saturating {
            let name = row.name.replace(".satfinite", "");
            let wrapping = all.iter().find(|row| row.name == name).expect("the wrapping row");
            assert_eq!(row.operands, wrapping.operands, "{name}");
            let types = ["s8", "u8", "s4", "u4"];
            assert!(
                types.contains(&expect_register_operand(row, "a").0)
                    && types.contains(&expect_register_operand(row, "b").0),
                "{name}"
            );
            assert_eq!((&row.semantics, &wrapping.semantics), (&Semantics::ContractSaturating, &Semantics::Contract));
        }
    }
}

/// Checks that sparse atoms are known as unused, and that unused instructions are not in the table.
#[test]
fn sparse_mmas_are_known_and_unused() {
    check_sparse_mmas_are_known_and_unused(Answers::Sample);
}

pub fn check_sparse_mmas_are_known_and_unused(answers: Answers) {
    let forms = |architecture| omitted_instructions_of(architecture);
    let is_sparse = |form: &&OmittedInstruction| form.name.contains(".sp");
    let count = |architecture| forms(architecture).iter().filter(is_sparse).count();
    // Warp MMAs: f16 to two accumulator types, bf16, tf32, four pairs of bytes and of nibbles; later pairs of 8-bit
    // floats.
    assert_eq!(["sm_75", "sm_80", "sm_89", "sm_90"].map(count), [0, 12, 16, 16]);
    assert_eq!(["sm_90a", "sm_120", "sm_120a"].map(count), [16 + 2 + 1 + 1 + 8 + 4, 20, 24]);
    for form in forms("sm_90a") {
        assert!(
            instructions_of("sm_90a").iter().all(|row| row.name != form.name) && !form.reason.is_empty(),
            "{}",
            form.name
        );
        assert_eq!(form.types.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>(), ["d", "a", "b"]);
    }
    let (mut published, mut known) = (BTreeSet::new(), BTreeSet::new());
    for atom in answers.entries(SPARSE, "reference/matrix_instruction_tv_layouts.json", "atoms") {
        let (name, of_warps) = (atom["name"].as_str().expect("a name"), atom["thr_id"] == "128:1");
        // `cute::sparse_elem<2, cutlass::half_t>` is an element with 2:4 sparsity.
        let types = ["D", "A", "B"].map(|role| {
            let name = atom["val_types"][role].as_str()?;
            let dense = name.strip_prefix("cute::sparse_elem<").and_then(|rest| rest.strip_suffix('>'));
            element(dense.and_then(|rest| rest.split_once(", ")).map_or(name, |(_, dense)| dense))
        });
        let [Some(d), Some(a), Some(b)] = types else { continue };
        if of_warps && name.contains("SPARSE") {
            let shape = [0, 1, 2].map(|axis| atom["shape_mnk"][axis].as_u64().expect("a size"));
            published.insert((shape, [d, a, b].map(str::to_owned)));
        }
    }
    for form in forms("sm_90a").into_iter().filter(|form| form.name.starts_with("wgmma")) {
        let types: Vec<String> = form.types.into_iter().map(|(_, element)| element).collect();
        let types: [String; 3] = types.try_into().expect("three operands");
        known.extend(form.shapes.into_iter().map(|shape| (shape, types.clone())));
    }
    assert!(published.is_subset(&known) && published.len() >= 6, "{:?}", &published - &known);
    assert!(published == known || answers == Answers::Sample);
}

#[test]
fn matrix_moves_are_as_published() {
    check_matrix_moves_are_as_published(Answers::Sample);
}

pub fn check_matrix_moves_are_as_published(answers: Answers) {
    let mut checked = BTreeSet::new();
    for atom in answers.entries(MOVES, "reference/copy_instruction_tv_layouts.json", "atoms") {
        let Some(name) = move_of(atom["name"].as_str().expect("a name")) else { continue };
        let row = instructions_of("sm_100a").into_iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("{} has no row {name}", atom["name"]));
        let is_load = name.starts_with("ld");
        let (memory, registers) =
            if is_load { ("SrcLayout_bits", "DstLayout_bits") } else { ("DstLayout_bits", "SrcLayout_bits") };
        let memory = ThreadValue::parse(atom[memory].as_str().expect("a layout"));
        let registers = ThreadValue::parse(atom[registers].as_str().expect("a layout"));
        let (data, address) = access(&row);
        let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
        let words = 1 << data.in_bits(Dim::REGISTER);
        assert_eq!(registers.size(1), words * 32, "{name}");
        // The published table gives the bit of the tile. A row of 16 bytes has 128 bits, and the row that a lane
        // addresses is a segment.
        let segment_of = |lane: u64| address.apply(&[(Dim::LANE, lane)]).expect("a lane")[0].1;
        let row_of: BTreeMap<u64, u64> = (0..32).map(|lane| (segment_of(lane), memory.index(lane, 0) / 128)).collect();
        assert_eq!(row_of.len() as u64, 1 << data.out_bits(segment), "{name}: every slot is addressed");
        for lane in 0..32 {
            assert_eq!(row_of[&segment_of(lane)], memory.index(lane, 0) / 128, "{name}, lane {lane}");
            for at in 0..words * 4 {
                let bit = registers.index(lane, at * 8);
                let found = data.apply(&[(Dim::REGISTER, at / 4), (Dim::LANE, lane), (byte, at % 4)]).expect("a byte");
                let found = (row_of[&found[0].1], found[1].1);
                assert_eq!(found, (bit / 128, bit % 128 / 8), "{name}, lane {lane}, byte {at}");
            }
        }
        checked.insert(name);
    }
    assert_eq!(checked.len(), 12 + 5, "every ldmatrix and stmatrix has a published counterpart");
}

fn move_of(atom: &str) -> Option<String> {
    if let Some((count, kind)) = atom.strip_prefix("SM100_U8x").and_then(|rest| rest.split_once('_')) {
        // Named after bytes, four in each register; a matrix of 16 rows has two registers.
        let registers = count.parse::<u32>().ok()? / 4;
        return match kind {
            "LDSM_T" => Some(format!("ldmatrix.sync.aligned.m16n16.x{}.trans.shared.b8", registers / 2)),
            "STSM_T" => Some(format!("stmatrix.sync.aligned.m16n8.x{registers}.trans.shared.b8")),
            _ => None,
        };
    }
    let (_, rest) = atom.strip_prefix("SM75_U").or_else(|| atom.strip_prefix("SM90_U"))?.split_once('x')?;
    let (count, kind) = rest.split_once('_')?;
    let (name, trans) = match kind {
        "LDSM_N" => ("ldmatrix", ""),
        "LDSM_T" => ("ldmatrix", ".trans"),
        "STSM_N" => ("stmatrix", ""),
        "STSM_T" => ("stmatrix", ".trans"),
        _ => return None,
    };
    // A transposed move is named after its 16-bit elements, two in each register.
    let count: u32 = count.parse().ok()?;
    let matrices = if trans.is_empty() { count } else { count / 2 };
    Some(format!("{name}.sync.aligned.m8n8.x{matrices}{trans}.shared.b16"))
}

fn access(row: &Instruction) -> (&LinearLayout, &LinearLayout) {
    let found =
        row.access_operand().and_then(|(data, address, alignment)| (alignment == 16).then_some((data, address)));
    found.unwrap_or_else(|| panic!("{} has no access", row.name))
}

#[test]
fn fragments_of_matrix_moves_are_their_data_in_elements() {
    for row in instructions_of("sm_90").iter().filter(|row| row.name.contains("matrix")) {
        let role = if row.name.starts_with("ld") { "d" } else { "a" };
        let (_, bits, fragment) = expect_register_operand(row, role);
        assert_eq!(bits, 16);
        let (data, _) = access(row);
        for element in 0..1 << fragment.in_bits(Dim::REGISTER) {
            for lane in 0..32 {
                let coordinates = fragment.apply(&[(Dim::REGISTER, element), (Dim::LANE, lane)]).expect("in the tile");
                let byte = (Dim::named("byte"), element % 2 * 2);
                let bytes = data.apply(&[(Dim::REGISTER, element / 2), (Dim::LANE, lane), byte]).expect("a byte");
                assert_eq!((coordinates[0].1, coordinates[1].1 * 2), (bytes[0].1, bytes[1].1), "{}", row.name);
            }
        }
    }
}

#[test]
fn families_on_one_tile_are_the_operands_of_the_instruction() {
    for row in instructions_of("sm_90a").iter().filter(|row| row.name.starts_with("mma")) {
        let (_, bits, a) = expect_register_operand(row, "a");
        let (_, _, b) = expect_register_operand(row, "b");
        let (_, _, d) = expect_register_operand(row, "d");
        let size = |layout: &LinearLayout, axis| 1u64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        let result = mma(2, &[1, 1], &[m, n]);
        let operand = |index| spec(&dot_operand(index, &result, u64::from(32 / bits).max(1)));
        assert_eq!(of_one_warp(&spec(&result), &[m, n]), *d, "d of {}", row.name);
        assert_eq!(of_one_warp(&operand(0), &[m, k]), *a, "a of {}", row.name);
        assert_eq!(of_one_warp(&operand(1), &[k, n]), *b, "b of {}", row.name);
    }
}

#[test]
fn rows_follow_the_architecture() {
    let names = |architecture| instructions_of(architecture).into_iter().map(|row| row.name).collect::<BTreeSet<_>>();
    assert_eq!(names("sm_75").len(), 2 + 4 + 4 + 8 + 1 + 6);
    assert!(names("sm_75").is_subset(&names("sm_80")));
    assert_eq!(&names("sm_89") - &names("sm_80"), names("sm_89").into_iter().filter(|n| n.contains(".e")).collect());
    assert!(names("sm_90a").iter().any(|name| name.starts_with("stmatrix")));
    assert!(!names("sm_89").iter().any(|name| name.starts_with("stmatrix")));
    assert_eq!(names("sm_90").len(), instructions_of("sm_90").len(), "names are unique");
    let copies = |architecture| names(architecture).iter().filter(|name| name.starts_with("cp.async")).count();
    assert_eq!(["sm_75", "sm_80", "sm_90a", "sm_120a"].map(copies), [0, 4, 4 + 12, 4 + 12]);
    let bytes = |architecture| names(architecture).iter().filter(|name| name.ends_with(".b8")).count();
    assert_eq!(["sm_90a", "sm_100", "sm_100a", "sm_120a"].map(bytes), [0, 0, 5, 5]);
    for other in ["", "sm_", "sm_x", "compute_80", "gfx942", "sm_99999999999"] {
        assert!(instructions_of(other).is_empty(), "{other}");
    }
}

fn of_one_warp(spec: &FamilySpec, shape: &[u64]) -> LinearLayout {
    resolve_family_layout(&NvidiaFamilies::for_architecture("sm_90a"), spec, shape, &[Dim::REGISTER, Dim::LANE])
}

/// Cycles between issues of an MMA instruction to one pipe, as published: measured intervals, or the peak of the
/// product divided by clock, multiprocessors and tensor cores.
const ISSUE_CYCLES: [(&str, &str, f64); 25] = [
    // HMMA.16816 of A100: 8 cycles (Abdelkhalik et al., arXiv 2208.11174).
    ("a100", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 8.0),
    ("a100", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 8.0),
    ("a100", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4.0),
    ("a100", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8.0),
    ("a100", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 8.0),
    ("a100", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 16.0),
    // RTX 4090 multiplies f16 at half the rate if it accumulates in f32 (165 and 330 TFLOPS).
    ("rtx4090", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 32.0),
    ("rtx4090", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16.0),
    ("rtx4090", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 32.0),
    ("rtx4090", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16.0),
    // N / 2 cycles of each of the four pipes for all types; 128.0 for N = 256 (Luo et al., arXiv 2501.12084).
    ("h100", "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.ss.kk", 128.0),
    ("h100", "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16.rs.k", 32.0),
    ("h100", "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3.ss.kk", 64.0),
    ("h100", "wgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32.ss.kk", 12.0),
    // Measured on H200: 332 multiply-adds a cycle of each tensor core, 246 if K is half as long.
    ("h100", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2048.0 / 332.0),
    ("h100", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 1024.0 / 246.0),
    ("b200", "tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16.ss.kk", 128.0),
    ("b200", "tcgen05.mma.cta_group::1.kind::tf32.m128n256k8.f32.tf32.tf32.ss.kk", 128.0),
    ("b200", "tcgen05.mma.cta_group::1.kind::f8f6f4.m128n256k32.f32.e4m3.e5m2.ss.kk", 128.0),
    // 64 rows take as long as 128.
    ("b200", "tcgen05.mma.cta_group::1.kind::f16.m64n256k16.f32.f16.f16.ss.kk", 128.0),
    (
        "b200",
        "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X.m128n256k64.f32.e2m1.e2m1.ue8m0.ss.kk",
        128.0,
    ),
    // 8.5 cycles measured on B300 (QuickRunCUDA).
    ("b200", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2048.0 / 248.0),
    // RTX 5090: 209 TFLOPS of f16 with f32 accumulators, 419 of fp8; block-scaled forms have twice the rate.
    ("rtx5090", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 32.0),
    ("rtx5090", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 32.0),
    (
        "rtx5090",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
        16.0,
    ),
];

#[test]
fn mmas_occupy_their_pipe_for_the_published_cycles() {
    for (name, instruction, cycles) in ISSUE_CYCLES {
        let target = target(name);
        let row = target.instructions().iter().find(|row| row.name == instruction);
        let row = row.unwrap_or_else(|| panic!("{name} has no {instruction}"));
        let issue = target.description().issue_cycles(row).expect("an MMA has cycles");
        assert!((issue.cycles - cycles).abs() < 1e-9, "{name} {instruction}: {issue:?}, published {cycles}");
    }
}

#[test]
fn every_mma_has_cycles_with_evidence() {
    for name in ["a100", "rtx4090", "h100", "h200", "gh200", "b200", "rtx5090"] {
        let target = target(name);
        for row in target.instructions().iter().filter(|row| row.semantics.is_mma()) {
            let issue = target.description().issue_cycles(row).unwrap_or_else(|| panic!("{name} {}", row.name));
            assert!(issue.cycles > 0.0 && issue.cycles.is_finite() && !issue.source.is_empty(), "{name} {}", row.name);
        }
    }
}
