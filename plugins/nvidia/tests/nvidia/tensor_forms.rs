//! MMAs with operand A, or the scales of both operands, in tensor memory, and the copy of scales to tensor memory:
//! shapes compared with published ones, layouts with the plugin's families, descriptors with the PTX ISA.

use crate::atom_types::element;
use crate::layouts::tensor_memory;
use crate::prelude::*;
use crate::tensor_atoms::atoms;
use tilewright_nvidia_tables::instructions::omitted_instructions_of;
use tilewright_vendor_testkit::rows::{find_constant_operand, memory};

fn mma_instructions(required: &str) -> Vec<Instruction> {
    let all = instructions_of("sm_100a").into_iter().filter(|row| row.name.starts_with("tcgen05.mma"));
    all.filter(|row| row.name.contains(required)).collect()
}

/// Compares shapes with CUTLASS. Atoms with scales and 64 rows are left out, because the PTX ISA has only 128 rows for
/// one block.
#[test]
fn published_shapes_have_rows() {
    check_published_shapes_have_rows(Answers::Sample);
}

pub fn check_published_shapes_have_rows(answers: Answers) {
    let (mut in_tensor_memory, mut scaled) = (0, 0);
    for atom in atoms(answers, "reference/matrix_instruction_tv_layouts.json") {
        let name = atom["name"].as_str().unwrap().to_owned();
        let Some(name) = name.strip_prefix("SM100_MMA_") else { continue };
        let is_of_one_block = !name.contains("2x1SM") && !name.contains("SCALED") && !name.contains("INTERLEAVED");
        let [m, n, k] = [0, 1, 2].map(|axis| atom["shape_mnk"][axis].as_u64().unwrap());
        let types = ["D", "A", "B"].map(|role| element(atom["val_types"][role].as_str().unwrap()));
        let [Some(d), Some(a), Some(b)] = types else { continue };
        if is_of_one_block && name.contains("_TS[") {
            let found = mma_instructions(&format!(".m{m}n{n}k{k}.{d}.{a}.{b}.ts."));
            assert_eq!(found.len(), if a == "f16" { 2 } else { 1 }, "{name}");
            for row in found {
                let size = row
                    .find_tensor_memory_operand("a")
                    .map(|tile| [0, 1].map(|axis| 1 << tile.layout.out_bits(Dim::tensor(axis))));
                assert_eq!((size, row.mma_shape()), (Some([m, k]), Some([m, n, k])), "{name}");
            }
            in_tensor_memory += 1;
        } else if is_of_one_block && name.starts_with("MX") && m == 128 {
            // VS is the number of elements that share a scale.
            let shared: u64 = name.split_once("VS=").unwrap().1.trim_end_matches(']').parse().unwrap();
            let found = mma_instructions(&format!("scale_vec::{}X.m{m}n{n}k{k}.{d}.{a}.{b}.", k / shared));
            assert_eq!(found.len(), if (a, shared) == ("e2m1", 32) { 2 } else { 1 }, "{name}");
            for row in found {
                for (role, size) in [("scale_a", m), ("scale_b", n)] {
                    let tile = row.find_tensor_memory_operand(role).unwrap();
                    let found = [0, 1].map(|axis| 1 << tile.layout.out_bits(Dim::tensor(axis)));
                    assert_eq!(found, [size, k / shared], "{role} of {name}");
                }
            }
            scaled += 1;
        }
    }
    assert!(in_tensor_memory >= 4 && scaled >= 4, "{in_tensor_memory}, {scaled}");
}

/// Checks against PTX ISA that operand A has the rows of the accumulator, with contiguous elements along K, and that
/// the instruction descriptor equals that of an operand in shared memory.
#[test]
fn operand_a_lies_in_the_rows_of_the_accumulator() {
    let families = NvidiaFamilies::for_architecture("sm_100a");
    let all = mma_instructions(".ts.");
    assert_eq!(all.len(), 11 * (3 * 2 + 13));
    for row in all {
        let (accumulator, a) =
            (row.find_tensor_memory_operand("d").unwrap(), row.find_tensor_memory_operand("a").unwrap());
        assert!(a.layout.columns_of(Dim::ROW).len() == 7 && a.copies.is_empty());
        let rows_of = |tile: &tilewright_target::TensorMemoryOperand| -> Vec<u64> {
            let at = |&column: &u64| tile.layout.outs().coordinate(column, Dim::tensor(0));
            tile.layout.columns_of(Dim::ROW).iter().map(at).collect()
        };
        assert_eq!(rows_of(a), rows_of(accumulator), "{}", row.name);
        let size = [0, 1].map(|axis| 1u64 << a.layout.out_bits(Dim::tensor(axis)));
        let spec = tensor_memory(size[0], size[1]);
        assert_eq!(a.layout, *families.resolve(&spec, &size, &families).unwrap().linear(), "{}", row.name);
        assert_eq!(a.columns(), 8, "32 bytes of K");
        let shared = row.name.replace(".ts.", ".ss.k");
        let shared = mma_instructions(".ss.").into_iter().find(|other| other.name == shared).unwrap();
        assert_eq!(
            (find_constant_operand(&row), memory(&row, "b")),
            (find_constant_operand(&shared), memory(&shared, "b")),
            "{}",
            row.name
        );
    }
}

/// Compares layouts of scales with the layout family, which other tests compare with Triton's. Fewer than four scales
/// of a row are in the first bytes of a column.
#[test]
fn scales_lie_as_the_family_has_them() {
    let families = NvidiaFamilies::for_architecture("sm_100a");
    let all = mma_instructions("block_scale");
    assert_eq!(all.len(), 6 * (4 + 3));
    for row in all {
        for role in ["scale_a", "scale_b"] {
            let tile = row.find_tensor_memory_operand(role).unwrap();
            let [rows, count] = [0, 1].map(|axis| 1u64 << tile.layout.out_bits(Dim::tensor(axis)));
            let family =
                families.resolve(&FamilySpec::new("tensor_memory_scales"), &[rows.max(64), 4], &families).unwrap();
            assert_eq!((tile.copy_row_offsets(), tile.bits), (vec![0, 32, 64, 96], 8));
            let mut seen = BTreeSet::new();
            for ([at, byte], [down, along]) in tile.element_positions() {
                for copy in tile.copy_row_offsets() {
                    let there = family.linear().apply(&[(Dim::ROW, at + copy), (Dim::COL, byte)]).unwrap();
                    assert_eq!([there[0].1, there[1].1], [down, along], "{role} of {}", row.name);
                }
                seen.insert([down, along]);
            }
            assert_eq!(seen.len() as u64, rows * count);
        }
    }
}

/// Compares instruction descriptors with PTX ISA, table of the instruction descriptor for `.kind::mxf8f6f4`, `.mxf4`
/// and `.mxf4nvf4`.
#[test]
fn instruction_descriptors_of_scaled_mmas_encode_types_and_sizes() {
    let field = |word: u64, at: u32, width: u32| word >> at & ((1 << width) - 1);
    for row in mma_instructions("block_scale") {
        let word = find_constant_operand(&row).unwrap();
        let (a, b) = (memory(&row, "a"), memory(&row, "b"));
        let code = |element: &str| match element {
            "e4m3" => 0,
            "e5m2" | "e2m1" => 1,
            other => panic!("{other}"),
        };
        assert_eq!([field(word, 7, 3), field(word, 10, 3)], [code(&a.element), code(&b.element)], "{}", row.name);
        assert_eq!([field(word, 17, 6) * 8, field(word, 27, 2) * 128], [b.shape[1], 128], "{}", row.name);
        let scale = if row.find_tensor_memory_operand("scale_a").unwrap().element == "ue8m0" { 1 } else { 0 };
        assert_eq!(field(word, 23, 1), scale, "{}", row.name);
        // These are the first scales of a column; the bits for sparse, negated and transposed forms and the reserved
        // bits are zero.
        assert_eq!(word & !(0x7 << 7 | 0x7 << 10 | 0x3f << 17 | 1 << 23 | 0x3 << 27), 0, "{}", row.name);
        // All kinds have 32 bytes along K, with contiguous elements.
        assert!([a, b].iter().all(|one| one.layouts.len() == 4), "{}", row.name);
        assert_eq!([a.shape[1] * u64::from(a.bits), b.shape[0] * u64::from(b.bits)], [256; 2], "{}", row.name);
    }
}

/// Compares the copy of scales with CUTLASS, SM100_UTCCP_4x32dp128bit: each of the source's 32 rows of 128 bits is
/// copied four times.
#[test]
fn the_copy_of_scales_is_as_published() {
    check_the_copy_of_scales_is_as_published(Answers::Sample);
}

pub fn check_the_copy_of_scales_is_as_published(answers: Answers) {
    let all = instructions_of("sm_100a");
    let row = all.iter().find(|row| row.name.starts_with("tcgen05.cp")).unwrap();
    let (source, tile) = (memory(row, "source"), row.find_tensor_memory_operand("memory").unwrap());
    let mut checked = 0;
    for atom in atoms(answers, "reference/copy_instruction_tv_layouts.json") {
        if atom["name"] != "SM100_UTCCP_4x32dp128bit_1cta" {
            continue;
        }
        let published = ThreadValue::parse(atom["SrcLayout_bits"].as_str().unwrap());
        let [rows, bits] = [source.shape[0], 8 * source.shape[1]];
        assert_eq!(published.size(1), rows * bits * tile.copy_row_offsets().len() as u64);
        let copied: BTreeSet<u64> = (0..published.size(1)).map(|value| published.index(0, value)).collect();
        assert_eq!(copied.len() as u64, rows * bits);
        for (copy, (row, bit)) in (0..4).flat_map(|copy| (0..rows * bits).map(move |at| (copy, (at % rows, at / rows))))
        {
            let index = published.index(0, (copy * bits + bit) * rows + row);
            assert_eq!((index % rows, index / rows), (row, bit));
        }
        checked += 1;
    }
    assert!(checked > 0);
    // Rows of a core matrix of eight are 16 bytes apart, as in operands without a swizzle.
    let alone = &source.layouts[..];
    assert_eq!((alone.len(), alone[0].mode, alone[0].name.as_str()), (1, 0, "no swizzle"));
    for ([at, byte], element) in tile.element_positions() {
        assert_eq!([at, byte], element);
    }
}

#[test]
fn what_no_row_stands_for_is_known() {
    let forms = omitted_instructions_of("sm_100a");
    let own: Vec<_> = forms.iter().filter(|form| form.name.starts_with("tcgen05")).collect();
    for required in ["cta_group::2.kind::mxf4nvf4", ".sp.cta_group::1.kind::i8", ".ws.cta_group::1.kind::tf32"] {
        assert_eq!(own.iter().filter(|form| form.name.contains(required)).count(), 1, "{required}");
    }
    let all: BTreeSet<String> = instructions_of("sm_100a").into_iter().map(|row| row.name).collect();
    assert!(own.iter().all(|form| !all.contains(&form.name) && !form.reason.is_empty()));
    assert!(omitted_instructions_of("sm_120a").iter().all(|form| !form.name.starts_with("tcgen05")));
}
