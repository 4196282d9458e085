//! The rows of products by four warps: registers beside published tables and the plugin's families, tiles in
//! shared memory beside the memory layouts that the vendor gives them.

use crate::atom_types::element;
use crate::layouts::{dot_operand, mma, nvmma_shared, spec};
use crate::prelude::*;
use serde_json::Value;
use tilewright_plan::movement::{DescriptorMatch, arranged};
use tilewright_vendor_testkit::rows::{find_register, memory, of_family, register, same_places};

const PRODUCTS: &str = include_str!("../data/group_instructions.json");

fn group_rows() -> Vec<Instruction> {
    rows("sm_90a").into_iter().filter(|row| row.name.starts_with("wgmma")).collect()
}

/// The published atoms of dense products.
fn atoms(answers: Answers) -> Vec<Value> {
    let mut all = answers.entries(PRODUCTS, "reference/matrix_instruction_tv_layouts.json", "atoms");
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
            element(published).unwrap_or_else(|| panic!("{published} is no type of these instructions"))
        });
        let form = if name.contains("_RS") { "rs" } else { "ss" };
        let saturating = if name.ends_with("_SATURATE") { "satfinite." } else { "" };
        let leading = format!("wgmma.mma_async.sync.aligned.m{m}n{n}k{k}.{d}.{a}.{b}.{saturating}{form}.");
        let forms: Vec<_> = all.iter().filter(|row| row.name.starts_with(&leading)).collect();
        // Factors of 16 bits may lie both ways in shared memory.
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
                same_places(row, role, &atom["CLayout"], m, false);
            }
            if form == "rs" {
                same_places(row, "a", &atom["ALayout"], m, false);
            } else {
                assert_eq!(memory(row, "a").shape, [m, k], "{}", row.name);
            }
            assert_eq!(memory(row, "b").shape, [k, n], "{}", row.name);
            assert_eq!(row.extent(), Some([m, n, k]), "{}", row.name);
            let saturates = row.semantics == Semantics::ContractSaturating;
            assert_eq!(saturates, !saturating.is_empty(), "{}", row.name);
            checked.insert(row.name.clone());
        }
    }
    // Products of single bits are in no table of atoms.
    let known: BTreeSet<_> = all.iter().map(|row| row.name.clone()).filter(|name| !name.contains(".b1.")).collect();
    let excerpt = ["n8k", "n24k", "n64k"];
    let published: BTreeSet<_> =
        known.iter().filter(|name| excerpt.iter().any(|size| name.contains(size))).cloned().collect();
    assert_eq!(&published - &checked, BTreeSet::new(), "every row has a published counterpart");
    assert!(known == checked || answers == Answers::Sample);
    assert_eq!(known.len(), 32 * (2 * 6 + 6 + 2 + 8 * 2) + 18 * 4 * 2 * 2, "all sizes of N");
    assert_eq!(all.len(), known.len() + 18 * 2, "and those of single bits");
}

/// PTX ISA: each warp of the four holds of A and of D what a warp holds of `mma.m16n8`, sixteen rows further on.
#[test]
fn warps_hold_what_one_warp_alone_does() {
    let of_one_warp = rows("sm_90a").into_iter().filter(|row| row.name.starts_with("mma.sync.aligned.m16n8"));
    let of_one_warp: Vec<_> = of_one_warp.collect();
    let (mut of_a, mut of_d) = (0, 0);
    for row in group_rows() {
        let [_, n, k] = row.extent().expect("a product");
        for (role, shape, count) in [("a", [16, k], &mut of_a), ("d", [16, 8], &mut of_d)] {
            let Some((element, _, own)) = find_register(&row, role) else { continue };
            let fits = |one: &&Instruction| {
                let (found, _, layout) = register(one, role);
                found == element && [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis))) == shape
            };
            let Some(one) = of_one_warp.iter().find(fits) else { continue };
            let (_, _, one) = register(one, role);
            let registers = 1u64 << one.in_bits(Dim::REGISTER);
            for (at, lane, warp) in (0..registers * 32 * 4).map(|at| (at / 128, at % 32, at / 32 % 4)) {
                let place = own.apply(&[(Dim::REGISTER, at), (Dim::LANE, lane), (Dim::WARP, warp)]).expect("a place");
                let expected = one.apply(&[(Dim::REGISTER, at), (Dim::LANE, lane)]).expect("a place");
                assert_eq!(
                    (place[0].1, place[1].1),
                    (expected[0].1 + 16 * warp, expected[1].1),
                    "{role}, {}",
                    row.name
                );
            }
            *count += 1;
        }
        assert!(n <= 256);
    }
    // Of A all but tf32 and 8-bit floats, whose products by one warp are of later processors or other sizes.
    assert!(of_a > 500 && of_d > 1000, "{of_a} of a, {of_d} of d");
}

#[test]
fn registers_are_those_of_the_families() {
    const DIMS: [Dim; 3] = [Dim::REGISTER, Dim::LANE, Dim::WARP];
    let families = NvidiaFamilies::of("sm_90a");
    for row in group_rows() {
        let (_, _, d) = register(&row, "d");
        let k = memory(&row, "b").shape[0];
        let n = 1u64 << d.out_bits(Dim::tensor(1));
        let result = mma(3, &[4, 1], &[16, n, k]);
        assert_eq!(of_family(&families, &spec(&result), &[64, n], &DIMS), *d, "d of {}", row.name);
        let Some((_, bits, a)) = find_register(&row, "a") else { continue };
        let operand = spec(&dot_operand(0, &result, u64::from(32 / bits)));
        assert_eq!(of_family(&families, &operand, &[64, k], &DIMS), *a, "a of {}", row.name);
    }
}

/// Operands in memory, each kind once: role, element, tile, and which axis is contiguous.
fn memory_operands() -> Vec<MemoryOperand> {
    let mut all: Vec<MemoryOperand> = Vec::new();
    for row in group_rows() {
        for operand in &row.operands {
            if let Operand::Memory(memory) = operand
                && !all.contains(memory)
            {
                all.push(memory.clone());
            }
        }
    }
    all
}

/// Matrices of whole tiles: of one, of several along each axis.
fn matrices(operand: &MemoryOperand) -> Vec<[u64; 2]> {
    let grown = |rows: u64, columns: u64| [operand.shape[0] * rows, operand.shape[1] * columns];
    vec![grown(1, 1), grown(4, 1), grown(1, 4), grown(2, 8)]
}

fn is_along_rows(operand: &MemoryOperand) -> bool {
    // The first step of the contiguous axis is as long as an element.
    let arrangement = &operand.arrangements[0];
    let bytes = u64::from(operand.bits / 8);
    arrangement.axes[1][0].stride == tilewright_target::Stride::Bytes(bytes)
}

#[test]
fn canonical_layouts_are_the_shared_family() {
    let families = NvidiaFamilies::of("sm_90a");
    let mut checked = 0;
    for operand in memory_operands() {
        for arrangement in &operand.arrangements {
            for shape in matrices(&operand) {
                let Some(own) = arranged(&operand, arrangement, shape).expect("powers of two") else { continue };
                let width = match arrangement.mode {
                    1 => 128,
                    2 => 64,
                    3 => 32,
                    _ => continue,
                };
                let along_rows = is_along_rows(&operand);
                // A copy takes 256 elements along an axis at most; beyond it the family begins anew.
                if shape.iter().any(|&size| size > 256) || operand.bits == 32 && !along_rows && width == 0 {
                    continue;
                }
                let shared = spec(&nvmma_shared(width, !along_rows, operand.bits));
                let family = families.resolve(&shared, &shape, &families).expect("a layout");
                assert_eq!(own, *family.linear(), "{} {} of {shape:?}", operand.role, arrangement.name);
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
        for arrangement in &operand.arrangements {
            for shape in matrices(&operand) {
                let Some(own) = arranged(&operand, arrangement, shape).expect("powers of two") else { continue };
                let reading = DescriptorMatch::of(&own, &operand).expect("it was arranged for the operand");
                let places = own.invert().expect("one place each");
                // What is small enough lies in several arrangements alike; some one of them reads it.
                let chosen = &operand.arrangements[reading.arrangement];
                for row_tile in 0..shape[0] / operand.shape[0] {
                    for column_tile in 0..shape[1] / operand.shape[1] {
                        let bits = reading.descriptor(&operand, [row_tile, column_tile]).expect("fields hold it");
                        let said = operand.descriptor.decode(bits);
                        assert_eq!(operand.of_mode(said.mode), Some(chosen));
                        for row in 0..operand.shape[0] {
                            for column in 0..operand.shape[1] {
                                let at = [row_tile * operand.shape[0] + row, column_tile * operand.shape[1] + column];
                                let at = [(Dim::tensor(0), at[0]), (Dim::tensor(1), at[1])];
                                let offset = places.apply(&at).expect("inside")[0].1 * u64::from(operand.bits / 8);
                                assert_eq!(chosen.address(&said, [row, column]), offset, "{} {shape:?}", operand.role);
                            }
                        }
                        tiles += 1;
                    }
                }
                modes.insert((operand.role.clone(), operand.bits, is_along_rows(&operand), arrangement.mode));
            }
        }
    }
    // Of each factor of 8, 16 and 32 bits along K, and of 16 bits across it: four modes.
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
    let refused = DescriptorMatch::of(&row_major, operand).expect_err("rows follow each other unswizzled");
    assert!(
        refused.contains("swizzle of 128 bytes: bit 0 of a step along dim0 moves the address by 0x90, not 0x80"),
        "{refused}"
    );
    // Wider, and every second row moved by a row's half: no arrangement mixes that bit.
    let mixed = bases(columns(1).chain(rows().map(|[row, _]| [row, if row == 1 { 32 } else { 0 }])).collect());
    assert!(DescriptorMatch::of(&mixed, operand).is_err());
}

/// What an arrangement has of a matrix, with one coordinate's bit moved: another bit of the same step, or a tile that
/// begins where no sum without carries leads.
#[test]
fn matrices_with_a_bit_moved_are_not_read() {
    let operands = memory_operands();
    let operand = operands.iter().find(|operand| {
        operand.role == "a" && operand.element == "f16" && operand.shape == [64, 16] && is_along_rows(operand)
    });
    let operand = operand.expect("a factor of 16 bits");
    let shape = [64, 64];
    let whole = arranged(operand, &operand.arrangements[0], shape).expect("powers of two").expect("it fills it");
    let moved = |change: fn([u64; 2]) -> [u64; 2]| {
        let bases = whole.bases_of(Dim::OFFSET).into_iter().map(|at| change([at[0], at[1]]).to_vec()).collect();
        let sizes = [(Dim::tensor(0), shape[0]), (Dim::tensor(1), shape[1])];
        LinearLayout::from_bases(&[(Dim::OFFSET, bases)], &sizes).expect("a layout")
    };
    assert!(DescriptorMatch::of(&moved(|at| at), operand).is_ok());
    // Rows 2 and 4 of every eight change places: the step's first bit is where it must be, its second is not.
    let swapped = moved(|[row, k]| [row & !6 | (row & 2) << 1 | (row & 4) >> 1, k]);
    let refused = DescriptorMatch::of(&swapped, operand).expect_err("another order of rows");
    assert!(refused.contains("swizzle of 128 bytes: bit 1 of a step along dim0"), "{refused}");
    // The second tile along K begins a row further on.
    let sheared = moved(|[row, k]| [row ^ (k >> 4 & 1), k]);
    let refused = DescriptorMatch::of(&sheared, operand).expect_err("a tile begins elsewhere");
    assert!(refused.contains("swizzle of 128 bytes: tiles would begin 0xa0 bytes apart"), "{refused}");
}

/// Fields of 14 bits count 16 bytes: no stride of 256 KiB or more is said.
#[test]
fn strides_beyond_the_descriptor_are_not_read() {
    let operands = memory_operands();
    let operand = operands.iter().find(|operand| {
        operand.role == "b" && operand.element == "f16" && operand.shape == [16, 128] && is_along_rows(operand)
    });
    let operand = operand.expect("a factor of 16 bits across K");
    for (k, reaches) in [(1024, true), (4096, false)] {
        let layout = arranged(operand, &operand.arrangements[0], [k, 128]).expect("powers of two").expect("it fills");
        let reading = DescriptorMatch::of(&layout, operand);
        assert_eq!(reading.is_ok(), reaches, "{k}: {reading:?}");
    }
}

/// CUTLASS, mma_sm90_desc.hpp, canonical layouts: which distance is the leading and which the stride offset, here of
/// matrices of 128 x 64 and 64 x 128 elements of 16 bits whose blocks of eight rows follow each other along the axis that
/// is not contiguous.
#[test]
fn descriptors_say_what_the_canonical_layouts_name() {
    let operands = memory_operands();
    for (role, tile, along_rows, shape, expected) in [
        // Rows along K: the stride is from eight rows to the next; leading, of bare blocks alone, along K.
        ("a", [64, 16], true, [128, 64], [(1, 16, 1024), (2, 16, 512), (3, 16, 256), (0, 2048, 128)]),
        ("b", [16, 128], false, [64, 128], [(1, 16, 1024), (2, 16, 512), (3, 16, 256), (0, 2048, 128)]),
        // Rows across K: the stride is from eight of K to the next, the leading one from a row's end on (which
        // 64 elements of 128 bytes do not reach); of bare blocks it is the other way round.
        ("a", [64, 16], false, [128, 64], [(1, 16, 1024), (2, 4096, 512), (3, 2048, 256), (0, 128, 1024)]),
        ("b", [16, 128], true, [64, 128], [(1, 8192, 1024), (2, 4096, 512), (3, 2048, 256), (0, 128, 1024)]),
    ] {
        let is_required = |operand: &&MemoryOperand| {
            (operand.role.as_str(), operand.element.as_str(), operand.shape) == (role, "f16", tile)
                && is_along_rows(operand) == along_rows
        };
        let operand = operands.iter().find(is_required).expect("there is such a tile");
        for (mode, leading, stride) in expected {
            let arrangement = operand.of_mode(mode).expect("four modes");
            let layout = arranged(operand, arrangement, shape).expect("powers of two").expect("it fills the matrix");
            let bits = DescriptorMatch::of(&layout, operand).expect("it reads it").descriptor(operand, [0, 0]);
            let expected = mode << 62 | (stride / 16) << 32 | (leading / 16) << 16;
            assert_eq!(bits, Some(expected), "{role}, {}", arrangement.name);
        }
    }
}
