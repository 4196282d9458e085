//! Emits casts, and packs and unpacks vectors.

use rspirv::dr::Operand;
use rspirv::spirv::{FPRoundingMode, Op, Word};
use tilewright_kernel::{Cast, Element, MemorySpace, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use super::emit::Emitter;
use super::emitted::{EmittedValue, MAX_VECTOR_WIDTH};

impl Emitter {
    pub(super) fn cast(&mut self, op: Cast, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        if op == Cast::Bits {
            return self.bits(a, ty);
        }
        let (Some(from), Some(to)) = (a.ty.element(), ty.element()) else {
            return Err(invalid_module_error(format!("{op:?} of {} to {ty}", a.ty)));
        };
        if a.ty.element_count() != ty.element_count() || !op.can_convert(from, to) {
            return Err(invalid_module_error(format!("{op:?} of {} to {ty}", a.ty)));
        }
        if op == Cast::RoundZ || op.extended_format().or(op.rounded_format()).is_some() {
            return Err(unsupported_kernel_error(format!("no instruction for {op:?} of {} to {ty}", a.ty)));
        }
        let cast = |emitter: &mut Self, &id: &Word| match op {
            Cast::FloatS | Cast::FloatU | Cast::ExtendF | Cast::RoundF => emitter.number(op, id, (from, to), a.width()),
            Cast::IntS | Cast::IntU => emitter.float_to_integer(op, id, (from, to), a.width()),
            _ => emitter.resize(op, id, (from, to), a.width()),
        };
        let ids = a.ids.iter().map(|id| cast(self, id)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(ty, ids))
    }

    /// Emits a conversion by `op` of `id`, a vector of `width` numbers with more than 24 significant bits, to binary32.
    /// It rounds toward zero and sets the lowest bit if the result is inexact (round to odd). A second rounding, to at
    /// least two bits less, is then correct (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums",
    /// 2008).
    fn rounded_to_odd(&mut self, op: Op, id: Word, from: Element, width: u32) -> Result<Word, CompileError> {
        let [wide, single, word, bool_type] =
            [from, Element::F32, Element::I32, Element::I1].map(|element| self.element_type(element, width));
        let cut = self.value(op, single, [id])?;
        self.rounds(cut, FPRoundingMode::RTZ);
        let back = match op {
            Op::ConvertSToF => Op::ConvertFToS,
            Op::ConvertUToF => Op::ConvertFToU,
            _ => Op::FConvert,
        };
        let mut both = [self.value(back, wide, [cut])?, id];
        if from == Element::F64 {
            let bits = self.element_type(Element::I64, width);
            for number in &mut both {
                *number = self.value(Op::Bitcast, bits, [*number])?;
            }
        }
        let is_cut = self.value(Op::INotEqual, bool_type, both)?;
        let (one, zero) = (self.constant(Element::I32, width, 1), self.constant(Element::I32, width, 0));
        let lowest = self.value(Op::Select, word, [is_cut, one, zero])?;
        let bits = self.value(Op::Bitcast, word, [cut])?;
        let odd = self.value(Op::BitwiseOr, word, [bits, lowest])?;
        self.value(Op::Bitcast, single, [odd])
    }

    /// Emits a cast of `id`, a vector of `width` elements, to a floating-point type; `types` are the element types
    /// before and after. SPIR-V has no `bf16`, so casts to or from it go through binary32; if that intermediate result
    /// is inexact, it is rounded to odd, so that the final rounding is correct.
    fn number(&mut self, op: Cast, id: Word, types: (Element, Element), width: u32) -> Result<Word, CompileError> {
        let (from, to) = types;
        let computed = |element| element == Element::Bf16 || self.carrier(element) == element;
        if let Some(element) = [from, to].into_iter().find(|&element| !computed(element)) {
            let message = format!("this architecture does not compute with {}", element.name());
            return Err(CompileError::Unsupported(message));
        }
        let (id, from) = match from {
            Element::Bf16 => (self.bfloat_widen(width, id)?, Element::F32),
            _ => (id, from),
        };
        let between = if to == Element::Bf16 { Element::F32 } else { to };
        let opcode = match op {
            Cast::FloatS => Op::ConvertSToF,
            Cast::FloatU => Op::ConvertUToF,
            _ => Op::FConvert,
        };
        let converted = if from == between {
            id
        } else if to == Element::Bf16 && matches!(from, Element::F64 | Element::I32 | Element::I64) {
            self.rounded_to_odd(opcode, id, from, width)?
        } else {
            let ty = self.element_type(between, width);
            self.value(opcode, ty, [id])?
        };
        if to == Element::Bf16 { self.bfloat_round(width, converted) } else { Ok(converted) }
    }

    /// Emits a cast of `id`, a vector of `width` floating-point elements, to integers, rounded toward zero. `types` are
    /// the element types before and after.
    fn float_to_integer(
        &mut self,
        op: Cast,
        id: Word,
        types: (Element, Element),
        width: u32,
    ) -> Result<Word, CompileError> {
        let (from, to) = types;
        let id = self.computable(from, width, id)?;
        let ty = self.element_type(to, width);
        self.value(if op == Cast::IntS { Op::ConvertFToS } else { Op::ConvertFToU }, ty, [id])
    }

    fn resize(&mut self, op: Cast, id: Word, types: (Element, Element), width: u32) -> Result<Word, CompileError> {
        let (from, to) = types;
        let result = self.element_type(to, width);
        if to == Element::I1 {
            return self.lowest_bit(from, width, id);
        }
        if from == Element::I1 {
            let ones = if op == Cast::ExtendS { u64::MAX >> (64 - to.bits()) } else { 1 };
            let (set, unset) = (self.constant(to, width, ones), self.constant(to, width, 0));
            return self.value(Op::Select, result, [id, set, unset]);
        }
        self.value(if op == Cast::ExtendS { Op::SConvert } else { Op::UConvert }, result, [id])
    }

    /// Emits the lowest bit of each integer in the vector `id` of `width` elements, as a vector of booleans.
    pub(super) fn lowest_bit(&mut self, element: Element, width: u32, id: Word) -> Result<Word, CompileError> {
        let (ty, bool_type) = (self.element_type(element, width), self.element_type(Element::I1, width));
        let (zero, one) = (self.constant(element, width, 0), self.constant(element, width, 1));
        let low = self.value(Op::BitwiseAnd, ty, [id, one])?;
        self.value(Op::INotEqual, bool_type, [low, zero])
    }

    /// Emits a bitcast of a value to another type of as many bits.
    pub(super) fn bits(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        if a.ty.bits() != ty.bits() {
            return Err(invalid_module_error(format!("the bits of {} as {ty}, which is not as wide", a.ty)));
        }
        if a.ty == ty {
            return Ok(a.clone());
        }
        let plain = self.pointer_to_integer(a)?;
        match ty {
            Type::Pointer(MemorySpace::Shared) => {
                let word = self.bits(&plain, Type::Scalar(Element::I32))?;
                Ok(EmittedValue::new(ty, word.ids))
            }
            Type::Pointer(MemorySpace::Global) => {
                let address = self.bits(&plain, Type::Scalar(Element::I64))?.scalar()?;
                let pointer = self.id_type(ty);
                Ok(EmittedValue::new(ty, vec![self.value(Op::ConvertUToPtr, pointer, [address])?]))
            }
            _ => match (plain.element()?, ty.element()) {
                (Element::I1, Some(Element::I1)) => Ok(EmittedValue::new(ty, plain.ids)),
                (Element::I1, _) => self.join_bits(&plain, ty),
                (_, Some(Element::I1)) => self.split_bits(&plain, ty),
                _ => self.bit_cast(&plain, ty),
            },
        }
    }

    /// Converts a pointer to an integer of its width; returns other values unchanged.
    fn pointer_to_integer(&mut self, a: &EmittedValue) -> Result<EmittedValue, CompileError> {
        match a.ty {
            Type::Pointer(MemorySpace::Shared) => Ok(EmittedValue { ty: Type::Scalar(Element::I32), ..a.clone() }),
            Type::Pointer(MemorySpace::Global) => {
                let integer = self.element_type(Element::I64, 1);
                let bits = self.value(Op::ConvertPtrToU, integer, [a.scalar()?])?;
                Ok(EmittedValue::new(Type::Scalar(Element::I64), vec![bits]))
            }
            _ => Ok(a.clone()),
        }
    }

    /// Emits a bitcast between types without booleans. Splits SPIR-V vectors into slices of equal width, casts each
    /// slice, and joins the slices to the vectors of the result.
    fn bit_cast(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        let (Some(from), Some(to)) = (a.ty.element(), ty.element()) else {
            return Err(invalid_module_error(format!("the bits of {} as {ty}", a.ty)));
        };
        let result_width = ty.element_count().min(MAX_VECTOR_WIDTH);
        let piece_bits = (a.width() * from.bits()).min(result_width * to.bits());
        let (piece_in, piece_out) = (piece_bits / from.bits(), piece_bits / to.bits());
        let (type_in, type_out) = (self.element_type(from, piece_in), self.element_type(to, piece_out));
        let mut pieces = Vec::new();
        for &id in &a.ids {
            for first in (0..a.width()).step_by(piece_in as usize) {
                let piece = self.slice(id, a.width(), type_in, first, piece_in)?;
                let cast = type_in != type_out;
                pieces.push(if cast { self.value(Op::Bitcast, type_out, [piece])? } else { piece });
            }
        }
        let joined = (result_width / piece_out).max(1) as usize;
        let ids = pieces.chunks(joined).map(|chunk| self.join(to, piece_out, chunk)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(ty, ids))
    }

    /// Emits the join of vectors of `width` elements to one vector; the number of vectors is a power of two.
    fn join(&mut self, element: Element, width: u32, pieces: &[Word]) -> Result<Word, CompileError> {
        match pieces {
            [single] => Ok(*single),
            _ if width == 1 => {
                let ty = self.element_type(element, pieces.len() as u32);
                self.with_operands(Op::CompositeConstruct, ty, pieces.iter().copied().map(Operand::IdRef).collect())
            }
            // Intel's compilers fail on vectors constructed from vectors, though SPIR-V permits them.
            _ => {
                let (low, high) = pieces.split_at(pieces.len() / 2);
                let (low, high) = (self.join(element, width, low)?, self.join(element, width, high)?);
                let count = width * pieces.len() as u32;
                let ty = self.element_type(element, count);
                let mut operands = vec![Operand::IdRef(low), Operand::IdRef(high)];
                operands.extend((0..count).map(Operand::LiteralBit32));
                self.with_operands(Op::VectorShuffle, ty, operands)
            }
        }
    }

    /// Emits the `count` elements from element `first` on of a vector of `width` elements; `ty` is the type of the
    /// result.
    fn slice(&mut self, id: Word, width: u32, ty: Word, first: u32, count: u32) -> Result<Word, CompileError> {
        if count == width {
            return Ok(id);
        }
        if count == 1 {
            return self.extract(ty, id, first);
        }
        let mut operands = vec![Operand::IdRef(id); 2];
        operands.extend((first..first + count).map(Operand::LiteralBit32));
        self.with_operands(Op::VectorShuffle, ty, operands)
    }

    /// Emits a bitcast from a vector of booleans to a type with wider elements; boolean i becomes bit i.
    fn join_bits(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        let element = ty.element().unwrap_or(Element::I1);
        let integer = integer_of(element)?;
        let word = self.element_type(integer, 1);
        let mut elements = Vec::with_capacity(ty.element_count() as usize);
        for bits in self.elements(a)?.chunks(integer.bits() as usize) {
            let unset = self.constant(integer, 1, 0);
            let mut joined = unset;
            for (index, &bit) in bits.iter().enumerate() {
                let set = self.constant(integer, 1, 1 << index);
                let value = self.value(Op::Select, word, [bit, set, unset])?;
                joined = if index == 0 { value } else { self.value(Op::BitwiseOr, word, [joined, value])? };
            }
            elements.push(joined);
        }
        let integers = self.gather(Type::vector_or_scalar(integer, ty.element_count()), &elements)?;
        self.bits(&integers, ty)
    }

    /// Emits a bitcast from a type with wider elements to a vector of booleans; bit i becomes boolean i.
    fn split_bits(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        let integer = integer_of(a.element()?)?;
        let (word, bool_type) = (self.element_type(integer, 1), self.element_type(Element::I1, 1));
        let integers = self.bits(a, Type::vector_or_scalar(integer, a.ty.element_count()))?;
        let unset = self.constant(integer, 1, 0);
        let mut bits = Vec::with_capacity(ty.element_count() as usize);
        for element in self.elements(&integers)? {
            for index in 0..integer.bits() {
                let mask = self.constant(integer, 1, 1 << index);
                let bit = self.value(Op::BitwiseAnd, word, [element, mask])?;
                bits.push(self.value(Op::INotEqual, bool_type, [bit, unset])?);
            }
        }
        self.gather(ty, &bits)
    }

    pub(super) fn pack(&mut self, elements: &[EmittedValue], ty: Type) -> Result<EmittedValue, CompileError> {
        let element = ty.element().ok_or_else(|| invalid_module_error(format!("{ty} packed of scalars")))?;
        if elements.len() as u64 != u64::from(ty.element_count()) {
            return Err(invalid_module_error(format!("{ty} packed of {} scalars", elements.len())));
        }
        let mut words = Vec::with_capacity(elements.len());
        for emitted in elements {
            words.push(emitted.expect(Type::Scalar(element))?.scalar()?);
        }
        self.gather(ty, &words)
    }

    pub(super) fn extract_element(&mut self, vector: &EmittedValue, index: u32) -> Result<EmittedValue, CompileError> {
        let Type::Vector(element, count) = vector.ty else {
            return Err(invalid_module_error(format!("element {index} of {}", vector.ty)));
        };
        let id = vector.ids.get((index / MAX_VECTOR_WIDTH) as usize).filter(|_| index < count);
        let id = *id.ok_or_else(|| invalid_module_error(format!("element {index} of {}", vector.ty)))?;
        let ty = self.element_type(element, 1);
        let word = self.extract(ty, id, index % MAX_VECTOR_WIDTH)?;
        Ok(EmittedValue { ty: Type::Scalar(element), ids: vec![word], constant: vector.constant })
    }
}

/// Returns the integer type of an element's width.
fn integer_of(element: Element) -> Result<Element, CompileError> {
    Element::integer_of_width(element.bits())
        .ok_or_else(|| invalid_module_error(format!("no integer is as wide as {}", element.name())))
}
