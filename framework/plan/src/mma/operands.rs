//! The elements and the layout of one operand of an MMA atom: in registers, or in shared memory.

use std::sync::Arc;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ElementType, Instruction, InstructionOperand, MemoryOperand};

/// The element type and the layout of one operand of an MMA atom, for the atom's tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operands {
    pub element_type: ElementType,
    /// Bits that one element occupies in a register or in memory.
    pub bits: u32,
    /// The offset of each register bit in the operand's tile, as (row, column).
    pub registers: Vec<[u64; 2]>,
    /// The offset of each lane bit in the operand's tile, as (row, column).
    pub lanes: Vec<[u64; 2]>,
    /// The offset, as (row, column), of each bit of the index among the warps that issue together.
    pub warps: Vec<[u64; 2]>,
    /// The canonical layout of the operand in shared memory; `None` if the operand is in registers. Elements narrower
    /// than a byte are counted in bytes.
    pub memory: Option<Arc<MemoryOperand>>,
}

const NO_SIDES: &str = "the sizes of its tile must be powers of two, and its elements whole bytes";

impl Operands {
    pub(super) fn of(row: &Instruction, required: &str) -> Result<(Self, [u32; 2]), String> {
        match row.find_matrix_operand(required) {
            Some(InstructionOperand::Register { element, bits, layout, .. }) => {
                Self::in_registers(required, element, *bits, layout)
            }
            Some(InstructionOperand::Memory(memory)) => Self::in_memory(memory),
            Some(InstructionOperand::Tensor(_)) => {
                Err(format!("it reads {required} from tensor memory, where plans cannot put an operand"))
            }
            _ => Err(format!("it has no operand `{required}`")),
        }
    }

    pub(super) fn in_registers(
        required: &str,
        element: &str,
        bits: u32,
        layout: &LinearLayout,
    ) -> Result<(Self, [u32; 2]), String> {
        let element_type = element_type(element)?;
        let size = [0, 1].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if size[0] + size[1] != layout.outs().total_bits() {
            return Err("it multiplies several independent blocks".to_owned());
        }
        let [registers, lanes, warps] = [Dim::REGISTER, Dim::LANE, Dim::WARP].map(|dim| coordinates(layout, dim));
        if (registers.len() + lanes.len() + warps.len()) as u32 != layout.ins().total_bits() {
            return Err(format!("operand `{required}` has other dims than register, lane and warp"));
        }
        Ok((Self { element_type, bits, registers, lanes, warps, memory: None }, size))
    }

    fn in_memory(memory: &MemoryOperand) -> Result<(Self, [u32; 2]), String> {
        let element_type = element_type(&memory.element)?;
        let bytes = memory.to_bytes().filter(|bytes| bytes.shape.iter().all(|size| size.is_power_of_two()));
        let bytes = bytes.ok_or(NO_SIDES)?;
        let (registers, lanes, warps) = (vec![], vec![], vec![]);
        let own = Self { element_type, bits: memory.bits, registers, lanes, warps, memory: Some(Arc::new(bytes)) };
        Ok((own, memory.shape.map(u64::trailing_zeros)))
    }

    /// Log2 of the number of elements in a byte of shared memory; 0 for operands in registers.
    pub(super) fn in_byte(&self) -> u32 {
        if self.memory.is_some() { (8 / self.bits.clamp(1, 8)).trailing_zeros() } else { 0 }
    }

    /// Returns the number of bits of the atom's tile of the operand in shared memory; 0 for an operand in registers.
    pub(super) fn tile_bits(&self) -> u64 {
        let elements = |memory: &MemoryOperand| memory.shape.iter().product::<u64>();
        self.memory.as_deref().map_or(0, |memory| elements(memory) * u64::from(memory.bits))
    }

    /// Returns the layout of the transposed operand.
    pub(super) fn transposed(self) -> Self {
        let swap_axes = |all: Vec<[u64; 2]>| all.into_iter().map(|[row, column]| [column, row]).collect();
        let (registers, lanes, warps) = (swap_axes(self.registers), swap_axes(self.lanes), swap_axes(self.warps));
        let memory = self.memory.map(|memory| Arc::new(memory.transposed()));
        Self { registers, lanes, warps, memory, ..self }
    }
}

/// Returns the element type with this name, e.g. `bf16`; the error is a reason for rejecting an instruction.
pub(super) fn element_type(element: &str) -> Result<ElementType, String> {
    ElementType::from_name(element).ok_or_else(|| format!("elements of type `{element}` are not supported"))
}

fn coordinates(layout: &LinearLayout, dim: Dim) -> Vec<[u64; 2]> {
    let at = |column: u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
    layout.columns_of(dim).iter().map(|&column| at(column)).collect()
}
