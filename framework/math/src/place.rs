//! A kernel under construction, with the values that formulas are written with: numbers, words and conditions.

use std::cell::RefCell;

use super::table::Table;
use tilewright_kernel::{Builder, Element, Type, Value};

/// A place in a kernel under construction. Numbers, words and truths that are made there hold on to it, so that
/// formulas can be written as such.
pub(super) struct Place<'p> {
    pub(super) builder: RefCell<&'p mut Builder>,
    element: Element,
}

impl<'p> Place<'p> {
    /// The end of what is built; numbers are `f32` or `f64`.
    pub fn new(builder: &'p mut Builder, element: Element) -> Self {
        Self { builder: RefCell::new(builder), element }
    }

    /// The type of numbers.
    pub fn number_type(&self) -> Type {
        Type::Scalar(self.element)
    }

    /// The integer as wide as a number.
    pub fn word_type(&self) -> Type {
        Type::Scalar(if self.is_single() { Element::I32 } else { Element::I64 })
    }

    /// Whether numbers are `f32`.
    pub fn is_single(&self) -> bool {
        self.element == Element::F32
    }

    /// One of two values, by the type of numbers.
    pub fn by_type<T>(&self, single: T, double: T) -> T {
        if self.is_single() { single } else { double }
    }

    /// Width of a number in bits.
    pub fn width(&self) -> u64 {
        self.by_type(32, 64)
    }

    /// Bits of a number's fraction.
    pub fn fraction(&self) -> u64 {
        self.by_type(23, 52)
    }

    /// The exponent field of one.
    pub fn bias(&self) -> u64 {
        self.by_type(127, 1023)
    }

    /// Bits of a number that is rounded to the type.
    pub fn bits_of(&self, number: f64) -> u64 {
        if self.is_single() { u64::from((number as f32).to_bits()) } else { number.to_bits() }
    }

    /// Appends to what is built.
    pub fn build(&self, append: impl FnOnce(&mut Builder) -> Value) -> Value {
        append(&mut self.builder.borrow_mut())
    }

    /// A value of the kernel as a number.
    pub fn real(&'p self, value: Value) -> Real<'p> {
        Real { place: self, value }
    }

    /// A constant, rounded to the type.
    pub fn number(&'p self, number: f64) -> Real<'p> {
        let (ty, bits) = (self.number_type(), self.bits_of(number));
        self.real(self.build(|builder| builder.constant(ty, bits)))
    }

    /// A constant word: the low bits.
    pub fn word(&'p self, bits: u64) -> Word<'p> {
        let (ty, bits) = (self.word_type(), if self.is_single() { bits & 0xffff_ffff } else { bits });
        self.word_of(self.build(|builder| builder.constant(ty, bits)))
    }

    /// A value of the kernel as a word.
    pub fn word_of(&'p self, value: Value) -> Word<'p> {
        Word { place: self, value }
    }

    /// An entry of a table.
    pub fn entry(&'p self, table: &Table, index: usize) -> Real<'p> {
        self.number(table.entry(self.is_single(), index))
    }
}

/// A floating-point number of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Real<'p> {
    pub place: &'p Place<'p>,
    pub value: Value,
}

/// An operand of floating-point arithmetic: a number, or a constant.
pub(super) trait Number<'p>: Copy {
    /// It as a number.
    fn at(self, place: &'p Place<'p>) -> Real<'p>;
}

impl<'p> Number<'p> for Real<'p> {
    fn at(self, _: &'p Place<'p>) -> Real<'p> {
        self
    }
}

impl<'p> Number<'p> for f64 {
    fn at(self, place: &'p Place<'p>) -> Real<'p> {
        place.number(self)
    }
}

/// An integer of a kernel, as wide as the numbers around it.
#[derive(Clone, Copy)]
pub(super) struct Word<'p> {
    pub place: &'p Place<'p>,
    pub value: Value,
}

/// An operand of integer arithmetic: a word, or the low bits of a constant.
pub(super) trait Bits<'p>: Copy {
    /// It as a word.
    fn at(self, place: &'p Place<'p>) -> Word<'p>;
}

impl<'p> Bits<'p> for Word<'p> {
    fn at(self, _: &'p Place<'p>) -> Word<'p> {
        self
    }
}

impl<'p> Bits<'p> for u64 {
    fn at(self, place: &'p Place<'p>) -> Word<'p> {
        place.word(self)
    }
}

/// An `i1` of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Truth<'p> {
    pub place: &'p Place<'p>,
    pub value: Value,
}
