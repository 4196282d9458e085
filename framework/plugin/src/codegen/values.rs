//! The values that a code generator has for those of a kernel, as far as they are in scope.

use std::collections::HashMap;

use tilewright_kernel::{MAX_DEPTH, Type, Value};

use super::invalid;
use crate::CompileError;

/// A code generator's value, which knows its type in the kernel IR.
pub trait TypedValue: Clone {
    /// Its type.
    fn ty(&self) -> Type;
}

/// The values in scope at the current statement.
#[derive(Debug)]
pub struct ValueMap<V> {
    defined: HashMap<Value, V>,
    /// In the order of definition: the end of a region removes its own.
    order: Vec<Value>,
    depth: usize,
}

impl<V> Default for ValueMap<V> {
    fn default() -> Self {
        Self { defined: HashMap::new(), order: Vec::new(), depth: 0 }
    }
}

impl<V: TypedValue> ValueMap<V> {
    /// The value of a number.
    ///
    /// # Errors
    /// [`CompileError::Invalid`] if none is in scope.
    pub fn get(&self, number: Value) -> Result<V, CompileError> {
        let value = self.defined.get(&number).cloned();
        value.ok_or_else(|| invalid(format!("value %{} is not defined here", number.0)))
    }

    /// The value of a number, which must have the given type.
    ///
    /// # Errors
    /// [`CompileError::Invalid`] if none is in scope or it has another type.
    pub fn get_as(&self, number: Value, ty: Type) -> Result<V, CompileError> {
        let value = self.get(number)?;
        if value.ty() == ty {
            return Ok(value);
        }
        Err(invalid(format!("value %{} is a {}; a {ty} is needed", number.0, value.ty())))
    }

    /// The values of several numbers.
    ///
    /// # Errors
    /// As [`ValueMap::get`].
    pub fn get_all(&self, numbers: &[Value]) -> Result<Vec<V>, CompileError> {
        numbers.iter().map(|&number| self.get(number)).collect()
    }

    pub(super) fn define(&mut self, number: Value, value: V) -> Result<(), CompileError> {
        if self.defined.insert(number, value).is_some() {
            return Err(invalid(format!("value %{} is defined twice", number.0)));
        }
        self.order.push(number);
        Ok(())
    }

    /// Begins a region; [`ValueMap::end_region`] takes the result.
    pub(super) fn begin_region(&mut self) -> Result<usize, CompileError> {
        if self.depth == MAX_DEPTH {
            return Err(invalid(format!("regions nest deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        Ok(self.order.len())
    }

    /// Ends a region: its values go out of scope.
    pub(super) fn end_region(&mut self, begun: usize) {
        self.depth -= 1;
        for number in self.order.drain(begun..) {
            self.defined.remove(&number);
        }
    }
}
