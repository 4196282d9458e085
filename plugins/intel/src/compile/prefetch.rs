//! Emits 2-D block prefetches as calls of the OpenCL builtin with the instruction's name.
//!
//! Source: the OpenCL extension cl_intel_subgroup_2d_block_io: `void NAME(global void* base, int width, int height, int
//! pitch, int2 coord)`. Width and pitch are in bytes, coordinates in elements (column, row). Names are mangled by the
//! Itanium C++ ABI.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use tilewright_kernel::{Element, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid_module_error;
use tilewright_target::Instruction;

use super::emit::Emitter;
use super::emitted::EmittedValue;

impl Emitter {
    /// Emits a prefetch. The caller has checked the operands.
    pub(super) fn prefetch(&mut self, row: &Instruction, operands: &[EmittedValue]) -> Result<(), CompileError> {
        let (given, types) = self.named_block(row, operands)?;
        let name = format!("_Z{}{}PU3AS1viiiDv2_i", row.name.len(), row.name);
        let nothing = self.void();
        let function = self.import(&name, nothing, &types);
        self.call(nothing, function, &given).map(drop)
    }

    /// Returns the arguments of a builtin on a 2-D block, and their types: the matrix's address, width, height and
    /// pitch, and the block's coordinates as one vector of two elements.
    pub(super) fn named_block(
        &mut self,
        row: &Instruction,
        operands: &[EmittedValue],
    ) -> Result<(Vec<Word>, Vec<Word>), CompileError> {
        let [matrix, width, height, pitch, column, first] = operands else {
            return Err(invalid_module_error(format!(
                "instruction `{}` has {} operands, not six",
                row.name,
                operands.len()
            )));
        };
        let mut given = Vec::with_capacity(6);
        let mut types = Vec::with_capacity(6);
        for operand in [matrix, width, height, pitch] {
            given.push(operand.scalar()?);
            types.push(self.id_type(operand.ty));
        }
        let pair = self.id_type(Type::Vector(Element::I32, 2));
        let begin = [column, first].into_iter().map(|own| own.scalar().map(Operand::IdRef));
        let begin = begin.collect::<Result<Vec<_>, _>>()?;
        given.push(self.with_operands(Op::CompositeConstruct, pair, begin)?);
        types.push(pair);
        Ok((given, types))
    }
}
