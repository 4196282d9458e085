//! MMAs of one warp (`mma.sync`). The target's instruction table gives their register layouts and numerics.

use tilewright_emulator::MmaElementEvaluator;
use tilewright_layout::Dim;
use tilewright_target::Instruction;

use super::matrix::row_of;
use crate::machine::{Destination, DeviceFaultKind, Next, Operation, Running};
use crate::program::{Form, Operands, Row, Semantics, Type, mask};

/// All modifiers of `mma.sync`; which combinations are valid follows from the target's instruction table.
const MODIFIERS: &str = "m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 \
                         row col satfinite and xor popc f16 bf16 tf32 f32 f64 s32 s8 u8 s4 u4 b1 e4m3 e5m2";

pub(super) const ROWS: &[Row] =
    &[Row { name: "mma.sync.aligned", modifiers: MODIFIERS, types: "", semantics: Semantics::Warp(decode_mma) }];

/// A matrix operand of an MMA, in the registers of a warp.
struct Tile {
    /// Log2 of the number of rows, and of the number of columns.
    shape: [u32; 2],
    bits: u32,
    /// Number of registers per lane that hold the matrix, and (in `register_bits`) number of bits of each.
    registers: usize,
    register_bits: u32,
    /// For each element, row by row, the places that hold it: lane, register, and bit offset in the register. An
    /// element has several places if it is replicated.
    positions: Vec<Vec<(usize, usize, u32)>>,
}

impl Tile {
    fn of(row: &Instruction, required: &str) -> Result<Self, String> {
        let missing = || format!("`{}` has no register operand `{required}`", row.name);
        let (element, bits, layout) = row.find_register_operand(required).ok_or_else(missing)?;
        let register_bits = if element == "f64" { 64 } else { 32 };
        let shape = [0, 1].map(|axis| layout.out_bits(Dim::tensor(axis)));
        let mut positions = vec![Vec::new(); 1 << (shape[0] + shape[1])];
        for packed in 0..1u64 << layout.ins().total_bits() {
            let image = layout.apply_packed(packed);
            let [at_row, column] = [0, 1].map(|axis| layout.outs().coordinate(image, Dim::tensor(axis)));
            let [register, lane] = [Dim::REGISTER, Dim::LANE].map(|dim| layout.ins().coordinate(packed, dim));
            let at = register as u32 * bits;
            let own = (lane as usize, (at / register_bits) as usize, at % register_bits);
            positions[(at_row << shape[1] | column) as usize].push(own);
        }
        let registers = ((1u32 << layout.in_bits(Dim::REGISTER)) * bits).div_ceil(register_bits) as usize;
        Ok(Self { shape, bits, registers, register_bits, positions })
    }

    fn fits(&self, found: usize, role: &str, form: &Form<'_>) -> Result<(), String> {
        if found == self.registers {
            return Ok(());
        }
        Err(format!("`{}` takes {} registers of {role}, not {found}", form.opcode, self.registers))
    }

    /// Returns the bits of all elements, row by row. `from` are the indices of the registers that hold the matrix.
    fn elements(&self, warp: &Running<'_>, from: &[u32]) -> Result<Vec<u64>, DeviceFaultKind> {
        let element = |positions: &Vec<(usize, usize, u32)>| {
            let &(lane, register, shift) = positions
                .first()
                .ok_or_else(|| DeviceFaultKind::Instruction("an element of an operand is in no lane".to_owned()))?;
            Ok(warp.read_defined(from[register], lane, "an operand of the MMA")? >> shift & mask(self.bits))
        };
        self.positions.iter().map(element).collect()
    }
}

struct Mma {
    tiles: [Tile; 4],
    to: Vec<Option<Destination>>,
    from: [Vec<u32>; 3],
    sum: MmaElementEvaluator,
}

fn decode_mma(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(4..=4)?;
    let row = row_of(form)?;
    let [d, a, b, c] = ["d", "a", "b", "c"].map(|role| Tile::of(row, role));
    let tiles = [d?, a?, b?, c?];
    let ty = Type::named("b64").unwrap_or(form.ty());
    let to = operands.destinations(0)?;
    let from = [operands.sources(1, ty)?, operands.sources(2, ty)?, operands.sources(3, ty)?];
    tiles[0].fits(to.len(), "d", form)?;
    for ((tile, from), role) in tiles[1..].iter().zip(&from).zip(["a", "b", "c"]) {
        tile.fits(from.len(), role, form)?;
    }
    Ok(Box::new(Mma { tiles, to, from, sum: MmaElementEvaluator::from_instruction(row)? }))
}

impl Operation for Mma {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        warp.check_convergent(u32::MAX)?;
        let [d, a, b, c] = &self.tiles;
        let [of_a, of_b, of_c] = &self.from;
        let (a_elements, b_elements) = (a.elements(warp, of_a)?, b.elements(warp, of_b)?);
        let c_elements = c.elements(warp, of_c)?;
        let [k, n] = [a.shape[1], b.shape[1]];
        let mut words = vec![[0u64; 32]; d.registers];
        for (at, positions) in d.positions.iter().enumerate() {
            let (row, column) = (at >> n, at & ((1 << n) - 1));
            let operands = (0..1usize << k).map(|k_at| (a_elements[row << k | k_at], b_elements[k_at << n | column]));
            let total = self.sum.compute_element(c_elements[at], operands);
            for &(lane, register, shift) in positions {
                words[register][lane] |= (total & mask(d.bits)) << shift;
            }
        }
        for (to, words) in self.to.iter().zip(&words) {
            for lane in warp.lanes() {
                warp.set(*to, lane, words[lane] & mask(d.register_bits));
            }
        }
        Ok(Next::Continue)
    }
}
