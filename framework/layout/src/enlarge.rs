//! Shapes that are no powers of two: a layout of a larger shape and a mask of its real elements.

use super::{Dim, Families, FamilyError, FamilySpec, Layout, LayoutError, LinearLayout};

/// Maximum number of axes of a tensor: [`Dim::tensor`] has no further names.
const MOST_AXES: usize = 48;

/// A shape of any sizes, enlarged to the smallest shape of powers of two that holds it (Linear Layouts paper, section
/// 8): layouts are built for the enlarged shape, and accesses outside of the original shape are masked off. Elements
/// inside of the original shape are *real*.
///
/// ```
/// use tilewright_layout::{Dim, EnlargedShape};
/// let enlarged = EnlargedShape::new(&[48, 64])?;
/// assert_eq!(enlarged.shape(), [64, 64]);
/// assert_eq!(enlarged.mask_bounds(), [(Dim::tensor(0), 48)]);
/// assert!(enlarged.is_real(&[(Dim::tensor(0), 47), (Dim::tensor(1), 63)]));
/// assert!(!enlarged.is_real(&[(Dim::tensor(0), 48)]));
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnlargedShape {
    real: Vec<u64>,
    shape: Vec<u64>,
}

/// The share of real elements among all elements at one position of an input dim (such as a register or a lane).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MaskRequirement {
    /// All elements are real: no access needs a mask.
    Real,
    /// Some elements may be real: each access needs a check.
    Mixed,
    /// No element is real: all accesses are dropped.
    Nothing,
}

impl EnlargedShape {
    /// Enlarges `shape` to the smallest shape of powers of two, one size for each axis, that holds it.
    ///
    /// # Errors
    /// [`LayoutError::NotPowerOfTwo`] at an axis without elements or of more than 2^63;
    /// [`LayoutError::TooManyBits`] if coordinates of the enlarged shape do not fit a word;
    /// [`LayoutError::NoSuchDim`] if there are more than 48 axes.
    pub fn new(shape: &[u64]) -> Result<Self, LayoutError> {
        if shape.len() > MOST_AXES {
            return Err(LayoutError::NoSuchDim { dim: Dim::named(&format!("dim{MOST_AXES}")) });
        }
        let enlarged = |(axis, &size): (usize, &u64)| {
            let larger = size.checked_next_power_of_two().filter(|_| size > 0);
            larger.ok_or(LayoutError::NotPowerOfTwo { dim: Dim::tensor(axis), size })
        };
        let larger = shape.iter().enumerate().map(enlarged).collect::<Result<Vec<_>, _>>()?;
        let bits = larger.iter().map(|size| size.trailing_zeros()).sum();
        if bits > 64 {
            return Err(LayoutError::TooManyBits { bits });
        }
        Ok(Self { real: shape.to_vec(), shape: larger })
    }

    /// The enlarged shape, in elements.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The mask: an element is real if its coordinate along each of these axes is below the bound. Axes that were not
    /// enlarged are not listed.
    #[must_use]
    pub fn mask_bounds(&self) -> Vec<(Dim, u64)> {
        let sizes = self.real.iter().zip(&self.shape).enumerate();
        sizes.filter(|(_, (real, larger))| real < larger).map(|(axis, (&real, _))| (Dim::tensor(axis), real)).collect()
    }

    /// Whether all elements are real, so that there is nothing to mask.
    #[must_use]
    pub fn is_unmasked(&self) -> bool {
        self.real == self.shape
    }

    /// Whether the element at these coordinates is real; axes that are not named are at zero.
    #[must_use]
    pub fn is_real(&self, coordinates: &[(Dim, u64)]) -> bool {
        let at = |dim: Dim| coordinates.iter().find(|(named, _)| *named == dim).map_or(0, |&(_, at)| at);
        self.mask_bounds().into_iter().all(|(dim, bound)| at(dim) < bound)
    }

    /// The layout that a family builds for the enlarged shape.
    ///
    /// # Errors
    /// As [`Families::resolve`].
    pub fn build_layout(&self, spec: &FamilySpec, families: &dyn Families) -> Result<Layout, FamilyError> {
        families.resolve(spec, &self.shape, families)
    }

    /// The share of real elements at position `at` of the input dim `dim`, over all positions of the other input dims.
    /// It is [`MaskRequirement::Real`] exactly if all are real, but [`MaskRequirement::Nothing`] only if the
    /// coordinates along a single axis show it.
    ///
    /// ```
    /// use tilewright_layout::{Dim, EnlargedShape, LinearLayout, MaskRequirement};
    /// let lanes = LinearLayout::identity(4, Dim::LANE, Dim::tensor(0))?;
    /// let layout = lanes.direct_sum(&LinearLayout::identity(4, Dim::REGISTER, Dim::tensor(0))?)?;
    /// // Registers hold elements 0 to 3, 4 to 7, ...; the first ten are real.
    /// let enlarged = EnlargedShape::new(&[10])?;
    /// let shares: Vec<_> = (0..4).map(|register| enlarged.share_at(&layout, Dim::REGISTER, register)).collect();
    /// assert_eq!(shares, [MaskRequirement::Real, MaskRequirement::Real, MaskRequirement::Mixed, MaskRequirement::Nothing]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn share_at(&self, layout: &LinearLayout, dim: Dim, at: u64) -> MaskRequirement {
        let dim_columns = columns_at(layout.columns_of(dim), at);
        let mut others: Vec<u64> = Vec::new();
        for other in layout.ins().dims().filter(|&other| other != dim) {
            others.extend(layout.columns_of(other));
        }
        let mut share = MaskRequirement::Real;
        for (axis, bound) in self.mask_bounds() {
            let along = |packed: u64| layout.outs().coordinate(packed, axis);
            let (min, most) = extremes(along(dim_columns), others.iter().map(|&column| along(column)));
            if min >= bound {
                return MaskRequirement::Nothing;
            }
            if most >= bound {
                share = MaskRequirement::Mixed;
            }
        }
        share
    }
}

/// The xor of the columns whose bits are set in `at`.
fn columns_at(columns: &[u64], at: u64) -> u64 {
    let taken = columns.iter().enumerate().filter(|(bit, _)| at.checked_shr(*bit as u32).unwrap_or(0) & 1 == 1);
    taken.fold(0, |sum, (_, column)| sum ^ column)
}

/// The least and the largest xor of `start` with any subset of `steps`.
fn extremes(start: u64, steps: impl Iterator<Item = u64>) -> (u64, u64) {
    // A reduced basis has distinct leading bits, so a greedy choice from the top bit down is optimal.
    let mut basis: Vec<u64> = Vec::new();
    for step in steps {
        let reduced = basis.iter().fold(step, |step, &other| step.min(step ^ other));
        if reduced != 0 {
            basis.push(reduced);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    let min = basis.iter().fold(start, |value, &step| value.min(value ^ step));
    let most = basis.iter().fold(start, |value, &step| value.max(value ^ step));
    (min, most)
}
