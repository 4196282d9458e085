//! Coefficients and constants, for both types of numbers.

/// Numbers for `f32` and for `f64`: the coefficients of a polynomial, that of the zeroth power first, or the parts of
/// a constant, the greatest first.
#[derive(Debug)]
pub(super) struct Table {
    pub single: &'static [f32],
    pub double: &'static [f64],
}

impl Table {
    /// An entry; zero beyond the last.
    pub fn entry(&self, is_single: bool, index: usize) -> f64 {
        let entry = if is_single { self.single.get(index).map(|&c| c.into()) } else { self.double.get(index).copied() };
        entry.unwrap_or(0.0)
    }

    /// How many entries the type has.
    pub fn len(&self, is_single: bool) -> usize {
        if is_single { self.single.len() } else { self.double.len() }
    }
}
