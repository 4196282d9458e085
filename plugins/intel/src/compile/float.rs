//! Floating-point operations by OpenCL's extended instructions.
//!
//! What OpenCL C says of them (relative error as ULPs, full profile): `floor`, `ceil`, `trunc`, `rint`, `fabs`, `fmin` and
//! `fmax` are exact. Quotients and square roots of binary64 are correctly rounded, those of binary32 need not be (2.5 and
//! 3 units) unless the driver is asked for it with `-cl-fp32-correctly-rounded-divide-sqrt`. So those of narrower numbers
//! are made in binary64 and rounded once more, which is harmless (53 bits are more than the 2p + 2 that p bits need).
//! Where an architecture has no binary64 they are in binary32, and it is for who builds the program to ask.

use rspirv::spirv::{Op, Word};
use tilewright_kernel::{Binary, Compare, Element, MathFunction, Type, Unary};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid, unsupported};

use super::emit::Emitter;
use super::emitted::EmittedValue;
use super::extended;

impl Emitter {
    pub(super) fn unary(&mut self, op: Unary, a: &EmittedValue) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        if op.is_float() != element.is_float() || element == Element::I1 {
            return Err(invalid(format!("`{}` of {}", op.name(), a.ty)));
        }
        let (ty, width) = (self.part_type(a.ty), a.width());
        let number = match op {
            Unary::FNeg => return self.signs(a, Op::FNegate),
            Unary::FAbs => return self.signs(a, Op::ExtInst),
            Unary::FSqrt => {
                return self.each(a, |this, part| {
                    this.rounded(element, width, &[part], |this, ty, of| this.extended(extended::SQRT, ty, of))
                });
            }
            Unary::FFloor => extended::FLOOR,
            Unary::FCeil => extended::CEIL,
            Unary::FTrunc => extended::TRUNC,
            Unary::FNearest => extended::RINT,
            Unary::LeadingZeros => extended::CLZ,
            Unary::PopCount => extended::POPCOUNT,
        };
        if !op.is_float() {
            return self.each(a, |this, part| this.extended(number, ty, &[part]));
        }
        self.each(a, |this, part| this.exactly(element, width, &[part], |this, ty, of| this.extended(number, ty, of)))
    }

    fn each(
        &mut self,
        a: &EmittedValue,
        mut f: impl FnMut(&mut Self, Word) -> Result<Word, CompileError>,
    ) -> Result<EmittedValue, CompileError> {
        let parts = a.parts.iter().map(|&part| f(self, part)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(a.ty, parts))
    }

    /// The sign flipped, or taken away by `fabs`; of numbers that are carried as integers in their bits.
    fn signs(&mut self, a: &EmittedValue, op: Op) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        let (ty, carrier, width) = (self.part_type(a.ty), self.carrier(element), a.width());
        let sign = 1 << (carrier.bits() - 1);
        self.each(a, |this, part| match (carrier == element, op) {
            (true, Op::FNegate) => this.value(Op::FNegate, ty, [part]),
            (true, _) => this.extended(extended::FABS, ty, &[part]),
            (false, Op::FNegate) => {
                let sign = this.constant(carrier, width, sign);
                this.value(Op::BitwiseXor, ty, [part, sign])
            }
            (false, _) => {
                let magnitude = this.constant(carrier, width, sign - 1);
                this.value(Op::BitwiseAnd, ty, [part, magnitude])
            }
        })
    }

    /// The lesser or the greater of two. OpenCL's take the number where one is a NaN, and any zero.
    pub(super) fn float_choice(
        &mut self,
        op: Binary,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let (element, width) = (a.element()?, a.width());
        let (number, zeros) = match op {
            Binary::FDiv => {
                return self.zip(a.ty, a, b, |this, a, b| {
                    this.rounded(element, width, &[a, b], |this, ty, of| this.value(Op::FDiv, ty, [of[0], of[1]]))
                });
            }
            Binary::FMinNumber => (extended::FMIN, None),
            Binary::FMaxNumber => (extended::FMAX, None),
            // Where they are equal only zeros differ: the negative one has the one bit.
            Binary::FMinimum => (extended::FMIN, Some(Op::BitwiseOr)),
            Binary::FMaximum => (extended::FMAX, Some(Op::BitwiseAnd)),
            _ => return Err(unsupported(format!("operation `{}`", op.name()))),
        };
        let computed = if element == Element::Bf16 { Element::F32 } else { element };
        self.zip(a.ty, a, b, |this, a, b| {
            this.exactly(element, width, &[a, b], |this, ty, of| {
                let chosen = this.extended(number, ty, of)?;
                let Some(zeros) = zeros else { return Ok(chosen) };
                this.with_zeros_and_none((computed, width), zeros, [of[0], of[1]], chosen)
            })
        })
    }

    /// What was chosen of two numbers, but the zero of two that the operation on bits gives, and a NaN where one is.
    fn with_zeros_and_none(
        &mut self,
        (element, width): (Element, u32),
        zeros: Op,
        [a, b]: [Word; 2],
        chosen: Word,
    ) -> Result<Word, CompileError> {
        let (ty, truth) = (self.element_type(element, width), self.element_type(Element::I1, width));
        let integer = Element::integer(element.bits()).unwrap_or(Element::I32);
        let bits = self.element_type(integer, width);
        let (x, y) = (self.value(Op::Bitcast, bits, [a])?, self.value(Op::Bitcast, bits, [b])?);
        let zero = self.value(zeros, bits, [x, y])?;
        let zero = self.value(Op::Bitcast, ty, [zero])?;
        let equal = self.value(Op::FOrdEqual, truth, [a, b])?;
        let ordered = self.value(Op::Select, ty, [equal, zero, chosen])?;
        let unordered = self.value(Op::Unordered, truth, [a, b])?;
        let none = self.value(Op::FAdd, ty, [a, b])?;
        self.value(Op::Select, ty, [unordered, none, ordered])
    }

    pub(super) fn float_compare(
        &mut self,
        op: Compare,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let (element, width) = (a.element()?, a.width());
        let opcode = match op {
            Compare::FEq => Op::FOrdEqual,
            Compare::FLt => Op::FOrdLessThan,
            Compare::FLe => Op::FOrdLessThanEqual,
            Compare::FUnordered => Op::Unordered,
            _ => return Err(invalid(format!("comparison of {} as integers", a.ty))),
        };
        let ty = Type::of(Element::I1, a.ty.count());
        let truth = self.part_type(ty);
        self.zip(ty, a, b, |this, a, b| {
            let (a, b) = (this.computable(element, width, a)?, this.computable(element, width, b)?);
            this.value(opcode, truth, [a, b])
        })
    }

    /// A function that the target lists.
    pub(super) fn math(&mut self, function: MathFunction, a: &EmittedValue) -> Result<EmittedValue, CompileError> {
        let number = match (function, a.element()?) {
            (MathFunction::Exp2, Element::F32) => extended::EXP2,
            (MathFunction::Log2, Element::F32) => extended::LOG2,
            (MathFunction::Rsqrt, Element::F32) => extended::RSQRT,
            _ => return Err(unsupported(format!("`{}` of {}: expand it before", function.name(), a.ty))),
        };
        let ty = self.part_type(a.ty);
        self.each(a, |this, part| this.extended(number, ty, &[part]))
    }

    /// A number in a type that is computed with: `bf16` in binary32.
    pub(super) fn computable(&mut self, element: Element, width: u32, part: Word) -> Result<Word, CompileError> {
        if element == Element::Bf16 {
            return self.bfloat_widen(width, part);
        }
        match self.carrier(element) == element {
            true => Ok(part),
            false => Err(unsupported(format!("this architecture does not compute with {}", element.name()))),
        }
    }

    /// What is exact in every type that holds the operands: `bf16` in binary32.
    fn exactly(
        &mut self,
        element: Element,
        width: u32,
        operands: &[Word],
        f: impl FnOnce(&mut Self, Word, &[Word]) -> Result<Word, CompileError>,
    ) -> Result<Word, CompileError> {
        let computed = if element == Element::Bf16 { Element::F32 } else { element };
        let of = operands.iter().map(|&part| self.computable(element, width, part)).collect::<Result<Vec<_>, _>>()?;
        let ty = self.element_type(computed, width);
        let value = f(self, ty, &of)?;
        if element == Element::Bf16 { self.bfloat_round(width, value) } else { Ok(value) }
    }

    /// What is correctly rounded in binary64: narrower numbers by way of it, where it is there.
    fn rounded(
        &mut self,
        element: Element,
        width: u32,
        operands: &[Word],
        f: impl FnOnce(&mut Self, Word, &[Word]) -> Result<Word, CompileError>,
    ) -> Result<Word, CompileError> {
        let of = operands.iter().map(|&part| self.computable(element, width, part)).collect::<Result<Vec<_>, _>>()?;
        let own = if element == Element::Bf16 { Element::F32 } else { element };
        let wide = if self.carrier(Element::F64) == Element::F64 { Element::F64 } else { Element::F32 };
        let (narrow_type, wide_type) = (self.element_type(own, width), self.element_type(wide, width));
        let convert = |this: &mut Self, ty: Word, part: Word| {
            if wide == own { Ok(part) } else { this.value(Op::FConvert, ty, [part]) }
        };
        let of = of.into_iter().map(|part| convert(self, wide_type, part)).collect::<Result<Vec<_>, _>>()?;
        let value = f(self, wide_type, &of)?;
        let value = convert(self, narrow_type, value)?;
        if element == Element::Bf16 { self.bfloat_round(width, value) } else { Ok(value) }
    }
}
