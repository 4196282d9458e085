//! Emitted values: the SPIR-V ids that hold values of the kernel IR. A long vector is held in several parts (SPIR-V
//! vectors of at most 16 elements).

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};
use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{TypedValue, invalid_module_error, unsupported_kernel_error};

use super::emit::Emitter;

/// Maximum number of elements of a SPIR-V vector.
pub(super) const MAX_VECTOR_WIDTH: u32 = 16;

/// Maximum number of elements of a kernel-IR vector that this plugin accepts; far more than a lane's registers hold.
const MAX_COUNT: u32 = 4096;

/// A value of the kernel IR, with the SPIR-V ids that hold it.
#[derive(Debug, Clone)]
pub(super) struct EmittedValue {
    /// The value's type in the kernel IR.
    pub ty: Type,
    /// One id for each SPIR-V vector (of at most 16 elements) that holds elements, in order; scalars and pointers have
    /// one id.
    pub ids: Vec<Word>,
    /// The bits of each element if the value is a constant whose elements are all equal; `None` otherwise.
    pub constant: Option<u64>,
}

impl TypedValue for EmittedValue {
    fn ty(&self) -> Type {
        self.ty
    }
}

impl EmittedValue {
    pub(super) fn new(ty: Type, ids: Vec<Word>) -> Self {
        Self { ty, ids, constant: None }
    }

    /// Returns the id of a scalar or pointer; an error for vectors.
    pub(super) fn scalar(&self) -> Result<Word, CompileError> {
        match (self.ty, self.ids.as_slice()) {
            (Type::Scalar(_) | Type::Pointer(_), [id]) => Ok(*id),
            _ => Err(invalid_module_error(format!("a scalar was expected, found {}", self.ty))),
        }
    }

    /// Returns the element type of a scalar or vector; an error for pointers.
    pub(super) fn element(&self) -> Result<Element, CompileError> {
        self.ty
            .element()
            .ok_or_else(|| invalid_module_error(format!("a scalar or vector was expected, found {}", self.ty)))
    }

    /// Returns the number of elements in each SPIR-V vector that holds the value.
    pub(super) fn width(&self) -> u32 {
        vector_width(self.ty)
    }

    /// Returns the value if it has type `ty`, otherwise an error.
    pub(super) fn expect(&self, ty: Type) -> Result<&Self, CompileError> {
        if self.ty == ty {
            Ok(self)
        } else {
            Err(invalid_module_error(format!("{ty} was expected, found {}", self.ty)))
        }
    }
}

/// Returns the number of elements in each SPIR-V vector that holds a value of this type: at most 16.
pub(super) fn vector_width(ty: Type) -> u32 {
    ty.element_count().min(MAX_VECTOR_WIDTH)
}

/// Returns an error for types that are invalid, too large for a lane, or unsupported by Intel GPUs.
pub(super) fn check_type(ty: Type) -> Result<(), CompileError> {
    match ty {
        Type::Vector(_, count) if count < 2 || !count.is_power_of_two() => Err(invalid_module_error(format!(
            "type {ty}: the number of elements of a vector is a power of two, two or more"
        ))),
        Type::Vector(_, count) if count > MAX_COUNT => {
            Err(unsupported_kernel_error(format!("type {ty}: vectors have at most {MAX_COUNT} elements here")))
        }
        Type::Pending(..) => {
            Err(unsupported_kernel_error(format!("type {ty}: this target has no asynchronous operations")))
        }
        Type::TensorMap => Err(unsupported_kernel_error(format!("type {ty}: this target has no tensor maps"))),
        _ => Ok(()),
    }
}

impl Emitter {
    /// Returns the SPIR-V type of each id of a value of type `ty`. A shared pointer is a 32-bit byte offset into shared
    /// memory.
    pub(super) fn id_type(&mut self, ty: Type) -> Word {
        match ty {
            Type::Pointer(MemorySpace::Global) | Type::TensorMap => self.byte_pointer(StorageClass::CrossWorkgroup),
            Type::Pointer(MemorySpace::Shared | MemorySpace::Cluster) => self.element_type(Element::I32, 1),
            Type::Scalar(element) => self.element_type(element, 1),
            Type::Vector(element, _) | Type::Pending(element, _) => self.element_type(element, vector_width(ty)),
        }
    }

    /// Emits the extraction of all elements of a value, and returns one id for each.
    pub(super) fn elements(&mut self, emitted: &EmittedValue) -> Result<Vec<Word>, CompileError> {
        let width = emitted.width();
        if width == 1 {
            return Ok(emitted.ids.clone());
        }
        let ty = self.element_type(emitted.element()?, 1);
        let mut elements = Vec::with_capacity(emitted.ty.element_count() as usize);
        for &id in &emitted.ids {
            for index in 0..width {
                elements.push(self.extract(ty, id, index)?);
            }
        }
        Ok(elements)
    }

    /// Emits the extraction of element `index` from the SPIR-V vector `id`; `ty` is the element's type.
    pub(super) fn extract(&mut self, ty: Word, id: Word, index: u32) -> Result<Word, CompileError> {
        self.with_operands(Op::CompositeExtract, ty, vec![Operand::IdRef(id), Operand::LiteralBit32(index)])
    }

    /// Emits the construction of a value of type `ty` from its elements, which are one id each.
    pub(super) fn gather(&mut self, ty: Type, elements: &[Word]) -> Result<EmittedValue, CompileError> {
        let width = vector_width(ty);
        if width == 1 {
            return Ok(EmittedValue::new(ty, elements.to_vec()));
        }
        let id_type = self.id_type(ty);
        let mut ids = Vec::with_capacity(elements.len() / width as usize);
        for chunk in elements.chunks(width as usize) {
            let operands = chunk.iter().copied().map(Operand::IdRef).collect();
            ids.push(self.with_operands(Op::CompositeConstruct, id_type, operands)?);
        }
        Ok(EmittedValue::new(ty, ids))
    }

    /// Returns a value of type `ty` with arbitrary bits. `ty` is any type except a pointer to global memory.
    pub(super) fn unspecified_value(&mut self, ty: Type) -> EmittedValue {
        let id_type = self.id_type(ty);
        let id = self.undefined(id_type);
        EmittedValue::new(ty, vec![id; (ty.element_count() / vector_width(ty)) as usize])
    }

    /// Returns a constant whose elements all have the bits `bits`. `ty` is any type except a pointer to global memory.
    pub(super) fn constant_value(&mut self, ty: Type, bits: u64) -> EmittedValue {
        let element = ty.element().unwrap_or(Element::I32);
        let id = self.constant(element, vector_width(ty), bits);
        let ids = vec![id; (ty.element_count() / vector_width(ty)) as usize];
        EmittedValue { ty, ids, constant: Some(bits) }
    }
}
