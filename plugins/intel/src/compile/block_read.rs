//! Emits 2-D block loads as calls of the OpenCL builtin with the instruction's name. The builtin writes a work item's
//! elements to a private array.
//!
//! Source: the OpenCL extension cl_intel_subgroup_2d_block_io: `void NAME(global void* base, int width, int height, int
//! pitch, int2 coord, ushort* or uint* destination)`. Width and pitch are in bytes, coordinates in elements (column,
//! row). Names are mangled by the Itanium C++ ABI.

use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, Op, StorageClass};
use tilewright_kernel::{Element, Type, is_result_operand};
use tilewright_layout::Dim;
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid_module_error;
use tilewright_target::{Instruction, InstructionOperand as RowOperand};

use super::emit::Emitter;
use super::emitted::EmittedValue;

/// Returns the private array that the builtin writes: its element type, the letter of that type in mangled names, and
/// its number of elements. `None` if the instruction has no result in registers.
fn array(row: &Instruction) -> Option<(Element, char, u32)> {
    let result = row.operands.iter().find(|operand| is_result_operand(operand))?;
    let RowOperand::Register { bits, layout, .. } = result else { return None };
    let all = bits << layout.in_bits(Dim::REGISTER);
    // The builtin returns a plain block of elements of at most 16 bits in 16-bit integers, everything else in 32-bit
    // ones.
    let is_plain = !row.name.contains("_transform_") && !row.name.contains("_transpose_");
    let (element, letter) = if is_plain && *bits <= 16 { (Element::I16, 't') } else { (Element::I32, 'j') };
    Some((element, letter, all / element.bits()))
}

impl Emitter {
    /// Emits a 2-D block load. The caller has checked the operands and the result type.
    pub(super) fn block_read(
        &mut self,
        row: &Instruction,
        operands: &[EmittedValue],
        result: Type,
    ) -> Result<EmittedValue, CompileError> {
        let array = array(row);
        let (element, letter, count) =
            array.ok_or_else(|| invalid_module_error(format!("instruction `{}` has no result registers", row.name)))?;
        let word = self.element_type(element, 1);
        let pointer = self.pointer_type(StorageClass::Function, word);
        let destination = self.own_array(element, count);
        let zero = self.u32(0);
        let first = self.value(Op::AccessChain, pointer, [destination, zero])?;
        let (mut given, mut types) = self.named_block(row, operands)?;
        given.push(first);
        types.push(pointer);
        let name = format!("_Z{}{}PU3AS1viiiDv2_iP{letter}", row.name.len(), row.name);
        let nothing = self.void();
        let function = self.import(&name, nothing, &types);
        self.call(nothing, function, &given)?;
        let mut elements = Vec::with_capacity(count as usize);
        for index in 0..count {
            let index = self.u32(index);
            let element_pointer = self.value(Op::AccessChain, pointer, [destination, index])?;
            let how =
                [Operand::MemoryAccess(MemoryAccess::ALIGNED), Operand::LiteralBit32(element.bits() / 8)].to_vec();
            elements.push(self.with_operands(Op::Load, word, [vec![Operand::IdRef(element_pointer)], how].concat())?);
        }
        let all = self.gather(Type::vector_or_scalar(element, count), &elements)?;
        self.bits(&all, result)
    }
}
