//! Emits integer divisions, and the upper halves of integer products.

use inkwell::IntPredicate;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode};
use tilewright_kernel::Element;
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid, unsupported};

use crate::emitter::builder_error;
use crate::translate::{Body, Typed};

impl<'ctx> Body<'_, 'ctx> {
    /// Emits a quotient or remainder of integers. LLVM leaves a division by zero and a signed overflow undefined, but
    /// the kernel IR guarantees some value. Integers narrower than 32 bits are widened, because not every target
    /// divides them at every optimization level.
    pub(crate) fn divide(
        &self,
        opcode: InstructionOpcode,
        signed: bool,
        a: Typed<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let narrow = a.value.get_type();
        let bits = a.ty.element().map_or(0, Element::bits);
        let wide = self.emit.integer_type(bits.max(32), a.ty.count());
        let wide = wide.ok_or_else(|| unsupported(format!("division of a {}", a.ty)))?;
        let builder = &self.emit.builder;
        let cast = |opcode, value, ty| builder.build_cast(opcode, value, ty, "").map_err(builder_error);
        let extend = if signed { InstructionOpcode::SExt } else { InstructionOpcode::ZExt };
        let widened = wide != narrow;
        let (x, y) = if widened { (cast(extend, a.value, wide)?, cast(extend, b, wide)?) } else { (a.value, b) };
        let one = self.splat(wide, 1)?;
        let mut impossible = self.equals(y, self.splat(wide, 0)?)?;
        if signed && !widened {
            let min = self.equals(x, self.splat(wide, 1 << (bits - 1))?)?;
            let minus_one = self.equals(y, self.splat(wide, u64::MAX)?)?;
            let overflows = builder.build_binop(InstructionOpcode::And, min, minus_one, "").map_err(builder_error)?;
            impossible =
                builder.build_binop(InstructionOpcode::Or, impossible, overflows, "").map_err(builder_error)?;
        }
        let y = match impossible {
            BasicValueEnum::VectorValue(impossible) => builder.build_select(impossible, one, y, ""),
            impossible => builder.build_select(impossible.into_int_value(), one, y, ""),
        };
        let value = builder.build_binop(opcode, x, y.map_err(builder_error)?, "").map_err(builder_error)?;
        if widened { cast(InstructionOpcode::Trunc, value, narrow) } else { Ok(value) }
    }

    /// Emits the upper half of an integer product: multiplies in twice the width and shifts, which LLVM recognizes as
    /// one instruction.
    pub(crate) fn multiply_high(
        &self,
        signed: bool,
        a: Typed<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let bits = a.ty.element().map_or(0, Element::bits);
        let wide = self.emit.integer_type(2 * bits, a.ty.count());
        let wide = wide.filter(|_| bits > 1).ok_or_else(|| invalid(format!("half a product of a {}", a.ty)))?;
        let builder = &self.emit.builder;
        let cast = |opcode, value, ty| builder.build_cast(opcode, value, ty, "").map_err(builder_error);
        let extend = if signed { InstructionOpcode::SExt } else { InstructionOpcode::ZExt };
        let (x, y) = (cast(extend, a.value, wide)?, cast(extend, b, wide)?);
        let product = builder.build_binop(InstructionOpcode::Mul, x, y, "").map_err(builder_error)?;
        let upper = self.splat(wide, u64::from(bits))?;
        let upper = builder.build_binop(InstructionOpcode::LShr, product, upper, "").map_err(builder_error)?;
        cast(InstructionOpcode::Trunc, upper, a.value.get_type())
    }

    /// Returns an integer constant of type `ty`; for a vector type, each element is that constant.
    fn splat(&self, ty: BasicTypeEnum<'ctx>, bits: u64) -> Result<BasicValueEnum<'ctx>, CompileError> {
        match ty {
            BasicTypeEnum::IntType(ty) => Ok(ty.const_int(bits, bits == u64::MAX).into()),
            BasicTypeEnum::VectorType(ty) => {
                let one = ty.get_element_type().into_int_type().const_int(bits, bits == u64::MAX);
                Ok(VectorType::const_vector(&vec![one; ty.get_size() as usize]).as_basic_value_enum())
            }
            _ => Err(invalid("divides integers")),
        }
    }

    fn equals(&self, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let builder = &self.emit.builder;
        match (a, b) {
            (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                Ok(builder.build_int_compare(IntPredicate::EQ, a, b, "").map_err(builder_error)?.into())
            }
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                Ok(builder.build_int_compare(IntPredicate::EQ, a, b, "").map_err(builder_error)?.into())
            }
            _ => Err(invalid("divides integers")),
        }
    }
}
