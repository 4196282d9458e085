//! Emits floating-point operations as LLVM intrinsics. For narrow types that LLVM rounds less accurately, they are
//! computed in `f32`.
//!
//! A quotient or square root of `f16` or `bf16` is computed in `f32`, correctly rounded, and then rounded to the narrow
//! type. The intermediate rounding does not change the result if it keeps at least 2p + 2 bits, where p is the
//! precision of the narrow type (Figueroa, 1995): p is 11 or 8, and `f32` has 24 bits. Operations that return an
//! operand or an integer are exact in `f32`.

use std::collections::HashSet;

use inkwell::FloatPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, FastMathFlags, FloatValue, InstructionOpcode};
use tilewright_kernel::{Binary, Cast, Compare, Element, Kernel, MathFunction, Op, Type, Unary, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use crate::body::{Body, Typed};
use crate::emitter::{Emitter, builder_error};

fn is_narrow(ty: Type) -> bool {
    matches!(ty.element(), Some(Element::F16 | Element::Bf16))
}

fn is_bfloat(ty: Type) -> bool {
    ty.element() == Some(Element::Bf16)
}

/// Returns the numbers that a kernel extends and then converts to integers.
pub(crate) fn find_extended_to_integers(kernel: &Kernel) -> HashSet<Value> {
    let statements = kernel.statements();
    let casts = statements.iter().filter_map(|statement| match statement.op {
        Op::Cast { op, a } => Some((op, a, statement.results.first()?.0)),
        _ => None,
    });
    let converted = casts.clone().filter(|(op, ..)| matches!(op, Cast::IntS | Cast::IntU)).map(|(_, a, _)| a);
    let converted: HashSet<Value> = converted.collect();
    casts.filter(|(op, _, result)| *op == Cast::ExtendF && converted.contains(result)).map(|(_, a, _)| a).collect()
}

impl<'ctx> Emitter<'_, 'ctx> {
    /// Emits a function of an `f32` by `compute`, an instruction that flushes subnormal operands. These are multiplied
    /// by `scale[0]`, which makes them normal, and their results by `scale[1]`. Other operands are computed as they
    /// are.
    ///
    /// # Errors
    ///
    /// [`CompileError::Backend`] if LLVM's builder has no position; errors of `compute`.
    pub fn scale_if_subnormal(
        &self,
        x: FloatValue<'ctx>,
        scale: [f64; 2],
        compute: impl FnOnce(BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, CompileError>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let number = |value: f64| x.get_type().const_float(value);
        let min_normal = number(f64::from(f32::MIN_POSITIVE));
        let is_small =
            self.builder.build_float_compare(FloatPredicate::OLT, x, min_normal, "").map_err(builder_error)?;
        let scaled = |value: FloatValue<'ctx>, by: f64| {
            let product = self.builder.build_float_mul(value, number(by), "").map_err(builder_error)?;
            self.builder.build_select(is_small, product, value, "").map_err(builder_error)
        };
        let result = compute(scaled(x, scale[0])?)?;
        scaled(result.into_float_value(), scale[1])
    }
}

impl<'ctx> Body<'_, 'ctx> {
    pub(crate) fn float_unary(&self, op: Unary, a: Typed<'ctx>) -> Result<Typed<'ctx>, CompileError> {
        let name = match op {
            Unary::FNeg => {
                let builder = &self.emit.builder;
                let value = match a.value {
                    BasicValueEnum::FloatValue(value) => {
                        builder.build_float_neg(value, "").map_err(builder_error)?.into()
                    }
                    BasicValueEnum::VectorValue(value) => {
                        builder.build_float_neg(value, "").map_err(builder_error)?.into()
                    }
                    _ => return Err(invalid_module_error(format!("negates floating-point values, not a {}", a.ty))),
                };
                return Ok(Typed::new(a.ty, value));
            }
            Unary::FAbs => "llvm.fabs",
            Unary::FSqrt => "llvm.sqrt",
            Unary::FFloor => "llvm.floor",
            Unary::FCeil => "llvm.ceil",
            Unary::FTrunc => "llvm.trunc",
            Unary::FNearest => "llvm.roundeven",
            Unary::LeadingZeros | Unary::PopCount => {
                return Err(invalid_module_error(format!("`{}` of a {}", op.name(), a.ty)));
            }
        };
        let through = match op {
            Unary::FAbs => false,
            Unary::FSqrt => is_narrow(a.ty),
            _ => is_bfloat(a.ty),
        };
        let value = self.emit_in_single(through, a.ty, &[a.value], |ty, values| self.intrinsic(name, ty, values))?;
        Ok(Typed::new(a.ty, value))
    }

    /// Emits a sum or difference. Where LLVM may contract it, nothing contracts it with a product, which LLVM may not
    /// contract; but PTX has no rounding mode, and the assembler then knows the range of `1 + exp2(x)`, for example,
    /// and divides by it without scaling.
    pub(crate) fn float_sum(
        &self,
        opcode: InstructionOpcode,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let sum = self.emit.builder.build_binop(opcode, a, b, "").map_err(builder_error)?;
        // Constants are folded.
        if let Some(instruction) = sum.as_instruction_value().filter(|_| self.dialect.contracts_additions()) {
            let flags = instruction.set_fast_math_flags(FastMathFlags::AllowContract);
            flags.map_err(|error| CompileError::Backend(format!("fast-math flags: {error}")))?;
        }
        Ok(sum)
    }

    pub(crate) fn float_divide(
        &self,
        opcode: InstructionOpcode,
        a: Typed<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.emit_in_single(is_narrow(a.ty), a.ty, &[a.value, b], |_, values| {
            self.emit.builder.build_binop(opcode, values[0], values[1], "").map_err(builder_error)
        })
    }

    /// Emits the minimum or maximum (operation `op`) of two floating-point values.
    pub(crate) fn float_choice(
        &self,
        op: Binary,
        a: Typed<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        // LLVM has no instructions for `minimumnum` of `bf16`; the two differ for signalling NaNs only.
        let name = match op {
            Binary::FMinNumber if is_bfloat(a.ty) => "llvm.minnum",
            Binary::FMaxNumber if is_bfloat(a.ty) => "llvm.maxnum",
            Binary::FMinNumber => "llvm.minimumnum",
            Binary::FMaxNumber => "llvm.maximumnum",
            Binary::FMinimum => "llvm.minimum",
            Binary::FMaximum => "llvm.maximum",
            _ => return Err(unsupported_kernel_error(format!("no code generation for `{}`", op.name()))),
        };
        self.intrinsic(name, self.llvm_type(a.ty)?, &[a.value, b])
    }

    pub(crate) fn float_compare(
        &self,
        op: Compare,
        a: Typed<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<Typed<'ctx>, CompileError> {
        let predicate = match op {
            Compare::FEq => FloatPredicate::OEQ,
            Compare::FLt => FloatPredicate::OLT,
            Compare::FLe => FloatPredicate::OLE,
            Compare::FUnordered => FloatPredicate::UNO,
            _ => return Err(invalid_module_error(format!("compares integers, not a {}", a.ty))),
        };
        let (x, y) =
            if is_bfloat(a.ty) { (self.to_single(a)?, self.to_single(Typed::new(a.ty, b))?) } else { (a.value, b) };
        let builder = &self.emit.builder;
        let value = match (x, y) {
            (BasicValueEnum::FloatValue(x), BasicValueEnum::FloatValue(y)) => {
                builder.build_float_compare(predicate, x, y, "").map_err(builder_error)?.into()
            }
            (BasicValueEnum::VectorValue(x), BasicValueEnum::VectorValue(y)) => {
                builder.build_float_compare(predicate, x, y, "").map_err(builder_error)?.into()
            }
            _ => return Err(invalid_module_error(format!("compares numbers, not a {}", a.ty))),
        };
        Ok(Typed::new(Type::vector_or_scalar(Element::I1, a.ty.element_count()), value))
    }

    /// Emits the cast `op` of 32-bit integers to `bf16` through `f32`, rounding once; `None` for other casts, or if
    /// LLVM selects an instruction for it.
    pub(crate) fn round_integers(
        &self,
        op: Cast,
        a: Typed<'ctx>,
        ty: Type,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        if !matches!(op, Cast::FloatS | Cast::FloatU) || a.ty.element() != Some(Element::I32) || !is_bfloat(ty) {
            return Ok(None);
        }
        let narrow = self.llvm_type(Type::Scalar(Element::Bf16))?;
        let round = |integer| {
            let number = self.dialect.integer_before_bf16(&self.emit, integer, op == Cast::FloatS)?;
            let cast = |number| self.emit.builder.build_cast(InstructionOpcode::FPTrunc, number, narrow, "");
            number.map(|number| cast(number).map_err(builder_error)).transpose()
        };
        let integers = self.emit.split_to_elements(a.value, a.ty)?;
        let numbers = integers.into_iter().map(round).collect::<Result<Option<Vec<_>>, CompileError>>();
        numbers?.map(|numbers| self.emit.join_elements(&numbers, ty, ty)).transpose()
    }

    /// Emits the extension of a `bf16` number to `f32` from the 32-bit word that holds it: by a shift, or a mask of
    /// the upper half. `None` for other casts and other numbers, and if the target needs no such code.
    pub(crate) fn extend_half_of_word(
        &self,
        op: Cast,
        a: Typed<'ctx>,
        ty: Type,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let is_extension =
            op == Cast::ExtendF && a.ty == Type::Scalar(Element::Bf16) && ty == Type::Scalar(Element::F32);
        if !is_extension || !self.dialect.extends_bf16_in_words() {
            return Ok(None);
        }
        let Some((word, is_upper)) = self.emit.word_of_half(a.value)? else { return Ok(None) };
        let bits = match is_upper {
            true => self.emit.and(word, 0xffff_0000)?,
            false => self.emit.shift_left(word, 16)?,
        };
        self.emit.bitcast(bits.into(), self.llvm_type(ty)?).map(Some)
    }

    /// Extends `f16` and `bf16` values to `f32`; returns other values unchanged.
    pub(crate) fn to_single(&self, a: Typed<'ctx>) -> Result<BasicValueEnum<'ctx>, CompileError> {
        if !is_narrow(a.ty) {
            return Ok(a.value);
        }
        let single = self.llvm_type(Type::vector_or_scalar(Element::F32, a.ty.element_count()))?;
        self.emit.builder.build_cast(InstructionOpcode::FPExt, a.value, single, "").map_err(builder_error)
    }

    /// Emits the operation that `compute` emits, on operands of type `ty`. With `through_single`, operands are extended
    /// to `f32`, and the result is rounded back to `ty`.
    fn emit_in_single(
        &self,
        through_single: bool,
        ty: Type,
        operands: &[BasicValueEnum<'ctx>],
        compute: impl Fn(BasicTypeEnum<'ctx>, &[BasicValueEnum<'ctx>]) -> Result<BasicValueEnum<'ctx>, CompileError>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let own = self.llvm_type(ty)?;
        if !through_single {
            return compute(own, operands);
        }
        let single = self.llvm_type(Type::vector_or_scalar(Element::F32, ty.element_count()))?;
        let wide =
            operands.iter().map(|&value| self.to_single(Typed::new(ty, value))).collect::<Result<Vec<_>, _>>()?;
        let value = compute(single, &wide)?;
        self.emit.builder.build_cast(InstructionOpcode::FPTrunc, value, own, "").map_err(builder_error)
    }

    /// Emits a math function for which the target has an instruction, once for each element of the operands.
    pub(crate) fn math(&self, function: MathFunction, operands: &[Value]) -> Result<Typed<'ctx>, CompileError> {
        if operands.len() != function.operand_count() {
            return Err(invalid_module_error(format!(
                "`{}` takes {} operands",
                function.name(),
                function.operand_count()
            )));
        }
        let typed = operands.iter().map(|&operand| self.value(operand)).collect::<Result<Vec<_>, _>>()?;
        let Some(ty) = typed.first().map(|first| first.ty) else {
            return Err(invalid_module_error("a function without operands"));
        };
        let element = ty.element().filter(|element| element.is_float() && typed.iter().all(|one| one.ty == ty));
        let element = element.ok_or_else(|| invalid_module_error(format!("`{}` of a {ty}", function.name())))?;
        let taken =
            typed.iter().map(|one| self.emit.split_to_elements(one.value, ty)).collect::<Result<Vec<_>, _>>()?;
        let compute = |index: usize| {
            let of: Vec<_> = taken.iter().filter_map(|pieces| pieces.get(index).copied()).collect();
            self.dialect.math(&self.emit, function, element, &of)
        };
        let elements = (0..ty.element_count() as usize).map(compute).collect::<Result<Vec<_>, _>>()?;
        Ok(Typed::new(ty, self.emit.join_elements(&elements, ty, ty)?))
    }
}
