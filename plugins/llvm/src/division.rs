//! Emits integer divisions, and the upper halves of integer products.

use inkwell::IntPredicate;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, IntValue};
use tilewright_kernel::{Element, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use crate::body::{Body, Division, Typed};
use crate::emitter::builder_error;
use crate::integer_origin::before_extension;

impl<'ctx> Body<'_, 'ctx> {
    /// Emits a quotient or remainder. LLVM leaves division by zero undefined, and a signed quotient that overflows, but
    /// the kernel IR guarantees some value: a dialect hides the divisor from LLVM, or the divisor becomes one.
    /// Constants, also converted ones, stay visible, since their quotients take shifts or products. Narrow integers are
    /// widened, because not every target divides them at every optimization level.
    pub(crate) fn divide(
        &mut self,
        opcode: InstructionOpcode,
        signed: bool,
        a: Typed<'ctx>,
        divisor: Value,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let Typed { value: b, constant, .. } = self.values.get_typed(divisor, a.ty)?;
        let bits = a.ty.element().map_or(0, Element::bits);
        let extend = if signed { InstructionOpcode::SExt } else { InstructionOpcode::ZExt };
        let constant = constant.or_else(|| match b {
            BasicValueEnum::IntValue(number) => number.get_zero_extended_constant(),
            _ => None,
        });
        if let Some(number @ 1..) = constant.filter(|_| !signed && bits == 8) {
            return self.divide_bytes(opcode, a, number);
        }
        if constant.is_none() && a.ty.element_count() == 1 {
            if let Some(rest) = self.remainder_of_quotient(opcode, [a.value, b])? {
                return Ok(rest);
            }
            let [x, y] = self.widened(extend, a.ty, [a.value, b], bits.max(16))?;
            if let Some(y) = self.hidden(y.into_int_value(), self.scalar_bases.is_scalar(divisor))? {
                let quotient = self.divide_narrowed(opcode, [x, y.into()], a.value.get_type())?;
                let block = self.emit.builder.get_insert_block();
                self.division = Some(Division { opcode, operands: [a.value, b], quotient, block });
                return Ok(quotient);
            }
        }
        let [x, y] = self.widened(extend, a.ty, [a.value, b], bits.max(32))?;
        let (builder, wide) = (&self.emit.builder, x.get_type());
        let one = self.splat(wide, 1)?;
        let mut impossible = self.equals(y, self.splat(wide, 0)?)?;
        if signed && wide == a.value.get_type() {
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
        self.divide_narrowed(opcode, [x, y.map_err(builder_error)?], a.value.get_type())
    }

    /// Emits the quotient or remainder of unsigned bytes by a constant: the quotient is the upper half of a product
    /// with 2^16 / divisor, rounded up. It is exact, since the rounding adds less than divisor * dividend < 2^16 to the
    /// product times the divisor. LLVM divides in eight bits instead, where most divisors need corrections.
    fn divide_bytes(
        &self,
        opcode: InstructionOpcode,
        a: Typed<'ctx>,
        divisor: u64,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let [x, _] = self.widened(InstructionOpcode::ZExt, a.ty, [a.value; 2], 32)?;
        let wide = x.get_type();
        let emit = |opcode, x, y: u64| {
            let y = self.splat(wide, y)?;
            self.emit.builder.build_binop(opcode, x, y, "").map_err(builder_error)
        };
        let product = emit(InstructionOpcode::Mul, x, (1u64 << 16).div_ceil(divisor))?;
        let quotient = emit(InstructionOpcode::LShr, product, 16)?;
        let value = match opcode {
            InstructionOpcode::URem => {
                let multiple = emit(InstructionOpcode::Mul, quotient, divisor)?;
                self.emit.builder.build_binop(InstructionOpcode::Sub, x, multiple, "").map_err(builder_error)?
            }
            _ => quotient,
        };
        let narrow = a.value.get_type();
        self.emit.builder.build_cast(InstructionOpcode::Trunc, value, narrow, "").map_err(builder_error)
    }

    /// Returns the divisor, hidden from LLVM; `None` if the dialect does not hide it. An extended integer is hidden
    /// before the extension: then LLVM knows its range, and divides in fewer bits where both operands fit.
    fn hidden(&self, divisor: IntValue<'ctx>, is_scalar: bool) -> Result<Option<IntValue<'ctx>>, CompileError> {
        let Some((extend, narrow)) = before_extension(divisor) else {
            return self.dialect.opaque_divisor(&self.emit, divisor, is_scalar);
        };
        let Some(narrow) = self.dialect.opaque_divisor(&self.emit, narrow, is_scalar)? else {
            return self.dialect.opaque_divisor(&self.emit, divisor, is_scalar);
        };
        let wide = self.emit.builder.build_cast(extend, narrow, divisor.get_type(), "").map_err(builder_error)?;
        Ok(Some(wide.into_int_value()))
    }

    /// Emits a remainder as the dividend minus the product of quotient and divisor, if the same block has just computed
    /// the quotient. LLVM, which does not see the hidden divisor, then simplifies quotient times divisor plus
    /// remainder.
    fn remainder_of_quotient(
        &self,
        opcode: InstructionOpcode,
        [a, b]: [BasicValueEnum<'ctx>; 2],
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let division = match opcode {
            InstructionOpcode::SRem => InstructionOpcode::SDiv,
            InstructionOpcode::URem => InstructionOpcode::UDiv,
            _ => return Ok(None),
        };
        let block = self.emit.builder.get_insert_block();
        let is_same = |last: &&Division<'ctx>| (last.opcode, last.operands, last.block) == (division, [a, b], block);
        let Some(last) = self.division.as_ref().filter(is_same) else { return Ok(None) };
        let builder = &self.emit.builder;
        let product = builder.build_binop(InstructionOpcode::Mul, last.quotient, b, "").map_err(builder_error)?;
        builder.build_binop(InstructionOpcode::Sub, a, product, "").map(Some).map_err(builder_error)
    }

    /// Emits the extension of two integers of type `ty` to `bits` bits.
    fn widened(
        &self,
        extend: InstructionOpcode,
        ty: Type,
        values: [BasicValueEnum<'ctx>; 2],
        bits: u32,
    ) -> Result<[BasicValueEnum<'ctx>; 2], CompileError> {
        let wide = self.emit.integer_type(bits, ty.element_count());
        let wide = wide.ok_or_else(|| unsupported_kernel_error(format!("division of a {ty}")))?;
        let [x, y] = values.map(|value| match value.get_type() == wide {
            true => Ok(value),
            false => self.emit.builder.build_cast(extend, value, wide, "").map_err(builder_error),
        });
        Ok([x?, y?])
    }

    /// Emits a division whose result has the type `narrow`.
    fn divide_narrowed(
        &self,
        opcode: InstructionOpcode,
        [x, y]: [BasicValueEnum<'ctx>; 2],
        narrow: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let builder = &self.emit.builder;
        let value = builder.build_binop(opcode, x, y, "").map_err(builder_error)?;
        if value.get_type() == narrow {
            return Ok(value);
        }
        builder.build_cast(InstructionOpcode::Trunc, value, narrow, "").map_err(builder_error)
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
        let wide = self.emit.integer_type(2 * bits, a.ty.element_count());
        let wide =
            wide.filter(|_| bits > 1).ok_or_else(|| invalid_module_error(format!("half a product of a {}", a.ty)))?;
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
            _ => Err(invalid_module_error("divides integers")),
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
            _ => Err(invalid_module_error("divides integers")),
        }
    }
}
