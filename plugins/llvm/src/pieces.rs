//! What vendors' instructions are written with: values read as other types of as many bits, taken
//! apart and put together, and inline assembly.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::BuilderError;
use inkwell::intrinsics::Intrinsic;
use inkwell::types::{BasicMetadataTypeEnum, BasicType};
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, PointerValue};
use inkwell::{AddressSpace, InlineAsmDialect};
use tilewright_kernel::Type;
use tilewright_plugin::CompileError;

use crate::Emitter;
use crate::emitter::refused;
use crate::translate::llvm_element;
use crate::values::{BasicTypeEnum, BasicValue, BasicValueEnum};

fn backend(message: impl Into<String>) -> CompileError {
    CompileError::Backend(message.into())
}

/// An operand of a call by [`Emitter::call_fitting`].
#[derive(Debug, Clone, Copy)]
pub enum CallOperand<'ctx> {
    /// A value, read as the type of the parameter, which has as many bits.
    Bits(BasicValueEnum<'ctx>),
    /// A constant of the parameter's integer type.
    Number(u32),
}

impl<'ctx> Emitter<'_, 'ctx> {
    /// The LLVM type of a scalar or vector.
    ///
    /// # Errors
    /// [`CompileError::Backend`] for a pointer, or a vector of fewer than two elements.
    pub fn plain_type(&self, ty: Type) -> Result<BasicTypeEnum<'ctx>, CompileError> {
        let element = ty.element().ok_or_else(|| backend(format!("{ty} is neither scalar nor vector")))?;
        Ok(match (llvm_element(self.context, element), ty) {
            (BasicTypeEnum::FloatType(element), Type::Vector(_, count)) if count > 1 => element.vec_type(count).into(),
            (BasicTypeEnum::IntType(element), Type::Vector(_, count)) if count > 1 => element.vec_type(count).into(),
            (element, Type::Scalar(_)) => element,
            _ => return Err(backend(format!("{ty} is no type of LLVM"))),
        })
    }

    /// The bits of a value as another type of as many bits.
    ///
    /// # Errors
    /// [`CompileError::Backend`] where it has another number of bits; the module's verifier finds
    /// that.
    pub fn bits_as(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        if value.get_type() == ty {
            return Ok(value);
        }
        self.builder.build_bit_cast(value, ty, "").map_err(refused)
    }

    /// The elements of a value's bits read as `ty`, a scalar or vector of as many bits.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn pieces(&self, value: BasicValueEnum<'ctx>, ty: Type) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        match self.bits_as(value, self.plain_type(ty)?)? {
            BasicValueEnum::VectorValue(vector) => {
                let element = |index| self.builder.build_extract_element(vector, self.i32(index), "").map_err(refused);
                (0..ty.count()).map(element).collect()
            }
            scalar => Ok(vec![scalar]),
        }
    }

    /// The value of type `ty` whose bits are those of elements of type `pieces`, the first lowest.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn joined(
        &self,
        parts: &[BasicValueEnum<'ctx>],
        pieces: Type,
        ty: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let whole = match (self.plain_type(pieces)?, parts) {
            (BasicTypeEnum::VectorType(vector), parts) => {
                let mut whole = vector.get_poison();
                for (index, &part) in (0..).zip(parts) {
                    whole = self.builder.build_insert_element(whole, part, self.i32(index), "").map_err(refused)?;
                }
                whole.as_basic_value_enum()
            }
            (_, &[single]) => single,
            (_, parts) => return Err(backend(format!("{} parts of a {pieces}", parts.len()))),
        };
        self.bits_as(whole, self.plain_type(ty)?)
    }

    /// A call of one of LLVM's intrinsics, operands read as the types of its parameters.
    ///
    /// # Errors
    /// [`CompileError::Backend`] where this LLVM lacks the intrinsic or it takes other operands.
    pub fn call_fitting(
        &self,
        intrinsic: &str,
        overload: &[BasicTypeEnum<'ctx>],
        operands: &[CallOperand<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let wrong = |what: &str| backend(format!("LLVM's intrinsic `{intrinsic}` {what}"));
        let found = Intrinsic::find(intrinsic).ok_or_else(|| wrong("does not exist in this LLVM"))?;
        let function = found.get_declaration(self.module, overload).ok_or_else(|| wrong("needs overload types"))?;
        let expected = function.get_type().get_param_types();
        if expected.len() != operands.len() {
            return Err(wrong(&format!("takes {} operands, not {}", expected.len(), operands.len())));
        }
        let mut fitting = Vec::with_capacity(operands.len());
        for (&operand, ty) in operands.iter().zip(expected) {
            let ty = BasicTypeEnum::try_from(ty).map_err(|()| wrong("takes something that is no value"))?;
            fitting.push(match (operand, ty) {
                (CallOperand::Bits(value), ty) => self.bits_as(value, ty)?,
                (CallOperand::Number(number), BasicTypeEnum::IntType(ty)) => {
                    ty.const_int(u64::from(number), false).into()
                }
                (CallOperand::Number(_), _) => return Err(wrong("takes no number there")),
            });
        }
        self.call(intrinsic, overload, &fitting)
    }

    /// The bits of a scalar or vector of integers, no wider than a word, with zeros above them.
    ///
    /// # Errors
    /// [`CompileError::Backend`] for other values.
    pub fn word_of(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let bits = match value.get_type() {
            BasicTypeEnum::IntType(own) => own.get_bit_width(),
            BasicTypeEnum::VectorType(own) => match own.get_element_type() {
                BasicTypeEnum::IntType(element) => element.get_bit_width() * own.get_size(),
                _ => 32,
            },
            _ => 32,
        };
        let own = match bits {
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            _ => return self.bits_as(value, self.context.i32_type().into()),
        };
        let narrow = self.bits_as(value, own.into())?.into_int_value();
        Ok(self.builder.build_int_z_extend(narrow, self.context.i32_type(), "").map_err(refused)?.into())
    }

    /// The fields of a call's result: of a structure all, of another value itself.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn fields(&self, value: Option<BasicValueEnum<'ctx>>) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        match value {
            Some(BasicValueEnum::StructValue(fields)) => {
                let field = |index| self.builder.build_extract_value(fields, index, "").map_err(refused);
                (0..fields.get_type().count_fields()).map(field).collect()
            }
            Some(value) => Ok(vec![value]),
            None => Ok(Vec::new()),
        }
    }

    /// Inline assembly that all lanes of a warp issue together and that does nothing but give its
    /// results. `$0`, `$1`, ... are the results and then the operands.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn assembly(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let call = self.issue(text, constraints, operands, results, false)?;
        self.mark_convergent(call);
        self.fields(call.try_as_basic_value().basic())
    }

    /// Inline assembly that all lanes of a warp issue together and that stays where it is among accesses of memory
    /// and other such assembly. `$0`, `$1`, ... are the results and then the operands.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn ordered_assembly(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let call = self.issue(text, constraints, operands, results, true)?;
        self.mark(call, &["convergent", "nounwind"]);
        self.fields(call.try_as_basic_value().basic())
    }

    fn issue(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
        has_effects: bool,
    ) -> Result<CallSiteValue<'ctx>, CompileError> {
        let parameters: Vec<BasicMetadataTypeEnum> = operands.iter().map(|value| value.get_type().into()).collect();
        let ty = match results {
            [] => self.context.void_type().fn_type(&parameters, false),
            [single] => single.fn_type(&parameters, false),
            several => self.context.struct_type(several, false).fn_type(&parameters, false),
        };
        let dialect = Some(InlineAsmDialect::ATT);
        let (text, constraints) = (text.to_owned(), constraints.to_owned());
        let code = self.context.create_inline_asm(ty, text, constraints, has_effects, false, dialect, false);
        let operands: Vec<BasicMetadataValueEnum> = operands.iter().map(|&value| value.into()).collect();
        self.builder.build_indirect_call(ty, code, &operands, "").map_err(refused)
    }

    fn mark(&self, call: CallSiteValue<'ctx>, flags: &[&str]) {
        for flag in flags {
            let kind = Attribute::get_named_enum_kind_id(flag);
            call.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
    }

    /// What all lanes issue together may not be moved under control that only some reach.
    fn mark_convergent(&self, call: CallSiteValue<'ctx>) {
        self.mark(call, &["convergent", "nounwind"]);
        let memory = Attribute::get_named_enum_kind_id("memory");
        call.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(memory, 0));
    }

    /// A call of a function of the name that takes a format and the place of values that lie one after the other, as
    /// C's `vprintf` does, and gives an `i32`.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn print_values(
        &self,
        function: &str,
        format: &str,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<(), CompileError> {
        let (pointer, context) = (self.context.ptr_type(AddressSpace::default()), self.context);
        let ty = context.i32_type().fn_type(&[pointer.into(), pointer.into()], false);
        let known = self.module.get_function(function);
        let function = known.unwrap_or_else(|| self.module.add_function(function, ty, None));
        let format = self.builder.build_global_string_ptr(format, "format").map_err(refused)?;
        let types: Vec<_> = values.iter().map(|value| value.get_type()).collect();
        let fields = context.struct_type(&types, false);
        let place = self.local(fields.into())?;
        for (index, &value) in (0..).zip(values) {
            let field = self.builder.build_struct_gep(fields, place, index, "").map_err(refused)?;
            self.builder.build_store(field, value).map_err(refused)?;
        }
        let operands = [format.as_pointer_value().into(), place.into()];
        self.builder.build_call(function, &operands, "").map_err(refused)?;
        Ok(())
    }

    /// A place of the lane's own, made where the kernel begins.
    fn local(&self, ty: BasicTypeEnum<'ctx>) -> Result<PointerValue<'ctx>, CompileError> {
        let here = self.builder.get_insert_block().ok_or_else(|| refused(BuilderError::UnsetPosition))?;
        let entry = here.get_parent().and_then(|function| function.get_first_basic_block()).unwrap_or(here);
        let at_start = self.context.create_builder();
        match entry.get_first_instruction() {
            Some(first) => at_start.position_before(&first),
            None => at_start.position_at_end(entry),
        }
        at_start.build_alloca(ty, "").map_err(refused)
    }
}
