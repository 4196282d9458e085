//! The builder of formulas, and the values of formulas: floating-point values, integers and conditions of the kernel
//! under construction.

use std::cell::RefCell;

use super::table::ConstantTable;
use tilewright_kernel::{Builder, Element, Type, Value};

/// The point in a kernel under construction at which a formula appends its operations. Values refer to it, so that
/// operators on them append operations.
pub(super) struct FormulaBuilder<'p> {
    pub(super) builder: RefCell<&'p mut Builder>,
    element: Element,
}

impl<'p> FormulaBuilder<'p> {
    /// Starts a formula whose operations are appended to the kernel in `builder`. The floating-point type `element` is
    /// `f32` or `f64`.
    pub fn new(builder: &'p mut Builder, element: Element) -> Self {
        Self { builder: RefCell::new(builder), element }
    }

    /// The floating-point type of the formula's values.
    pub fn float_type(&self) -> Type {
        Type::Scalar(self.element)
    }

    /// The integer type that is as wide as the floating-point type.
    pub fn int_type(&self) -> Type {
        Type::Scalar(if self.is_f32() { Element::I32 } else { Element::I64 })
    }

    /// Whether the floating-point type is `f32`.
    pub fn is_f32(&self) -> bool {
        self.element == Element::F32
    }

    /// Selects `single` if the floating-point type is `f32`, otherwise `double`.
    pub fn select_by_type<T>(&self, single: T, double: T) -> T {
        if self.is_f32() { single } else { double }
    }

    /// Width of the floating-point type in bits.
    pub fn float_bits(&self) -> u64 {
        self.select_by_type(32, 64)
    }

    /// Number of fraction bits of the floating-point type.
    pub fn fraction_bits(&self) -> u64 {
        self.select_by_type(23, 52)
    }

    /// Exponent bias of the floating-point type.
    pub fn exponent_bias(&self) -> u64 {
        self.select_by_type(127, 1023)
    }

    /// Returns the encoding of `constant`, rounded to the floating-point type.
    pub fn encode_constant(&self, constant: f64) -> u64 {
        if self.is_f32() { u64::from((constant as f32).to_bits()) } else { constant.to_bits() }
    }

    /// Calls `append`, which appends operations to the kernel, and returns the kernel value that `append` returns.
    pub fn append_operations(&self, append: impl FnOnce(&mut Builder) -> Value) -> Value {
        append(&mut self.builder.borrow_mut())
    }

    /// Wraps a kernel value as a floating-point value.
    pub fn wrap_real(&'p self, value: Value) -> Real<'p> {
        Real { formula: self, value }
    }

    /// A floating-point constant, rounded to the type.
    pub fn real_constant(&'p self, constant: f64) -> Real<'p> {
        let (ty, bits) = (self.float_type(), self.encode_constant(constant));
        self.wrap_real(self.append_operations(|builder| builder.constant(ty, bits)))
    }

    /// An integer constant, truncated to the width.
    pub fn int_constant(&'p self, bits: u64) -> Int<'p> {
        let (ty, bits) = (self.int_type(), if self.is_f32() { bits & 0xffff_ffff } else { bits });
        self.wrap_int(self.append_operations(|builder| builder.constant(ty, bits)))
    }

    /// Wraps a kernel value as an integer.
    pub fn wrap_int(&'p self, value: Value) -> Int<'p> {
        Int { formula: self, value }
    }

    /// Returns the entry of a table with this index, as a constant of the floating-point type.
    pub fn table_entry(&'p self, table: &ConstantTable, index: usize) -> Real<'p> {
        self.real_constant(table.entry(self.is_f32(), index))
    }
}

/// A floating-point value of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Real<'p> {
    pub formula: &'p FormulaBuilder<'p>,
    pub value: Value,
}

/// An operand of floating-point arithmetic: a value or a constant.
pub(super) trait Number<'p>: Copy {
    /// Converts the operand to a value of the kernel.
    fn at(self, formula: &'p FormulaBuilder<'p>) -> Real<'p>;
}

impl<'p> Number<'p> for Real<'p> {
    fn at(self, _: &'p FormulaBuilder<'p>) -> Real<'p> {
        self
    }
}

impl<'p> Number<'p> for f64 {
    fn at(self, formula: &'p FormulaBuilder<'p>) -> Real<'p> {
        formula.real_constant(self)
    }
}

/// An integer of a kernel, as wide as the floating-point type.
#[derive(Clone, Copy)]
pub(super) struct Int<'p> {
    pub formula: &'p FormulaBuilder<'p>,
    pub value: Value,
}

/// An operand of integer arithmetic: a value or the low bits of a constant.
pub(super) trait Bits<'p>: Copy {
    /// Converts the operand to a value of the kernel.
    fn at(self, formula: &'p FormulaBuilder<'p>) -> Int<'p>;
}

impl<'p> Bits<'p> for Int<'p> {
    fn at(self, _: &'p FormulaBuilder<'p>) -> Int<'p> {
        self
    }
}

impl<'p> Bits<'p> for u64 {
    fn at(self, formula: &'p FormulaBuilder<'p>) -> Int<'p> {
        formula.int_constant(self)
    }
}

/// A condition: an `i1` value of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Bool<'p> {
    pub formula: &'p FormulaBuilder<'p>,
    pub value: Value,
}
