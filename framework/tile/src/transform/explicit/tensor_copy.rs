//! Bulk tensor copies (TMA): the tensor maps that they read, and how one is issued.

use crate::op::name::{arith, tw};
use std::sync::Arc;

use super::choices::{Distance, ValueTerm};
use super::expander::Expander;
use crate::transform::{Copier, Rewritten, violation};
use crate::{Op, TensorDescriptorType, TileType, Value};

impl Expander<'_> {
    /// Whether a copy is a bulk tensor copy.
    pub(super) fn is_box(&self, copy: Op) -> bool {
        self.choices.boxes.contains_key(&copy)
    }

    /// The bytes that a copy brings.
    pub(super) fn bytes_of(copy: Op, copier: &Copier<'_, '_, '_>) -> u64 {
        let target = copier.from.ty(copier.from.op(copy).operands[1]);
        let elements: u64 = target.shape().unwrap_or_default().iter().product();
        elements * u64::from(target.element().element_bits().unwrap_or(8)) / 8
    }

    /// The tensor map of the memory that a copy reads.
    pub(super) fn map(&self, copy: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Value> {
        let Some(mapped) = self.choices.boxes.get(&copy) else {
            return Err(violation(copier, copy, "nothing says which memory it copies boxes of"));
        };
        let target = copier.from.ty(copier.from.op(copy).operands[1]);
        let (shape, element) = (target.shape().unwrap_or_default().to_vec(), target.element().clone());
        let strides = mapped.strides.iter().map(|stride| match *stride {
            Distance::Number(number) => {
                copier.to.integer(i64::try_from(number).unwrap_or(i64::MAX), &TileType::integer(32))
            }
            Distance::Value(value) => Ok(copier.value(value)),
        });
        let strides: Vec<Value> = strides.collect::<Result<_, _>>()?;
        let base = copier.value(mapped.base);
        let ty = TileType::Descriptor(Arc::new(TensorDescriptorType { shape, element, layout: None }));
        Ok(copier.to.op(tw::MAPPED).operands("base", &[base]).operands("strides", &strides).result(ty).value()?)
    }

    /// Issues a copy into the buffer that is meant.
    pub(super) fn fill_box(
        &mut self,
        op: Op,
        mbarrier: Option<Value>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        let (Some(&map), Some(mapped)) = (self.maps.get(&op), self.choices.boxes.get(&op)) else {
            return Err(violation(copier, op, "boxes are copied in loops with stages alone"));
        };
        let indices = mapped.begins.iter().map(|terms| sum(copier, terms)).collect::<Result<Vec<_>, _>>()?;
        let buffer = self.buffer(copier.from.op(op).operands[1], op, copier)?;
        let made = copier.to.op(tw::LOAD_BOX).operands("desc", &[map]).operands("indices", &indices);
        let made = made.operands("dst", &[buffer]).operands("mbarrier", mbarrier.as_slice()).done()?;
        self.made.copies.push((op, made));
        Ok(())
    }
}

/// Where a tile begins along an axis.
fn sum(copier: &mut Copier<'_, '_, '_>, terms: &[ValueTerm]) -> Rewritten<Value> {
    let ty = TileType::integer(32);
    let mut all = None;
    for term in terms {
        let mut value = copier.value(term.value);
        for (name, by) in [(arith::MULI, term.times), (arith::DIVSI, term.over)] {
            if by > 1 {
                let by = copier.to.integer(i64::try_from(by).unwrap_or(i64::MAX), &ty)?;
                value = copier.to.binary(name, value, by)?;
            }
        }
        all = Some(copier.to.combined(arith::ADDI, all, value)?);
    }
    Ok(all.map_or_else(|| copier.to.word(0), Ok)?)
}
