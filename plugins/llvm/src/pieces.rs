//! Helpers for emitting vendors' instructions: bitcasts, splitting and joining values, and inline assembly.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::BuilderError;
use inkwell::intrinsics::Intrinsic;
use inkwell::types::{BasicMetadataTypeEnum, BasicType};
use inkwell::values::{
    BasicMetadataValueEnum, CallSiteValue, InstructionOpcode, IntValue, Operand, PointerValue, VectorValue,
};
use inkwell::{AddressSpace, InlineAsmDialect};
use tilewright_kernel::{Element, Type};
use tilewright_plugin::CompileError;

use crate::Emitter;
use crate::emitter::builder_error;
use crate::types::llvm_element;
use crate::values::{BasicTypeEnum, BasicValue, BasicValueEnum};

const WORD_BITS: u32 = 32;

fn backend(message: impl Into<String>) -> CompileError {
    CompileError::Backend(message.into())
}

/// Returns the value from which bitcasts compute `value`.
fn before_bitcasts(value: BasicValueEnum<'_>) -> BasicValueEnum<'_> {
    let cast = value.as_instruction_value().filter(|cast| cast.get_opcode() == InstructionOpcode::BitCast);
    let source = cast.and_then(|cast| cast.get_operand(0)).and_then(Operand::value);
    source.map_or(value, before_bitcasts)
}

/// Returns the vector that the given elements are extracted from, and the index of the first one divided by their
/// number. `None` unless they are consecutive elements of one vector and this index is a multiple of their number.
fn source_word<'ctx>(elements: &[BasicValueEnum<'ctx>]) -> Option<(VectorValue<'ctx>, u32)> {
    let count = elements.len() as u32;
    let mut sources = elements.iter().map(|&element| {
        let extract = before_bitcasts(element).as_instruction_value()?;
        let operand = |at| extract.get_operand(at).and_then(Operand::value);
        match (extract.get_opcode(), operand(0)?, operand(1)?) {
            (InstructionOpcode::ExtractElement, BasicValueEnum::VectorValue(vector), BasicValueEnum::IntValue(at)) => {
                Some((vector, u32::try_from(at.get_zero_extended_constant()?).ok()?))
            }
            _ => None,
        }
    });
    let (vector, first) = sources.next()??;
    let are_next = (first + 1..).zip(sources).all(|(at, source)| source == Some((vector, at)));
    let is_aligned = first.is_multiple_of(count) && vector.get_type().get_size().is_multiple_of(count);
    (are_next && is_aligned).then_some((vector, first / count))
}

/// An operand of a call by [`Emitter::call_with_bitcasts`].
#[derive(Debug, Clone, Copy)]
pub enum CallOperand<'ctx> {
    /// A value; it is bitcast to the parameter's type, which must have as many bits.
    Bits(BasicValueEnum<'ctx>),
    /// An integer constant of the parameter's type, such as a flag.
    Number(u32),
}

impl<'ctx> Emitter<'_, 'ctx> {
    /// Returns the LLVM type of a kernel-IR scalar or vector.
    ///
    /// # Errors
    /// [`CompileError::Backend`] for a pointer, or a vector of fewer than two elements.
    pub fn llvm_type(&self, ty: Type) -> Result<BasicTypeEnum<'ctx>, CompileError> {
        let element = ty.element().ok_or_else(|| backend(format!("{ty} is neither scalar nor vector")))?;
        Ok(match (llvm_element(self.context, element), ty) {
            (BasicTypeEnum::FloatType(element), Type::Vector(_, count)) if count > 1 => element.vec_type(count).into(),
            (BasicTypeEnum::IntType(element), Type::Vector(_, count)) if count > 1 => element.vec_type(count).into(),
            (element, Type::Scalar(_)) => element,
            _ => return Err(backend(format!("{ty} is not a type of LLVM"))),
        })
    }

    /// Emits a bitcast of a value to another type of as many bits.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM's builder fails. Different numbers of bits are found only by the module's
    /// verifier.
    pub fn bitcast(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        if value.get_type() == ty {
            return Ok(value);
        }
        self.builder.build_bit_cast(value, ty, "").map_err(builder_error)
    }

    /// Splits a value into the elements of `ty`, a scalar or vector type with as many bits as the value; returns the
    /// elements, the lowest bits first.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn split_to_elements(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: Type,
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        match self.bitcast(value, self.llvm_type(ty)?)? {
            BasicValueEnum::VectorValue(vector) => {
                let element =
                    |index| self.builder.build_extract_element(vector, self.i32(index), "").map_err(builder_error);
                (0..ty.element_count()).map(element).collect()
            }
            scalar => Ok(vec![scalar]),
        }
    }

    /// Joins elements into a value of type `ty`, the first element in the lowest bits. `pieces` is the vector type of
    /// the elements or, for a single element, its type.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn join_elements(
        &self,
        elements: &[BasicValueEnum<'ctx>],
        pieces: Type,
        ty: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let combined = match (self.llvm_type(pieces)?, elements) {
            (BasicTypeEnum::VectorType(vector), elements) => {
                let mut combined = vector.get_poison();
                for (index, &scalar) in (0..).zip(elements) {
                    combined = self
                        .builder
                        .build_insert_element(combined, scalar, self.i32(index), "")
                        .map_err(builder_error)?;
                }
                combined.as_basic_value_enum()
            }
            (_, &[single]) => single,
            (_, elements) => return Err(backend(format!("{} parts of a {pieces}", elements.len()))),
        };
        self.bitcast(combined, self.llvm_type(ty)?)
    }

    /// Returns the 32-bit word with a 16-bit element of a vector, and whether the element is the upper half. `None`
    /// unless `element` is extracted from a vector of words that is not itself joined from elements.
    pub(crate) fn word_of_half(
        &self,
        element: BasicValueEnum<'ctx>,
    ) -> Result<Option<(IntValue<'ctx>, bool)>, CompileError> {
        const PER_WORD: u32 = WORD_BITS / 16;
        let Some((vector, at)) = source_word(&[element]) else { return Ok(None) };
        let joining = before_bitcasts(vector.into()).as_instruction_value();
        let is_joined = joining.is_some_and(|joining| joining.get_opcode() == InstructionOpcode::InsertElement);
        let count = vector.get_type().get_size();
        if is_joined || !count.is_multiple_of(PER_WORD) {
            return Ok(None);
        }
        let words = self.split_to_elements(vector.into(), Type::vector_or_scalar(Element::I32, count / PER_WORD))?;
        let word = words.get((at / PER_WORD) as usize).map(|word| word.into_int_value());
        Ok(word.map(|word| (word, at % PER_WORD > 0)))
    }

    /// Returns elements of `bits` bits as 32-bit words, the first in the lowest bits, if each word's elements are
    /// consecutive elements of one vector; `None` otherwise. LLVM would take bytes apart and shift them together again.
    pub(crate) fn words_of(
        &self,
        elements: &[BasicValueEnum<'ctx>],
        bits: u32,
    ) -> Result<Option<Vec<BasicValueEnum<'ctx>>>, CompileError> {
        let per_word = (WORD_BITS / bits.max(1)) as usize;
        if per_word < 2 || !elements.len().is_multiple_of(per_word) {
            return Ok(None);
        }
        let sources: Option<Vec<_>> = elements.chunks(per_word).map(source_word).collect();
        let Some(sources) = sources else { return Ok(None) };
        let word = |(vector, at): (VectorValue<'ctx>, u32)| {
            let count = vector.get_type().get_size() / per_word as u32;
            let words = self.split_to_elements(vector.into(), Type::vector_or_scalar(Element::I32, count))?;
            words.get(at as usize).copied().ok_or_else(|| backend("a vector has too few words".to_owned()))
        };
        sources.into_iter().map(word).collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Emits a call of an LLVM intrinsic, with each operand reinterpreted as the type of its parameter; returns the
    /// result, `None` if there is none.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic or it takes other operands.
    pub fn call_with_bitcasts(
        &self,
        intrinsic: &str,
        overload: &[BasicTypeEnum<'ctx>],
        operands: &[CallOperand<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        self.call_intrinsic(intrinsic, overload, &self.fit_operands(intrinsic, overload, operands)?)
    }

    /// Emits a call of an intrinsic by which the warp waits for its memory accesses; `operand` is a constant. Fences
    /// before and after it must order the accesses: for passes over LLVM IR it accesses only memory that the kernel
    /// cannot reach, so that they still recognize loads of constant memory.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic or it takes other operands.
    pub fn call_wait(&self, intrinsic: &str, operand: u32) -> Result<(), CompileError> {
        let operands = self.fit_operands(intrinsic, &[], &[CallOperand::Number(operand)])?;
        self.mark_inaccessible(self.issue_intrinsic(intrinsic, &[], &operands)?);
        Ok(())
    }

    fn fit_operands(
        &self,
        intrinsic: &str,
        overload: &[BasicTypeEnum<'ctx>],
        operands: &[CallOperand<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let wrong = |what: &str| backend(format!("LLVM's intrinsic `{intrinsic}` {what}"));
        let found = Intrinsic::find(intrinsic).ok_or_else(|| wrong("does not exist in this LLVM"))?;
        let function = found.get_declaration(self.module, overload).ok_or_else(|| wrong("needs overload types"))?;
        let expected = function.get_type().get_param_types();
        if expected.len() != operands.len() {
            return Err(wrong(&format!("takes {} operands, not {}", expected.len(), operands.len())));
        }
        let mut fitting = Vec::with_capacity(operands.len());
        for (&operand, ty) in operands.iter().zip(expected) {
            let ty = BasicTypeEnum::try_from(ty).map_err(|()| wrong("takes an operand that is not a value"))?;
            fitting.push(match (operand, ty) {
                (CallOperand::Bits(value), ty) => self.bitcast(value, ty)?,
                (CallOperand::Number(number), BasicTypeEnum::IntType(ty)) => {
                    ty.const_int(u64::from(number), false).into()
                }
                (CallOperand::Number(_), _) => return Err(wrong("takes no constant at this position")),
            });
        }
        Ok(fitting)
    }

    /// Emits the conversion of a value of 8, 16 or 32 bits, an integer or a vector of integers, to a 32-bit integer;
    /// narrower values are zero-extended.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if the value has another width or type.
    pub fn to_i32_word(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let bits = match value.get_type() {
            BasicTypeEnum::IntType(ir_type) => ir_type.get_bit_width(),
            BasicTypeEnum::VectorType(ir_type) => match ir_type.get_element_type() {
                BasicTypeEnum::IntType(element) => element.get_bit_width() * ir_type.get_size(),
                _ => 32,
            },
            _ => 32,
        };
        let ir_type = match bits {
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            _ => return self.bitcast(value, self.context.i32_type().into()),
        };
        let narrow = self.bitcast(value, ir_type.into())?.into_int_value();
        Ok(self.builder.build_int_z_extend(narrow, self.context.i32_type(), "").map_err(builder_error)?.into())
    }

    /// Returns the fields of a call's result: all fields of a struct, or the value itself if it is no struct. Empty if
    /// the call has no result.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn result_fields(
        &self,
        value: Option<BasicValueEnum<'ctx>>,
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        match value {
            Some(BasicValueEnum::StructValue(fields)) => {
                let field = |index| self.builder.build_extract_value(fields, index, "").map_err(builder_error);
                (0..fields.get_type().count_fields()).map(field).collect()
            }
            Some(value) => Ok(vec![value]),
            None => Ok(Vec::new()),
        }
    }

    /// Emits inline assembly without side effects that all lanes of a warp must execute together (convergent). In
    /// `text`, `$0`, `$1`, ... are first the results, then the operands. Returns a value for each type in `results`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn convergent_assembly(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let call = self.issue(text, constraints, operands, results, false)?;
        self.mark_convergent(call);
        self.result_fields(call.try_as_basic_value().basic())
    }

    /// Emits inline assembly without side effects, which LLVM may move, duplicate or remove. In `text`, `$0`, `$1`, ...
    /// are first the results, then the operands. Returns a value for each type in `results`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn pure_assembly(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let call = self.issue(text, constraints, operands, results, false)?;
        self.mark(call, &["nounwind", "willreturn"]);
        let memory = Attribute::get_named_enum_kind_id("memory");
        call.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(memory, 0));
        self.result_fields(call.try_as_basic_value().basic())
    }

    /// Emits inline assembly that all lanes of a warp must execute together (convergent), and that LLVM does not move
    /// across memory accesses and other ordered assembly. In `text`, `$0`, `$1`, ... are first the results, then the
    /// operands. Returns a value for each type in `results`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn ordered_assembly(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let call = self.issue(text, constraints, operands, results, true)?;
        self.mark(call, &["convergent", "nounwind"]);
        self.result_fields(call.try_as_basic_value().basic())
    }

    /// Emits inline assembly that accesses memory, and that LLVM does not move across other memory accesses; each lane
    /// executes it independently. In `text`, `$0`, `$1`, ... are first the results, then the operands. Returns a value
    /// for each type in `results`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn access_assembly(
        &self,
        text: &str,
        constraints: &str,
        operands: &[BasicValueEnum<'ctx>],
        results: &[BasicTypeEnum<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let call = self.issue(text, constraints, operands, results, true)?;
        self.mark(call, &["nounwind"]);
        self.result_fields(call.try_as_basic_value().basic())
    }

    /// Emits inline assembly that is only a comment, across which LLVM's passes over machine code do not move memory
    /// accesses. For passes over LLVM IR it accesses only memory that the kernel cannot reach, so that they still
    /// recognize loads of constant memory.
    pub(crate) fn marker(&self, comment: &str) -> Result<(), CompileError> {
        let call = self.issue(comment, "~{memory}", &[], &[], true)?;
        self.mark(call, &["convergent", "nounwind"]);
        self.mark_inaccessible(call);
        Ok(())
    }

    /// Marks a call that accesses only memory that the kernel cannot reach.
    fn mark_inaccessible(&self, call: CallSiteValue<'ctx>) {
        const INACCESSIBLE_MEMORY: u64 = 0b1100;
        let memory = Attribute::get_named_enum_kind_id("memory");
        let effects = self.context.create_enum_attribute(memory, INACCESSIBLE_MEMORY);
        call.add_attribute(AttributeLoc::Function, effects);
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
        self.builder.build_indirect_call(ty, code, &operands, "").map_err(builder_error)
    }

    fn mark(&self, call: CallSiteValue<'ctx>, flags: &[&str]) {
        for flag in flags {
            let kind = Attribute::get_named_enum_kind_id(flag);
            call.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
    }

    /// Marks a call as convergent: LLVM may not move it into divergent control flow, because all lanes must execute it
    /// together.
    fn mark_convergent(&self, call: CallSiteValue<'ctx>) {
        self.mark(call, &["convergent", "nounwind"]);
        let memory = Attribute::get_named_enum_kind_id("memory");
        call.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(memory, 0));
    }

    /// Emits a call of a print function with the signature of CUDA's `vprintf`: `i32 function(ptr format, ptr values)`.
    /// The values are first stored to a struct in the lane's local memory, in order and with the alignment of their
    /// types.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
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
        let format = self.builder.build_global_string_ptr(format, "format").map_err(builder_error)?;
        let types: Vec<_> = values.iter().map(|value| value.get_type()).collect();
        let fields = context.struct_type(&types, false);
        let storage = self.local(fields.into())?;
        for (index, &value) in (0..).zip(values) {
            let field = self.builder.build_struct_gep(fields, storage, index, "").map_err(builder_error)?;
            self.builder.build_store(field, value).map_err(builder_error)?;
        }
        let operands = [format.as_pointer_value().into(), storage.into()];
        self.builder.build_call(function, &operands, "").map_err(builder_error)?;
        Ok(())
    }

    /// Emits an `alloca` of type `ty` in the kernel's entry block, and returns its address.
    fn local(&self, ty: BasicTypeEnum<'ctx>) -> Result<PointerValue<'ctx>, CompileError> {
        self.at_kernel_start()?.builder.build_alloca(ty, "").map_err(builder_error)
    }

    /// Returns an emitter at the start of the kernel, before all instructions emitted so far.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if the emitter is not positioned in a block.
    pub fn at_kernel_start(&self) -> Result<Self, CompileError> {
        let here = self.builder.get_insert_block().ok_or_else(|| builder_error(BuilderError::UnsetPosition))?;
        let entry = here.get_parent().and_then(|function| function.get_first_basic_block()).unwrap_or(here);
        let builder = self.context.create_builder();
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        Ok(Self { builder, synchronizations: self.synchronizations.clone(), ..*self })
    }
}
