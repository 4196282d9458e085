//! Loads, stores and addresses.

use inkwell::basic_block::BasicBlock;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, PointerValue};
use tilewright_kernel::{Element, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid, unsupported};

use crate::emitter::refused;
use crate::ffi;
use crate::translate::{Body, Typed};

/// Code generators look at all stores that follow each other for those that could be one, in a time that grows with the square of
/// their number. After so many an empty piece of assembly, which nothing is moved across, begins anew.
const STORES_TOGETHER: usize = 256;

/// The blocks of a predicated access: where it happens, and where the lanes meet again.
struct Predicated<'ctx> {
    before: BasicBlock<'ctx>,
    access: BasicBlock<'ctx>,
    after: BasicBlock<'ctx>,
}

impl<'ctx> Body<'_, 'ctx> {
    pub(crate) fn advance(&mut self, pointer: Value, bytes: Value) -> Result<Typed<'ctx>, CompileError> {
        let (space, pointer) = self.pointer(pointer)?;
        let bytes = self.value(bytes)?;
        match (bytes.ty, bytes.value) {
            (Type::Scalar(Element::I32 | Element::I64), BasicValueEnum::IntValue(bytes)) => {
                let value = ffi::advance(&self.emit.builder, self.emit.context, pointer, bytes).map_err(refused)?;
                Ok(Typed::new(Type::Pointer(space), value.into()))
            }
            _ => Err(invalid(format!("a pointer is moved by an i32 or i64, not by a {}", bytes.ty))),
        }
    }

    pub(crate) fn load(
        &mut self,
        ty: Type,
        pointer: Value,
        predicate: Option<Value>,
        offset: i32,
        alignment: u32,
    ) -> Result<Typed<'ctx>, CompileError> {
        let stored = self.stored_type(ty)?;
        let address = self.address(pointer, offset, alignment)?;
        let mut value = self.zero_unless(predicate, stored, |body| {
            let loaded = body.emit.builder.build_load(stored, address, "").map_err(refused)?;
            body.set_alignment(loaded.as_instruction_value(), alignment)?;
            Ok(loaded)
        })?;
        if ty == Type::Scalar(Element::I1) {
            let required = self.llvm_type(ty)?;
            value = self.emit.builder.build_cast(InstructionOpcode::Trunc, value, required, "").map_err(refused)?;
        }
        Ok(Typed::new(ty, value))
    }

    pub(crate) fn store(
        &mut self,
        pointer: Value,
        value: Value,
        predicate: Option<Value>,
        offset: i32,
        alignment: u32,
    ) -> Result<(), CompileError> {
        let value = self.value(value)?;
        let stored = self.stored_type(value.ty)?;
        let address = self.address(pointer, offset, alignment)?;
        let mut bits = value.value;
        if value.ty == Type::Scalar(Element::I1) {
            bits = self.emit.builder.build_cast(InstructionOpcode::ZExt, bits, stored, "").map_err(refused)?;
        }
        if predicate.is_none() {
            self.stores += 1;
            if self.stores.is_multiple_of(STORES_TOGETHER) {
                self.emit.ordered_assembly("", "~{memory}", &[], &[])?;
            }
        }
        let blocks = self.begin_predicated(predicate)?;
        let store = self.emit.builder.build_store(address, bits).map_err(refused)?;
        self.set_alignment(Some(store), alignment)?;
        match blocks {
            Some(blocks) => self.end_predicated(&blocks),
            None => Ok(()),
        }
    }

    /// What an access gives where the predicate is true, zero elsewhere, where it is not made.
    pub(crate) fn predicated(
        &self,
        predicate: Option<Value>,
        ty: Type,
        access: impl FnOnce(&Self) -> Result<BasicValueEnum<'ctx>, CompileError>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.zero_unless(predicate, self.llvm_type(ty)?, access)
    }

    fn zero_unless(
        &self,
        predicate: Option<Value>,
        ty: BasicTypeEnum<'ctx>,
        access: impl FnOnce(&Self) -> Result<BasicValueEnum<'ctx>, CompileError>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let blocks = self.begin_predicated(predicate)?;
        let value = access(self)?;
        let Some(blocks) = blocks else { return Ok(value) };
        self.end_predicated(&blocks)?;
        let phi = self.emit.builder.build_phi(ty, "").map_err(refused)?;
        phi.add_incoming(&[(&ty.const_zero(), blocks.before), (&value, blocks.access)]);
        Ok(phi.as_basic_value())
    }

    /// The type that a value has in memory: an `i1` takes a byte.
    fn stored_type(&self, ty: Type) -> Result<BasicTypeEnum<'ctx>, CompileError> {
        match ty {
            Type::Scalar(Element::I1) => Ok(self.emit.context.i8_type().into()),
            Type::Vector(Element::I1, _) => Err(unsupported("vectors of i1 in memory")),
            Type::Pointer(_) => Err(unsupported("pointers in memory")),
            _ => self.llvm_type(ty),
        }
    }

    fn address(&self, pointer: Value, offset: i32, alignment: u32) -> Result<PointerValue<'ctx>, CompileError> {
        if !alignment.is_power_of_two() {
            return Err(invalid(format!("alignment {alignment} is no power of two")));
        }
        let (_, pointer) = self.pointer(pointer)?;
        if offset == 0 {
            return Ok(pointer);
        }
        let offset = self.emit.context.i64_type().const_int(i64::from(offset).cast_unsigned(), true);
        ffi::advance(&self.emit.builder, self.emit.context, pointer, offset).map_err(refused)
    }

    fn set_alignment(&self, access: Option<InstructionValue<'ctx>>, alignment: u32) -> Result<(), CompileError> {
        let refused = || CompileError::Backend("LLVM refused the alignment of a memory access".to_owned());
        access.ok_or_else(refused)?.set_alignment(alignment).map_err(|_| refused())
    }

    /// Branches to a block of its own where there is a predicate; the builder stands where the access
    /// belongs.
    fn begin_predicated(&self, predicate: Option<Value>) -> Result<Option<Predicated<'ctx>>, CompileError> {
        let Some(predicate) = predicate else { return Ok(None) };
        let predicate = self.integer(predicate, Element::I1)?;
        let before = self.block()?;
        let access = self.emit.context.append_basic_block(self.function, "access");
        let after = self.emit.context.append_basic_block(self.function, "after");
        self.emit.builder.build_conditional_branch(predicate, access, after).map_err(refused)?;
        self.emit.builder.position_at_end(access);
        Ok(Some(Predicated { before, access, after }))
    }

    fn end_predicated(&self, blocks: &Predicated<'ctx>) -> Result<(), CompileError> {
        self.emit.builder.build_unconditional_branch(blocks.after).map_err(refused)?;
        self.emit.builder.position_at_end(blocks.after);
        Ok(())
    }

    /// The block that is being appended to.
    pub(crate) fn block(&self) -> Result<BasicBlock<'ctx>, CompileError> {
        let block = self.emit.builder.get_insert_block();
        block.ok_or_else(|| refused(inkwell::builder::BuilderError::UnsetPosition))
    }
}
