//! The map from the kernel's values in scope to generated values.

use std::collections::HashMap;

use tilewright_kernel::{MAX_REGION_DEPTH, Type, Value};

use super::invalid_module_error;
use crate::CompileError;

/// A code generator's value with its type in the kernel IR.
pub trait TypedValue: Clone {
    /// Returns the value's type in the kernel IR.
    fn ty(&self) -> Type;
}

/// The generated values of the kernel's values that are in scope at the current statement.
#[derive(Debug)]
pub struct ValueMap<V> {
    defined: HashMap<Value, V>,
    /// The kernel's values in order of definition, so that the end of a region can remove the values defined in it.
    order: Vec<Value>,
    depth: usize,
}

impl<V> Default for ValueMap<V> {
    fn default() -> Self {
        Self { defined: HashMap::new(), order: Vec::new(), depth: 0 }
    }
}

impl<V: TypedValue> ValueMap<V> {
    /// Returns the generated value of a kernel value.
    ///
    /// # Errors
    /// [`CompileError::Invalid`] if the kernel value is not in scope.
    pub fn get(&self, number: Value) -> Result<V, CompileError> {
        let value = self.defined.get(&number).cloned();
        value.ok_or_else(|| invalid_module_error(format!("value %{} is not defined here", number.0)))
    }

    /// Returns the generated value of a kernel value that must have the given type.
    ///
    /// # Errors
    /// [`CompileError::Invalid`] if the kernel value is not in scope or has another type.
    pub fn get_typed(&self, number: Value, ty: Type) -> Result<V, CompileError> {
        let value = self.get(number)?;
        if value.ty() == ty {
            return Ok(value);
        }
        Err(invalid_module_error(format!("value %{} is a {}; a {ty} is needed", number.0, value.ty())))
    }

    /// Returns the generated values of several kernel values.
    ///
    /// # Errors
    /// [`CompileError::Invalid`] if one of them is not in scope.
    pub fn get_all(&self, numbers: &[Value]) -> Result<Vec<V>, CompileError> {
        numbers.iter().map(|&number| self.get(number)).collect()
    }

    pub(super) fn define(&mut self, number: Value, value: V) -> Result<(), CompileError> {
        if self.defined.insert(number, value).is_some() {
            return Err(invalid_module_error(format!("value %{} is defined twice", number.0)));
        }
        self.order.push(number);
        Ok(())
    }

    /// Begins a region; returns a position to pass to [`ValueMap::end_region`].
    pub(super) fn begin_region(&mut self) -> Result<usize, CompileError> {
        if self.depth == MAX_REGION_DEPTH {
            return Err(invalid_module_error(format!("regions nest deeper than {MAX_REGION_DEPTH}")));
        }
        self.depth += 1;
        Ok(self.order.len())
    }

    /// Ends a region that began at `start`: the values defined in it go out of scope.
    pub(super) fn end_region(&mut self, start: usize) {
        self.depth -= 1;
        for number in self.order.drain(start..) {
            self.defined.remove(&number);
        }
    }
}
