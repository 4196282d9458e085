//! Copies: both sides carry the instruction's tile to the same elements, `f . p^-1 = g . q^-1`.

use super::composite::{differs, named};
use super::{Unsatisfied, composite};
use crate::layouts;
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{Instruction, Operand};

const NAME: &str = "copy";

/// The tiles of an instruction that moves, in elements: (register, lane) to (slot, element of the slot), as (dim0, dim1).
#[derive(Debug, Clone, PartialEq)]
pub struct CopyTiles {
    /// Who gives the address of which slot, registers being the elements of a slot: `p` of a load.
    pub memory: LinearLayout,
    /// Who holds which elements: `q` of a load.
    pub registers: LinearLayout,
}

impl CopyTiles {
    /// Both tiles of a row that moves between registers and shared memory, for elements of so many bits.
    ///
    /// # Errors
    /// [`Unsatisfied::Instruction`]: a row that does not move, or that parts elements.
    pub fn of(row: &Instruction, element_bits: u32) -> Result<Self, Unsatisfied> {
        let wrong =
            |reason: &str| Unsatisfied::Instruction { instruction: row.name.clone(), reason: reason.to_owned() };
        let access = row.operands.iter().find_map(|operand| match operand {
            Operand::Access { data, address, .. } => Some((data, address)),
            _ => None,
        });
        let (data, address) = access.ok_or_else(|| wrong("its lanes give no addresses of shared memory"))?;
        let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
        let within = (element_bits / 8).checked_ilog2().ok_or_else(|| wrong("elements narrower than a byte"))?;
        let (slots, bytes) = (data.out_bits(slot), data.out_bits(byte));
        let held = data.columns_of(byte);
        let own = |bit: usize| held.get(bit).is_some_and(|&column| data.outs().coordinate(column, byte) == 1 << bit);
        if within > bytes || !(0..within as usize).all(own) {
            return Err(wrong("it parts elements"));
        }
        let outs = Space::of_sizes(&[(Dim::tensor(0), 1 << slots), (Dim::tensor(1), 1 << (bytes - within))])?;
        let at = |slot: u64, byte: u64| slot | (byte >> within) << slots;
        let of_data = |&column: &u64| at(data.outs().coordinate(column, slot), data.outs().coordinate(column, byte));
        let lanes: Vec<u64> = data.columns_of(Dim::LANE).iter().map(of_data).collect();
        let values = held[within as usize..].iter().chain(data.columns_of(Dim::REGISTER));
        let registers: Vec<u64> = values.map(of_data).chain(lanes.iter().copied()).collect();
        let given = address.columns_of(Dim::LANE).iter().map(|&column| at(address.outs().coordinate(column, slot), 0));
        let memory: Vec<u64> = (within..bytes).map(|bit| at(0, 1 << bit)).chain(given).collect();
        let of = |columns: &[u64]| {
            let (registers, lanes) = columns.split_at(columns.len() - lanes.len());
            layouts::of_dims(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &outs)
        };
        Ok(Self { memory: of(&memory)?, registers: of(&registers)? })
    }
}

/// The layout of the other side of a copy: `g = f . p^-1 . q`, where `f` is known and the instruction is `p` on that side
/// and `q` on the other. What the instruction does not have of `f`, registers and warps, follows unchanged.
///
/// # Errors
/// As [`composite`].
pub fn copied(known: &LinearLayout, own: &LinearLayout, other: &LinearLayout) -> Result<LinearLayout, Unsatisfied> {
    let map = composite(known, own)?;
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

/// Whether an instruction of sides `p` and `q` copies between the layouts `f` and `g`.
///
/// # Errors
/// [`Unsatisfied`]: as [`composite`]; where it does not, with the register, lane or warp that leads elsewhere.
pub fn copy_holds(
    (f, p): (&LinearLayout, &LinearLayout),
    (g, q): (&LinearLayout, &LinearLayout),
) -> Result<(), Unsatisfied> {
    let required = copied(f, p, q)?;
    let order: Vec<Dim> = f.outs().dims().collect();
    super::elementwise::equal(NAME, ("the copy", &required), ("the given layout", &g.transpose_outs(&order)?))?;
    // Both composites are then the same map; it must also be the one that `g` has.
    let (one, other) = (composite(f, p)?, composite(&g.transpose_outs(&order)?, q)?);
    let differ = one.columns().iter().zip(other.columns()).position(|(a, b)| a != b);
    match differ {
        None => Ok(()),
        Some(bit) => {
            let (a, b) = (one.columns()[bit], other.columns()[bit]);
            Err(differs(NAME, named(&one, bit), ("the source", a), ("the destination", b), f.outs()))
        }
    }
}
