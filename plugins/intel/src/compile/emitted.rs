//! Values of kernel IR as SPIR-V holds them: vectors in parts of at most sixteen elements.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};
use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{TypedValue, invalid, unsupported};

use super::emit::Emitter;

/// The most elements of a SPIR-V vector.
pub(super) const PART: u32 = 16;

/// The most elements of a kernel-IR vector; far more than the registers of any lane hold.
const MAX_COUNT: u32 = 4096;

/// A value.
#[derive(Debug, Clone)]
pub(super) struct EmittedValue {
    /// Its type.
    pub ty: Type,
    /// One id for each part, the first elements first; one for scalars and pointers.
    pub parts: Vec<Word>,
    /// The bits of each element where they are known.
    pub constant: Option<u64>,
}

impl TypedValue for EmittedValue {
    fn ty(&self) -> Type {
        self.ty
    }
}

impl EmittedValue {
    pub(super) fn new(ty: Type, parts: Vec<Word>) -> Self {
        Self { ty, parts, constant: None }
    }

    /// The id of a scalar or pointer.
    pub(super) fn scalar(&self) -> Result<Word, CompileError> {
        match (self.ty, self.parts.as_slice()) {
            (Type::Scalar(_) | Type::Pointer(_), [part]) => Ok(*part),
            _ => Err(invalid(format!("a scalar was expected, found {}", self.ty))),
        }
    }

    /// The element of a scalar or vector.
    pub(super) fn element(&self) -> Result<Element, CompileError> {
        self.ty.element().ok_or_else(|| invalid(format!("a scalar or vector was expected, found {}", self.ty)))
    }

    /// Elements of each part.
    pub(super) fn width(&self) -> u32 {
        part_width(self.ty)
    }

    /// Refuses a value of another type.
    pub(super) fn expect(&self, ty: Type) -> Result<&Self, CompileError> {
        if self.ty == ty { Ok(self) } else { Err(invalid(format!("{ty} was expected, found {}", self.ty))) }
    }
}

/// Elements of each part of a type.
pub(super) fn part_width(ty: Type) -> u32 {
    ty.count().min(PART)
}

/// Refuses types that are none, or that no lane can hold.
pub(super) fn check_type(ty: Type) -> Result<(), CompileError> {
    match ty {
        Type::Vector(_, count) if count < 2 || !count.is_power_of_two() => {
            Err(invalid(format!("type {ty}: the number of elements of a vector is a power of two, two or more")))
        }
        Type::Vector(_, count) if count > MAX_COUNT => {
            Err(unsupported(format!("type {ty}: vectors have at most {MAX_COUNT} elements here")))
        }
        Type::Pending(..) => Err(unsupported(format!("type {ty}: nothing is pending here"))),
        Type::TensorMap => Err(unsupported(format!("type {ty}: there are no maps of tensors here"))),
        _ => Ok(()),
    }
}

impl Emitter {
    /// The SPIR-V type of each part of a value. A shared pointer is a 32-bit offset.
    pub(super) fn part_type(&mut self, ty: Type) -> Word {
        match ty {
            Type::Pointer(MemorySpace::Global) | Type::TensorMap => self.byte_pointer(StorageClass::CrossWorkgroup),
            Type::Pointer(MemorySpace::Shared | MemorySpace::Cluster) => self.element_type(Element::I32, 1),
            Type::Scalar(element) => self.element_type(element, 1),
            Type::Vector(element, _) | Type::Pending(element, _) => self.element_type(element, part_width(ty)),
        }
    }

    /// The elements of a value, one id each.
    pub(super) fn elements(&mut self, emitted: &EmittedValue) -> Result<Vec<Word>, CompileError> {
        let width = emitted.width();
        if width == 1 {
            return Ok(emitted.parts.clone());
        }
        let ty = self.element_type(emitted.element()?, 1);
        let mut elements = Vec::with_capacity(emitted.ty.count() as usize);
        for &part in &emitted.parts {
            for index in 0..width {
                elements.push(self.extract(ty, part, index)?);
            }
        }
        Ok(elements)
    }

    /// One element of a part.
    pub(super) fn extract(&mut self, ty: Word, part: Word, index: u32) -> Result<Word, CompileError> {
        self.with_operands(Op::CompositeExtract, ty, vec![Operand::IdRef(part), Operand::LiteralBit32(index)])
    }

    /// A value of the given elements, one id each.
    pub(super) fn gather(&mut self, ty: Type, elements: &[Word]) -> Result<EmittedValue, CompileError> {
        let width = part_width(ty);
        if width == 1 {
            return Ok(EmittedValue::new(ty, elements.to_vec()));
        }
        let part_type = self.part_type(ty);
        let mut parts = Vec::with_capacity(elements.len() / width as usize);
        for chunk in elements.chunks(width as usize) {
            let operands = chunk.iter().copied().map(Operand::IdRef).collect();
            parts.push(self.with_operands(Op::CompositeConstruct, part_type, operands)?);
        }
        Ok(EmittedValue::new(ty, parts))
    }

    /// A constant of any type but a pointer to global memory.
    pub(super) fn constant_value(&mut self, ty: Type, bits: u64) -> EmittedValue {
        let element = ty.element().unwrap_or(Element::I32);
        let part = self.constant(element, part_width(ty), bits);
        let parts = vec![part; (ty.count() / part_width(ty)) as usize];
        EmittedValue { ty, parts, constant: Some(bits) }
    }
}
