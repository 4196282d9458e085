//! The emitter of LLVM instructions into a kernel, which the translation and the vendors' dialects use.

use std::cell::Cell;

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue};
use inkwell::{AtomicOrdering, values::IntValue};
use tilewright_kernel::StaticLaunchConfig;
use tilewright_plugin::CompileError;

use crate::ffi;
use crate::values::{BasicType, BasicTypeEnum, BasicValue, BasicValueEnum, PointerValue};

/// The memory order of a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceOrdering {
    /// Acquire: later accesses cannot move before the fence.
    Acquire,
    /// Release: earlier accesses cannot move after the fence.
    Release,
    /// Acquire and release: no access moves across the fence.
    AcquireRelease,
}

/// The emitter of LLVM instructions into the kernel that is being translated.
#[derive(Debug)]
pub struct Emitter<'a, 'ctx> {
    pub(crate) context: &'ctx Context,
    pub(crate) module: &'a Module<'ctx>,
    pub(crate) builder: Builder<'ctx>,
    pub(crate) launch: StaticLaunchConfig,
    /// Number of markers emitted so far by [`Emitter::emit_access_order_marker`], which numbers them in the assembly.
    pub(crate) synchronizations: Cell<u32>,
}

/// Converts a failure of LLVM's builder to a compile error. It is a bug of this crate or of the vendor's crate, never
/// of the module that is compiled.
pub(crate) fn builder_error(error: BuilderError) -> CompileError {
    CompileError::Backend(format!("LLVM's builder rejected an instruction: {error}"))
}

impl<'ctx> Emitter<'_, 'ctx> {
    /// Returns the launch parameters of the kernel, such as lanes of a warp and warps of a block.
    #[must_use]
    pub fn launch(&self) -> StaticLaunchConfig {
        self.launch
    }

    /// Returns a 32-bit integer constant.
    #[must_use]
    pub fn i32(&self, value: u32) -> IntValue<'ctx> {
        self.context.i32_type().const_int(u64::from(value), false)
    }

    /// Returns a 16-bit integer constant.
    #[must_use]
    pub fn i16(&self, value: u16) -> IntValue<'ctx> {
        self.context.i16_type().const_int(u64::from(value), false)
    }

    /// Returns a 64-bit integer constant.
    #[must_use]
    pub fn i64(&self, value: u64) -> IntValue<'ctx> {
        self.context.i64_type().const_int(value, false)
    }

    /// Returns the type of pointers to an address space, by LLVM's number.
    #[must_use]
    pub fn pointer_type(&self, space: u16) -> BasicTypeEnum<'ctx> {
        self.context.ptr_type(AddressSpace::from(space)).into()
    }

    /// Returns a one-bit integer constant.
    #[must_use]
    pub fn i1(&self, value: bool) -> IntValue<'ctx> {
        self.context.bool_type().const_int(u64::from(value), false)
    }

    /// Emits a call of an LLVM intrinsic and returns its result; `None` if it has none. `overload` has the types that
    /// select the overload.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic or it takes other operands.
    pub fn call_intrinsic(
        &self,
        intrinsic: &str,
        overload: &[BasicTypeEnum<'ctx>],
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        Ok(self.issue_intrinsic(intrinsic, overload, operands)?.try_as_basic_value().basic())
    }

    pub(crate) fn issue_intrinsic(
        &self,
        intrinsic: &str,
        overload: &[BasicTypeEnum<'ctx>],
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<CallSiteValue<'ctx>, CompileError> {
        let wrong = |what: &str| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` {what}"));
        let found = Intrinsic::find(intrinsic).ok_or_else(|| wrong("does not exist in this LLVM"))?;
        let function = found.get_declaration(self.module, overload).ok_or_else(|| wrong("needs overload types"))?;
        let expected = function.get_type().get_param_types();
        let given: Vec<BasicMetadataTypeEnum> = operands.iter().map(|value| value.get_type().into()).collect();
        if expected != given && !function.get_type().is_var_arg() {
            return Err(wrong("takes other operands"));
        }
        let operands: Vec<BasicMetadataValueEnum> = operands.iter().map(|&value| value.into()).collect();
        self.builder.build_call(function, &operands, "").map_err(builder_error)
    }

    /// Emits a call of an intrinsic that is not overloaded, with `i32` operands and an `i32` result.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic, it takes other operands, or its result is not an
    /// integer.
    pub fn call_i32_intrinsic(
        &self,
        intrinsic: &str,
        operands: &[IntValue<'ctx>],
    ) -> Result<IntValue<'ctx>, CompileError> {
        let operands: Vec<_> = operands.iter().map(|value| value.as_basic_value_enum()).collect();
        self.expect_integer_result(intrinsic, self.call_intrinsic(intrinsic, &[], &operands)?)
    }

    /// Emits a call of an intrinsic that is not overloaded, with `i32` operands; returns the two integers of its
    /// result.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic, it takes other operands, or its result is not a pair
    /// of integers.
    pub fn call_pair_intrinsic(
        &self,
        intrinsic: &str,
        operands: &[IntValue<'ctx>],
    ) -> Result<[IntValue<'ctx>; 2], CompileError> {
        let operands: Vec<_> = operands.iter().map(|value| value.as_basic_value_enum()).collect();
        let Some(BasicValueEnum::StructValue(pair)) = self.call_intrinsic(intrinsic, &[], &operands)? else {
            return Err(CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` returns no pair")));
        };
        let half = |index| {
            let half = self.builder.build_extract_value(pair, index, "").map_err(builder_error)?;
            self.expect_integer_result(intrinsic, Some(half))
        };
        Ok([half(0)?, half(1)?])
    }

    /// Unwraps the integer result of a call of `intrinsic`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if `result` is not an integer.
    pub fn expect_integer_result(
        &self,
        intrinsic: &str,
        result: Option<BasicValueEnum<'ctx>>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        match result {
            Some(BasicValueEnum::IntValue(value)) => Ok(value),
            _ => Err(CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` returns no integer"))),
        }
    }

    /// Emits the conversion of a pointer to shared memory to an `i32` address.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn shared_address(&self, pointer: PointerValue<'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_ptr_to_int(pointer, self.context.i32_type(), "").map_err(builder_error)
    }

    /// Emits the bitwise and of a value with a constant.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn and(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_and(a, self.i32(b), "").map_err(builder_error)
    }

    /// Emits the bitwise negation of `a`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn not(&self, a: IntValue<'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_not(a, "").map_err(builder_error)
    }

    /// Emits `a ^ b`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn xor(&self, a: IntValue<'ctx>, b: IntValue<'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_xor(a, b, "").map_err(builder_error)
    }

    /// Emits `a << b`, for `b` below 32.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn shift_left(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_left_shift(a, self.i32(b), "").map_err(builder_error)
    }

    /// Emits a logical right shift `a >> b`, for `b` below 32.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn shift_right(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_right_shift(a, self.i32(b), false, "").map_err(builder_error)
    }

    /// Emits the low word of an integer of 32 or more bits.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn truncate_to_word(&self, a: IntValue<'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_int_truncate_or_bit_cast(a, self.context.i32_type(), "").map_err(builder_error)
    }

    /// Emits an addition of a constant.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn add(&self, a: IntValue<'ctx>, b: u32) -> Result<IntValue<'ctx>, CompileError> {
        self.builder.build_int_add(a, a.get_type().const_int(b.into(), false), "").map_err(builder_error)
    }

    /// Emits a select, which yields `a` if the condition (`i1`) is true, otherwise `b`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn select(
        &self,
        condition: IntValue<'ctx>,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.builder.build_select(condition, a, b, "").map_err(builder_error)
    }

    /// Emits a select, which yields `b` if `a` is zero, otherwise `c`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn select_if_zero(
        &self,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        c: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let zero = a.get_type().const_zero();
        let condition =
            self.builder.build_int_compare(inkwell::IntPredicate::EQ, a, zero, "").map_err(builder_error)?;
        let chosen = self.builder.build_select(condition, b, c, "").map_err(builder_error)?;
        self.expect_integer_result("select", Some(chosen))
    }

    /// Emits a call of an intrinsic with one operand, whose type selects the overload and is the result's type.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic, it takes other operands, or it has no result.
    pub fn call_intrinsic_overloaded_by_operand(
        &self,
        intrinsic: &str,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let result = self.call_intrinsic(intrinsic, &[value.get_type()], &[value])?;
        result.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` has no result")))
    }

    /// Emits a call of an intrinsic that is not overloaded and computes its result from its operands alone, for all
    /// values of them. LLVM may execute it where the kernel would not, so that it can move it out of loops.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if this LLVM lacks the intrinsic, it takes other operands, or it has no result.
    pub fn call_value_intrinsic(
        &self,
        intrinsic: &str,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let call = self.issue_intrinsic(intrinsic, &[], operands)?;
        if let Some(function) = call.get_called_fn_value() {
            let kind = Attribute::get_named_enum_kind_id("speculatable");
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
        let result = call.try_as_basic_value().basic();
        result.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` has no result")))
    }

    /// Emits a load of an `i32` at `bytes` bytes from a pointer. Nothing may write that memory during the kernel, since
    /// LLVM may move the load anywhere.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn load_i32(&self, pointer: PointerValue<'ctx>, bytes: u32) -> Result<IntValue<'ctx>, CompileError> {
        let address = ffi::ptr_add(&self.builder, self.context, pointer, self.i32(bytes)).map_err(builder_error)?;
        let loaded = self.builder.build_load(self.context.i32_type(), address, "").map_err(builder_error)?;
        self.expect_integer_result("load", Some(loaded))
    }

    /// Emits a fence. `scope` is LLVM's name of a synchronization scope. `relaxation` is a key and value of LLVM's
    /// memory-model relaxation annotations, e.g. to restrict the fence to one address space.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn fence(
        &self,
        ordering: FenceOrdering,
        scope: &str,
        relaxation: Option<(&str, &str)>,
    ) -> Result<(), CompileError> {
        let ordering = match ordering {
            FenceOrdering::Acquire => AtomicOrdering::Acquire,
            FenceOrdering::Release => AtomicOrdering::Release,
            FenceOrdering::AcquireRelease => AtomicOrdering::AcquireRelease,
        };
        let fence = ffi::fence(&self.builder, self.context, ordering, scope);
        let fence = fence.ok_or_else(|| builder_error(BuilderError::UnsetPosition))?;
        if let Some((prefix, suffix)) = relaxation {
            let texts = [prefix, suffix].map(|text| self.context.metadata_string(text).into());
            let kind = self.context.get_kind_id("mmra");
            let set = fence.set_metadata(self.context.metadata_node(&texts), kind);
            set.map_err(|error| CompileError::Backend(format!("LLVM rejected the annotation of a fence: {error}")))?;
        }
        Ok(())
    }

    /// Emits a marker: no code, but LLVM's passes over machine code cannot move memory accesses across it. Without it,
    /// these passes move loads across fences and barriers (llvm-project issue 181708); passes over LLVM IR do not.
    ///
    /// In the assembly, the marker is a comment with `name` and a running number, by which tests find the barriers of a
    /// kernel.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    pub fn emit_access_order_marker(&self, name: &str) -> Result<(), CompileError> {
        let number = self.synchronizations.get();
        self.synchronizations.set(number + 1);
        self.marker(&format!("; {name} {number}"))
    }

    /// Returns the LLVM type of `count` integers of `bits` bits (a scalar if `count` is 1); `None` for other widths
    /// than 1, 8, 16, 32, 64 and 128.
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
