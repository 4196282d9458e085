//! The MMA constraint: one map for each of M, N and K, common to all operands, takes the instruction's tile to the
//! tensors (Hexcute paper, theorem 1, with corrected projections).
//!
//! `a` is M x K, `b` K x N and `c` M x N, as dim0 x dim1.

use super::composite::differs;
use super::{LayoutConstraintError, find_tile_to_tensor_map};
use crate::layouts;
use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::Instruction;

const NAME: &str = "mma";

/// The layouts of an MMA instruction's operand tiles in registers; `None` for an operand that the instruction reads
/// from memory.
#[derive(Debug, Clone, PartialEq)]
pub struct InstructionOperandLayouts {
    /// The tile of operand A, from (register, lane) to M x K; `None` if the instruction reads it from memory.
    pub a: Option<LinearLayout>,
    /// The tile of operand B, from (register, lane) to K x N; `None` if the instruction reads it from memory.
    pub b: Option<LinearLayout>,
    /// The tile of the accumulator: (register, lane) to M x N.
    pub c: LinearLayout,
}

impl InstructionOperandLayouts {
    /// Returns the operand tiles of a matrix instruction.
    ///
    /// # Errors
    /// [`LayoutConstraintError::Instruction`] if the instruction's accumulator is not in registers.
    pub fn from_instruction(row: &Instruction) -> Result<Self, LayoutConstraintError> {
        let in_registers = |required: &str| row.find_register_operand(required).map(|(.., layout)| layout.clone());
        let accumulator = in_registers("d").or_else(|| in_registers("c"));
        let c = accumulator.ok_or_else(|| LayoutConstraintError::Instruction {
            instruction: row.name.clone(),
            reason: "its accumulator is not in registers, so no operand layouts follow from it".to_owned(),
        })?;
        Ok(Self { a: in_registers("a"), b: in_registers("b"), c })
    }
}

/// The maps from the M, N and K of an instruction's tile to the M, N and K of the tensors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MmaTileToTensorBases {
    /// For each bit of the instruction's M, its offset along the tensors' M, in elements.
    pub m: Vec<u64>,
    /// For each bit of the instruction's N, its offset along the tensors' N, in elements.
    pub n: Vec<u64>,
    /// For each bit of the instruction's K, its offset along the tensors' K, in elements.
    pub k: Vec<u64>,
}

/// The register layouts of operands A and B of an MMA, for the tensors rather than for one instruction's tiles.
#[derive(Debug, Clone, PartialEq)]
pub struct MmaOperandLayouts {
    /// Layout of operand A (M x K) in registers; `None` if the instruction reads it from memory.
    pub a: Option<LinearLayout>,
    /// Layout of operand B (K x N) in registers; `None` if the instruction reads it from memory.
    pub b: Option<LinearLayout>,
}

/// Solves for the layouts of both operands, with `depth` elements along K, from the layout `c` of the accumulator. K is
/// in the instruction's order; warps that share rows or columns of the accumulator hold replicas.
///
/// # Errors
/// As [`find_tile_to_tensor_map`] for the accumulator; [`LayoutConstraintError::Differ`] if a bit of the tile's M
/// moves along the accumulator's N, or a bit of N along M; [`LayoutConstraintError::Sizes`] if the instruction's K is
/// larger than `depth`.
pub fn solve_mma_operands(
    c: &LinearLayout,
    operands: &InstructionOperandLayouts,
    depth: u64,
) -> Result<MmaOperandLayouts, LayoutConstraintError> {
    let [m, n] = accumulator(c, operands)?;
    let rest = Rest::of(c, &operands.c);
    let in_tile =
        |layout: &Option<LinearLayout>, axis: usize| layout.as_ref().map(|own| own.out_bits(Dim::tensor(axis)));
    let k_bits = in_tile(&operands.a, 1).or(in_tile(&operands.b, 0)).unwrap_or(0);
    let required = Space::from_sizes(&[(Dim::tensor(0), depth)])?.total_bits();
    if k_bits > required {
        let (first, second) = ("the instruction".into(), "the operands".into());
        let dim = Dim::tensor(1);
        return Err(LayoutConstraintError::Sizes {
            constraint: NAME,
            dim,
            first,
            second,
            left: k_bits,
            right: required,
        });
    }
    let k: Vec<u64> = (0..k_bits).map(|bit| 1 << bit).collect();
    let over: Vec<u64> = (k_bits..required).map(|bit| 1 << bit).collect();
    let sizes = [c.out_bits(Dim::tensor(0)), c.out_bits(Dim::tensor(1)), required];
    let operand = |own: &Option<LinearLayout>, side: usize| -> Result<Option<LinearLayout>, LayoutConstraintError> {
        let Some(own) = own else { return Ok(None) };
        let maps = if side == 0 { [&m, &k] } else { [&k, &n] };
        let bits = if side == 0 { [sizes[0], sizes[2]] } else { [sizes[2], sizes[1]] };
        let packed_at = |along: u64, axis: usize| if axis == 0 { along } else { along << bits[0] };
        let through = |dim: Dim| -> Vec<u64> {
            let column = |&element: &u64| {
                (0..2).fold(0, |all, axis| {
                    let at = own.outs().coordinate(element, Dim::tensor(axis));
                    all ^ packed_at(tilewright_layout::f2::multiply_vector(maps[axis], at), axis)
                })
            };
            own.columns_of(dim).iter().map(column).collect()
        };
        let k_axis = 1 - side;
        let more = over.iter().map(|&bit| packed_at(bit, k_axis));
        let repeated = rest.registers[side].iter().map(|&at| packed_at(at, side));
        let registers: Vec<u64> = through(Dim::REGISTER).into_iter().chain(more).chain(repeated).collect();
        let (lanes, together) = (through(Dim::LANE), through(Dim::WARP));
        let warps: Vec<u64> =
            together.into_iter().chain(rest.warps[side].iter().map(|&at| packed_at(at, side))).collect();
        let outs = Space::from_sizes(&[(Dim::tensor(0), 1 << bits[0]), (Dim::tensor(1), 1 << bits[1])])?;
        Ok(Some(layouts::distributed([&registers, &lanes, &warps], &outs)?))
    };
    Ok(MmaOperandLayouts { a: operand(&operands.a, 0)?, b: operand(&operands.b, 1)? })
}

/// The register and warp bits of the accumulator's layout beyond the instruction's tile: for each bit its coordinate
/// along M (index 0) and along N (index 1).
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

/// Returns the maps of M and of N: for each bit of the instruction's M (or N) the coordinate along the accumulator's M
/// (or N). An error if the bit also moves along the accumulator's other axis.
fn accumulator(c: &LinearLayout, operands: &InstructionOperandLayouts) -> Result<[Vec<u64>; 2], LayoutConstraintError> {
    let map = find_tile_to_tensor_map(c, &operands.c)?;
    let mut maps = [Vec::new(), Vec::new()];
    for axis in 0..2 {
        for (bit, &column) in map.columns_of(Dim::tensor(axis)).iter().enumerate() {
            let required = c.outs().coordinate(column, Dim::tensor(axis));
            let own = c.outs().pack(&[(Dim::tensor(axis), required), (Dim::tensor(1 - axis), 0)])?;
            if own != column {
                let location = format!("element {} along {}", 1u64 << bit, ["M", "N"][axis]);
                return Err(differs(NAME, location, ("the accumulator", column), ("a dot", own), c.outs()));
            }
            maps[axis].push(required);
        }
    }
    Ok(maps)
}

/// Checks that an instruction multiplies tensors of these layouts (`None`: the instruction reads the operand from
/// memory); registers of an operand may be in any order. Returns the maps of M, N and K from the instruction's tile to
/// the tensors.
///
/// # Errors
/// [`LayoutConstraintError::Differ`] if two operands map a bit of M, N or K to different positions, or a thread lacks
/// an element that it must multiply; it names the lane, register or warp. [`LayoutConstraintError::Sizes`] if an
/// operand's lanes or warps do not fit the instruction; [`LayoutConstraintError::Instruction`] if a lane or register
/// moves along several bits of the tile.
pub fn check_mma(
    a: Option<&LinearLayout>,
    b: Option<&LinearLayout>,
    c: &LinearLayout,
    operands: &InstructionOperandLayouts,
) -> Result<MmaTileToTensorBases, LayoutConstraintError> {
    let [m, n] = accumulator(c, operands)?;
    let mut maps = [m.into_iter().map(Some).collect(), n.into_iter().map(Some).collect(), Vec::new()];
    let operand = |layout: Option<&LinearLayout>, own: &Option<LinearLayout>, side: usize| {
        layout.zip(own.clone()).map(|(layout, own)| TiledOperand { layout: layout.clone(), own, side })
    };
    let both: Vec<TiledOperand> =
        [operand(a, &operands.a, 0), operand(b, &operands.b, 1)].into_iter().flatten().collect();
    both.iter().try_for_each(|operand| operand.by_lanes(&mut maps))?;
    for operand in &both {
        let other = both.iter().find(|other| other.side != operand.side);
        operand.by_registers(&mut maps, other)?;
    }
    both.iter().try_for_each(|operand| operand.of_the_rest(c, &operands.c))?;
    let known = |map: &[Option<u64>]| map.iter().map(|at| at.unwrap_or(0)).collect();
    Ok(MmaTileToTensorBases { m: known(&maps[0]), n: known(&maps[1]), k: known(&maps[2]) })
}

/// The maps of M, N and K from the instruction's tile to the tensors, under construction: for each bit of the tile's M,
/// N or K its coordinate in the tensors; `None` for a bit that is not mapped yet.
type Maps = [Vec<Option<u64>>; 3];

/// Operand A (`side` 0) or B (1): the layout of the tensor, and `own`, the layout of the instruction's tile.
struct TiledOperand {
    layout: LinearLayout,
    own: LinearLayout,
    side: usize,
}

impl TiledOperand {
    fn name(&self) -> &'static str {
        ["a", "b"][self.side]
    }

    /// Returns the index (0 for M, 1 for N, 2 for K) of the map for dim0 or dim1 of the operand: K is dim1 of `a` and
    /// dim0 of `b`.
    fn map(&self, axis: usize) -> usize {
        if axis == self.side { self.side } else { 2 }
    }

    fn at(&self, layout: &LinearLayout, column: u64) -> [u64; 2] {
        [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)))
    }

    /// Returns the axis of the tile and the bit of its coordinate along which a column of the instruction's tile moves;
    /// `None` for a zero column. An error if the column moves along several bits.
    fn single(&self, column: u64) -> Result<Option<(usize, usize)>, LayoutConstraintError> {
        let at = self.at(&self.own, column);
        let axis = usize::from(at[0] == 0);
        match (column, at[axis].is_power_of_two() && at[1 - axis] == 0) {
            (0, _) => Ok(None),
            (_, true) => Ok(Some((axis, at[axis].trailing_zeros() as usize))),
            (_, false) => Err(LayoutConstraintError::Instruction {
                instruction: format!("operand `{}`", self.name()),
                reason: "a lane or register moves along several bits of its tile".to_owned(),
            }),
        }
    }

    fn differs(&self, location: String, has: u64, wants: u64) -> LayoutConstraintError {
        differs(NAME, location, (&format!("`{}`", self.name()), has), ("the other operands", wants), self.layout.outs())
    }

    fn packed(&self, axis: usize, along: u64) -> Result<u64, LayoutConstraintError> {
        Ok(self.layout.outs().pack(&[(Dim::tensor(axis), along), (Dim::tensor(1 - axis), 0)])?)
    }

    /// Adds to `maps` the bits of M, N and K along which the lanes of the operand's tile move, and the warps that issue
    /// the instruction together. Each bit is mapped to the coordinate by which the tensor's layout moves for the same
    /// lane or warp. An error if a lane or warp contradicts a bit that is mapped already.
    fn by_lanes(&self, maps: &mut Maps) -> Result<(), LayoutConstraintError> {
        for dim in [Dim::LANE, Dim::WARP] {
            let (own, have) = (self.own.columns_of(dim), self.layout.columns_of(dim));
            if dim == Dim::LANE && own.len() != have.len() || own.len() > have.len() {
                let (first, second) = (format!("`{}`", self.name()).into(), "the instruction".into());
                let (left, right) = (have.len() as u32, own.len() as u32);
                return Err(LayoutConstraintError::Sizes { constraint: NAME, dim, first, second, left, right });
            }
            for (bit, (&element, &column)) in own.iter().zip(have).enumerate() {
                let location = format!("{dim} {}", 1u64 << bit);
                let Some((axis, of_axis)) = self.single(element)? else {
                    if column != 0 {
                        return Err(self.differs(location, column, 0));
                    }
                    continue;
                };
                let map = &mut maps[self.map(axis)];
                map.resize(map.len().max(of_axis + 1), None);
                let along = self.at(&self.layout, column)[axis];
                let known = *map[of_axis].get_or_insert(along);
                let required = self.packed(axis, known)?;
                if column != required {
                    return Err(self.differs(location, column, required));
                }
            }
        }
        Ok(())
    }

    fn in_registers(&self) -> Subspace {
        Subspace::span(self.layout.columns_of(Dim::REGISTER).iter().copied())
    }

    /// Adds to `maps` the bits of M, N and K along which the registers of the operand's tile move. If a bit is mapped
    /// already, the operand's registers must contain its element. Otherwise [`Self::free`] chooses its coordinate in
    /// the tensor; `other` is the other operand, `None` if that is in memory.
    fn by_registers(&self, maps: &mut Maps, other: Option<&Self>) -> Result<(), LayoutConstraintError> {
        let in_registers = self.in_registers();
        for (bit, &element) in self.own.columns_of(Dim::REGISTER).iter().enumerate() {
            let Some((axis, of_axis)) = self.single(element)? else { continue };
            let index = self.map(axis);
            let map = &maps[index];
            let along = match map.get(of_axis).copied().flatten() {
                Some(known) => known,
                None => self.free(axis, map, other)?.ok_or_else(|| LayoutConstraintError::Instruction {
                    instruction: format!("operand `{}`", self.name()),
                    reason: format!("offset {} along K of the tile is in no register", 1u64 << of_axis),
                })?,
            };
            let required = self.packed(axis, along)?;
            if !in_registers.contains(required) {
                return Err(self.differs(
                    format!("register {}", 1u64 << bit),
                    in_registers.reduce(required) ^ required,
                    required,
                ));
            }
            let map = &mut maps[index];
            map.resize(map.len().max(of_axis + 1), None);
            map[of_axis] = Some(along);
        }
        Ok(())
    }

    /// Returns the coordinate along `axis` of the first register bit that is not in `map` yet; `None` if there is none.
    /// The bit must move along this axis alone, and the other operand must have its element in registers too.
    fn free(
        &self,
        axis: usize,
        map: &[Option<u64>],
        other: Option<&Self>,
    ) -> Result<Option<u64>, LayoutConstraintError> {
        for &column in self.layout.columns_of(Dim::REGISTER) {
            let at = self.at(&self.layout, column);
            let is_new = at[1 - axis] == 0 && at[axis] != 0 && !map.contains(&Some(at[axis]));
            let shared = match other {
                Some(other) => other.in_registers().contains(other.packed(1 - axis, at[axis])?),
                None => true,
            };
            if is_new && shared {
                return Ok(Some(at[axis]));
            }
        }
        Ok(None)
    }

    /// Checks the operand's registers and warps beyond the instruction's tile: each warp must hold the rows (of `a`) or
    /// columns (of `b`) of its part of the accumulator `c`. `own_accumulator` is the instruction's tile of the
    /// accumulator.
    fn of_the_rest(&self, c: &LinearLayout, own_accumulator: &LinearLayout) -> Result<(), LayoutConstraintError> {
        let axis = self.side;
        let together = own_accumulator.in_bits(Dim::WARP) as usize;
        let of_accumulator = |&column: &u64| c.outs().coordinate(column, Dim::tensor(axis));
        let warps = c.columns_of(Dim::WARP).iter().map(of_accumulator).enumerate().skip(together);
        let in_registers = self.in_registers();
        for (bit, along) in warps {
            let column = self.layout.columns_of(Dim::WARP).get(bit).copied().unwrap_or(0);
            let required = self.packed(axis, along)?;
            // A warp may differ from the required position by elements that it holds in registers.
            if !in_registers.contains(column ^ required) {
                return Err(self.differs(format!("warp {}", 1u64 << bit), column, required));
            }
        }
        let registers = c.columns_of(Dim::REGISTER).iter().map(of_accumulator).enumerate();
        for (bit, along) in registers.skip(own_accumulator.in_bits(Dim::REGISTER) as usize) {
            let required = self.packed(axis, along)?;
            if !in_registers.contains(required) {
                return Err(self.differs(format!("register {} of the accumulator", 1u64 << bit), 0, required));
            }
        }
        Ok(())
    }
}
