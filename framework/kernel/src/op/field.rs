//! Accessors for the values and regions in a field of an operation.

use std::slice;

use super::atomic::{Atomic, MemoryOrder, MemoryScope};
use super::choices::{
    BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, Issuers, RegisterChange, ShuffleMode, Unary,
};
use super::math::MathFunction;
use crate::{Queue, Value};

/// A field of an operation whose regions are of type `R`. The default methods are those of an attribute, which holds no
/// operand and no region.
pub(super) trait Field<R> {
    /// The operands in the field; none if it is an attribute.
    fn values(&self) -> &[Value] {
        &[]
    }

    /// The region in the field; `None` if the field is no region.
    fn region(&self) -> Option<&R> {
        None
    }

    /// A mutable reference to the region in the field; `None` if the field is no region.
    fn region_mut(&mut self) -> Option<&mut R> {
        None
    }
}

impl<R> Field<R> for Value {
    fn values(&self) -> &[Value] {
        slice::from_ref(self)
    }
}

impl<R> Field<R> for Vec<Value> {
    fn values(&self) -> &[Value] {
        self
    }
}

impl<R> Field<R> for Option<Value> {
    fn values(&self) -> &[Value] {
        self.as_slice()
    }
}

impl<R> Field<R> for Option<Vec<Value>> {
    fn values(&self) -> &[Value] {
        self.as_deref().unwrap_or(&[])
    }
}

impl<R> Field<R> for Option<(Value, u16)> {
    fn values(&self) -> &[Value] {
        self.as_ref().map_or(&[], |(value, _)| slice::from_ref(value))
    }
}

macro_rules! attributes {
    ($($type:ty),* $(,)?) => {
        $(impl<R> Field<R> for $type {})*
    };
}

attributes!(
    bool,
    u16,
    u32,
    u64,
    i32,
    String,
    Atomic,
    MemoryOrder,
    MemoryScope,
    Binary,
    Cast,
    ClockCounter,
    Compare,
    ShuffleMode,
    Issuers,
    RegisterChange,
    BarrierAction,
    CollectiveScope,
    Unary,
    MathFunction,
    Queue,
);
