//! The copy constraint: `f . p^-1 = g . q^-1`, where `f` and `g` are the layouts of the source and the destination, and
//! `p` and `q` the instruction's tiles on these sides. So both sides map the tile to the same elements of the tensor.

use super::composite::{differs, named};
use super::{LayoutConstraintError, find_tile_to_tensor_map};
use crate::layouts;
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::Instruction;

const NAME: &str = "copy";

/// The tiles of a move instruction such as `ldmatrix`, one on each side of the copy. Both map (register, lane) to
/// (dim0, dim1) = (slot, element of the slot); a slot is the memory that one lane addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyInstructionTiles {
    /// The memory side, `p` of a load: the lane is the one that addresses a slot, the register numbers the elements of
    /// the slot.
    pub memory: LinearLayout,
    /// The register side, `q` of a load: the elements that the registers of each lane hold.
    pub registers: LinearLayout,
}

impl CopyInstructionTiles {
    /// Returns both tiles of an instruction that moves between registers and shared memory, for elements of
    /// `element_bits` bits.
    ///
    /// # Errors
    /// [`LayoutConstraintError::Instruction`] if the instruction's lanes provide no shared-memory addresses, if
    /// elements are narrower than a byte, or if the instruction divides elements among lanes.
    pub fn from_instruction(row: &Instruction, element_bits: u32) -> Result<Self, LayoutConstraintError> {
        let wrong = |reason: &str| LayoutConstraintError::Instruction {
            instruction: row.name.clone(),
            reason: reason.to_owned(),
        };
        let (data, address, _) =
            row.access_operand().ok_or_else(|| wrong("its lanes provide no shared-memory addresses"))?;
        let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
        let within = (element_bits / 8).checked_ilog2().ok_or_else(|| wrong("elements narrower than a byte"))?;
        let (segments, bytes) = (data.out_bits(segment), data.out_bits(byte));
        let byte_columns = data.columns_of(byte);
        let own =
            |bit: usize| byte_columns.get(bit).is_some_and(|&column| data.outs().coordinate(column, byte) == 1 << bit);
        if within > bytes || !(0..within as usize).all(own) {
            return Err(wrong("it splits elements"));
        }
        let outs = Space::from_sizes(&[(Dim::tensor(0), 1 << segments), (Dim::tensor(1), 1 << (bytes - within))])?;
        let at = |segment: u64, byte: u64| segment | (byte >> within) << segments;
        let of_data = |&column: &u64| at(data.outs().coordinate(column, segment), data.outs().coordinate(column, byte));
        let lanes: Vec<u64> = data.columns_of(Dim::LANE).iter().map(of_data).collect();
        let values = byte_columns[within as usize..].iter().chain(data.columns_of(Dim::REGISTER));
        let registers: Vec<u64> = values.map(of_data).chain(lanes.iter().copied()).collect();
        let given =
            address.columns_of(Dim::LANE).iter().map(|&column| at(address.outs().coordinate(column, segment), 0));
        let memory: Vec<u64> = (within..bytes).map(|bit| at(0, 1 << bit)).chain(given).collect();
        let of = |columns: &[u64]| {
            let (registers, lanes) = columns.split_at(columns.len() - lanes.len());
            layouts::of_dims(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &outs)
        };
        Ok(Self { memory: of(&memory)?, registers: of(&registers)? })
    }
}

/// Solves for the layout of the other side of a copy: `g = f . p^-1 . q`. `f` is `known`, `p` (`own`) is the
/// instruction's tile on the known side, and `q` (`other`) its tile on the other side. Registers and warps of `f`
/// beyond the instruction are repeated unchanged.
///
/// # Errors
/// As [`find_tile_to_tensor_map`].
pub fn solve_copy(
    known: &LinearLayout,
    own: &LinearLayout,
    other: &LinearLayout,
) -> Result<LinearLayout, LayoutConstraintError> {
    let map = find_tile_to_tensor_map(known, own)?;
    let mut ins = Space::default();
    let mut columns = Vec::new();
    for dim in [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK] {
        let through = other.columns_of(dim).iter().map(|&column| map.apply_packed(column));
        let rest = known.columns_of(dim).iter().skip(own.in_bits(dim) as usize).copied();
        let before = columns.len();
        columns.extend(through.chain(rest));
        if known.ins().contains(dim) || columns.len() > before {
            ins.push(dim, (columns.len() - before) as u32)?;
        }
    }
    Ok(LinearLayout::from_columns(ins, known.outs().clone(), &columns)?)
}

/// Checks that an instruction copies between two layouts: `f` on the side of its tile `p`, and `g` on the side of its
/// tile `q`.
///
/// # Errors
/// As [`find_tile_to_tensor_map`]; [`LayoutConstraintError::Sizes`] if `g` has other sizes than the layout that
/// `f` requires of it; [`LayoutConstraintError::Differ`] if the two sides map a register, lane or warp to different
/// elements.
pub fn check_copy_layouts(
    (f, p): (&LinearLayout, &LinearLayout),
    (g, q): (&LinearLayout, &LinearLayout),
) -> Result<(), LayoutConstraintError> {
    let required = solve_copy(f, p, q)?;
    let order: Vec<Dim> = f.outs().dims().collect();
    super::elementwise::equal(NAME, ("the copy", &required), ("the given layout", &g.transpose_outs(&order)?))?;
    // `g` equals the solved layout; its composite map must also equal that of `f` at every bit of the instruction's
    // tile.
    let (one, other) = (find_tile_to_tensor_map(f, p)?, find_tile_to_tensor_map(&g.transpose_outs(&order)?, q)?);
    let differ = one.columns().iter().zip(other.columns()).position(|(a, b)| a != b);
    match differ {
        None => Ok(()),
        Some(bit) => {
            let (a, b) = (one.columns()[bit], other.columns()[bit]);
            Err(differs(NAME, named(&one, bit), ("the source", a), ("the destination", b), f.outs()))
        }
    }
}
