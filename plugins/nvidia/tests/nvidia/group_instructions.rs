//! Warpgroup MMA instructions: register layouts compared with published tables and the plugin's families, operands in
//! shared memory compared with the vendor's memory layouts.

use crate::atom_types::element;
use crate::layouts::{dot_operand, mma, nvmma_shared, spec};
use crate::prelude::*;
use serde_json::Value;
use tilewright_plan::movement::{DescriptorMatch, build_operand_memory_layout};
use tilewright_vendor_testkit::rows::{check_published_layout, expect_register_operand, memory, resolve_family_layout};

const GROUP_INSTRUCTIONS: &str = include_str!("../data/group_instructions.json");

fn group_rows() -> Vec<Instruction> {
    instructions_of("sm_90a").into_iter().filter(|row| row.name.starts_with("wgmma")).collect()
}

/// Returns the published atoms (instructions with their thread-value layouts) of dense warpgroup MMAs.
fn atoms(answers: Answers) -> Vec<Value> {
    let mut all = answers.entries(GROUP_INSTRUCTIONS, "reference/matrix_instruction_tv_layouts.json", "atoms");
    let is_ours = |atom: &Value| {
        let name = atom["name"].as_str().expect("a name");
        atom["thr_id"] == "128:1" && atom["arch"] == "SM90" && !name.contains("SPARSE")
    };
    all.retain(is_ours);
    all
}

#[test]
fn operands_are_as_published() {
    check_operands_are_as_published(Answers::Sample);
}

pub fn check_operands_are_as_published(answers: Answers) {
    let all = group_rows();
    let mut checked = BTreeSet::new();
    for atom in atoms(answers) {
        let name = atom["name"].as_str().expect("a name");
        let [m, n, k] = [0, 1, 2].map(|axis| atom["shape_mnk"][axis].as_u64().expect("a size"));
        let [d, a, b] = ["D", "A", "B"].map(|role| {
            let published = atom["val_types"][role].as_str().expect("a type");
            element(published).unwrap_or_else(|| panic!("{published} is not a type of these instructions"))
        });
        let form = if name.contains("_RS") { "rs" } else { "ss" };
        let saturating = if name.ends_with("_SATURATE") { "satfinite." } else { "" };
        let leading = format!("wgmma.mma_async.sync.aligned.m{m}n{n}k{k}.{d}.{a}.{b}.{saturating}{form}.");
        let forms: Vec<_> = all.iter().filter(|row| row.name.starts_with(&leading)).collect();
        // Operands of 16 bits may be K-major or MN-major in shared memory.
        let transposable = a.ends_with("f16");
        let expected = if !transposable {
            1
        } else if form == "rs" {
            2
        } else {
            4
        };
        assert_eq!(forms.len(), expected, "{leading}");
        for row in forms {
            for role in ["c", "d"] {
                check_published_layout(row, role, &atom["CLayout"], m, false);
            }
            if form == "rs" {
                check_published_layout(row, "a", &atom["ALayout"], m, false);
            } else {
                assert_eq!(memory(row, "a").shape, [m, k], "{}", row.name);
            }
            assert_eq!(memory(row, "b").shape, [k, n], "{}", row.name);
            assert_eq!(row.mma_shape(), Some([m, n, k]), "{}", row.name);
            let saturates = row.semantics == Semantics::ContractSaturating;
            assert_eq!(saturates, !saturating.is_empty(), "{}", row.name);
            checked.insert(row.name.clone());
        }
    }
    // No table of atoms has single-bit MMAs.
    let known: BTreeSet<_> = all.iter().map(|row| row.name.clone()).filter(|name| !name.contains(".b1.")).collect();
    let excerpt = ["n8k", "n24k", "n64k"];
    let published: BTreeSet<_> =
        known.iter().filter(|name| excerpt.iter().any(|size| name.contains(size))).cloned().collect();
    assert_eq!(&published - &checked, BTreeSet::new(), "every row has a published counterpart");
    assert!(known == checked || answers == Answers::Sample);
    assert_eq!(known.len(), 32 * (2 * 6 + 6 + 2 + 8 * 2) + 18 * 4 * 2 * 2, "all sizes of N");
    assert_eq!(all.len(), known.len() + 18 * 2, "and those of single bits");
}

/// Checks against PTX ISA that each warp of a warpgroup has the fragments of A and D of `mma.m16n8`, sixteen rows after
/// those of the warp before it.
#[test]
fn fragments_of_a_warpgroup_match_those_of_single_warps() {
    let of_one_warp =
        instructions_of("sm_90a").into_iter().filter(|row| row.name.starts_with("mma.sync.aligned.m16n8"));
    let of_one_warp: Vec<_> = of_one_warp.collect();
    let (mut of_a, mut of_d) = (0, 0);
    for row in group_rows() {
        let [_, n, k] = row.mma_shape().expect("a product");
        for (role, shape, count) in [("a", [16, k], &mut of_a), ("d", [16, 8], &mut of_d)] {
            let Some((element, _, operand_memory)) = row.find_register_operand(role) else { continue };
            let fits = |one: &&Instruction| {
                let (found, _, layout) = expect_register_operand(one, role);
                found == element && [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis))) == shape
            };
            let Some(one) = of_one_warp.iter().find(fits) else { continue };
            let (_, _, one) = expect_register_operand(one, role);
            let registers = 1u64 << one.in_bits(Dim::REGISTER);
            for (at, lane, warp) in (0..registers * 32 * 4).map(|at| (at / 128, at % 32, at / 32 % 4)) {
                let coordinates = operand_memory
                    .apply(&[(Dim::REGISTER, at), (Dim::LANE, lane), (Dim::WARP, warp)])
                    .expect("a place");
                let expected = one.apply(&[(Dim::REGISTER, at), (Dim::LANE, lane)]).expect("a place");
                assert_eq!(
                    (coordinates[0].1, coordinates[1].1),
                    (expected[0].1 + 16 * warp, expected[1].1),
                    "{role}, {}",
                    row.name
                );
            }
            *count += 1;
        }
        assert!(n <= 256);
    }
    // Of A all but tf32 and 8-bit floats, whose warp MMAs came with later processors or have other sizes.
    assert!(of_a > 500 && of_d > 1000, "{of_a} of a, {of_d} of d");
}

#[test]
fn registers_are_those_of_the_families() {
    const DIMS: [Dim; 3] = [Dim::REGISTER, Dim::LANE, Dim::WARP];
    let families = NvidiaFamilies::for_architecture("sm_90a");
    for row in group_rows() {
        let (_, _, d) = expect_register_operand(&row, "d");
        let k = memory(&row, "b").shape[0];
        let n = 1u64 << d.out_bits(Dim::tensor(1));
        let result = mma(3, &[4, 1], &[16, n, k]);
        assert_eq!(resolve_family_layout(&families, &spec(&result), &[64, n], &DIMS), *d, "d of {}", row.name);
        let Some((_, bits, a)) = row.find_register_operand("a") else { continue };
        let operand = spec(&dot_operand(0, &result, u64::from(32 / bits)));
        assert_eq!(resolve_family_layout(&families, &operand, &[64, k], &DIMS), *a, "a of {}", row.name);
    }
}

/// Returns the operands in shared memory of all instructions, each combination of role, element, tile and contiguous
/// axis once.
fn memory_operands() -> Vec<MemoryOperand> {
    let mut all: Vec<MemoryOperand> = Vec::new();
    for row in group_rows() {
        for operand in &row.operands {
            if let InstructionOperand::Memory(memory) = operand
                && !all.contains(memory)
            {
                all.push(memory.clone());
            }
        }
    }
    all
}

/// Returns sizes of matrices for an operand: one tile, and several tiles along each axis.
fn matrices(operand: &MemoryOperand) -> Vec<[u64; 2]> {
    let grown = |rows: u64, columns: u64| [operand.shape[0] * rows, operand.shape[1] * columns];
    vec![grown(1, 1), grown(4, 1), grown(1, 4), grown(2, 8)]
}

fn is_along_rows(operand: &MemoryOperand) -> bool {
    // The first step of the contiguous axis has the size of an element.
    let canonical_layout = &operand.layouts[0];
    let bytes = u64::from(operand.bits / 8);
    canonical_layout.axes[1][0].stride == tilewright_target::CanonicalLayoutStride::Bytes(bytes)
}

#[test]
fn canonical_layouts_are_the_shared_family() {
    let families = NvidiaFamilies::for_architecture("sm_90a");
    let mut checked = 0;
    for operand in memory_operands() {
        for canonical_layout in &operand.layouts {
            for shape in matrices(&operand) {
                let Some(operand_memory) =
                    build_operand_memory_layout(&operand, canonical_layout, shape).expect("powers of two")
                else {
                    continue;
                };
                let width = match canonical_layout.mode {
                    1 => 128,
                    2 => 64,
                    3 => 32,
                    _ => continue,
                };
                let along_rows = is_along_rows(&operand);
                // A copy has at most 256 elements along an axis; beyond them the family starts another box.
                if shape.iter().any(|&size| size > 256) || operand.bits == 32 && !along_rows && width == 0 {
                    continue;
                }
                let shared = spec(&nvmma_shared(width, !along_rows, operand.bits));
                let family = families.resolve(&shared, &shape, &families).expect("a layout");
                assert_eq!(operand_memory, *family.linear(), "{} {} of {shape:?}", operand.role, canonical_layout.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked} layouts");
}

#[test]
fn a_descriptor_leads_to_every_element_of_every_tile() {
    let (mut tiles, mut modes) = (0, BTreeSet::new());
    for operand in memory_operands() {
        for canonical_layout in &operand.layouts {
            for shape in matrices(&operand) {
                let Some(operand_memory) =
                    build_operand_memory_layout(&operand, canonical_layout, shape).expect("powers of two")
                else {
                    continue;
                };
                let matched =
                    DescriptorMatch::find(&operand_memory, &operand).expect("it was arranged for the operand");
                let inverse = operand_memory.invert().expect("one place each");
                // Small matrices have several equal canonical layouts; any of them matches.
                let chosen = &operand.layouts[matched.canonical_layout];
                for row_tile in 0..shape[0] / operand.shape[0] {
                    for column_tile in 0..shape[1] / operand.shape[1] {
                        let bits =
                            matched.encode_tile_descriptor(&operand, [row_tile, column_tile]).expect("fields hold it");
                        let fields = operand.descriptor.decode(bits);
                        assert_eq!(operand.find_layout_by_mode(fields.mode), Some(chosen));
                        for row in 0..operand.shape[0] {
                            for column in 0..operand.shape[1] {
                                let at = [row_tile * operand.shape[0] + row, column_tile * operand.shape[1] + column];
                                let at = [(Dim::tensor(0), at[0]), (Dim::tensor(1), at[1])];
                                let offset = inverse.apply(&at).expect("inside")[0].1 * u64::from(operand.bits / 8);
                                assert_eq!(
                                    chosen.element_address(&fields, [row, column]),
                                    offset,
                                    "{} {shape:?}",
                                    operand.role
                                );
                            }
                        }
                        tiles += 1;
                    }
                }
                modes.insert((operand.role.clone(), operand.bits, is_along_rows(&operand), canonical_layout.mode));
            }
        }
    }
    // Each operand of 8, 16 and 32 bits K-major, and of 16 bits MN-major: four modes.
    assert_eq!(modes.len(), 2 * 4 * 4, "{modes:?}");
    assert!(tiles > 1000, "{tiles} tiles");
}

#[test]
fn other_memory_layouts_are_not_read() {
    let operands = memory_operands();
    let operand = operands.iter().find(|operand| operand.role == "a" && operand.bits == 16 && is_along_rows(operand));
    let operand = operand.expect("a factor of 16 bits");
    let shape = [(Dim::tensor(0), 64), (Dim::tensor(1), 64)];
    let bases = |columns: Vec<[u64; 2]>| {
        let bases = columns.into_iter().map(Vec::from).collect();
        LinearLayout::from_bases(&[(Dim::OFFSET, bases)], &shape).expect("a layout")
    };
    let columns = |step: u64| (0..6).map(move |bit| [0, step << bit]);
    let rows = || (0..6).map(|bit| [1 << bit, 0]);
    let row_major = bases(columns(1).chain(rows()).collect());
    let refused =
        DescriptorMatch::find(&row_major, operand).expect_err("rows follow each other unswizzled").to_string();
    assert!(
        refused.contains("swizzle of 128 bytes: bit 0 of a step along dim0 moves the address by 0x90, not 0x80"),
        "{refused}"
    );
    // Wider, with every second row moved by half a row: no swizzle moves that bit.
    let mixed = bases(columns(1).chain(rows().map(|[row, _]| [row, if row == 1 { 32 } else { 0 }])).collect());
    assert!(DescriptorMatch::find(&mixed, operand).is_err());
}

/// Checks that a canonical layout of a matrix with one coordinate bit moved is not accepted: the bit is exchanged with
/// another bit of the same step, or the start of a tile needs carries.
#[test]
fn matrices_with_a_bit_moved_are_not_read() {
    let operands = memory_operands();
    let operand = operands.iter().find(|operand| {
        operand.role == "a" && operand.element == "f16" && operand.shape == [64, 16] && is_along_rows(operand)
    });
    let operand = operand.expect("a factor of 16 bits");
    let shape = [64, 64];
    let tile_layout =
        build_operand_memory_layout(operand, &operand.layouts[0], shape).expect("powers of two").expect("it fills it");
    let moved = |change: fn([u64; 2]) -> [u64; 2]| {
        let bases = tile_layout.bases_of(Dim::OFFSET).into_iter().map(|at| change([at[0], at[1]]).to_vec()).collect();
        let sizes = [(Dim::tensor(0), shape[0]), (Dim::tensor(1), shape[1])];
        LinearLayout::from_bases(&[(Dim::OFFSET, bases)], &sizes).expect("a layout")
    };
    assert!(DescriptorMatch::find(&moved(|at| at), operand).is_ok());
    // Rows 2 and 4 of every eight are swapped: the step's first bit is right, its second is not.
    let swapped = moved(|[row, k]| [row & !6 | (row & 2) << 1 | (row & 4) >> 1, k]);
    let refused = DescriptorMatch::find(&swapped, operand).expect_err("another order of rows").to_string();
    assert!(refused.contains("swizzle of 128 bytes: bit 1 of a step along dim0"), "{refused}");
    // The second tile along K starts one row further on.
    let sheared = moved(|[row, k]| [row ^ (k >> 4 & 1), k]);
    let refused = DescriptorMatch::find(&sheared, operand).expect_err("a tile begins elsewhere").to_string();
    assert!(refused.contains("swizzle of 128 bytes: tiles would start 0xa0 bytes apart"), "{refused}");
}

/// Checks that strides of 256 KiB or more are rejected: the descriptor's 14-bit fields count units of 16 bytes.
#[test]
fn strides_beyond_the_descriptor_are_not_read() {
    let operands = memory_operands();
    let operand = operands.iter().find(|operand| {
        operand.role == "b" && operand.element == "f16" && operand.shape == [16, 128] && is_along_rows(operand)
    });
    let operand = operand.expect("a factor of 16 bits across K");
    for (k, reaches) in [(1024, true), (4096, false)] {
        let layout = build_operand_memory_layout(operand, &operand.layouts[0], [k, 128])
            .expect("powers of two")
            .expect("it fills");
        let matched = DescriptorMatch::find(&layout, operand);
        assert_eq!(matched.is_ok(), reaches, "{k}: {matched:?}");
    }
}

/// Checks descriptors against the canonical layouts of CUTLASS, mma_sm90_desc.hpp: leading and stride byte offsets of
/// 128 x 64 and 64 x 128 matrices of 16-bit elements whose blocks of eight rows follow each other along the
/// non-contiguous axis. A leading offset that the hardware does not use is zero here, and 16 in CUTLASS.
#[test]
fn descriptors_say_what_the_canonical_layouts_name() {
    let operands = memory_operands();
    for (role, tile, along_rows, shape, expected) in [
        // K-major rows: the stride is from eight rows to the next; the leading offset, used without a swizzle only, is
        // along K.
        ("a", [64, 16], true, [128, 64], [(1, 0, 1024), (2, 0, 512), (3, 0, 256), (0, 2048, 128)]),
        ("b", [16, 128], false, [64, 128], [(1, 0, 1024), (2, 0, 512), (3, 0, 256), (0, 2048, 128)]),
        // MN-major rows: the stride is from eight of K to the next, the leading offset from the end of a row on (which
        // 64 elements of 128 bytes do not reach); without a swizzle they are swapped.
        ("a", [64, 16], false, [128, 64], [(1, 0, 1024), (2, 4096, 512), (3, 2048, 256), (0, 128, 1024)]),
        ("b", [16, 128], true, [64, 128], [(1, 8192, 1024), (2, 4096, 512), (3, 2048, 256), (0, 128, 1024)]),
    ] {
        let is_required = |operand: &&MemoryOperand| {
            (operand.role.as_str(), operand.element.as_str(), operand.shape) == (role, "f16", tile)
                && is_along_rows(operand) == along_rows
        };
        let operand = operands.iter().find(is_required).expect("there is such a tile");
        for (mode, leading, stride) in expected {
            let canonical_layout = operand.find_layout_by_mode(mode).expect("four modes");
            let layout = build_operand_memory_layout(operand, canonical_layout, shape)
                .expect("powers of two")
                .expect("it fills the matrix");
            let bits =
                DescriptorMatch::find(&layout, operand).expect("it reads it").encode_tile_descriptor(operand, [0, 0]);
            let expected = mode << 62 | (stride / 16) << 32 | (leading / 16) << 16;
            assert_eq!(bits, Some(expected), "{role}, {}", canonical_layout.name);
        }
    }
}
