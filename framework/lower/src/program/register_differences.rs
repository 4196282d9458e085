//! Constant differences between the registers of a tensor of pointers or integers, by axis information ([`AxisInfo`]).
//! Of registers that differ by constants, a loop carries only one, and the accesses through the others have the
//! difference as their constant offset.

use tilewright_kernel::{Binary, Builder, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::axis_info::{AxisInfo, IndexBitPosition};

/// For each register of a tensor, its source (the index of a register from which it differs by a constant, perhaps its
/// own index) and the constant to add to the source's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegisterDifferences(Vec<(usize, i64)>);

impl RegisterDifferences {
    /// Finds the differences for a tensor with this layout. Without axis information (`None`, as for floating-point
    /// elements), every register is its own source.
    pub(super) fn of(layout: &LinearLayout, info: Option<&AxisInfo>) -> Self {
        let differences: Vec<Option<i64>> = layout
            .columns_of(Dim::REGISTER)
            .iter()
            .map(|&column| info.and_then(|info| difference(layout, info, column)))
            .collect();
        let source = |register: usize| {
            let known = differences.iter().enumerate().filter(|(bit, _)| register >> bit & 1 == 1);
            known.fold((register, 0i64), |(from, sum), (bit, difference)| match difference {
                Some(difference) => (from & !(1 << bit), sum + difference),
                None => (from, sum),
            })
        };
        Self((0..1usize << differences.len()).map(source).collect())
    }

    /// The source of a register, and the difference to it.
    pub(super) fn source(&self, register: usize) -> (usize, i64) {
        self.0.get(register).copied().unwrap_or((register, 0))
    }

    /// Emits the value of a register from the values of the registers before it; `None` if it is its own source.
    pub(super) fn emit_from(&self, builder: &mut Builder, register: usize, before: &[Value]) -> Option<Value> {
        let (from, difference) = self.source(register);
        before.get(from).filter(|_| from < register).map(|&source| moved(builder, source, difference))
    }

    /// The number of registers that are their own source.
    pub(super) fn count(&self) -> usize {
        self.own().count()
    }

    /// Selects, from all registers of the tensor, those that are their own source.
    pub(super) fn select(&self, registers: &[Value]) -> Vec<Value> {
        self.own().map(|register| registers[register]).collect()
    }

    /// Emits the computation of all registers of the tensor from the sources, and returns them.
    pub(super) fn expand(&self, builder: &mut Builder, sources: &[Value]) -> Vec<Value> {
        let own: Vec<usize> = self.own().collect();
        let mut all = Vec::with_capacity(self.0.len());
        for &(from, difference) in &self.0 {
            let value = own.binary_search(&from).map_or(sources[0], |at| sources[at]);
            all.push(moved(builder, value, difference));
        }
        all
    }

    fn own(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(register, (from, _))| register == from).map(|(register, _)| register)
    }
}

/// Returns the difference between two elements (in bytes for pointers) whose registers differ in one bit, the one that
/// has the basis `column`. `None` if the difference is not constant, or if another basis of the layout moves the same
/// coordinate bits.
fn difference(layout: &LinearLayout, info: &AxisInfo, column: u64) -> Option<i64> {
    if layout.columns().iter().filter(|&&other| other & column != 0).count() > 1 {
        return None;
    }
    let outs = layout.outs();
    (0..info.rank()).try_fold(0i64, |sum, axis| {
        let coordinate = outs.coordinate(column, Dim::tensor(axis));
        let bits = (0..u64::BITS).filter(|bit| coordinate >> bit & 1 == 1);
        bits.into_iter().try_fold(sum, |sum, bit| sum.checked_add(info.bit_step(IndexBitPosition { axis, bit })?))
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
