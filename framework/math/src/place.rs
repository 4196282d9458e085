//! Where the operations of a function go, and of which type its numbers are.

use std::cell::RefCell;

use super::double_word::DoubleWord;
use super::real::Real;
use super::table::Table;
use super::truth::Truth;
use super::word::Word;
use tilewright_kernel::{Builder, Element, Region, Type, Value};

/// A place in a kernel under construction. Numbers, words and truths that are made there hold on to it, so that
/// formulas can be written as such.
pub(super) struct Place<'p> {
    builder: RefCell<&'p mut Builder>,
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

    /// The first two entries of a table, as a number in two parts.
    pub fn parts(&'p self, table: &Table) -> DoubleWord<'p> {
        DoubleWord::new([self.entry(table, 0), self.entry(table, 1)])
    }

    /// Runs `then` in the lanes where the condition holds, `otherwise` in the others; both give as many numbers, and a
    /// word before them.
    pub fn branch<const N: usize>(
        &'p self,
        condition: Truth<'p>,
        then: impl FnOnce() -> (Word<'p>, [Real<'p>; N]),
        otherwise: impl FnOnce() -> (Word<'p>, [Real<'p>; N]),
    ) -> (Word<'p>, [Real<'p>; N]) {
        let then = self.region(then);
        let otherwise = self.region(otherwise);
        let mut types = vec![self.word_type()];
        types.resize(1 + N, self.number_type());
        let results = self.builder.borrow_mut().if_else(condition.value, then, otherwise, &types);
        (self.word_of(results[0]), std::array::from_fn(|index| self.real(results[index + 1])))
    }

    fn region<const N: usize>(&self, run: impl FnOnce() -> (Word<'p>, [Real<'p>; N])) -> Region {
        self.builder.borrow_mut().begin_region(&[]);
        let (word, numbers) = run();
        let values: Vec<Value> = [word.value].into_iter().chain(numbers.map(|number| number.value)).collect();
        self.builder.borrow_mut().end_region(&values)
    }

    /// Runs `body` on two words again and again until it gives false, and gives its last words.
    pub fn repeat(
        &'p self,
        first: [Word<'p>; 2],
        body: impl FnOnce([Word<'p>; 2]) -> (Truth<'p>, [Word<'p>; 2]),
    ) -> [Word<'p>; 2] {
        let step = |words, _: [Real<'p>; 0]| {
            let (again, words) = body(words);
            (again, words, [])
        };
        self.repeat_with(first, [], step).0
    }

    /// Runs `body` on words and numbers again and again until it gives false, and gives its last ones.
    pub fn repeat_with<const W: usize, const N: usize>(
        &'p self,
        words: [Word<'p>; W],
        numbers: [Real<'p>; N],
        body: impl FnOnce([Word<'p>; W], [Real<'p>; N]) -> (Truth<'p>, [Word<'p>; W], [Real<'p>; N]),
    ) -> ([Word<'p>; W], [Real<'p>; N]) {
        let values = |words: [Word<'p>; W], numbers: [Real<'p>; N]| -> Vec<Value> {
            words.map(|word| word.value).into_iter().chain(numbers.map(|number| number.value)).collect()
        };
        let given = |values: &[Value]| {
            let words = std::array::from_fn(|index| self.word_of(values[index]));
            (words, std::array::from_fn(|index| self.real(values[W + index])))
        };
        let mut types = vec![self.word_type(); W];
        types.resize(W + N, self.number_type());
        let arguments = self.builder.borrow_mut().begin_region(&types);
        let (words_before, numbers_before) = given(&arguments);
        let (again, words_after, numbers_after) = body(words_before, numbers_before);
        let mut next = vec![again.value];
        next.extend(values(words_after, numbers_after));
        let results = {
            let mut builder = self.builder.borrow_mut();
            let body = builder.end_region(&next);
            builder.while_loop(&values(words, numbers), body)
        };
        given(&results)
    }
}
