//! Emits atomic read-modify-write operations as LLVM instructions.

use inkwell::values::{BasicValue, BasicValueEnum};
use tilewright_kernel::{Atomic, Element, MemoryScope, MemorySpace, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid_module_error;

use crate::AtomicUpdate;
use crate::body::{Body, Typed};
use crate::emitter::builder_error;
use crate::ffi;
use crate::ordered::Ordered;

impl<'ctx> Body<'_, 'ctx> {
    pub(crate) fn atomic_rmw(
        &mut self,
        op: Atomic,
        pointer: Value,
        value: Value,
        how: Ordered,
        is_used: bool,
    ) -> Result<Typed<'ctx>, CompileError> {
        let (space, address) = self.pointer(pointer)?;
        let value = self.value(value)?;
        self.check_atomic_type(op, space, value.ty)?;
        let how = self.release_before(how)?;
        let (order, scope) = (how.order, how.scope);
        let predicate = how.predicate.map(|predicate| self.integer(predicate, Element::I1)).transpose()?;
        let (ty, pointer, operand) = (value.ty, address, value.value);
        let written = AtomicUpdate { op, space, pointer, ty, value: operand, order, scope, predicate, is_used };
        if let Some(old) = self.dialect.atomic(&self.emit, &written)? {
            return Ok(Typed::new(value.ty, old));
        }
        let scope = self.dialect.memory_scope(scope);
        let old = self.predicated(how.predicate, value.ty, |body| {
            let insertion_point = (&body.emit.builder, body.emit.context);
            let old = ffi::atomic_rmw(insertion_point, op, address, value.value, how.ordering(), scope);
            let old = old.ok_or_else(|| builder_error(inkwell::builder::BuilderError::UnsetPosition))?;
            body.annotate(old, space, how.scope)?;
            Ok(old)
        })?;
        Ok(Typed::new(value.ty, old))
    }

    pub(crate) fn atomic_compare_exchange(
        &mut self,
        pointer: Value,
        expected: Value,
        value: Value,
        how: Ordered,
    ) -> Result<Typed<'ctx>, CompileError> {
        let (space, address) = self.pointer(pointer)?;
        let value = self.value(value)?;
        let expected = self.value_of(expected, value.ty)?;
        self.check_atomic_type(Atomic::Exchange, space, value.ty)?;
        let how = self.release_before(how)?;
        let scope = self.dialect.memory_scope(how.scope);
        let old = self.predicated(how.predicate, value.ty, |body| {
            let insertion_point = (&body.emit.builder, body.emit.context);
            let pair = ffi::compare_exchange(insertion_point, address, [expected, value.value], how.ordering(), scope);
            let pair = pair.ok_or_else(|| builder_error(inkwell::builder::BuilderError::UnsetPosition))?;
            body.emit.builder.build_extract_value(pair, 0, "").map_err(builder_error)
        })?;
        Ok(Typed::new(value.ty, old))
    }

    /// Emits the release part of an atomic operation as a fence before it, if the dialect requires that. Returns `how`
    /// with the memory order that the atomic operation must still have.
    fn release_before(&self, how: Ordered) -> Result<Ordered, CompileError> {
        let separate = how.releases() && self.dialect.release(&self.emit, how.scope)?;
        Ok(if separate { how.without_release() } else { how })
    }

    fn check_atomic_type(&self, op: Atomic, space: MemorySpace, ty: Type) -> Result<(), CompileError> {
        let reaches = match ty {
            Type::Scalar(_) => space != MemorySpace::Cluster,
            _ => space == MemorySpace::Global,
        };
        match ty.element() {
            Some(element) if op.supports_element(element) && reaches => Ok(()),
            _ => Err(invalid_module_error(format!("atomic `{}` of a {ty} in {} memory", op.name(), space.name()))),
        }
    }

    /// Attaches the dialect's metadata about the accessed memory to the atomic operation that returned `old`.
    fn annotate(&self, old: BasicValueEnum<'ctx>, space: MemorySpace, scope: MemoryScope) -> Result<(), CompileError> {
        let Some(instruction) = old.as_instruction_value() else { return Ok(()) };
        for name in self.dialect.atomic_annotations(space, scope) {
            let set =
                instruction.set_metadata(self.emit.context.metadata_node(&[]), self.emit.context.get_kind_id(name));
            set.map_err(|error| CompileError::Backend(format!("LLVM rejected the annotation `{name}`: {error}")))?;
        }
        Ok(())
    }
}
