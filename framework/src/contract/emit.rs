//! The kernel IR of a contraction of one chunk of K.

use crate::kernel::{Binary, Builder, Cast, Compare, Element, Op, SpecialRegister, Type, Value};
use crate::target::Number;

use super::cast::{self, carrier};
use super::plan::Contraction;
use super::unit::{Operands, Role};

impl Contraction {
    /// Writes the kernel IR that adds the product of one chunk of `a` and `b` to the sums `c`, and gives the
    /// new sums. All are integers as wide as the question's elements, one for each register of their layouts.
    ///
    /// # Panics
    /// Where there are not as many values as the layouts have registers.
    pub fn emit(&self, builder: &mut Builder, a: &[Value], b: &[Value], c: &[Value]) -> Vec<Value> {
        let (question, unit) = (&self.question, &self.unit);
        let a = self.factor(builder, a, question.a, &unit.a, 1);
        let b = self.factor(builder, b, question.b, &unit.b, 0);
        match &unit.row {
            Some(row) => self.by_row(builder, row, &a, &b, c),
            None => self.by_lanes(builder, &a, &b, c),
        }
    }

    /// Elements cast to the unit's type, and zero where the unit is larger than the matrices along K.
    fn factor(
        &self,
        builder: &mut Builder,
        values: &[Value],
        from: Number,
        operands: &Operands,
        k_axis: usize,
    ) -> Vec<Value> {
        let cast: Vec<Value> = values.iter().map(|&value| cast::cast(builder, value, from, operands.number)).collect();
        let padding = |places: &[[u64; 2]]| -> Vec<u64> {
            places.iter().map(|place| self.order.padding(place[k_axis])).collect()
        };
        let (registers, lanes) = (padding(&operands.registers), padding(&operands.lanes));
        if registers.iter().chain(&lanes).all(|&part| part == 0) {
            return cast;
        }
        let zero = builder.constant(carrier(operands.number), 0);
        let of_lane = lanes.iter().any(|&part| part != 0).then(|| lane_part(builder, &lanes));
        let mut matrix = Vec::with_capacity(cast.len());
        for (register, value) in (0u64..).zip(cast) {
            let own = crate::f2::multiply(&registers, register & ((1 << registers.len()) - 1));
            matrix.push(match of_lane {
                Some(of_lane) => {
                    let own = builder.i32(own as u32);
                    let inside = builder.compare(Compare::Eq, of_lane, own);
                    builder.select(inside, value, zero)
                }
                None if own == 0 => value,
                None => zero,
            });
        }
        matrix
    }

    /// Registers of each repetition, as (along M or N, along K): the unit's own, packed.
    fn packed(&self, builder: &mut Builder, values: &[Value], operands: &Operands) -> Vec<Value> {
        values.chunks(1 << operands.registers.len()).map(|own| widened(builder, own, operands)).collect()
    }

    fn by_row(&self, builder: &mut Builder, row: &str, a: &[Value], b: &[Value], c: &[Value]) -> Vec<Value> {
        let unit = &self.unit;
        let a = self.packed(builder, a, &unit.a);
        let b = self.packed(builder, b, &unit.b);
        let mut sums = self.packed(builder, c, &unit.sums);
        self.each_issue(|at_a, at_b, at_sums| {
            let value = |role: &Role| match role {
                Role::A => a[at_a],
                Role::B => b[at_b],
                Role::Sums => sums[at_sums],
            };
            let operands = unit.order.iter().map(value).collect();
            let ty = builder.type_of(sums[at_sums]);
            sums[at_sums] = builder.value(ty, Op::Instruction { name: row.to_owned(), operands });
        });
        let narrow = carrier(unit.sums.number);
        let count = 1u32 << unit.sums.registers.len();
        let mut all = Vec::with_capacity(c.len());
        for packed in sums {
            for index in 0..count {
                let element = builder.extract(packed, index);
                all.push(builder.cast(Cast::Truncate, element, narrow));
            }
        }
        all
    }

    fn by_lanes(&self, builder: &mut Builder, a: &[Value], b: &[Value], c: &[Value]) -> Vec<Value> {
        let number = self.unit.sums.number;
        let element = cast::element(number).unwrap_or(Element::I32);
        let (multiply, add) = if number.is_float() { (Binary::FMul, Binary::FAdd) } else { (Binary::Mul, Binary::Add) };
        let fuses = fuses(number);
        let mut typed = |values: &[Value]| -> Vec<Value> {
            values.iter().map(|&value| builder.cast(Cast::Bits, value, Type::Scalar(element))).collect()
        };
        let (a, b, mut sums) = (typed(a), typed(b), typed(c));
        self.each_issue(|at_a, at_b, at_sums| {
            sums[at_sums] = if fuses {
                builder.f_mul_add(a[at_a], b[at_b], sums[at_sums])
            } else {
                let product = builder.binary(multiply, a[at_a], b[at_b]);
                builder.binary(add, sums[at_sums], product)
            };
        });
        sums.into_iter().map(|sum| builder.cast(Cast::Bits, sum, carrier(number))).collect()
    }

    /// Calls `issue` with the numbers of the repetitions of `a`, `b` and the sums, in the order of K.
    fn each_issue(&self, mut issue: impl FnMut(usize, usize, usize)) {
        let [m, n, k] = self.tiling.repeats();
        for at_k in 0..1usize << k {
            for row in 0..1usize << m {
                for column in 0..1usize << n {
                    issue(row << k | at_k, column << k | at_k, row << n | column);
                }
            }
        }
    }
}

/// Whether a plain multiply-add of a type is one operation, rounded once.
pub(crate) fn fuses(number: Number) -> bool {
    number.is_float() && cast::element(number) != Some(Element::Bf16)
}

/// The part of the padding that the running lane lies in.
fn lane_part(builder: &mut Builder, lanes: &[u64]) -> Value {
    let lane = builder.special(SpecialRegister::Lane);
    let mut sum = builder.i32(0);
    for (bit, &part) in (0..).zip(lanes).filter(|(_, part)| **part != 0) {
        let own = builder.binary_const(Binary::ShrU, lane, bit);
        let own = builder.binary_const(Binary::And, own, 1);
        let own = builder.binary_const(Binary::Mul, own, part as u32);
        sum = builder.binary(Binary::Xor, sum, own);
    }
    sum
}

/// The elements in places as wide as the row's, side by side.
fn widened(builder: &mut Builder, elements: &[Value], operands: &Operands) -> Value {
    let place = Type::Scalar(Element::integer(operands.bits).unwrap_or(Element::I32));
    let wide: Vec<Value> = elements.iter().map(|&element| builder.cast(Cast::ExtendU, element, place)).collect();
    builder.pack(&wide)
}
