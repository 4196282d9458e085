//! The registers that a loop carries of a tensor of pointers or integers. Registers whose elements differ by constants
//! ([`AxisInfo`]) are carried as one, and the others are computed from it where they are used, as an offset of an
//! address.

use tilewright_kernel::{Binary, Builder, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::axis_info::{AxisInfo, IndexBit};

/// For each register of a tensor, the register that is carried for it, and the difference to that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CarriedRegisters(Vec<(usize, i64)>);

impl CarriedRegisters {
    /// Finds the carried registers of a tensor with this layout. Elements of other types than pointers and integers
    /// have no axis information.
    pub(super) fn of(layout: &LinearLayout, info: Option<&AxisInfo>) -> Self {
        let differences: Vec<Option<i64>> = layout
            .columns_of(Dim::REGISTER)
            .iter()
            .map(|&column| info.and_then(|info| difference(layout, info, column)))
            .collect();
        let carried = |register: usize| {
            let known = differences.iter().enumerate().filter(|(bit, _)| register >> bit & 1 == 1);
            known.fold((register, 0i64), |(from, sum), (bit, difference)| match difference {
                Some(difference) => (from & !(1 << bit), sum + difference),
                None => (from, sum),
            })
        };
        Self((0..1usize << differences.len()).map(carried).collect())
    }

    /// Number of registers that are carried.
    pub(super) fn count(&self) -> usize {
        self.own().count()
    }

    /// Selects the carried registers of all.
    pub(super) fn select(&self, registers: &[Value]) -> Vec<Value> {
        self.own().map(|register| registers[register]).collect()
    }

    /// Returns all registers, computed from the carried ones.
    pub(super) fn expand(&self, builder: &mut Builder, carried: &[Value]) -> Vec<Value> {
        let own: Vec<usize> = self.own().collect();
        let mut all = Vec::with_capacity(self.0.len());
        for &(from, difference) in &self.0 {
            let value = own.binary_search(&from).map_or(carried[0], |at| carried[at]);
            all.push(moved(builder, value, difference));
        }
        all
    }

    fn own(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(register, (from, _))| register == from).map(|(register, _)| register)
    }
}

/// Returns the difference of elements whose registers differ in the bit with this column; `None` if it is no constant,
/// or another bit of the layout's inputs moves the same bits of coordinates.
fn difference(layout: &LinearLayout, info: &AxisInfo, column: u64) -> Option<i64> {
    if layout.columns().iter().filter(|&&other| other & column != 0).count() > 1 {
        return None;
    }
    let outs = layout.outs();
    (0..info.rank()).try_fold(0i64, |sum, axis| {
        let coordinate = outs.coordinate(column, Dim::tensor(axis));
        let bits = (0..u64::BITS).filter(|bit| coordinate >> bit & 1 == 1);
        bits.into_iter().try_fold(sum, |sum, bit| sum.checked_add(info.step(IndexBit { axis, bit })?))
    })
}

/// Adds a constant to a pointer or integer.
fn moved(builder: &mut Builder, value: Value, difference: i64) -> Value {
    if difference == 0 {
        return value;
    }
    let ty = builder.type_of(value);
    let bits = difference.cast_unsigned();
    match ty {
        Type::Pointer(_) => {
            let bytes = builder.constant(Type::Scalar(tilewright_kernel::Element::I64), bits);
            builder.ptr_add(value, bytes)
        }
        _ => {
            let constant = builder.constant(ty, bits & (u64::MAX >> (64 - ty.bits())));
            builder.binary(Binary::Add, value, constant)
        }
    }
}
