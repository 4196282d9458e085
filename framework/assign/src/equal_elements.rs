//! Elements of a tensor that are equal by axis information, so that a lane computes or loads them once.

use super::LaunchConfig;
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::Optimization;
use tilewright_tile::axis_info::IndexBitPosition;

/// For each axis, the mask of the index bits whose change keeps the element, or moves it by a known step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EqualElements(Vec<u64>);

impl EqualElements {
    /// Returns the index bits of a tensor of this shape for which `is_equal` holds.
    pub(crate) fn find(shape: &[u64], is_equal: impl Fn(IndexBitPosition) -> bool) -> Self {
        let along = |(axis, &size): (usize, &u64)| {
            let bits = 0..size.max(1).trailing_zeros();
            bits.filter(|&bit| is_equal(IndexBitPosition { axis, bit })).map(|bit| 1 << bit).sum()
        };
        Self(shape.iter().enumerate().map(along).collect())
    }

    /// Removes from a layout the registers whose elements equal those of other registers of the lane, unless the option
    /// that computes them once is disabled. A register bit stays if another basis moves one of its index bits, as
    /// lowering then computes its elements.
    pub(crate) fn find_distinct(&self, layout: &LinearLayout, config: &LaunchConfig<'_>) -> LinearLayout {
        let equal = if config.context.enables(Optimization::SharedMasks) { self.pack(layout.outs()) } else { 0 };
        let columns = layout.columns();
        let is_equal =
            |column: u64| column & !equal == 0 && columns.iter().filter(|&&other| other & column != 0).count() == 1;
        let first = layout.ins().shift_of(Dim::REGISTER).unwrap_or(0) as usize;
        let own = first..first + layout.in_bits(Dim::REGISTER) as usize;
        let kept = columns.iter().enumerate().map(|(at, &column)| match own.contains(&at) && is_equal(column) {
            true => 0,
            false => column,
        });
        match equal {
            0 => layout.clone(),
            _ => LinearLayout::from_columns(layout.ins().clone(), layout.outs().clone(), &kept.collect::<Vec<_>>())
                .map_or_else(|_| layout.clone(), |distinct| distinct.remove_zero_bases(Dim::REGISTER)),
        }
    }

    /// Returns the bits as bits of packed coordinates.
    fn pack(&self, outs: &Space) -> u64 {
        let along = |(axis, &bits): (usize, &u64)| outs.shift_of(Dim::tensor(axis)).map_or(0, |shift| bits << shift);
        self.0.iter().enumerate().map(along).fold(0, |all, bits| all | bits)
    }
}
