//! Tiles in tensor memory.

use super::super::arithmetic::{UNSPECIFIED, mask};
use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::super::tensor_memory::BitField;
use super::operand::{element_type, position};
use tilewright_layout::Dim;
use tilewright_target::{Direction, ElementType, Instruction, InstructionOperand};

/// An operand of an instruction that is a tile in tensor memory, or several copies of one tile there.
pub(super) struct TensorTile {
    /// Index of the operand among the operands of the instruction.
    operand: usize,
    pub(super) element_type: ElementType,
    /// Width in bits of an element's container.
    bits: u32,
    /// Log2 of the numbers of rows and columns.
    pub(super) shape: [u32; 2],
    /// For each element, row by row, its location in tensor memory as (row, index along the row).
    element_positions: Vec<[u64; 2]>,
    /// For each copy of the tile, including the first, its row offset.
    copies: Vec<u64>,
}

impl TensorTile {
    /// Finds the tile of the operand with role `required`; `None` if the row has none.
    pub(super) fn of(row: &Instruction, required: &str) -> Result<Option<Self>, String> {
        let Some(operand @ InstructionOperand::Tensor(tensor)) = row.find_matrix_operand(required) else {
            return Ok(None);
        };
        let element_type = element_type(&tensor.element, tensor.bits)?;
        if !tensor.bits.is_power_of_two() || tensor.bits > 32 {
            return Err(format!("elements of `{required}` have {} bits, which do not divide 32", tensor.bits));
        }
        let shape = [0, 1].map(|axis| tensor.layout.out_bits(Dim::tensor(axis)));
        let mut element_positions = vec![None; 1 << (shape[0] + shape[1])];
        for (position, [row, column]) in tensor.element_positions() {
            let entry = element_positions.get_mut((row << shape[1] | column) as usize);
            if entry.and_then(|entry| entry.replace(position)).is_some() {
                return Err(format!("`{required}` stores row {row}, column {column} twice"));
            }
        }
        let element_positions = element_positions.into_iter().collect::<Option<Vec<_>>>();
        let element_positions =
            element_positions.ok_or_else(|| format!("`{required}` does not store every element"))?;
        let copies = tensor.copy_row_offsets();
        Ok(Some(Self {
            operand: position(row, operand),
            element_type,
            bits: tensor.bits,
            shape,
            element_positions,
            copies,
        }))
    }

    /// Locates the elements of the first copy in words of tensor memory, row by row.
    pub(super) fn bit_fields(&self, call: &InstructionCall<'_>) -> Result<Vec<BitField>, LaneFault> {
        self.bit_fields_of_copy(call, 0)
    }

    fn bit_fields_of_copy(&self, call: &InstructionCall<'_>, rows: u64) -> Result<Vec<BitField>, LaneFault> {
        call.bit_fields(self.operand, self.element_positions.iter().map(|&[row, col]| [row + rows, col]), self.bits)
    }

    fn bit_fields_of_all_copies(&self, call: &InstructionCall<'_>) -> Result<Vec<Vec<BitField>>, LaneFault> {
        self.copies.iter().map(|&rows| self.bit_fields_of_copy(call, rows)).collect()
    }

    /// Returns the bits of all elements, row by row. Copies that differ are a fault, since hardware does not specify
    /// which copy it reads.
    pub(super) fn elements(&self, call: &mut InstructionCall<'_>) -> Result<Vec<u64>, LaneFault> {
        let copies = self.bit_fields_of_all_copies(call)?;
        call.send_tensor(Direction::Load, &copies.concat())?;
        let mut first: Option<Vec<u64>> = None;
        for (rows, bit_fields) in self.copies.iter().zip(&copies) {
            let element_value: Vec<u64> =
                call.read_tensor(bit_fields)?.into_iter().map(|bits_in_memory| self.element(bits_in_memory)).collect();
            match &first {
                None => first = Some(element_value),
                Some(first) if *first == element_value => {}
                Some(_) => {
                    let message = format!("the replica {rows} rows further down has other values than the first");
                    return Err(call.invalid_use_fault(&format!("operand {}: {message}", self.operand)));
                }
            }
        }
        Ok(first.unwrap_or_default())
    }

    /// Writes the elements, given row by row, to all copies of the tile in tensor memory.
    pub(super) fn put(&self, call: &mut InstructionCall<'_>, elements: &[u64]) -> Result<(), LaneFault> {
        let copies = self.bit_fields_of_all_copies(call)?;
        call.send_tensor(Direction::Store, &copies.concat())?;
        for bit_fields in copies {
            bit_fields
                .iter()
                .zip(elements)
                .for_each(|(&bit_field, &bits)| call.write_tensor(bit_field, self.encode(bits)));
        }
        Ok(())
    }

    /// Extracts the bits of an element from its container.
    pub(super) fn element(&self, bits_in_memory: u64) -> u64 {
        bits_in_memory & mask(self.element_type.bits())
    }

    /// Places the bits of an element in its container.
    pub(super) fn encode(&self, element: u64) -> u64 {
        let bits = self.element_type.bits();
        if bits < self.bits { element | UNSPECIFIED << bits } else { element }
    }
}
