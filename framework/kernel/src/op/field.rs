//! The values and regions in a field of an operation.

use std::slice;

use super::atomic::{Atomic, MemoryOrder, MemoryScope};
use super::choices::{Binary, Cast, Compare, Exchange, Issuers, Scope, Unary};
use super::math::MathFunction;
use crate::{Queue, Region, Value};

/// A field of an operation; by itself an attribute, which holds neither operands nor a region.
pub(super) trait Field {
    /// The operands in it.
    fn values(&self) -> &[Value] {
        &[]
    }

    /// The operands in it, to be changed.
    fn values_mut(&mut self) -> &mut [Value] {
        &mut []
    }

    /// The region that it is.
    fn region(&self) -> Option<&Region> {
        None
    }

    /// The region that it is, to be changed.
    fn region_mut(&mut self) -> Option<&mut Region> {
        None
    }
}

impl Field for Value {
    fn values(&self) -> &[Value] {
        slice::from_ref(self)
    }

    fn values_mut(&mut self) -> &mut [Value] {
        slice::from_mut(self)
    }
}

impl Field for Vec<Value> {
    fn values(&self) -> &[Value] {
        self
    }

    fn values_mut(&mut self) -> &mut [Value] {
        self
    }
}

impl Field for Option<Value> {
    fn values(&self) -> &[Value] {
        self.as_slice()
    }

    fn values_mut(&mut self) -> &mut [Value] {
        self.as_mut_slice()
    }
}

impl Field for Option<(Value, u16)> {
    fn values(&self) -> &[Value] {
        self.as_ref().map_or(&[], |(value, _)| slice::from_ref(value))
    }

    fn values_mut(&mut self) -> &mut [Value] {
        self.as_mut().map_or(&mut [], |(value, _)| slice::from_mut(value))
    }
}

impl Field for Region {
    fn region(&self) -> Option<&Region> {
        Some(self)
    }

    fn region_mut(&mut self) -> Option<&mut Region> {
        Some(self)
    }
}

macro_rules! attributes {
    ($($type:ty),* $(,)?) => {
        $(impl Field for $type {})*
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
    Compare,
    Exchange,
    Issuers,
    Scope,
    Unary,
    MathFunction,
    Queue,
);
