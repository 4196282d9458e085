//! Emits loads, stores and pointer arithmetic as LLVM instructions.

use inkwell::basic_block::BasicBlock;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, PointerValue};
use tilewright_kernel::{Element, MemorySpace, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use crate::body::{Body, Typed};
use crate::emitter::builder_error;
use crate::ffi;
use crate::integer_origin::{before_extension, operands};
use crate::invariant_offset;
use crate::lane_access::LaneAccess;
use crate::scalar_base::ScalarBase;
use crate::{PredicatedAccess, ScalarAddress};

/// Maximum number of consecutive stores. LLVM's store merging takes time quadratic in the length of a sequence of
/// stores, so empty inline assembly interrupts longer ones.
const STORES_TOGETHER: usize = 256;

/// The blocks of a predicated access: `before` ends with the branch, `access` has the access, and `after` follows both.
#[derive(Clone, Copy)]
pub(crate) struct Predicated<'ctx> {
    predicate: Value,
    before: BasicBlock<'ctx>,
    access: BasicBlock<'ctx>,
    after: BasicBlock<'ctx>,
}

/// Splits an offset in bytes that is a product of two extended 32-bit numbers times the size of an element, such as
/// `program * stride * 2`; returns the product and the size. As the index of an array of such elements, the product is
/// a single multiplication. LLVM would reassociate the offset to `(program * 2) * stride`, whose first factor has more
/// than 32 bits.
fn split_scaled_product(bytes: IntValue<'_>) -> Option<(IntValue<'_>, u32)> {
    let [index, size] = operands(bytes, InstructionOpcode::Mul)?;
    let size = u32::try_from(size?.get_zero_extended_constant()?).ok()?;
    let multiplied = operands(index?, InstructionOpcode::Mul)?;
    let is_exact = bytes.get_type().get_bit_width() == 64;
    let are_words = multiplied.into_iter().all(|operand| operand.is_some_and(is_extended_word));
    (is_exact && are_words).then_some((index?, size))
}

/// Returns whether an integer is an extended one of at most 32 bits.
fn is_extended_word(value: IntValue<'_>) -> bool {
    before_extension(value).is_some_and(|(_, narrow)| narrow.get_type().get_bit_width() <= 32)
}

fn is_phi(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == InstructionOpcode::Phi
}

/// Whether an instruction behind predicated accesses is one of their results.
fn is_result(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), InstructionOpcode::Phi | InstructionOpcode::ExtractElement)
}

/// Returns the type of vectors with one element of this type. LLVM does not move the first use of an element of such a
/// vector into the branch of the load, where the use would wait for the load.
fn vector_of_one(ty: BasicTypeEnum<'_>) -> BasicTypeEnum<'_> {
    match ty {
        BasicTypeEnum::IntType(ty) => ty.vec_type(1).into(),
        BasicTypeEnum::FloatType(ty) => ty.vec_type(1).into(),
        other => other,
    }
}

impl<'ctx> Body<'_, 'ctx> {
    /// Emits the addition of bytes to a pointer. If the pointer has an offset of bits of the thread's index, and some
    /// of its bits and bits of `bytes` are one field, the sum of both is added to the pointer without this offset.
    pub(crate) fn ptr_add(&mut self, pointer: Value, bytes: Value) -> Result<Typed<'ctx>, CompileError> {
        let before = self.value(pointer)?;
        let (space, mut address) = self.pointer(pointer)?;
        let bytes = self.value(bytes)?;
        let (Type::Scalar(Element::I32 | Element::I64), BasicValueEnum::IntValue(mut offset)) = (bytes.ty, bytes.value)
        else {
            return Err(invalid_module_error(format!("a pointer is moved by an i32 or i64, not by a {}", bytes.ty)));
        };
        let mut thread = bytes.thread;
        if let (Some(base), Some(sum)) = (before.base, before.thread.zip(thread).and_then(|(a, b)| a.merged(b)))
            && let Some(value) = self.thread_sum(&self.emit, sum)?
        {
            (address, offset, thread) = (base, value, Some(sum));
        }
        if let Some((base, rest)) = self.add_invariant(address, offset)? {
            (address, offset) = (base, rest);
        }
        let element = split_scaled_product(offset).unwrap_or((offset, 1));
        let value =
            ffi::element_pointer(&self.emit.builder, self.emit.context, address, element).map_err(builder_error)?;
        Ok(Typed { thread, base: Some(address), ..Typed::new(Type::Pointer(space), value.into()) })
    }

    /// Adds the part of an offset that the current loop does not change, if the target adds such parts first; returns
    /// the sum and the rest of the offset.
    fn add_invariant(
        &self,
        address: PointerValue<'ctx>,
        offset: IntValue<'ctx>,
    ) -> Result<Option<(PointerValue<'ctx>, IntValue<'ctx>)>, CompileError> {
        let Some(&header) = self.loops.last().filter(|_| self.dialect.adds_invariant_offsets_first()) else {
            return Ok(None);
        };
        let builder = &self.emit.builder;
        let scaled = operands(offset, InstructionOpcode::Mul);
        let (sum, size) = match scaled {
            Some([Some(sum), Some(size)]) if size.is_const() => (sum, Some(size)),
            _ => (offset, None),
        };
        let Some(parts) = invariant_offset::split(builder, header, sum)? else { return Ok(None) };
        let [first, rest] = parts.map(|part| size.map_or(Ok(part), |size| builder.build_int_mul(part, size, "")));
        let base = ffi::ptr_add(builder, self.emit.context, address, first.map_err(builder_error)?);
        Ok(Some((base.map_err(builder_error)?, rest.map_err(builder_error)?)))
    }

    pub(crate) fn load(
        &mut self,
        ty: Type,
        access: LaneAccess,
        other: Option<Value>,
    ) -> Result<Typed<'ctx>, CompileError> {
        let stored = self.stored_type(ty)?;
        let other = other.map_or_else(|| Ok(stored.const_zero()), |other| self.value_of(other, ty))?;
        self.ends_with_loads |= self.pointer(access.pointer)?.0 == MemorySpace::Global;
        let loaded = match self.predicated_access(access, ty)? {
            Some(predicated) => self.dialect.predicated_load(&self.emit, &predicated, other)?,
            None => None,
        };
        let mut value = loaded.map_or_else(|| self.plain_load(stored, access, other), Ok)?;
        if ty == Type::Scalar(Element::I1) {
            let required = self.llvm_type(ty)?;
            value =
                self.emit.builder.build_cast(InstructionOpcode::Trunc, value, required, "").map_err(builder_error)?;
        }
        Ok(Typed::new(ty, value))
    }

    /// Emits a load of a value of the LLVM type `stored`, in a branch if the access has a predicate.
    fn plain_load(
        &self,
        stored: BasicTypeEnum<'ctx>,
        access: LaneAccess,
        other: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let operands = [self.pointer(access.pointer)?.1.into(), other];
        let is_wrapped = access.predicate.is_some() && other == stored.const_zero() && !stored.is_vector_type();
        let ty = if is_wrapped { vector_of_one(stored) } else { stored };
        let other = if is_wrapped { ty.const_zero() } else { other };
        let loaded = self.or_other(access.predicate, other, Some(&operands), |body| {
            let address = body.address(access)?;
            let loaded = body.emit.builder.build_load(ty, address, "").map_err(builder_error)?;
            body.set_alignment(loaded.as_instruction_value(), access.alignment)?;
            Ok(loaded)
        })?;
        match loaded {
            BasicValueEnum::VectorValue(vector) if is_wrapped => {
                self.emit.builder.build_extract_element(vector, self.emit.i32(0), "").map_err(builder_error)
            }
            loaded => Ok(loaded),
        }
    }

    pub(crate) fn store(&mut self, access: LaneAccess, value: Value) -> Result<(), CompileError> {
        let value = self.value(value)?;
        let stored = self.stored_type(value.ty)?;
        self.global_stores += usize::from(self.pointer(access.pointer)?.0 == MemorySpace::Global);
        let mut bits = value.value;
        if value.ty == Type::Scalar(Element::I1) {
            bits = self.emit.builder.build_cast(InstructionOpcode::ZExt, bits, stored, "").map_err(builder_error)?;
        }
        if let Some(predicated) = self.predicated_access(access, value.ty)?
            && self.dialect.predicated_store(&self.emit, &predicated, bits)?
        {
            return Ok(());
        }
        if access.predicate.is_none() {
            self.stores += 1;
            if self.stores.is_multiple_of(STORES_TOGETHER) {
                self.emit.ordered_assembly("", "~{memory}", &[], &[])?;
            }
        }
        let blocks = self.begin_predicated(access.predicate, Some(&[self.pointer(access.pointer)?.1.into(), bits]))?;
        let address = self.address(access)?;
        let store = self.emit.builder.build_store(address, bits).map_err(builder_error)?;
        self.set_alignment(Some(store), access.alignment)?;
        if let Some(blocks) = blocks {
            self.emit.builder.position_at_end(blocks.after);
        }
        Ok(())
    }

    /// Emits the memory access that `access` emits, so that it executes only if the predicate is true (or `None`). The
    /// result, of type `ty`, is zero otherwise.
    pub(crate) fn predicated(
        &self,
        predicate: Option<Value>,
        ty: Type,
        access: impl FnOnce(&Self) -> Result<BasicValueEnum<'ctx>, CompileError>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.or_other(predicate, self.llvm_type(ty)?.const_zero(), None, access)
    }

    /// Converts an access to the form that a dialect with predicated instructions takes. Returns `None` if the access
    /// has no predicate, or if its alignment is smaller than the value.
    fn predicated_access(&self, access: LaneAccess, ty: Type) -> Result<Option<PredicatedAccess<'ctx>>, CompileError> {
        let Some(predicate) = access.predicate else { return Ok(None) };
        let (space, pointer) = self.pointer(access.pointer)?;
        let ty = if ty == Type::Scalar(Element::I1) { Type::Scalar(Element::I8) } else { ty };
        let predicate = self.integer(predicate, Element::I1)?;
        let is_aligned = u64::from(access.alignment) * 8 >= u64::from(ty.bits());
        // A branch on a scalar predicate skips what only the access needs.
        let is_uniform = access.predicate.is_some_and(|predicate| self.scalar_bases.is_scalar(predicate));
        let scalar = if is_uniform { None } else { self.scalar_address(access.pointer)? };
        Ok(is_aligned.then_some(PredicatedAccess { space, pointer, offset: access.offset, predicate, ty, scalar }))
    }

    /// Returns an address as a scalar address plus an offset; `None` if it is not known to be such a sum.
    fn scalar_address(&self, pointer: Value) -> Result<Option<ScalarAddress<'ctx>>, CompileError> {
        let Some(ScalarBase { pointer, bytes, greatest, store_predicates }) = self.scalar_bases.get(pointer) else {
            return Ok(None);
        };
        let (Type::Scalar(element), Ok(greatest_offset)) = (self.value(bytes)?.ty, u32::try_from(greatest)) else {
            return Ok(None);
        };
        let (offset, (_, base)) = (self.integer(bytes, element)?, self.pointer(pointer)?);
        Ok(Some(ScalarAddress { base, offset, greatest_offset, store_predicates }))
    }

    /// Emits the memory access that `access` emits, so that it executes only if the predicate is true or `None`. If the
    /// predicate is false, the result is `other`. `operands` are as in [`Self::begin_predicated`].
    fn or_other(
        &self,
        predicate: Option<Value>,
        other: BasicValueEnum<'ctx>,
        operands: Option<&[BasicValueEnum<'ctx>]>,
        access: impl FnOnce(&Self) -> Result<BasicValueEnum<'ctx>, CompileError>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let blocks = self.begin_predicated(predicate, operands)?;
        let value = access(self)?;
        let Some(blocks) = blocks else { return Ok(value) };
        match blocks.after.get_instructions().find(|instruction| !is_phi(*instruction)) {
            Some(first) => self.emit.builder.position_before(&first),
            None => self.emit.builder.position_at_end(blocks.after),
        }
        let phi = self.emit.builder.build_phi(other.get_type(), "").map_err(builder_error)?;
        phi.add_incoming(&[(&other, blocks.before), (&value, blocks.access)]);
        self.emit.builder.position_at_end(blocks.after);
        Ok(phi.as_basic_value())
    }

    /// Returns the LLVM type of a value in memory; an `i1` is stored in a byte.
    fn stored_type(&self, ty: Type) -> Result<BasicTypeEnum<'ctx>, CompileError> {
        match ty {
            Type::Scalar(Element::I1) => Ok(self.emit.context.i8_type().into()),
            Type::Vector(Element::I1, _) => Err(unsupported_kernel_error("vectors of i1 in memory")),
            Type::Pointer(_) => Err(unsupported_kernel_error("pointers in memory")),
            _ => self.llvm_type(ty),
        }
    }

    fn address(&self, access: LaneAccess) -> Result<PointerValue<'ctx>, CompileError> {
        let LaneAccess { pointer, offset, alignment, .. } = access;
        if !alignment.is_power_of_two() {
            return Err(invalid_module_error(format!("alignment {alignment} is not a power of two")));
        }
        let (_, pointer) = self.pointer(pointer)?;
        if offset == 0 {
            return Ok(pointer);
        }
        let offset = self.emit.context.i64_type().const_int(i64::from(offset).cast_unsigned(), true);
        ffi::ptr_add(&self.emit.builder, self.emit.context, pointer, offset).map_err(builder_error)
    }

    fn set_alignment(&self, access: Option<InstructionValue<'ctx>>, alignment: u32) -> Result<(), CompileError> {
        let refused = || CompileError::Backend("LLVM rejected the alignment of a memory access".to_owned());
        access.ok_or_else(refused)?.set_alignment(alignment).map_err(|_| refused())
    }

    /// Positions the builder in a block that executes only if the predicate is true, and returns it with the blocks
    /// before and after it; `None` if there is no predicate. An access that directly follows others under the same
    /// predicate is in their block, if its `operands` are known and do not come from them.
    fn begin_predicated(
        &self,
        predicate: Option<Value>,
        operands: Option<&[BasicValueEnum<'ctx>]>,
    ) -> Result<Option<Predicated<'ctx>>, CompileError> {
        let Some(predicate) = predicate else { return Ok(None) };
        let before = self.block()?;
        let is_before = |operand: &BasicValueEnum<'ctx>| {
            operand.as_instruction_value().is_none_or(|origin| origin.get_parent() != Some(before))
        };
        let blocks = match self.predicated.get() {
            Some(last)
                if (last.predicate, last.after) == (predicate, before)
                    && before.get_instructions().all(is_result)
                    && operands.is_some_and(|operands| operands.iter().all(is_before)) =>
            {
                last
            }
            _ => self.append_predicated(predicate, before)?,
        };
        if let Some(end) = blocks.access.get_terminator() {
            self.emit.builder.position_before(&end);
        }
        self.predicated.set(Some(blocks));
        Ok(Some(blocks))
    }

    /// Ends the block `before` with a branch to a new block that executes only if the predicate is true.
    fn append_predicated(&self, predicate: Value, before: BasicBlock<'ctx>) -> Result<Predicated<'ctx>, CompileError> {
        let condition = self.integer(predicate, Element::I1)?;
        let [access, after] = ["access", "after"].map(|name| self.emit.context.append_basic_block(self.function, name));
        self.emit.builder.build_conditional_branch(condition, access, after).map_err(builder_error)?;
        self.emit.builder.position_at_end(access);
        self.emit.builder.build_unconditional_branch(after).map_err(builder_error)?;
        Ok(Predicated { predicate, before, access, after })
    }

    /// Returns the block that the builder is positioned in.
    pub(crate) fn block(&self) -> Result<BasicBlock<'ctx>, CompileError> {
        let block = self.emit.builder.get_insert_block();
        block.ok_or_else(|| builder_error(inkwell::builder::BuilderError::UnsetPosition))
    }
}
