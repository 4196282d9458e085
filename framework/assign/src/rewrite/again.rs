//! Operations that are done once for each layout in which their results are wanted.

use std::sync::Arc;

use super::Rewriter;
use tilewright_tile::{Attribute, Dense, Op};

impl Rewriter<'_, '_, '_> {
    /// The operation, once for each layout in which its results are wanted.
    pub(super) fn rematerialize(&mut self, op: Op) {
        let results = self.body.op(op).results.clone();
        let needed = results.first().map(|result| self.needed[result.index()].clone()).unwrap_or_default();
        let original = self.body.op(op).clone();
        let types: Vec<_> = results.iter().map(|result| self.body.ty(*result).clone()).collect();
        let mut made = Vec::with_capacity(needed.len());
        for (number, &layout) in needed.iter().enumerate() {
            let own = if number == 0 { op } else { self.body.add_op(original.clone(), types.clone()) };
            for (&result, &again) in results.iter().zip(&self.body.op(own).results.clone()) {
                if number > 0
                    && let Some(name) = self.body.name(result).map(str::to_owned)
                {
                    self.body.set_name(again, name);
                }
                self.set_type(again, layout);
                self.versions.insert((result, layout), again);
            }
            self.set_constant(own);
            self.rematerialized.push((own, layout));
            self.model.insert(own, op);
            made.push(own);
        }
        self.instead.insert(op, made);
    }

    /// A constant has its type in its value, too.
    pub(super) fn set_constant(&mut self, op: Op) {
        let Some(&result) = self.body.op(op).results.first() else { return };
        let ty = self.body.ty(result).clone();
        if let Some(Attribute::Dense(dense)) = self.body.op(op).attributes.get("value") {
            let dense = Dense { ty, elements: Arc::clone(&dense.elements) };
            self.body.op_mut(op).attributes.set("value", Attribute::Dense(dense));
        }
    }
}
