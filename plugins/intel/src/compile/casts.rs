//! Changes of type, packing and taking apart vectors.

use rspirv::dr::Operand;
use rspirv::spirv::{FPRoundingMode, Op, Word};
use tilewright_kernel::{Cast, Element, MemorySpace, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid;

use super::emit::Emitter;
use super::emitted::{EmittedValue, PART};

impl Emitter {
    pub(super) fn cast(&mut self, op: Cast, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        if op == Cast::Bits {
            return self.bits(a, ty);
        }
        let (Some(from), Some(to)) = (a.ty.element(), ty.element()) else {
            return Err(invalid(format!("{op:?} of {} to {ty}", a.ty)));
        };
        if a.ty.count() != ty.count() || !op.goes(from, to) {
            return Err(invalid(format!("{op:?} of {} to {ty}", a.ty)));
        }
        let cast = |emitter: &mut Self, &part: &Word| match op {
            Cast::FloatS | Cast::FloatU | Cast::ExtendF | Cast::RoundF => {
                emitter.number(op, part, (from, to), a.width())
            }
            Cast::IntS | Cast::IntU => emitter.whole(op, part, (from, to), a.width()),
            _ => emitter.resize(op, part, (from, to), a.width()),
        };
        let parts = a.parts.iter().map(|part| cast(self, part)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(ty, parts))
    }

    /// Binary32 of what has more digits, towards zero, with the lowest bit set where something was cut off: rounded once more, to
    /// fewer digits by two at least, it is what the number itself would be (S. Boldo, G. Melquiond, "Emulation of FMA and correctly
    /// rounded sums", 2008).
    fn rounded_to_odd(&mut self, op: Op, part: Word, from: Element, width: u32) -> Result<Word, CompileError> {
        let [wide, single, word, truth] =
            [from, Element::F32, Element::I32, Element::I1].map(|element| self.element_type(element, width));
        let cut = self.value(op, single, [part])?;
        self.rounds(cut, FPRoundingMode::RTZ);
        let back = match op {
            Op::ConvertSToF => Op::ConvertFToS,
            Op::ConvertUToF => Op::ConvertFToU,
            _ => Op::FConvert,
        };
        let mut both = [self.value(back, wide, [cut])?, part];
        if from == Element::F64 {
            let bits = self.element_type(Element::I64, width);
            for number in &mut both {
                *number = self.value(Op::Bitcast, bits, [*number])?;
            }
        }
        let is_cut = self.value(Op::INotEqual, truth, both)?;
        let (one, zero) = (self.constant(Element::I32, width, 1), self.constant(Element::I32, width, 0));
        let lowest = self.value(Op::Select, word, [is_cut, one, zero])?;
        let bits = self.value(Op::Bitcast, word, [cut])?;
        let odd = self.value(Op::BitwiseOr, word, [bits, lowest])?;
        self.value(Op::Bitcast, single, [odd])
    }

    /// A cast to a floating-point type. SPIR-V has no `bf16`: such a number goes by way of binary32, where that is exact or the last
    /// bit tells that something was cut off.
    fn number(&mut self, op: Cast, part: Word, types: (Element, Element), width: u32) -> Result<Word, CompileError> {
        let (from, to) = types;
        let computed = |element| element == Element::Bf16 || self.carrier(element) == element;
        if let Some(element) = [from, to].into_iter().find(|&element| !computed(element)) {
            let message = format!("this architecture does not compute with {}", element.name());
            return Err(CompileError::Unsupported(message));
        }
        let (part, from) = match from {
            Element::Bf16 => (self.bfloat_widen(width, part)?, Element::F32),
            _ => (part, from),
        };
        let between = if to == Element::Bf16 { Element::F32 } else { to };
        let opcode = match op {
            Cast::FloatS => Op::ConvertSToF,
            Cast::FloatU => Op::ConvertUToF,
            _ => Op::FConvert,
        };
        let converted = if from == between {
            part
        } else if to == Element::Bf16 && matches!(from, Element::F64 | Element::I32 | Element::I64) {
            self.rounded_to_odd(opcode, part, from, width)?
        } else {
            let ty = self.element_type(between, width);
            self.value(opcode, ty, [part])?
        };
        if to == Element::Bf16 { self.bfloat_round(width, converted) } else { Ok(converted) }
    }

    /// A cast to an integer, towards zero.
    fn whole(&mut self, op: Cast, part: Word, types: (Element, Element), width: u32) -> Result<Word, CompileError> {
        let (from, to) = types;
        let part = self.computable(from, width, part)?;
        let ty = self.element_type(to, width);
        self.value(if op == Cast::IntS { Op::ConvertFToS } else { Op::ConvertFToU }, ty, [part])
    }

    fn resize(&mut self, op: Cast, part: Word, types: (Element, Element), width: u32) -> Result<Word, CompileError> {
        let (from, to) = types;
        let result = self.element_type(to, width);
        if to == Element::I1 {
            return self.lowest_bit(from, width, part);
        }
        if from == Element::I1 {
            let ones = if op == Cast::ExtendS { u64::MAX >> (64 - to.bits()) } else { 1 };
            let (set, unset) = (self.constant(to, width, ones), self.constant(to, width, 0));
            return self.value(Op::Select, result, [part, set, unset]);
        }
        self.value(if op == Cast::ExtendS { Op::SConvert } else { Op::UConvert }, result, [part])
    }

    /// Whether the lowest bits of integers are set.
    pub(super) fn lowest_bit(&mut self, element: Element, width: u32, part: Word) -> Result<Word, CompileError> {
        let (ty, truth) = (self.element_type(element, width), self.element_type(Element::I1, width));
        let (zero, one) = (self.constant(element, width, 0), self.constant(element, width, 1));
        let low = self.value(Op::BitwiseAnd, ty, [part, one])?;
        self.value(Op::INotEqual, truth, [low, zero])
    }

    /// The same bits as another type of the same width.
    pub(super) fn bits(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        if a.ty.bits() != ty.bits() {
            return Err(invalid(format!("the bits of {} as {ty}, which is not as wide", a.ty)));
        }
        if a.ty == ty {
            return Ok(a.clone());
        }
        let plain = self.pointer_to_integer(a)?;
        match ty {
            Type::Pointer(MemorySpace::Shared) => {
                let word = self.bits(&plain, Type::Scalar(Element::I32))?;
                Ok(EmittedValue::new(ty, word.parts))
            }
            Type::Pointer(MemorySpace::Global) => {
                let address = self.bits(&plain, Type::Scalar(Element::I64))?.scalar()?;
                let pointer = self.part_type(ty);
                Ok(EmittedValue::new(ty, vec![self.value(Op::ConvertUToPtr, pointer, [address])?]))
            }
            _ => match (plain.element()?, ty.element()) {
                (Element::I1, Some(Element::I1)) => Ok(EmittedValue::new(ty, plain.parts)),
                (Element::I1, _) => self.join_bits(&plain, ty),
                (_, Some(Element::I1)) => self.split_bits(&plain, ty),
                _ => self.bit_cast(&plain, ty),
            },
        }
    }

    /// A pointer as the integer of its width; anything else as it is.
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

    /// Cuts the parts of both types into pieces of one width, so that each is cast by itself.
    fn bit_cast(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        let (Some(from), Some(to)) = (a.ty.element(), ty.element()) else {
            return Err(invalid(format!("the bits of {} as {ty}", a.ty)));
        };
        let result_width = ty.count().min(PART);
        let piece_bits = (a.width() * from.bits()).min(result_width * to.bits());
        let (piece_in, piece_out) = (piece_bits / from.bits(), piece_bits / to.bits());
        let (type_in, type_out) = (self.element_type(from, piece_in), self.element_type(to, piece_out));
        let mut pieces = Vec::new();
        for &part in &a.parts {
            for first in (0..a.width()).step_by(piece_in as usize) {
                let piece = self.slice(part, a.width(), type_in, first, piece_in)?;
                let cast = type_in != type_out;
                pieces.push(if cast { self.value(Op::Bitcast, type_out, [piece])? } else { piece });
            }
        }
        let joined = (result_width / piece_out).max(1) as usize;
        let parts = pieces.chunks(joined).map(|chunk| self.join(to, piece_out, chunk)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(ty, parts))
    }

    /// A power-of-two number of pieces of `width` elements as one part.
    fn join(&mut self, element: Element, width: u32, pieces: &[Word]) -> Result<Word, CompileError> {
        match pieces {
            [whole] => Ok(*whole),
            _ if width == 1 => {
                let ty = self.element_type(element, pieces.len() as u32);
                self.with_operands(Op::CompositeConstruct, ty, pieces.iter().copied().map(Operand::IdRef).collect())
            }
            // The vendor's compilers do not construct vectors of vectors, though the standard does.
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

    /// `count` elements of a part of `width` elements.
    fn slice(&mut self, part: Word, width: u32, ty: Word, first: u32, count: u32) -> Result<Word, CompileError> {
        if count == width {
            return Ok(part);
        }
        if count == 1 {
            return self.extract(ty, part, first);
        }
        let mut operands = vec![Operand::IdRef(part); 2];
        operands.extend((first..first + count).map(Operand::LiteralBit32));
        self.with_operands(Op::VectorShuffle, ty, operands)
    }

    /// Bits as elements of more than one bit.
    fn join_bits(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        let element = ty.element().unwrap_or(Element::I1);
        let integer = integer_of(element)?;
        let word = self.element_type(integer, 1);
        let mut elements = Vec::with_capacity(ty.count() as usize);
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
        let integers = self.gather(Type::of(integer, ty.count()), &elements)?;
        self.bits(&integers, ty)
    }

    /// Elements of more than one bit as bits.
    fn split_bits(&mut self, a: &EmittedValue, ty: Type) -> Result<EmittedValue, CompileError> {
        let integer = integer_of(a.element()?)?;
        let (word, truth) = (self.element_type(integer, 1), self.element_type(Element::I1, 1));
        let integers = self.bits(a, Type::of(integer, a.ty.count()))?;
        let unset = self.constant(integer, 1, 0);
        let mut bits = Vec::with_capacity(ty.count() as usize);
        for element in self.elements(&integers)? {
            for index in 0..integer.bits() {
                let mask = self.constant(integer, 1, 1 << index);
                let bit = self.value(Op::BitwiseAnd, word, [element, mask])?;
                bits.push(self.value(Op::INotEqual, truth, [bit, unset])?);
            }
        }
        self.gather(ty, &bits)
    }

    pub(super) fn pack(&mut self, elements: &[EmittedValue], ty: Type) -> Result<EmittedValue, CompileError> {
        let element = ty.element().ok_or_else(|| invalid(format!("{ty} packed of scalars")))?;
        if elements.len() as u64 != u64::from(ty.count()) {
            return Err(invalid(format!("{ty} packed of {} scalars", elements.len())));
        }
        let mut words = Vec::with_capacity(elements.len());
        for emitted in elements {
            words.push(emitted.expect(Type::Scalar(element))?.scalar()?);
        }
        self.gather(ty, &words)
    }

    pub(super) fn extract_element(&mut self, vector: &EmittedValue, index: u32) -> Result<EmittedValue, CompileError> {
        let Type::Vector(element, count) = vector.ty else {
            return Err(invalid(format!("element {index} of {}", vector.ty)));
        };
        let part = vector.parts.get((index / PART) as usize).filter(|_| index < count);
        let part = *part.ok_or_else(|| invalid(format!("element {index} of {}", vector.ty)))?;
        let ty = self.element_type(element, 1);
        let word = self.extract(ty, part, index % PART)?;
        Ok(EmittedValue { ty: Type::Scalar(element), parts: vec![word], constant: vector.constant })
    }
}

/// The integer as wide as an element.
fn integer_of(element: Element) -> Result<Element, CompileError> {
    Element::integer(element.bits()).ok_or_else(|| invalid(format!("no integer is as wide as {}", element.name())))
}
