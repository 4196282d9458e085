//! Where one operand of a unit lies: element by element in registers, or in shared memory.

use crate::layout::{Dim, LinearLayout};
use crate::target::{Instruction, MemoryOperand, Number, Operand};

/// Where one operand of a unit lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operands {
    pub number: Number,
    /// Bits of the place of an element.
    pub bits: u32,
    /// The element of each register bit, as (row, column).
    pub registers: Vec<[u64; 2]>,
    /// The element of each lane bit.
    pub lanes: Vec<[u64; 2]>,
    /// The element of each bit of the warps that issue together.
    pub warps: Vec<[u64; 2]>,
    /// How it lies in shared memory, where it lies there and not in registers.
    pub memory: Option<Box<MemoryOperand>>,
}

impl Operands {
    pub(super) fn of(row: &Instruction, wanted: &str) -> Result<(Self, [u32; 2]), String> {
        let of_role = |operand: &&Operand| match operand {
            Operand::Register { role, .. } => role == wanted,
            Operand::Memory(memory) => memory.role == wanted,
            _ => false,
        };
        match row.operands.iter().find(of_role) {
            Some(Operand::Register { element, bits, layout, .. }) => Self::held(wanted, element, *bits, layout),
            Some(Operand::Memory(memory)) => Self::in_memory(memory),
            _ => Err(format!("it has no operand `{wanted}`")),
        }
    }

    pub(super) fn held(
        wanted: &str,
        element: &str,
        bits: u32,
        layout: &LinearLayout,
    ) -> Result<(Self, [u32; 2]), String> {
        let number = number(element)?;
        let size = [0, 1].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if size[0] + size[1] != layout.outs().bits() {
            return Err("it multiplies several independent blocks".to_owned());
        }
        let [registers, lanes, warps] = [Dim::REGISTER, Dim::LANE, Dim::WARP].map(|dim| coordinates(layout, dim));
        if (registers.len() + lanes.len() + warps.len()) as u32 != layout.ins().bits() {
            return Err(format!("operand `{wanted}` lies in other dims than register, lane and warp"));
        }
        Ok((Self { number, bits, registers, lanes, warps, memory: None }, size))
    }

    fn in_memory(memory: &MemoryOperand) -> Result<(Self, [u32; 2]), String> {
        let number = number(&memory.element)?;
        if memory.bits < 8 || memory.shape.iter().any(|size| !size.is_power_of_two()) {
            return Err(
                "layouts have tiles whose sides are powers of two, of whole bytes, and its tile is another".to_owned()
            );
        }
        let own = Self {
            number,
            bits: memory.bits,
            registers: vec![],
            lanes: vec![],
            warps: vec![],
            memory: Some(Box::new(memory.clone())),
        };
        Ok((own, memory.shape.map(u64::trailing_zeros)))
    }

    /// Bits of a tile in memory.
    pub(super) fn tile_bits(&self) -> u64 {
        let elements = |memory: &MemoryOperand| memory.shape.iter().product::<u64>();
        self.memory.as_deref().map_or(0, |memory| elements(memory) * u64::from(memory.bits))
    }

    /// The same of the transposed matrix.
    pub(super) fn transposed(self) -> Self {
        let turned = |all: Vec<[u64; 2]>| all.into_iter().map(|[row, column]| [column, row]).collect();
        let (registers, lanes, warps) = (turned(self.registers), turned(self.lanes), turned(self.warps));
        let memory = self.memory.map(|memory| Box::new(memory.transposed()));
        Self { registers, lanes, warps, memory, ..self }
    }
}

/// The type of this name.
pub(super) fn number(element: &str) -> Result<Number, String> {
    Number::named(element).ok_or_else(|| format!("elements of type `{element}` are not known here"))
}

fn coordinates(layout: &LinearLayout, dim: Dim) -> Vec<[u64; 2]> {
    let at = |column: u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
    layout.columns_of(dim).iter().map(|&column| at(column)).collect()
}
