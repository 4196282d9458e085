//! `mma.sync`: an MMA by one warp, with all operands in registers.

use tilewright_layout::families::cluster::tile_from_identities;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

use super::numerics;

const SOURCE: &str = "PTX ISA, warp-level matrix multiply-accumulate: register fragments of mma";

/// MMAs that exist from compute capability `since` (times ten) on: all combinations of `shapes` ([M, N, K]) with
/// `types` (element types of d, a, b and c).
struct Group {
    since: u32,
    shapes: &'static [[u64; 3]],
    types: &'static [[&'static str; 4]],
}

const GROUPS: [Group; 12] = [
    Group { since: 75, shapes: &[[16, 8, 8]], types: &[["f32", "f16", "f16", "f32"], ["f16", "f16", "f16", "f16"]] },
    Group { since: 80, shapes: &[[16, 8, 16]], types: &[["f32", "f16", "f16", "f32"], ["f16", "f16", "f16", "f16"]] },
    Group { since: 80, shapes: &[[16, 8, 8], [16, 8, 16]], types: &[["f32", "bf16", "bf16", "f32"]] },
    Group { since: 80, shapes: &[[16, 8, 4], [16, 8, 8]], types: &[["f32", "tf32", "tf32", "f32"]] },
    Group { since: 80, shapes: &[[8, 8, 4]], types: &[["f64", "f64", "f64", "f64"]] },
    Group { since: 90, shapes: &[[16, 8, 4], [16, 8, 8], [16, 8, 16]], types: &[["f64", "f64", "f64", "f64"]] },
    Group { since: 75, shapes: &[[8, 8, 16]], types: &BYTES },
    Group { since: 80, shapes: &[[16, 8, 16], [16, 8, 32]], types: &BYTES },
    Group { since: 89, shapes: &[[16, 8, 32]], types: &FLOAT_BYTES },
    Group { since: 75, shapes: &[[8, 8, 32]], types: &NIBBLES },
    Group { since: 80, shapes: &[[16, 8, 32], [16, 8, 64]], types: &NIBBLES },
    Group { since: 80, shapes: &[[8, 8, 128], [16, 8, 128], [16, 8, 256]], types: &[["s32", "b1", "b1", "s32"]] },
];

const NIBBLES: [[&str; 4]; 4] =
    [["s32", "s4", "s4", "s32"], ["s32", "s4", "u4", "s32"], ["s32", "u4", "s4", "s32"], ["s32", "u4", "u4", "s32"]];

const BYTES: [[&str; 4]; 4] =
    [["s32", "s8", "s8", "s32"], ["s32", "s8", "u8", "s32"], ["s32", "u8", "s8", "s32"], ["s32", "u8", "u8", "s32"]];

const FLOAT_BYTES: [[&str; 4]; 8] = [
    ["f32", "e4m3", "e4m3", "f32"],
    ["f32", "e4m3", "e5m2", "f32"],
    ["f32", "e5m2", "e4m3", "f32"],
    ["f32", "e5m2", "e5m2", "f32"],
    ["f16", "e4m3", "e4m3", "f16"],
    ["f16", "e4m3", "e5m2", "f16"],
    ["f16", "e5m2", "e4m3", "f16"],
    ["f16", "e5m2", "e5m2", "f16"],
];

pub(super) fn rows(capability: u32) -> Vec<Instruction> {
    let known = GROUPS.iter().filter(|group| group.since <= capability);
    let all = known.flat_map(|group| group.shapes.iter().flat_map(|shape| group.types.iter().map(move |t| (shape, t))));
    // All rows of the table above have valid layouts, so no error is dropped; tests count the instructions.
    let mut rows: Vec<_> = all.filter_map(|(&shape, &types)| plain(capability, shape, types).ok()).collect();
    let saturating: Vec<_> = rows.iter().filter_map(saturating).collect();
    rows.extend(saturating);
    let shapes = BITS.iter().filter(|&&(since, _)| since <= capability);
    rows.extend(shapes.filter_map(|&(_, shape)| xor_popc(shape).ok()));
    rows
}

fn plain(capability: u32, [m, n, k]: [u64; 3], types: [&str; 4]) -> Result<Instruction, LayoutError> {
    // With the suffix `and.popc`, an MMA of single bits counts the positions where both bits are set.
    let suffix = if types[1] == "b1" { ".and.popc" } else { "" };
    let row = row(format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{}{suffix}", types.join(".")), [m, n, k], types)?;
    Ok(Instruction { numerics: numerics::of(capability, types[1], bits(types[1])), ..row })
}

/// Returns the variant of an integer instruction whose accumulator saturates; `None` for single-bit elements.
fn saturating(row: &Instruction) -> Option<Instruction> {
    let (shape, types) = row.name.split_once(".row.col.s32.")?;
    let name = format!("{shape}.row.col.satfinite.s32.{types}");
    let row = Instruction { name, semantics: Semantics::ContractSaturating, ..row.clone() };
    (!types.starts_with("b1")).then_some(row)
}

/// Single-bit MMAs that count differing bits (`xor.popc`): the first compute capability that has each (times ten), and
/// [M, N, K].
const BITS: [(u32, [u64; 3]); 3] = [(75, [8, 8, 128]), (80, [16, 8, 128]), (80, [16, 8, 256])];

fn xor_popc([m, n, k]: [u64; 3]) -> Result<Instruction, LayoutError> {
    let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.s32.b1.b1.s32.xor.popc");
    let row = row(name, [m, n, k], ["s32", "b1", "b1", "s32"])?;
    Ok(Instruction { semantics: Semantics::CountDifferent, ..row })
}

/// Returns the instruction `d = a * b + c` with this name, sizes M, N and K, and element types; its numerics are unset.
pub(super) fn row(name: String, [m, n, k]: [u64; 3], [d, a, b, c]: [&str; 4]) -> Result<Instruction, LayoutError> {
    Ok(Instruction {
        name,
        kind: InstructionKind::Matrix,
        operands: vec![
            register("d", d, bits(d), accumulator_fragment(m, n)?),
            register("a", a, bits(a), a_fragment(m, k, bits(a))?),
            register("b", b, bits(b), b_fragment(k, n, bits(b))?),
            register("c", c, bits(c), accumulator_fragment(m, n)?),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

pub(super) fn register(role: &str, element: &str, bits: u32, layout: LinearLayout) -> InstructionOperand {
    InstructionOperand::Register { role: role.to_owned(), element: element.to_owned(), bits, layout }
}

fn bits(element: &str) -> u32 {
    match element {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" | "e2m1" => 4,
        "b1" => 1,
        // Types of six bits also take a byte for each element.
        _ => 8,
    }
}

/// Returns the number of elements of `bits` bits that are adjacent along K in a lane: as many as a 32-bit register
/// holds, at least one.
fn width(bits: u32) -> u64 {
    u64::from(32 / bits).max(1)
}

/// Returns the accumulator's layout: a lane holds two adjacent columns, four lanes cover a row, and eight rows at a
/// time.
fn accumulator_fragment(m: u64, n: u64) -> Result<LinearLayout, LayoutError> {
    let modes = [
        (Dim::REGISTER, 2, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, m / 8, 0),
        (Dim::REGISTER, n / 8, 1),
    ];
    tile_from_identities(&[1, 0], &modes)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// Returns the layout of A: four lanes go along K, eight lanes along the rows; registers repeat this along the rows,
/// then K.
fn a_fragment(m: u64, k: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let width = width(bits);
    let modes = [
        (Dim::REGISTER, width, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, m / 8, 0),
        (Dim::REGISTER, k / width / 4, 1),
    ];
    tile_from_identities(&[0, 1], &modes)
}

/// Returns the layout of B: four lanes go along K, eight lanes along the columns; registers repeat this along K.
fn b_fragment(k: u64, n: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let width = width(bits);
    let modes = [
        (Dim::REGISTER, width, 0),
        (Dim::LANE, 4, 0),
        (Dim::LANE, 8, 1),
        (Dim::REGISTER, n / 8, 1),
        (Dim::REGISTER, k / width / 4, 0),
    ];
    tile_from_identities(&[0, 1], &modes)
}
