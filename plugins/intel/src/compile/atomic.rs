//! Emits atomic operations and fences as SPIR-V.
//!
//! SPIR-V's core atomics are for integers only. A floating-point addition is a loop around a compare-exchange of the 32
//! or 64 bits that hold the number, because the extensions for it are not supported by every driver.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Capability, Op, Word};
use tilewright_kernel::{Atomic, Binary, Cast, Element, MemoryOrder, MemoryScope, MemorySpace, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid_module_error;

use super::emit::phi_operands;
use super::emitted::EmittedValue;
use super::kernel::Lowering;
use super::memory::Access;
use super::ordered::Ordered;

fn opcode(op: Atomic) -> Op {
    match op {
        Atomic::Add | Atomic::FAdd => Op::AtomicIAdd,
        Atomic::MinS => Op::AtomicSMin,
        Atomic::MaxS => Op::AtomicSMax,
        Atomic::MinU => Op::AtomicUMin,
        Atomic::MaxU => Op::AtomicUMax,
        Atomic::And => Op::AtomicAnd,
        Atomic::Or => Op::AtomicOr,
        Atomic::Xor => Op::AtomicXor,
        Atomic::Exchange => Op::AtomicExchange,
    }
}

impl Lowering<'_> {
    pub(super) fn atomic_rmw(
        &mut self,
        op: Atomic,
        pointer: Value,
        value: Value,
        how: Ordered,
    ) -> Result<EmittedValue, CompileError> {
        let value = self.get(value)?;
        self.check_atomic(op, value.ty)?;
        if op == Atomic::FAdd {
            return self.atomic_sum(pointer, &value, how);
        }
        let element = value.element()?;
        let (pointer, ty) = self.atomic_pointer(pointer, element)?;
        let [scope, semantics] = [how.scope(), how.semantics()].map(|bits| self.emitter.u32(bits));
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(semantics),
            Operand::IdRef(value.scalar()?),
        ];
        let old = self.emitter.with_operands(opcode(op), ty, operands)?;
        Ok(EmittedValue::new(value.ty, vec![old]))
    }

    pub(super) fn atomic_compare_exchange(
        &mut self,
        pointer: Value,
        expected: Value,
        value: Value,
        how: Ordered,
    ) -> Result<EmittedValue, CompileError> {
        let (expected, value) = (self.get(expected)?, self.get(value)?);
        self.check_atomic(Atomic::Exchange, value.ty)?;
        let expected = expected.expect(value.ty)?.scalar()?;
        let (pointer, ty) = self.atomic_pointer(pointer, value.element()?)?;
        let old = self.compare_exchange((pointer, ty), expected, value.scalar()?, how)?;
        Ok(EmittedValue::new(value.ty, vec![old]))
    }

    pub(super) fn fence(&mut self, scope: MemoryScope) -> Result<(), CompileError> {
        let how = Ordered { order: MemoryOrder::AcquireRelease, scope };
        let [scope, semantics] = [how.scope(), how.semantics()].map(|bits| self.emitter.u32(bits));
        self.emitter.effect(Op::MemoryBarrier, vec![Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)])
    }

    fn check_atomic(&self, op: Atomic, ty: Type) -> Result<(), CompileError> {
        match ty {
            Type::Scalar(element) if op.supports_element(element) => Ok(()),
            _ => Err(invalid_module_error(format!("atomic `{}` of {ty}", op.name()))),
        }
    }

    /// Returns the address in `pointer` as a SPIR-V pointer to an integer of the element's width, and the type of that
    /// integer.
    fn atomic_pointer(&mut self, pointer: Value, element: Element) -> Result<(Word, Word), CompileError> {
        let pointer = self.get(pointer)?;
        self.pointer_to_element(&pointer, element)
    }

    fn pointer_to_element(&mut self, pointer: &EmittedValue, element: Element) -> Result<(Word, Word), CompileError> {
        if element == Element::I64 {
            self.emitter.need(Capability::Int64Atomics);
        }
        let ty = self.emitter.element_type(element, 1);
        let access = Access { pointer, offset: 0, alignment: element.bits() / 8, shared: self.shared() };
        Ok((self.emitter.address(&access, ty, 0)?, ty))
    }

    fn compare_exchange(
        &mut self,
        (pointer, ty): (Word, Word),
        expected: Word,
        value: Word,
        how: Ordered,
    ) -> Result<Word, CompileError> {
        let [scope, done, failed] =
            [how.scope(), how.semantics(), how.failed().semantics()].map(|bits| self.emitter.u32(bits));
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(done),
            Operand::IdMemorySemantics(failed),
            Operand::IdRef(value),
            Operand::IdRef(expected),
        ];
        self.emitter.with_operands(Op::AtomicCompareExchange, ty, operands)
    }

    /// Emits an atomic floating-point addition and returns the old value. It is a loop that repeats a compare-exchange
    /// until no other thread has changed the value in between.
    fn atomic_sum(&mut self, pointer: Value, value: &EmittedValue, how: Ordered) -> Result<EmittedValue, CompileError> {
        let element = value.element()?;
        let word = if element.bits() == 64 { Element::I64 } else { Element::I32 };
        let (pointer, shift) = self.word_around(pointer, element)?;
        let (element_pointer, ty) = self.pointer_to_element(&pointer, word)?;
        let bool_type = self.emitter.element_type(Element::I1, 1);
        let relaxed = Ordered { order: MemoryOrder::Relaxed, ..how };
        let [scope, semantics] = [relaxed.scope(), relaxed.semantics()].map(|bits| self.emitter.u32(bits));
        let operands =
            vec![Operand::IdRef(element_pointer), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        let first = self.emitter.with_operands(Op::AtomicLoad, ty, operands)?;
        let (yes, before) = (self.emitter.constant(Element::I1, 1, 1), self.emitter.block());
        let [header, inside, next, merge] = [(); 4].map(|()| self.emitter.label());
        self.emitter.branch(header)?;

        self.emitter.begin_block(header)?;
        let at_header = self.emitter.block_index();
        let (old, loop_condition) = (self.emitter.label(), self.emitter.label());
        self.emitter.loop_merge(merge, next)?;
        self.emitter.branch_if(loop_condition, inside, merge)?;

        self.emitter.begin_block(inside)?;
        let number = self.number_in(EmittedValue::new(Type::Scalar(word), vec![old]), shift.as_ref(), element)?;
        let sum = self.emitter.binary(Binary::FAdd, &number, value)?;
        let new = self.word_with(old, &sum, shift.as_ref(), word)?;
        let found = self.compare_exchange((element_pointer, ty), old, new, how)?;
        self.emitter.branch(next)?;

        self.emitter.begin_block(next)?;
        let changed = self.emitter.value(Op::INotEqual, bool_type, [found, old])?;
        self.emitter.branch(header)?;
        let phi = |ty, id, first, last| {
            Instruction::new(Op::Phi, Some(ty), Some(id), phi_operands(&[(first, before), (last, next)]))
        };
        let phis = vec![phi(ty, old, first, found), phi(bool_type, loop_condition, yes, changed)];
        self.emitter.prepend(at_header, phis)?;
        self.emitter.begin_block(merge)?;
        self.number_in(EmittedValue::new(Type::Scalar(word), vec![old]), shift.as_ref(), element)
    }

    /// Returns a pointer to the aligned 32-bit word that contains a 16-bit number, and the number's bit offset in the
    /// word. For a wider number, returns the number's own pointer and `None`.
    fn word_around(
        &mut self,
        pointer: Value,
        element: Element,
    ) -> Result<(EmittedValue, Option<EmittedValue>), CompileError> {
        let pointer = self.get(pointer)?;
        if element.bits() > 16 {
            return Ok((pointer, None));
        }
        let (address, bits) = match pointer.ty {
            Type::Pointer(MemorySpace::Global) => (Type::Scalar(Element::I64), 64),
            _ => (Type::Scalar(Element::I32), 32),
        };
        let emitter = &mut *self.emitter;
        let number = emitter.bits(&pointer, address)?;
        let constant = |emitter: &mut super::emit::Emitter, bits| emitter.constant_value(address, bits);
        let (mask, upper, three) =
            (constant(emitter, (u64::MAX >> (64 - bits)) & !3), constant(emitter, 2), constant(emitter, 3));
        let base = emitter.binary(Binary::And, &number, &mask)?;
        let within = emitter.binary(Binary::And, &number, &upper)?;
        let shift = emitter.binary(Binary::Shl, &within, &three)?;
        let word = Type::Scalar(Element::I32);
        let shift = if address == word { shift } else { emitter.cast(Cast::Truncate, &shift, word)? };
        Ok((emitter.bits(&base, pointer.ty)?, Some(shift)))
    }

    /// Emits the extraction of a number from a 32-bit word, at bit offset `shift`; if `shift` is `None`, the number is
    /// the whole word.
    fn number_in(
        &mut self,
        word: EmittedValue,
        shift: Option<&EmittedValue>,
        element: Element,
    ) -> Result<EmittedValue, CompileError> {
        let emitter = &mut *self.emitter;
        let bits = match shift {
            Some(shift) => {
                let moved = emitter.binary(Binary::ShrU, &word, shift)?;
                emitter.cast(Cast::Truncate, &moved, Type::Scalar(Element::I16))?
            }
            None => word,
        };
        emitter.bits(&bits, Type::Scalar(element))
    }

    /// Emits the word `old` with the bits at offset `shift` replaced by `number`; if `shift` is `None`, `number` is the
    /// whole word.
    fn word_with(
        &mut self,
        old: Word,
        number: &EmittedValue,
        shift: Option<&EmittedValue>,
        word: Element,
    ) -> Result<Word, CompileError> {
        let emitter = &mut *self.emitter;
        let ty = Type::Scalar(word);
        let Some(shift) = shift else { return emitter.bits(number, ty)?.scalar() };
        let half = emitter.bits(number, Type::Scalar(Element::I16))?;
        let half = emitter.cast(Cast::ExtendU, &half, ty)?;
        let (ones, all) = (emitter.constant_value(ty, 0xffff), emitter.constant_value(ty, 0xffff_ffff));
        let element_mask = emitter.binary(Binary::Shl, &ones, shift)?;
        let others = emitter.binary(Binary::Xor, &element_mask, &all)?;
        let kept = emitter.binary(Binary::And, &EmittedValue::new(ty, vec![old]), &others)?;
        let moved = emitter.binary(Binary::Shl, &half, shift)?;
        emitter.binary(Binary::Or, &kept, &moved)?.scalar()
    }
}
