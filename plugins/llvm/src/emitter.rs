//! Appends LLVM instructions to a kernel: what the translation and a vendor's hooks write with.

use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::BasicMetadataValueEnum;
use inkwell::{AtomicOrdering, values::IntValue};
use tilewright_kernel::Launch;
use tilewright_plugin::CompileError;

use crate::ffi;
use crate::values::{BasicType, BasicTypeEnum, BasicValue, BasicValueEnum, PointerValue};

/// Which way a fence orders memory operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// What comes after stays after.
    Acquire,
    /// What comes before stays before.
    Release,
}

/// Appends instructions to the kernel being translated.
#[derive(Debug)]
pub struct Emitter<'a, 'ctx> {
    pub(crate) context: &'ctx Context,
    pub(crate) module: &'a Module<'ctx>,
    pub(crate) builder: Builder<'ctx>,
    pub(crate) launch: Launch,
}

/// The builder refused: this crate's or the vendor's mistake, never the module's.
pub(crate) fn refused(error: BuilderError) -> CompileError {
    CompileError::Backend(format!("LLVM's builder refused an instruction: {error}"))
}

impl<'ctx> Emitter<'_, 'ctx> {
    /// The launch of the kernel.
    #[must_use]
    pub fn launch(&self) -> Launch {
        self.launch
    }

    /// A 32-bit constant.
    #[must_use]
    pub fn i32(&self, value: u32) -> IntValue<'ctx> {
        self.context.i32_type().const_int(u64::from(value), false)
    }

    /// A constant of one bit.
    #[must_use]
    pub fn i1(&self, value: bool) -> IntValue<'ctx> {
        self.context.bool_type().const_int(u64::from(value), false)
    }

    /// A call of one of LLVM's intrinsics; `overload` has the types that choose among overloads.
    ///
    /// # Errors
    /// [`CompileError::Backend`] where this LLVM lacks the intrinsic or it takes other operands.
    pub fn call(
        &self,
        intrinsic: &str,
        overload: &[BasicTypeEnum<'ctx>],
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let wrong = |what: &str| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` {what}"));
        let found = Intrinsic::find(intrinsic).ok_or_else(|| wrong("does not exist in this LLVM"))?;
        let function = found.get_declaration(self.module, overload).ok_or_else(|| wrong("needs overload types"))?;
        let expected = function.get_type().get_param_types();
        let given: Vec<BasicMetadataTypeEnum> = operands.iter().map(|value| value.get_type().into()).collect();
        if expected != given {
            return Err(wrong("takes other operands"));
        }
        let operands: Vec<BasicMetadataValueEnum> = operands.iter().map(|&value| value.into()).collect();
        let call = self.builder.build_call(function, &operands, "").map_err(refused)?;
        Ok(call.try_as_basic_value().basic())
    }

    /// [`Emitter::call`] of an intrinsic that takes and gives `i32`s and is not overloaded.
    ///
    /// # Errors
    /// As [`Emitter::call`].
    pub fn call_i32(&self, intrinsic: &str, operands: &[IntValue<'ctx>]) -> Result<IntValue<'ctx>, CompileError> {
        let operands: Vec<_> = operands.iter().map(|value| value.as_basic_value_enum()).collect();
        self.integer(intrinsic, self.call(intrinsic, &[], &operands)?)
    }

    /// [`Emitter::call`] of an intrinsic that is not overloaded and gives a pair of integers.
    ///
    /// # Errors
    /// As [`Emitter::call`].
    pub fn call_pair(&self, intrinsic: &str, operands: &[IntValue<'ctx>]) -> Result<[IntValue<'ctx>; 2], CompileError> {
        let operands: Vec<_> = operands.iter().map(|value| value.as_basic_value_enum()).collect();
        let Some(BasicValueEnum::StructValue(pair)) = self.call(intrinsic, &[], &operands)? else {
            return Err(CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` gives no pair")));
        };
        let half = |index| {
            let half = self.builder.build_extract_value(pair, index, "").map_err(refused)?;
            self.integer(intrinsic, Some(half))
        };
        Ok([half(0)?, half(1)?])
    }

    /// The result of a call as an integer.
    ///
    /// # Errors
    /// [`CompileError::Backend`] where it is none.
    pub fn integer(
        &self,
        intrinsic: &str,
        result: Option<BasicValueEnum<'ctx>>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        match result {
            Some(BasicValueEnum::IntValue(value)) => Ok(value),
            _ => Err(CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` gives no integer"))),
        }
    }

    /// The number of a pointer to shared memory, an `i32`.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn shared_address(&self, pointer: PointerValue<'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_ptr_to_int(pointer, self.context.i32_type(), "").map_err(refused)
    }

    /// `a & b`.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn and(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_and(a, self.i32(b), "").map_err(refused)
    }

    /// `a ^ b`.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn xor(&self, a: IntValue<'ctx>, b: IntValue<'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_xor(a, b, "").map_err(refused)
    }

    /// `a << b`, for `b` below 32.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn shift_left(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_left_shift(a, self.i32(b), "").map_err(refused)
    }

    /// `a >> b` filled with zeros, for `b` below 32.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn shift_right(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_right_shift(a, self.i32(b), false, "").map_err(refused)
    }

    /// `b` where `a` is zero, else `c`.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn if_zero(
        &self,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        c: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let zero = a.get_type().const_zero();
        let condition = self.builder.build_int_compare(inkwell::IntPredicate::EQ, a, zero, "").map_err(refused)?;
        let chosen = self.builder.build_select(condition, b, c, "").map_err(refused)?;
        self.integer("select", Some(chosen))
    }

    /// A call of one of LLVM's intrinsics that is overloaded by the type of its one operand, which is its result's too.
    ///
    /// # Errors
    /// As [`Emitter::call`].
    pub fn call_same(
        &self,
        intrinsic: &str,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let result = self.call(intrinsic, &[value.get_type()], &[value])?;
        result.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` gives nothing")))
    }

    /// A call of one of LLVM's intrinsics that takes one value and is not overloaded.
    ///
    /// # Errors
    /// As [`Emitter::call`].
    pub fn call_single(
        &self,
        intrinsic: &str,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let result = self.call(intrinsic, &[], &[value])?;
        result.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` gives nothing")))
    }

    /// An `i32` that nobody writes, so many bytes after a pointer.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn load_i32(&self, pointer: PointerValue<'ctx>, bytes: u32) -> Result<IntValue<'ctx>, CompileError> {
        let place = ffi::advance(&self.builder, self.context, pointer, self.i32(bytes)).map_err(refused)?;
        let loaded = self.builder.build_load(self.context.i32_type(), place, "").map_err(refused)?;
        self.integer("load", Some(loaded))
    }

    /// A fence of a synchronisation scope; `relaxation` is a tag of LLVM's memory-model relaxation
    /// annotations, such as one that restricts the fence to one address space.
    ///
    /// # Errors
    /// [`CompileError::Backend`].
    pub fn fence(&self, ordering: Ordering, scope: &str, relaxation: Option<(&str, &str)>) -> Result<(), CompileError> {
        let ordering = match ordering {
            Ordering::Acquire => AtomicOrdering::Acquire,
            Ordering::Release => AtomicOrdering::Release,
        };
        let fence = ffi::fence(&self.builder, self.context, ordering, scope);
        let fence = fence.ok_or_else(|| refused(BuilderError::UnsetPosition))?;
        if let Some((prefix, suffix)) = relaxation {
            let parts = [prefix, suffix].map(|part| self.context.metadata_string(part).into());
            let kind = self.context.get_kind_id("mmra");
            let set = fence.set_metadata(self.context.metadata_node(&parts), kind);
            set.map_err(|error| CompileError::Backend(format!("LLVM refused the annotation of a fence: {error}")))?;
        }
        Ok(())
    }

    /// The type of `count` elements of an integer type.
    #[must_use]
    pub fn integer_type(&self, bits: u32, count: u32) -> Option<BasicTypeEnum<'ctx>> {
        let element = match bits {
            1 => self.context.bool_type(),
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            32 => self.context.i32_type(),
            64 => self.context.i64_type(),
            128 => self.context.i128_type(),
            _ => return None,
        };
        Some(if count == 1 { element.as_basic_type_enum() } else { element.vec_type(count).as_basic_type_enum() })
    }
}
