//! Emits loads and stores of values as SPIR-V.

use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, Op, StorageClass, Word};
use tilewright_kernel::{Cast, Element, MemorySpace, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid_module_error;

use super::emit::Emitter;
use super::emitted::{EmittedValue, MAX_VECTOR_WIDTH};

/// A load or store by one lane: its address and alignment.
pub(super) struct Access<'a> {
    /// The base address, in global or shared memory.
    pub pointer: &'a EmittedValue,
    /// A constant offset in bytes from the base address.
    pub offset: i32,
    /// Guaranteed alignment in bytes of the base address plus the offset.
    pub alignment: u32,
    /// Id of the kernel's variable in shared memory; `None` if the kernel uses no shared memory.
    pub shared: Option<Word>,
}

/// Returns the type by which a load or store moves a value of type `ty`. It is the value's own type, or a vector of
/// narrower integers if `alignment` (in bytes) is smaller than an element. Booleans are packed eight to a byte.
fn memory_type(ty: Type, alignment: u32) -> Result<Type, CompileError> {
    let element =
        ty.element().ok_or_else(|| invalid_module_error(format!("{ty} in memory; only scalars and vectors are")))?;
    if element == Element::I1 {
        return Ok(Type::vector_or_scalar(Element::I8, ty.bits().div_ceil(8)));
    }
    let aligned = alignment.saturating_mul(8);
    match Element::integer_of_width(aligned).filter(|_| aligned < element.bits()) {
        Some(integer) => Ok(Type::vector_or_scalar(integer, ty.bits() / aligned)),
        None => Ok(ty),
    }
}

/// Returns the alignment in bytes of an address that is `bytes` above an address aligned to `alignment`.
fn alignment_above(alignment: u32, bytes: i64) -> u32 {
    if bytes == 0 { alignment } else { alignment.min(1 << bytes.trailing_zeros().min(31)) }
}

impl Emitter {
    /// Emits the load of a value of type `ty`, in several instructions if it has more than 16 elements.
    pub(super) fn load(&mut self, access: &Access<'_>, ty: Type) -> Result<EmittedValue, CompileError> {
        check_alignment(access.alignment)?;
        let memory = memory_type(ty, access.alignment)?;
        let id_type = self.id_type(memory);
        let vector_bytes = i64::from(memory.bits() / 8 / memory.element_count().div_ceil(MAX_VECTOR_WIDTH));
        let mut ids = Vec::new();
        for index in 0..i64::from(memory.element_count().div_ceil(MAX_VECTOR_WIDTH)) {
            let address = self.address(access, id_type, index * vector_bytes)?;
            let aligned = aligned(alignment_above(access.alignment, index * vector_bytes));
            let operands = [vec![Operand::IdRef(address)], aligned].concat();
            ids.push(self.with_operands(Op::Load, id_type, operands)?);
        }
        self.read_as(&EmittedValue::new(memory, ids), ty)
    }

    /// Emits the store of a value, in several instructions if it has more than 16 elements.
    pub(super) fn store(&mut self, access: &Access<'_>, value: &EmittedValue) -> Result<(), CompileError> {
        check_alignment(access.alignment)?;
        let memory = self.written_as(value, memory_type(value.ty, access.alignment)?)?;
        let id_type = self.id_type(memory.ty);
        let vector_bytes = i64::from(memory.ty.bits() / 8) / memory.ids.len().max(1) as i64;
        for (index, &id) in (0..).zip(&memory.ids) {
            let address = self.address(access, id_type, index * vector_bytes)?;
            let aligned = aligned(alignment_above(access.alignment, index * vector_bytes));
            let operands = [vec![Operand::IdRef(address), Operand::IdRef(id)], aligned].concat();
            self.effect(Op::Store, operands)?;
        }
        Ok(())
    }

    fn read_as(&mut self, memory: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        if ty.bits() >= 8 {
            return self.bits(memory, ty);
        }
        if ty.element_count() == 1 {
            let is_set = self.lowest_bit(Element::I8, 1, memory.scalar()?)?;
            return Ok(EmittedValue::new(ty, vec![is_set]));
        }
        let bits = self.bits(memory, Type::Vector(Element::I1, 8))?;
        let elements = self.elements(&bits)?;
        self.gather(ty, elements.get(..ty.element_count() as usize).unwrap_or_default())
    }

    fn written_as(&mut self, value: &EmittedValue, memory: Type) -> Result<EmittedValue, CompileError> {
        if value.ty.bits() >= 8 {
            return self.bits(value, memory);
        }
        if value.ty.element_count() == 1 {
            return self.cast(Cast::ExtendU, value, memory);
        }
        let mut elements = self.elements(value)?;
        let unset = self.constant(Element::I1, 1, 0);
        elements.resize(8, unset);
        let bits = self.gather(Type::Vector(Element::I1, 8), &elements)?;
        self.bits(&bits, memory)
    }

    /// Emits the address of an access plus `bytes` bytes, as a pointer to the type `id_type`.
    pub(super) fn address(&mut self, access: &Access<'_>, id_type: Word, bytes: i64) -> Result<Word, CompileError> {
        let bytes = i64::from(access.offset) + bytes;
        let base = access.pointer.scalar()?;
        let (class, byte) = match access.pointer.ty {
            Type::Pointer(MemorySpace::Global) => (StorageClass::CrossWorkgroup, self.global_byte(base, bytes)?),
            Type::Pointer(MemorySpace::Shared) => {
                let shared = access.shared.ok_or_else(|| invalid_module_error("the kernel has no shared memory"))?;
                (StorageClass::Workgroup, self.shared_byte(shared, base, bytes)?)
            }
            ty => return Err(invalid_module_error(format!("{ty} used as a pointer"))),
        };
        let byte_pointer = self.byte_pointer(class);
        let pointer = self.pointer_type(class, id_type);
        if pointer == byte_pointer { Ok(byte) } else { self.value(Op::Bitcast, pointer, [byte]) }
    }

    fn global_byte(&mut self, base: Word, bytes: i64) -> Result<Word, CompileError> {
        if bytes == 0 {
            return Ok(base);
        }
        let ty = self.byte_pointer(StorageClass::CrossWorkgroup);
        let distance = self.constant(Element::I64, 1, bytes.cast_unsigned());
        self.value(Op::PtrAccessChain, ty, [base, distance])
    }

    fn shared_byte(&mut self, shared: Word, base: Word, bytes: i64) -> Result<Word, CompileError> {
        let mut offset = base;
        if bytes != 0 {
            // Shared-memory offsets have 32 bits and wrap around.
            let distance = self.u32(bytes as u32);
            let ty = self.element_type(Element::I32, 1);
            offset = self.value(Op::IAdd, ty, [base, distance])?;
        }
        let ty = self.byte_pointer(StorageClass::Workgroup);
        self.value(Op::AccessChain, ty, [shared, offset])
    }
}

fn check_alignment(alignment: u32) -> Result<(), CompileError> {
    if alignment.is_power_of_two() {
        Ok(())
    } else {
        Err(invalid_module_error(format!("alignment {alignment} is not a power of two")))
    }
}

fn aligned(alignment: u32) -> Vec<Operand> {
    vec![Operand::MemoryAccess(MemoryAccess::ALIGNED), Operand::LiteralBit32(alignment)]
}
