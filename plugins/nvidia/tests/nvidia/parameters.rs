//! Parameters of this plugin's families: an error names the wrong parameter, and nothing panics.

use crate::layouts::{dot_operand, mma};
use crate::prelude::*;
use tilewright_testkit::any_parameters::{Kind, Signature};
use tilewright_vendor_testkit::parameters;

const MMA: Signature = Signature::new(
    "nvidia_mma",
    &[
        ("version_major", Kind::OneOf(&[2, 2, 3, 5])),
        ("version_minor", Kind::Number),
        ("warps_per_cta", Kind::PerAxis),
        ("instr_shape", Kind::ListOf(&[&[16, 8], &[8, 8], &[1, 16, 8], &[16, 64, 16], &[16, 24, 16]])),
        ("cga_layout", Kind::Bases),
    ],
);
const TENSOR_MEMORY: Signature = Signature::new(
    "tensor_memory",
    &[
        ("block", Kind::ListOf(&[&[64, 16], &[128, 32], &[64, 1], &[128, 128], &[32, 8], &[128, 1024]])),
        ("col_stride", Kind::OneOf(&[1, 1, 2, 4, 8])),
        ("two_ctas", Kind::Flag),
        ("fp4_padded", Kind::Flag),
        ("cga_layout", Kind::Bases),
    ],
);
const FAMILIES: [Signature; 7] = [
    TENSOR_MEMORY,
    Signature::new(
        "tensor_memory_scales",
        &[("block_rep_order", Kind::Keyword(&["mnThenK", "kThenMn", "nThenMk"])), ("cga_layout", Kind::Bases)],
    ),
    Signature::new(
        "tmem_reg",
        &[
            ("memory", Kind::Spec(&TENSOR_MEMORY)),
            ("element_bits", Kind::OneOf(&[8, 16, 32, 64])),
            ("num_warps", Kind::OneOf(&[4, 4, 8, 16, 2])),
            ("instr_variant", Kind::Keyword(&["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"])),
        ],
    ),
    Signature::new(
        "mma_scale",
        &[
            ("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])),
            ("warps_per_cta", Kind::PerAxis),
            ("cga_layout", Kind::Bases),
        ],
    ),
    MMA,
    Signature::new(
        "nvmma_shared",
        &[
            ("swizzling_byte_width", Kind::OneOf(&[0, 32, 64, 128, 256])),
            ("element_bit_width", Kind::OneOf(&[8, 16, 32, 64, 4])),
            ("transposed", Kind::Flag),
            ("fp4_padded", Kind::Flag),
            ("cga_layout", Kind::Bases),
        ],
    ),
    Signature::new("dot_operand", &[("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])), ("k_width", Kind::Number)])
        .with_parents(&[MMA]),
];

#[test]
fn no_parameters_panic() {
    parameters::check_random_family_parameters(6000, &FAMILIES, &families());
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str, shape: &[u64]| parameters::refusal(&families(), text, shape);
    let four_warps = |version, shape: &[u64]| mma(version, &[4, 1], shape);
    for (text, shape, expected) in [
        (four_warps(1, &[16, 8]), &[64, 64][..], "`version`: 1 is none of 2 (mma.sync) and 3 (wgmma)"),
        (four_warps(3, &[16, 24, 16]), &[64, 64], "`instr_shape`: M and N of [16, 24] must be powers of two"),
        (four_warps(2, &[16, 8]), &[64], "a matrix has at least two axes"),
        (
            dot_operand(1, &four_warps(3, &[16, 64, 16]), 2),
            &[64, 64],
            "`operand_index`: wgmma reads operand 1 from shared memory only",
        ),
    ] {
        let found = error(&text, shape);
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn what_is_wrong_with_tensor_memory_is_named() {
    let error = |text: &str, shape: &[u64]| parameters::refusal(&families(), text, shape);
    let memory = |rows: i32, columns: i32, more: &str| {
        format!("#ttng.tensor_memory_encoding<{{blockM = {rows}, blockN = {columns}{more}}}>")
    };
    for (rows, columns, more, shape, expected) in [
        (32, 32, ", colStride = 1", [128, 64], "`block`: has 32 rows, which is neither 64 nor 128"),
        (128, 1024, ", colStride = 1", [128, 1024], "`block`: has 1024 columns, more than the 512"),
        (128, 48, ", colStride = 1", [128, 64], "`block_n`"),
        (128, 64, "", [128, 64], "`col_stride`: is missing"),
        (128, 64, ", colStride = 8", [128, 64], "`col_stride`: 8 is none of 1, 2 and 4"),
        (128, 64, ", colStride = 2, fp4Padded = true", [128, 64], "`fp4_padded`: padded elements follow each other"),
        (128, 64, ", colStride = 1", [64, 64], "a block must have 128 rows at least"),
        (128, 64, ", colStride = 1, CGALayout = [[1, 0]]", [128, 64], "a block must have 128 rows at least"),
        (128, 64, ", colStride = 1, CGALayout = [[2, 0]]", [512, 64], "`cga_layout`"),
        (
            128,
            64,
            ", colStride = 1, CGALayout = [[1]]",
            [256, 64],
            "`cga_layout`: a basis has 1 coordinates, expected 2",
        ),
        (128, 64, ", colStride = 1, twoCTAs = true", [256, 64], "`two_ctas`: pairs are blocks that follow"),
        (128, 64, ", colStride = 1, twoCTAs = true, CGALayout = [[0, 1]]", [128, 128], "must begin with [1, 0]"),
        (64, 1, ", colStride = 1, twoCTAs = true, CGALayout = [[1, 0]]", [128, 1], "has two columns at least"),
    ] {
        let found = error(&memory(rows, columns, more), &shape);
        assert!(found.contains(expected), "{found}");
    }
    assert!(error(&memory(128, 64, ", colStride = 1"), &[2, 128, 64]).contains("tensors of two axes"));
    let scales = "#ttng.tensor_memory_scales_encoding<{blockRepOrder = \"kOnly\"}>";
    assert!(error(scales, &[128, 4]).contains("`block_rep_order`: is neither mnThenK nor kThenMn"));
    assert!(error("#ttng.tensor_memory_scales_encoding<{}>", &[128]).contains("tensors of two axes"));
}

#[test]
fn what_is_wrong_with_registers_of_tensor_memory_and_scales_is_named() {
    let error = |text: String, shape: &[u64]| parameters::refusal(&families(), &text, shape);
    let memory = "#ttng.tensor_memory_encoding<{blockM = 128, blockN = 64, colStride = 1}>";
    let registers = |memory: &str, bits: i32, warps: i32, variant: &str| {
        format!(
            "#ttng.tmem_reg<{{memory = {memory}, elementBits = {bits}, numWarps = {warps}, instrVariant = \"{variant}\"}}>"
        )
    };
    let shape = [128, 64];
    assert!(error(registers("[1]", 32, 4, "32x32b"), &shape).contains("`memory`: must be a layout of tensor memory"));
    assert!(error(registers(memory, 64, 4, "32x32b"), &shape).contains("`element_bits`: 64 is none of 8, 16 and 32"));
    assert!(error(registers(memory, 32, 2, "32x32b"), &shape).contains("`num_warps`: 2 is not from 4 to 64"));
    assert!(error(registers(memory, 32, 4, "16x32b"), &shape).contains("`instr_variant`: is none of 32x32b"));
    assert!(error(registers(memory, 32, 4, "16x256b"), &[128, 4]).contains("`instr_variant` accesses locations"));
    let mma = mma(2, &[4, 1], &[16, 8]);
    assert!(error(registers(&mma, 32, 4, "32x32b"), &shape).contains("`memory`: is not a layout of tensor memory"));
    let padded = memory.replace("colStride = 1", "colStride = 1, fp4Padded = true");
    assert!(error(registers(&padded, 8, 4, "32x32b"), &shape).contains("neither packed nor one per word"));
    let scale = |index: i32| format!("#ttg.mma_scale<{{opIdx = {index}, warpsPerCTA = [2, 2]}}>");
    assert!(error(scale(2), &[128, 4]).contains("`operand_index`: 2 is neither 0 nor 1"));
    assert!(error(scale(0), &[128]).contains("scales have two axes"));
}

/// Checks the layout of scales of `mma.sync` against PTX ISA: of each quad, lanes 0 and 1 hold the scales of rows of A
/// that are eight apart, and lane 0 holds the scales of a column of B.
#[test]
fn scales_lie_with_the_quads() {
    let layout = |index: i32| {
        let text = format!("#ttg.mma_scale<{{opIdx = {index}, warpsPerCTA = [2, 2]}}>");
        parameters::resolve_layout(&families(), &text, &[64, 4]).linear().clone()
    };
    for (index, rows) in [(0, 16), (1, 8)] {
        let layout = layout(index);
        for (lane, warp, register) in
            (0..32).flat_map(|lane| (0..4).flat_map(move |w| (0..16).map(move |r| (lane, w, r))))
        {
            let at = [(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)];
            let in_tile = if index == 0 { lane / 4 + lane % 2 * 8 } else { lane / 4 };
            // Warps follow each other along N first; those of A differ in its upper bit.
            let of_warp = if index == 0 { warp / 2 } else { warp % 2 };
            let row = in_tile + of_warp * rows + register / 4 * 2 * rows;
            if row < 64 {
                let coordinates = layout.apply(&at).expect("a place");
                assert_eq!(
                    (coordinates[0].1, coordinates[1].1),
                    (row, register % 4),
                    "operand {index}, lane {lane}, warp {warp}"
                );
            }
        }
    }
}

#[test]
fn attribute_text_and_json_name_the_same_layouts() {
    let same = |text: &str, json: &str, shape: &[u64]| parameters::check_same_layout(&families(), text, json, shape);
    let text = mma(2, &[4, 1], &[16, 8]);
    let json = r#"{"kind": "nvidia_mma", "version": [2, 0], "warps_per_cta": [4, 1], "instr_shape": [16, 8]}"#;
    same(&text, json, &[64, 32]);
    let text = dot_operand(0, &text, 2);
    let json = format!(r#"{{"kind": "dot_operand", "operand_index": 0, "k_width": 2, "parent": {json}}}"#);
    same(&text, &json, &[64, 32]);
    let shared = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16, \
                  CGALayout = [[0, 1], [1, 0]]}>";
    let json = r#"{"kind": "nvmma_shared", "swizzle_byte_width": 128, "transposed": true, "element_bitwidth": 16,
        "cga_layout": [[0, 1], [1, 0]]}"#;
    same(shared, json, &[128, 128]);
    let shared =
        "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8, fp4Padded = true}>";
    let json = r#"{"kind": "nvmma_shared", "swizzling_byte_width": 64, "element_bit_width": 8, "fp4_padded": true}"#;
    same(shared, json, &[128, 128]);
}

#[test]
fn attribute_text_and_json_name_the_same_tensor_memory() {
    let same = |text: &str, json: &str, shape: &[u64]| parameters::check_same_layout(&families(), text, json, shape);
    let text = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, CGALayout = [[1, 0]], \
                twoCTAs = true>";
    let json = r#"{"kind": "tensor_memory", "block": [64, 32], "col_stride": 1, "cga_layout": [[1, 0]],
        "two_ctas": true, "fp4_padded": false}"#;
    same(text, json, &[128, 64]);
    let text = text.replace("<blockM", "<{blockM").replace("true>", "true}>");
    same(&text, json, &[128, 64]);
    let scales = "#ttng.tensor_memory_scales_encoding<CGALayout = [[0, 0]], blockRepOrder = \"kThenMn\">";
    let scales_json = r#"{"kind": "tensor_memory_scales", "cga_layout": [[0, 0]], "block_rep_order": "kThenMn"}"#;
    same(scales, scales_json, &[256, 16]);
    let registers =
        format!("#ttng.tmem_reg<{{memory = {text}, elementBits = 32, numWarps = 4, instrVariant = \"16x64b\"}}>");
    let registers_json = format!(
        r#"{{"kind": "tmem_reg", "memory": {json}, "element_bits": 32, "num_warps": 4, "instr_variant": "16x64b"}}"#
    );
    same(&registers, &registers_json, &[128, 64]);
    let scale = "#ttg.mma_scale<{opIdx = 1, warpsPerCTA = [2, 2]}>";
    let scale_json = r#"{"kind": "mma_scale", "operand_index": 1, "warps_per_cta": [2, 2]}"#;
    same(scale, scale_json, &[64, 4]);
}

fn families() -> NvidiaFamilies {
    NvidiaFamilies::for_architecture("sm_90a")
}
