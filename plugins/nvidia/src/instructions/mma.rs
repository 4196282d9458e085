//! `mma.sync`: the product of two matrices held by one warp.

use tilewright_layout::families::cluster::tile_of;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Semantics};

use super::numerics;

const SOURCE: &str = "PTX ISA, warp-level matrix multiply-accumulate: register fragments of mma";

/// Instructions that came with one compute capability: M, N, K, and types of d, a, b and c.
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
    // A row that is no layout would be a mistake in the table above; tests count the rows.
    let mut rows: Vec<_> = all.filter_map(|(&shape, &types)| plain(capability, shape, types).ok()).collect();
    let saturating: Vec<_> = rows.iter().filter_map(saturating).collect();
    rows.extend(saturating);
    let shapes = BITS.iter().filter(|&&(since, _)| since <= capability);
    rows.extend(shapes.filter_map(|&(_, shape)| different(shape).ok()));
    rows
}

fn plain(capability: u32, [m, n, k]: [u64; 3], types: [&str; 4]) -> Result<Instruction, LayoutError> {
    // Of single bits, those that both have are counted.
    let suffix = if types[1] == "b1" { ".and.popc" } else { "" };
    let row = row(format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{}{suffix}", types.join(".")), [m, n, k], types)?;
    Ok(Instruction { numerics: numerics::of(capability, types[1], bits(types[1])), ..row })
}

/// The row whose sums of integers saturate; of single bits there is none.
fn saturating(row: &Instruction) -> Option<Instruction> {
    let (shape, types) = row.name.split_once(".row.col.s32.")?;
    let name = format!("{shape}.row.col.satfinite.s32.{types}");
    let row = Instruction { name, semantics: Semantics::ContractSaturating, ..row.clone() };
    (!types.starts_with("b1")).then_some(row)
}

/// Shapes in which bits that differ are counted.
const BITS: [(u32, [u64; 3]); 3] = [(75, [8, 8, 128]), (80, [16, 8, 128]), (80, [16, 8, 256])];

fn different([m, n, k]: [u64; 3]) -> Result<Instruction, LayoutError> {
    let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.s32.b1.b1.s32.xor.popc");
    let row = row(name, [m, n, k], ["s32", "b1", "b1", "s32"])?;
    Ok(Instruction { semantics: Semantics::CountDifferent, ..row })
}

/// The row of `d = a * b + c`, of which nothing is said how it rounds.
pub(super) fn row(name: String, [m, n, k]: [u64; 3], [d, a, b, c]: [&str; 4]) -> Result<Instruction, LayoutError> {
    Ok(Instruction {
        name,
        kind: InstructionKind::Matrix,
        operands: vec![
            register("d", d, bits(d), result(m, n)?),
            register("a", a, bits(a), left(m, k, bits(a))?),
            register("b", b, bits(b), right(k, n, bits(b))?),
            register("c", c, bits(c), result(m, n)?),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::AtOnce,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

pub(super) fn register(role: &str, element: &str, bits: u32, layout: LinearLayout) -> Operand {
    Operand::Register { role: role.to_owned(), element: element.to_owned(), bits, layout }
}

fn bits(element: &str) -> u32 {
    match element {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" | "e2m1" => 4,
        "b1" => 1,
        // Types of six bits too lie in bytes.
        _ => 8,
    }
}

/// Elements of K that a lane holds side by side: those of a 32-bit register.
fn width(bits: u32) -> u64 {
    u64::from(32 / bits).max(1)
}

/// Two neighbouring columns a lane, four lanes a row, eight rows at a time.
fn result(m: u64, n: u64) -> Result<LinearLayout, LayoutError> {
    let parts = [
        (Dim::REGISTER, 2, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, m / 8, 0),
        (Dim::REGISTER, n / 8, 1),
    ];
    tile_of(&[1, 0], &parts)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// Four lanes along K, eight along the rows; registers repeat that along the rows and then K.
fn left(m: u64, k: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let width = width(bits);
    let parts = [
        (Dim::REGISTER, width, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, m / 8, 0),
        (Dim::REGISTER, k / width / 4, 1),
    ];
    tile_of(&[0, 1], &parts)
}

/// Four lanes along K, eight along the columns; registers repeat that along K.
fn right(k: u64, n: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let width = width(bits);
    let parts = [
        (Dim::REGISTER, width, 0),
        (Dim::LANE, 4, 0),
        (Dim::LANE, 8, 1),
        (Dim::REGISTER, n / 8, 1),
        (Dim::REGISTER, k / width / 4, 0),
    ];
    tile_of(&[0, 1], &parts)
}
