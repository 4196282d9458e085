//! The shapes of products.

use super::{Check, Checked, ensure};
use crate::tile::{Attribute, Type};

impl Check<'_> {
    pub(super) fn products(&self) -> Checked {
        let name = self.operation.name();
        let packed = match name {
            "tt.dot" => [1, 1],
            "tt.dot_scaled" => [self.packed("a_elem_type", "lhs_k_pack"), self.packed("b_elem_type", "rhs_k_pack")],
            _ => return Ok(()),
        };
        let shape = |group: &str| self.operand_type(group).and_then(Type::shape).unwrap_or_default();
        let (a, b, c) = (shape("a"), shape("b"), shape("c"));
        let rank = a.len();
        ensure(rank == b.len() && rank == c.len() && (rank == 2 || rank == 3), || {
            format!("a product of {a:?} and {b:?} added to {c:?}: expected two axes each, or three")
        })?;
        let batches = rank - 2;
        let fits = a[..batches] == b[..batches]
            && a[..batches] == c[..batches]
            && a[batches] == c[batches]
            && b[batches + 1] == c[batches + 1]
            && a[batches + 1].saturating_mul(packed[0]) == b[batches].saturating_mul(packed[1]);
        ensure(fits, || {
            let note = if packed == [1, 1] { "" } else { ", two elements of four bits in a byte along K" };
            format!("a product of {a:?} and {b:?} is no {c:?}{note}")
        })?;
        self.scales(batches, a, b, packed)
    }

    /// How many elements of a factor lie in one of its tensor's along K.
    fn packed(&self, element: &str, along_k: &str) -> u64 {
        let narrow = self.operation.attributes.get(element).and_then(Attribute::as_text) == Some("e2m1");
        let along = self.operation.attributes.get(along_k) != Some(&Attribute::Bool(false));
        if narrow && along { 2 } else { 1 }
    }

    /// Scales are rows, or columns, by blocks of K.
    fn scales(&self, batches: usize, a: &[u64], b: &[u64], packed: [u64; 2]) -> Checked {
        let sides = [
            ("a_scale", a[batches], a[batches + 1].saturating_mul(packed[0])),
            ("b_scale", b[batches + 1], b[batches].saturating_mul(packed[1])),
        ];
        for (group, lines, k) in sides {
            let Some(scale) = self.operand_type(group).and_then(Type::shape) else { continue };
            let fits = scale.len() == batches + 2 && scale[batches] == lines && k % scale[batches + 1].max(1) == 0;
            ensure(fits, || format!("`{group}` is {scale:?}: expected {lines} lines by blocks of K, which is {k}"))?;
        }
        Ok(())
    }
}
