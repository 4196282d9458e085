//! Coefficients and constants for both floating-point types.

/// Values for `f32` and for `f64`: the coefficients of a polynomial in ascending order, or the parts of a constant in
/// descending magnitude.
#[derive(Debug)]
pub(super) struct ConstantTable {
    pub single: &'static [f32],
    pub double: &'static [f64],
}

impl ConstantTable {
    /// Returns the entry with this index for `f32` (if `is_single`) or for `f64`; zero beyond the last entry.
    pub fn entry(&self, is_single: bool, index: usize) -> f64 {
        let entry = if is_single { self.single.get(index).map(|&c| c.into()) } else { self.double.get(index).copied() };
        entry.unwrap_or(0.0)
    }

    /// Returns the number of entries for `f32` (if `is_single`) or for `f64`.
    pub fn len(&self, is_single: bool) -> usize {
        if is_single { self.single.len() } else { self.double.len() }
    }
}
