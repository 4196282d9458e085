//! Products of matrices: M, N and K are carried from the instruction's tile to the tensors' alike by all operands that have
//! them (seed 003, theorem 1, with the projections in their right places).
//!
//! Here `a` is M x K, `b` K x N and `c` M x N, as dim0 x dim1.

use super::composite::differs;
use super::{Unsatisfied, composite};
use crate::layouts;
use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{Instruction, Operand};

const NAME: &str = "mma";

/// The tiles of an instruction's operands; a factor that it reads from memory has none.
#[derive(Debug, Clone, PartialEq)]
pub struct OperandTiles {
    /// (register, lane) to M x K.
    pub a: Option<LinearLayout>,
    /// (register, lane) to K x N.
    pub b: Option<LinearLayout>,
    /// (register, lane) to M x N.
    pub c: LinearLayout,
}

impl OperandTiles {
    /// The operands of a row that multiplies matrices.
    ///
    /// # Errors
    /// [`Unsatisfied::Instruction`] where its sums are not in registers.
    pub fn of(row: &Instruction) -> Result<Self, Unsatisfied> {
        let held = |required: &str| {
            row.operands.iter().find_map(|operand| match operand {
                Operand::Register { role, layout, .. } if role == required => Some(layout.clone()),
                _ => None,
            })
        };
        let accumulator = held("d").or_else(|| held("c"));
        let c = accumulator.ok_or_else(|| Unsatisfied::Instruction {
            instruction: row.name.clone(),
            reason: "its sums are not in registers, so no layout of theirs says those of the factors".to_owned(),
        })?;
        Ok(Self { a: held("a"), b: held("b"), c })
    }
}

/// How an instruction's tile is carried to the tensors', bit by bit of its M, N and K.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiling {
    /// For each bit of the instruction's M where it leads along the tensors' M.
    pub m: Vec<u64>,
    /// The same of N.
    pub n: Vec<u64>,
    /// The same of K.
    pub k: Vec<u64>,
}

/// The layouts of both factors.
#[derive(Debug, Clone, PartialEq)]
pub struct OperandLayouts {
    /// Of `a`; none where the instruction reads it from memory.
    pub a: Option<LinearLayout>,
    /// Of `b`.
    pub b: Option<LinearLayout>,
}

/// The layouts of both factors, `depth` elements along K, from that of the sums: K is read in its order, warps that share
/// rows or columns hold them each.
///
/// # Errors
/// [`Unsatisfied`]: sums that the instruction does not tile.
pub fn factors(c: &LinearLayout, operands: &OperandTiles, depth: u64) -> Result<OperandLayouts, Unsatisfied> {
    let [m, n] = accumulator(c, operands)?;
    let rest = Rest::of(c, &operands.c);
    let in_tile =
        |layout: &Option<LinearLayout>, axis: usize| layout.as_ref().map(|own| own.out_bits(Dim::tensor(axis)));
    let k_bits = in_tile(&operands.a, 1).or(in_tile(&operands.b, 0)).unwrap_or(0);
    let required = Space::of_sizes(&[(Dim::tensor(0), depth)])?.bits();
    if k_bits > required {
        let (first, second) = ("the instruction".into(), "the factors".into());
        let dim = Dim::tensor(1);
        return Err(Unsatisfied::Sizes { constraint: NAME, dim, first, second, left: k_bits, right: required });
    }
    let k: Vec<u64> = (0..k_bits).map(|bit| 1 << bit).collect();
    let over: Vec<u64> = (k_bits..required).map(|bit| 1 << bit).collect();
    let sizes = [c.out_bits(Dim::tensor(0)), c.out_bits(Dim::tensor(1)), required];
    let factor = |own: &Option<LinearLayout>, side: usize| -> Result<Option<LinearLayout>, Unsatisfied> {
        let Some(own) = own else { return Ok(None) };
        let maps = if side == 0 { [&m, &k] } else { [&k, &n] };
        let bits = if side == 0 { [sizes[0], sizes[2]] } else { [sizes[2], sizes[1]] };
        let place = |along: u64, axis: usize| if axis == 0 { along } else { along << bits[0] };
        let through = |dim: Dim| -> Vec<u64> {
            let column = |&element: &u64| {
                (0..2).fold(0, |all, axis| {
                    let at = own.outs().coordinate(element, Dim::tensor(axis));
                    all ^ place(tilewright_layout::f2::multiply(maps[axis], at), axis)
                })
            };
            own.columns_of(dim).iter().map(column).collect()
        };
        let k_axis = 1 - side;
        let more = over.iter().map(|&bit| place(bit, k_axis));
        let repeated = rest.registers[side].iter().map(|&at| place(at, side));
        let registers: Vec<u64> = through(Dim::REGISTER).into_iter().chain(more).chain(repeated).collect();
        let (lanes, together) = (through(Dim::LANE), through(Dim::WARP));
        let warps: Vec<u64> = together.into_iter().chain(rest.warps[side].iter().map(|&at| place(at, side))).collect();
        let outs = Space::of_sizes(&[(Dim::tensor(0), 1 << bits[0]), (Dim::tensor(1), 1 << bits[1])])?;
        Ok(Some(layouts::distributed([&registers, &lanes, &warps], &outs)?))
    };
    Ok(OperandLayouts { a: factor(&operands.a, 0)?, b: factor(&operands.b, 1)? })
}

/// What the instruction does not have of the sums: along M and along N.
struct Rest {
    registers: [Vec<u64>; 2],
    warps: [Vec<u64>; 2],
}

impl Rest {
    fn of(c: &LinearLayout, operand: &LinearLayout) -> Self {
        let along = |dim: Dim, axis: usize, all: bool| -> Vec<u64> {
            let own = c.columns_of(dim).iter().skip(operand.in_bits(dim) as usize);
            let own = own.map(|&column| c.outs().coordinate(column, Dim::tensor(axis)));
            own.filter(|&at| all || at != 0).collect()
        };
        Self {
            registers: [0, 1].map(|axis| along(Dim::REGISTER, axis, false)),
            warps: [0, 1].map(|axis| along(Dim::WARP, axis, true)),
        }
    }
}

/// The maps of M and of N by the sums.
fn accumulator(c: &LinearLayout, operands: &OperandTiles) -> Result<[Vec<u64>; 2], Unsatisfied> {
    let map = composite(c, &operands.c)?;
    let mut maps = [Vec::new(), Vec::new()];
    for axis in 0..2 {
        for (bit, &column) in map.columns_of(Dim::tensor(axis)).iter().enumerate() {
            let required = c.outs().coordinate(column, Dim::tensor(axis));
            let own = c.outs().pack(&[(Dim::tensor(axis), required), (Dim::tensor(1 - axis), 0)])?;
            if own != column {
                let place = format!("element {} along {}", 1u64 << bit, ["M", "N"][axis]);
                return Err(differs(NAME, place, ("the sums", column), ("a product", own), c.outs()));
            }
            maps[axis].push(required);
        }
    }
    Ok(maps)
}

/// Whether an instruction multiplies tensors of these layouts; the registers of a factor may be in any order. What is found
/// is how its tile is carried to theirs.
///
/// # Errors
/// [`Unsatisfied::Differ`] with the bit of M, N or K that operands carry to different places, or that a thread lacks.
pub fn product(
    a: Option<&LinearLayout>,
    b: Option<&LinearLayout>,
    c: &LinearLayout,
    operands: &OperandTiles,
) -> Result<Tiling, Unsatisfied> {
    let [m, n] = accumulator(c, operands)?;
    let mut maps = [m.into_iter().map(Some).collect(), n.into_iter().map(Some).collect(), Vec::new()];
    let factor = |layout: Option<&LinearLayout>, own: &Option<LinearLayout>, side: usize| {
        layout.zip(own.clone()).map(|(layout, own)| Factor { layout: layout.clone(), own, side })
    };
    let both: Vec<Factor> = [factor(a, &operands.a, 0), factor(b, &operands.b, 1)].into_iter().flatten().collect();
    both.iter().try_for_each(|factor| factor.by_lanes(&mut maps))?;
    for factor in &both {
        let other = both.iter().find(|other| other.side != factor.side);
        factor.by_registers(&mut maps, other)?;
    }
    both.iter().try_for_each(|factor| factor.of_the_rest(c, &operands.c))?;
    let known = |map: &[Option<u64>]| map.iter().map(|at| at.unwrap_or(0)).collect();
    Ok(Tiling { m: known(&maps[0]), n: known(&maps[1]), k: known(&maps[2]) })
}

/// The maps of M, N and K as far as they are known.
type Maps = [Vec<Option<u64>>; 3];

/// A factor: 0 for `a`, 1 for `b`.
struct Factor {
    layout: LinearLayout,
    own: LinearLayout,
    side: usize,
}

impl Factor {
    fn name(&self) -> &'static str {
        ["a", "b"][self.side]
    }

    /// The map along an axis of the factor: K is along dim1 of `a` and dim0 of `b`.
    fn map(&self, axis: usize) -> usize {
        if axis == self.side { self.side } else { 2 }
    }

    fn at(&self, layout: &LinearLayout, column: u64) -> [u64; 2] {
        [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)))
    }

    /// The single bit of M, N or K that a column of the instruction's tile is; none where it is nothing.
    fn single(&self, column: u64) -> Result<Option<(usize, usize)>, Unsatisfied> {
        let at = self.at(&self.own, column);
        let axis = usize::from(at[0] == 0);
        match (column, at[axis].is_power_of_two() && at[1 - axis] == 0) {
            (0, _) => Ok(None),
            (_, true) => Ok(Some((axis, at[axis].trailing_zeros() as usize))),
            (_, false) => Err(Unsatisfied::Instruction {
                instruction: format!("operand `{}`", self.name()),
                reason: "a lane or register moves along several bits of its tile".to_owned(),
            }),
        }
    }

    fn differs(&self, place: String, has: u64, wants: u64) -> Unsatisfied {
        differs(NAME, place, (&format!("`{}`", self.name()), has), ("the other operands", wants), self.layout.outs())
    }

    fn packed(&self, axis: usize, along: u64) -> Result<u64, Unsatisfied> {
        Ok(self.layout.outs().pack(&[(Dim::tensor(axis), along), (Dim::tensor(1 - axis), 0)])?)
    }

    /// What lanes, and the warps that issue together, say.
    fn by_lanes(&self, maps: &mut Maps) -> Result<(), Unsatisfied> {
        for dim in [Dim::LANE, Dim::WARP] {
            let (own, have) = (self.own.columns_of(dim), self.layout.columns_of(dim));
            if dim == Dim::LANE && own.len() != have.len() || own.len() > have.len() {
                let (first, second) = (format!("`{}`", self.name()).into(), "the instruction".into());
                let (left, right) = (have.len() as u32, own.len() as u32);
                return Err(Unsatisfied::Sizes { constraint: NAME, dim, first, second, left, right });
            }
            for (bit, (&element, &column)) in own.iter().zip(have).enumerate() {
                let place = format!("{dim} {}", 1u64 << bit);
                let Some((axis, of_axis)) = self.single(element)? else {
                    if column != 0 {
                        return Err(self.differs(place, column, 0));
                    }
                    continue;
                };
                let map = &mut maps[self.map(axis)];
                map.resize(map.len().max(of_axis + 1), None);
                let along = self.at(&self.layout, column)[axis];
                let known = *map[of_axis].get_or_insert(along);
                let required = self.packed(axis, known)?;
                if column != required {
                    return Err(self.differs(place, column, required));
                }
            }
        }
        Ok(())
    }

    fn held(&self) -> Subspace {
        Subspace::span(self.layout.columns_of(Dim::REGISTER).iter().copied())
    }

    /// What registers say: what is known must be held; what is not is the first register along K that both factors hold.
    fn by_registers(&self, maps: &mut Maps, other: Option<&Self>) -> Result<(), Unsatisfied> {
        let held = self.held();
        for (bit, &element) in self.own.columns_of(Dim::REGISTER).iter().enumerate() {
            let Some((axis, of_axis)) = self.single(element)? else { continue };
            let number = self.map(axis);
            let map = &maps[number];
            let along = match map.get(of_axis).copied().flatten() {
                Some(known) => known,
                None => self.free(axis, map, other)?.ok_or_else(|| Unsatisfied::Instruction {
                    instruction: format!("operand `{}`", self.name()),
                    reason: format!("no register holds what is {} along K in the tile", 1u64 << of_axis),
                })?,
            };
            let required = self.packed(axis, along)?;
            if !held.contains(required) {
                return Err(self.differs(
                    format!("register {}", 1u64 << bit),
                    held.reduce(required) ^ required,
                    required,
                ));
            }
            let map = &mut maps[number];
            map.resize(map.len().max(of_axis + 1), None);
            map[of_axis] = Some(along);
        }
        Ok(())
    }

    /// The first register along an axis that no bit is carried to yet, and that the other factor holds as well.
    fn free(&self, axis: usize, map: &[Option<u64>], other: Option<&Self>) -> Result<Option<u64>, Unsatisfied> {
        for &column in self.layout.columns_of(Dim::REGISTER) {
            let at = self.at(&self.layout, column);
            let is_new = at[1 - axis] == 0 && at[axis] != 0 && !map.contains(&Some(at[axis]));
            let shared = match other {
                Some(other) => other.held().contains(other.packed(1 - axis, at[axis])?),
                None => true,
            };
            if is_new && shared {
                return Ok(Some(at[axis]));
            }
        }
        Ok(None)
    }

    /// What the instruction does not have: each warp holds the rows, or columns, of its sums, and all of K.
    fn of_the_rest(&self, c: &LinearLayout, own_accumulator: &LinearLayout) -> Result<(), Unsatisfied> {
        let axis = self.side;
        let together = own_accumulator.in_bits(Dim::WARP) as usize;
        let of_accumulator = |&column: &u64| c.outs().coordinate(column, Dim::tensor(axis));
        let warps = c.columns_of(Dim::WARP).iter().map(of_accumulator).enumerate().skip(together);
        let held = self.held();
        for (bit, along) in warps {
            let column = self.layout.columns_of(Dim::WARP).get(bit).copied().unwrap_or(0);
            let required = self.packed(axis, along)?;
            // What a warp has beyond may be in its registers too.
            if !held.contains(column ^ required) {
                return Err(self.differs(format!("warp {}", 1u64 << bit), column, required));
            }
        }
        let registers = c.columns_of(Dim::REGISTER).iter().map(of_accumulator).enumerate();
        for (bit, along) in registers.skip(own_accumulator.in_bits(Dim::REGISTER) as usize) {
            let required = self.packed(axis, along)?;
            if !held.contains(required) {
                return Err(self.differs(format!("register {} of the sums", 1u64 << bit), 0, required));
            }
        }
        Ok(())
    }
}
