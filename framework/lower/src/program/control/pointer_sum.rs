//! Pointers that a loop carries as one base. Each pointer of the tensor is the base plus offsets that the loop does not
//! change, such as those of its row and of its column.
//!
//! With strides that are unknown, the pointers of a tile differ by no constants, so that a loop would carry each of
//! them: 64 pointers are 128 registers. As the sum of a base, 8 rows and 8 columns they are 18 registers of 32 bits;
//! as a base and multiples of one stride, 3 registers. Each iteration adds the step to the base alone.

use std::collections::{HashMap, HashSet};

use tilewright_kernel::{Builder, Value};

use super::super::register_differences::RegisterDifferences;
use super::super::scalar::add_elements;

/// Pointers of a loop's argument as one base plus loop-invariant offsets.
#[derive(Debug, Clone)]
pub(in super::super) struct PointerSum {
    /// The base in the region that is lowered.
    pub(super) base: Value,
    /// Size in bytes of an element that a pointer points to.
    pub(super) bytes: u64,
    /// The registers whose pointers are computed as sums; each other register's pointer is one of these plus a constant.
    pub(super) registers: RegisterDifferences,
    /// The terms, those with the fewest different offsets first.
    pub(super) terms: Vec<Term>,
}

/// One term of a sum of pointers: for each pointer, the offset that the term adds, in elements.
#[derive(Debug, Clone)]
pub(super) struct Term(pub(super) Vec<Offset>);

/// An offset in elements: the kernel value `unit` times the constant `multiple`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Offset {
    pub(super) unit: Value,
    pub(super) multiple: i64,
}

impl Term {
    pub(super) fn of(registers: impl IntoIterator<Item = Value>) -> Self {
        Self(registers.into_iter().map(|unit| Offset { unit, multiple: 1 }).collect())
    }

    /// The number of different offsets.
    pub(super) fn count(&self) -> usize {
        self.0.iter().collect::<HashSet<_>>().len()
    }

    /// The number of 32-bit registers that the offsets take in the loop; none for an offset that all pointers share,
    /// since it is added to the base.
    pub(super) fn registers(&self, builder: &Builder) -> usize {
        if self.count() == 1 {
            return 0;
        }
        let units: HashSet<Value> = self.0.iter().map(|offset| offset.unit).collect();
        units.into_iter().map(|unit| builder.type_of(unit).bits().div_ceil(32) as usize).sum()
    }
}

impl Offset {
    pub(super) fn add_to(self, builder: &mut Builder, pointer: Value, bytes: u64) -> Value {
        match self.multiple {
            0 => pointer,
            multiple => add_elements(builder, pointer, self.unit, bytes.wrapping_mul(multiple.cast_unsigned())),
        }
    }
}

impl PointerSum {
    /// Emits the pointers of all registers.
    pub(super) fn expand(&self, builder: &mut Builder) -> Vec<Value> {
        let mut known = HashMap::new();
        let mut pointers = vec![self.base; self.registers.count()];
        for term in &self.terms {
            for (pointer, &offset) in pointers.iter_mut().zip(&term.0) {
                let sum = known.entry((*pointer, offset));
                *pointer = *sum.or_insert_with(|| offset.add_to(builder, *pointer, self.bytes));
            }
        }
        self.registers.expand(builder, &pointers)
    }
}
