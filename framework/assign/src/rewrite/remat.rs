//! Rematerialization: clones an operation for each required layout of its results.

use std::sync::Arc;

use super::Rewriter;
use tilewright_tile::{Attribute, DenseElements, Op};

impl Rewriter<'_, '_, '_> {
    /// Clones the operation once for each required layout of its results; the original operation takes the first
    /// layout.
    pub(super) fn rematerialize(&mut self, op: Op) {
        let results = self.body.op(op).results.clone();
        let needed = results.first().map(|result| self.needed[result.index()].clone()).unwrap_or_default();
        let original = self.body.op(op).clone();
        let types: Vec<_> = results.iter().map(|result| self.body.value_type(*result).clone()).collect();
        let mut copies = Vec::with_capacity(needed.len());
        for (index, &layout) in needed.iter().enumerate() {
            let remat_op = if index == 0 { op } else { self.body.add_op(original.clone(), types.clone()) };
            for (&result, &new_result) in results.iter().zip(&self.body.op(remat_op).results.clone()) {
                if index > 0
                    && let Some(name) = self.body.value_name(result).map(str::to_owned)
                {
                    self.body.set_name(new_result, name);
                }
                self.set_type(new_result, layout);
                self.versions.insert((result, layout), new_result);
            }
            self.set_constant(remat_op);
            self.rematerialized.push((remat_op, layout));
            self.model.insert(remat_op, op);
            copies.push(remat_op);
        }
        self.instead.insert(op, copies);
    }

    /// Updates the value attribute of a constant, which contains the result type.
    pub(super) fn set_constant(&mut self, op: Op) {
        let Some(&result) = self.body.op(op).results.first() else { return };
        let ty = self.body.value_type(result).clone();
        if let Some(Attribute::Dense(dense)) = self.body.op(op).attributes.get("value") {
            let dense = DenseElements { ty, elements: Arc::clone(&dense.elements) };
            self.body.op_mut(op).attributes.set("value", Attribute::Dense(dense));
        }
    }
}
