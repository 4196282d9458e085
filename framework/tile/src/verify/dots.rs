//! Checks the shapes of dots.

use super::{CheckResult, OpContext, ensure};
use crate::op::name::tt;
use crate::{Attribute, TileType};

impl OpContext<'_> {
    pub(super) fn check_dots(&self) -> CheckResult {
        let name = self.operation.name();
        let ([a_lines, a_k], [b_lines, b_k]) = match name {
            tt::DOT => ([1, 1], [1, 1]),
            tt::DOT_SCALED => (self.packed("a_elem_type", "lhs_k_pack"), self.packed("b_elem_type", "rhs_k_pack")),
            _ => return Ok(()),
        };
        let shape = |group: &str| self.operand_type(group).and_then(TileType::shape).unwrap_or_default();
        let (a, b, c) = (shape("a"), shape("b"), shape("c"));
        let rank = a.len();
        ensure(rank == b.len() && rank == c.len() && (rank == 2 || rank == 3), || {
            format!("a dot of {a:?} and {b:?} with accumulator {c:?}: expected two axes each, or three")
        })?;
        let batches = rank - 2;
        let fits = a[..batches] == b[..batches]
            && a[..batches] == c[..batches]
            && a[batches].saturating_mul(a_lines) == c[batches]
            && b[batches + 1].saturating_mul(b_lines) == c[batches + 1]
            && a[batches + 1].saturating_mul(a_k) == b[batches].saturating_mul(b_k);
        ensure(fits, || {
            let note = match [a_lines, a_k, b_lines, b_k] {
                [1, 1, 1, 1] => "",
                [1, _, 1, _] => ", two elements of four bits in a byte along K",
                _ => ", two elements of four bits in a byte across K",
            };
            format!("a dot of {a:?} and {b:?} does not have the result {c:?}{note}")
        })?;
        self.scales(batches, [c[batches], c[batches + 1]], a[batches + 1].saturating_mul(a_k))
    }

    /// Returns how many elements of an operand one element of its tensor packs: across K, and along K.
    ///
    /// `element` names the attribute with the operand's element type, and `along_k` the attribute that states whether
    /// the packing is along K.
    fn packed(&self, element: &str, along_k: &str) -> [u64; 2] {
        let narrow = self.operation.attributes.get(element).and_then(Attribute::as_text) == Some("e2m1");
        let along = self.operation.attributes.get(along_k) != Some(&Attribute::Bool(false));
        match (narrow, along) {
            (false, _) => [1, 1],
            (true, true) => [1, 2],
            (true, false) => [2, 1],
        }
    }

    /// Checks the shape of the scales of A and B: one row of scales for each row of A or column of B; the number of
    /// scales in a row must divide K.
    fn scales(&self, batches: usize, [rows, columns]: [u64; 2], k: u64) -> CheckResult {
        let sides = [("a_scale", rows, k), ("b_scale", columns, k)];
        for (group, lines, k) in sides {
            let Some(scale) = self.operand_type(group).and_then(TileType::shape) else { continue };
            let fits = scale.len() == batches + 2 && scale[batches] == lines && k % scale[batches + 1].max(1) == 0;
            ensure(fits, || format!("`{group}` is {scale:?}: expected {lines} lines by blocks of K, which is {k}"))?;
        }
        Ok(())
    }
}

/// Checks `tt.dot_scaled`: each scale is for 16 or 32 elements along K.
pub(super) fn scales(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    for (operand, scale, word, pack) in
        [("a", "a_scale", "a_elem_type", "lhs_k_pack"), ("b", "b_scale", "b_elem_type", "rhs_k_pack")]
    {
        let shape = |group: &str| check.group_type(group).and_then(TileType::shape).unwrap_or_default();
        let (tensor, scales) = (shape(operand), shape(scale));
        let (Some(columns), rank) = (scales.last(), tensor.len()) else { continue };
        if rank < 2 || *columns == 0 {
            continue;
        }
        let is_packed = check.text_attribute(word) == Some("e2m1")
            && check.operation.attributes.get(pack) != Some(&Attribute::Bool(false));
        let k = tensor[if operand == "a" { rank - 1 } else { rank - 2 }] << u32::from(is_packed);
        let per_scale = k / columns;
        ensure(per_scale == 16 || per_scale == 32, || {
            format!("`{scale}` of {scales:?} has one scale for {per_scale} elements: expected 16 or 32")
        })?;
    }
    Ok(())
}
