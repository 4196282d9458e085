//! The linear layout: a linear map over F2 between labelled spaces.

use std::fmt;

use crate::f2::{Columns, Solver, multiply_vector, rank};

use super::space::low_mask;
use super::{Coordinates, Dim, LayoutError, Space};

/// A linear map over F2 between labelled spaces (Linear Layouts paper, Definition 4.1).
///
/// Column `i` is the packed out coordinate of input bit `i`, inputs and outputs being packed with
/// the first dim listed in the least significant bits. Equality is equality of maps, including
/// the order and the sizes of the dims.
///
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// // Linear Layouts paper, FigurePoint 1: layout A, two rows and two columns a lane, 4x8 lanes, two warps.
/// let (reg, lane, warp) = (Dim::REGISTER, Dim::LANE, Dim::WARP);
/// let (i, j) = (Dim::tensor(0), Dim::tensor(1));
/// let a = LinearLayout::from_bases(
///     &[
///         (reg, vec![vec![0, 1], vec![1, 0]]),
///         (lane, vec![vec![0, 2], vec![0, 4], vec![0, 8], vec![2, 0], vec![4, 0]]),
///         (warp, vec![vec![8, 0]]),
///     ],
///     &[(i, 16), (j, 16)],
/// )?;
/// let place = a.apply(&[(reg, 1), (lane, 9), (warp, 0)])?;
/// assert_eq!(place, [(i, 2), (j, 3)]);
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct LinearLayout {
    pub(super) ins: Space,
    pub(super) outs: Space,
    pub(super) columns: Columns,
}

/// The bases of one input dim: the images of its powers of two, each as coordinates in the order of the out dims.
pub type DimBases = Vec<Vec<u64>>;

impl LinearLayout {
    /// The layout of no dims: the unit of the direct sum.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The identity `x -> x` from `size` positions of `input` to as many of `output`.
    ///
    /// # Errors
    /// A size that is no power of two.
    #[doc(alias = "identity1D")]
    pub fn identity(size: u64, input: Dim, output: Dim) -> Result<Self, LayoutError> {
        Self::strided(size, 1, input, output)
    }

    /// The map `x -> stride * x` from `size` positions of `input` to `size * stride` of `output`.
    ///
    /// # Errors
    /// A size or stride that is no power of two, or more than 64 bits.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let lanes = LinearLayout::strided(4, 2, Dim::LANE, Dim::tensor(0))?;
    /// assert_eq!(lanes.apply(&[(Dim::LANE, 3)])?, [(Dim::tensor(0), 6)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[doc(alias = "strided1D")]
    pub fn strided(size: u64, stride: u64, input: Dim, output: Dim) -> Result<Self, LayoutError> {
        if !stride.is_power_of_two() {
            return Err(LayoutError::StrideNotPowerOfTwo { stride });
        }
        if !size.is_power_of_two() {
            return Err(LayoutError::NotPowerOfTwo { dim: input, size });
        }
        let bits = size.trailing_zeros();
        let mut layout = Self::default();
        layout.ins.push_new(input, bits)?;
        layout.outs.push_new(output, bits + stride.trailing_zeros())?;
        layout.columns.extend((0..bits).map(|bit| stride << bit));
        Ok(layout)
    }

    /// The replication `x -> 0` from `size` positions of `input` to `out_size` of `output`.
    ///
    /// # Errors
    /// A size that is no power of two.
    #[doc(alias = "zeros1D")]
    pub fn zeros(size: u64, input: Dim, output: Dim, out_size: u64) -> Result<Self, LayoutError> {
        let ins = Space::from_sizes(&[(input, size)])?;
        let outs = Space::from_sizes(&[(output, out_size)])?;
        let columns = (0..ins.total_bits()).map(|_| 0).collect();
        Ok(Self { ins, outs, columns })
    }

    /// The layout with the given bases and out dims; it need not be surjective.
    ///
    /// # Errors
    /// Sizes that are no powers of two, coordinates that do not fit, bases of the wrong length,
    /// dims named twice, or more than 64 bits on a side.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// // Lane 1 has element (0, 1), lane 2 element (1, 0), lane 3 their sum.
    /// let outs = [(Dim::tensor(0), 2), (Dim::tensor(1), 2)];
    /// let lanes = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![0, 1], vec![1, 0]])], &outs)?;
    /// assert_eq!(lanes.apply(&[(Dim::LANE, 3)])?, [(Dim::tensor(0), 1), (Dim::tensor(1), 1)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    pub fn from_bases(bases: &[(Dim, DimBases)], outs: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let lists = bases.iter().map(|(dim, images)| (*dim, images.iter().map(|image| image.iter().copied())));
        Self::from_lists(lists, Space::from_sizes(outs)?)
    }

    /// As [`LinearLayout::from_bases`], from lists of any kind.
    pub(super) fn from_lists<L, I>(lists: impl Iterator<Item = (Dim, L)>, outs: Space) -> Result<Self, LayoutError>
    where
        L: ExactSizeIterator<Item = I>,
        I: ExactSizeIterator<Item = u64>,
    {
        let mut layout = Self { outs, ..Self::default() };
        for (dim, images) in lists {
            layout.ins.push(dim, u32::try_from(images.len()).unwrap_or(u32::MAX))?;
            for (index, image) in images.enumerate() {
                if image.len() != layout.outs.len() {
                    let expected = layout.outs.len();
                    return Err(LayoutError::BasisLength { dim, index, found: image.len(), expected });
                }
                layout.columns.push(layout.outs.pack_in_order(image)?);
            }
        }
        Ok(layout)
    }

    /// The layout with the given bases; each out dim gets the least size that holds its coordinates.
    ///
    /// # Errors
    /// As [`LinearLayout::from_bases`]; a result that is not surjective, since then the
    /// sizes cannot be known.
    pub fn from_bases_inferred(bases: &[(Dim, DimBases)], outs: &[Dim]) -> Result<Self, LayoutError> {
        let size = |axis: usize| {
            let images = bases.iter().flat_map(|(_, images)| images);
            let highest = images.filter_map(|image| image.get(axis)).fold(0, |all, c| all | c);
            highest.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(1 << 63)
        };
        let outs: Vec<_> = outs.iter().enumerate().map(|(axis, &dim)| (dim, size(axis))).collect();
        Self::from_bases(bases, &outs)?.require_surjective()
    }

    /// The layout of the given packed columns.
    ///
    /// # Errors
    /// A number of columns other than the bits of `ins`, or a column that does not fit `outs`.
    pub fn from_columns(ins: Space, outs: Space, columns: &[u64]) -> Result<Self, LayoutError> {
        if columns.len() as u32 != ins.total_bits() {
            return Err(LayoutError::ReshapeSize { before: columns.len() as u32, after: ins.total_bits() });
        }
        let widest = columns.iter().fold(0, |all, column| all | column);
        if widest & !low_mask(outs.total_bits()) != 0 {
            return Err(LayoutError::TooManyBits { bits: 64 - widest.leading_zeros() });
        }
        Ok(Self { ins, outs, columns: Columns::from_slice(columns) })
    }

    /// Returns this layout if it reaches every element.
    ///
    /// # Errors
    /// [`LayoutError::NotSurjective`] otherwise.
    pub fn require_surjective(self) -> Result<Self, LayoutError> {
        if self.is_surjective() {
            return Ok(self);
        }
        Err(LayoutError::NotSurjective { rank: self.rank(), bits: self.outs.total_bits() })
    }

    /// The input space: the input dims with their sizes.
    #[must_use]
    pub fn ins(&self) -> &Space {
        &self.ins
    }

    /// The output space: the out dims with their sizes.
    #[must_use]
    pub fn outs(&self) -> &Space {
        &self.outs
    }

    /// The columns of all input dims, those of the first input dim first.
    #[must_use]
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// The columns of one input dim; empty if it is absent.
    #[must_use]
    pub fn columns_of(&self, dim: Dim) -> &[u64] {
        &self.columns[self.ins.range_of(dim)]
    }

    /// The bases of one input dim as coordinates in the order of the out dims.
    #[must_use]
    #[doc(alias = "getBases")]
    #[doc(alias = "getBasis")]
    pub fn bases_of(&self, dim: Dim) -> DimBases {
        let coordinates = |&column: &u64| self.outs.unpack(column).map(|(_, c)| c).collect();
        self.columns_of(dim).iter().map(coordinates).collect()
    }

    /// Log2 of the size of an input dim; zero if it is absent.
    #[must_use]
    #[doc(alias = "getInDimSizeLog2")]
    pub fn in_bits(&self, dim: Dim) -> u32 {
        self.ins.bits_of(dim)
    }

    /// Log2 of the size of an out dim; zero if it is absent.
    #[must_use]
    #[doc(alias = "getOutDimSizeLog2")]
    pub fn out_bits(&self, dim: Dim) -> u32 {
        self.outs.bits_of(dim)
    }

    /// Applies the map to a packed input (all input dims in one integer, the first in the low bits) and returns the
    /// packed out coordinate; allocates nothing.
    #[inline]
    #[must_use]
    pub fn apply_packed(&self, input: u64) -> u64 {
        multiply_vector(&self.columns, input)
    }

    /// Applies the map to an input given by dim; input dims that `input` does not name are at zero.
    ///
    /// # Errors
    /// `input` names a dim that is not an input dim, or a coordinate beyond the dim's size.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let lanes = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
    /// assert_eq!(lanes.apply(&[(Dim::LANE, 5)])?, [(Dim::tensor(0), 5)]);
    /// assert!(lanes.apply(&[(Dim::LANE, 8)]).is_err());
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[inline]
    pub fn apply(&self, input: &[(Dim, u64)]) -> Result<Coordinates, LayoutError> {
        Ok(Coordinates::unpack(&self.outs, self.apply_packed(self.ins.pack(input)?)))
    }

    /// The rank of the layout's matrix over F2.
    #[must_use]
    pub fn rank(&self) -> u32 {
        rank(&self.columns)
    }

    /// Whether every element is reached.
    #[must_use]
    #[doc(alias = "isSurjective")]
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.outs.total_bits()
    }

    /// Whether no element is reached twice.
    #[must_use]
    #[doc(alias = "isInjective")]
    pub fn is_injective(&self) -> bool {
        self.rank() == self.ins.total_bits()
    }

    /// Whether every element is reached exactly once.
    #[must_use]
    #[doc(alias = "isInvertible")]
    pub fn is_invertible(&self) -> bool {
        self.ins.total_bits() == self.outs.total_bits() && self.is_surjective()
    }

    /// Whether this is a distributed layout (Linear Layouts paper, Definition 4.10): surjective, every column zero or a
    /// unit vector, no unit vector twice.
    #[must_use]
    pub fn is_distributed(&self) -> bool {
        let mut seen = 0;
        let units = self.columns.iter().filter(|&&column| column != 0).all(|&column| {
            let fresh = column.is_power_of_two() && seen & column == 0;
            seen |= column;
            fresh
        });
        units && seen == low_mask(self.outs.total_bits())
    }

    /// For each input dim, the mask of its free bits: bits whose columns are the xor of earlier columns, so that the
    /// other bits alone reach every element (Triton `getFreeVariableMasks`).
    #[must_use]
    #[doc(alias = "getFreeVariableMasks")]
    pub fn free_variable_masks(&self) -> Vec<(Dim, u64)> {
        self.ins.unpack(Solver::new(&self.columns).free_columns()).collect()
    }

    /// The mask of the bits of the out dim `out` that some basis of the given input dims moves.
    ///
    /// # Errors
    /// A dim is absent.
    #[doc(alias = "getOutputBasisMask")]
    pub fn output_basis_mask(&self, ins: &[Dim], out: Dim) -> Result<u64, LayoutError> {
        let part = self.sublayout(ins, &[out])?;
        Ok(part.columns.iter().fold(0, |all, column| all | column))
    }

    /// The mask of the bits of the input dim `input` whose bases move along some of the given out dims.
    ///
    /// # Errors
    /// A dim is absent.
    #[doc(alias = "getInputBasisMask")]
    pub fn input_basis_mask(&self, input: Dim, outs: &[Dim]) -> Result<u64, LayoutError> {
        let part = self.sublayout(&[input], outs)?;
        Ok((0..).zip(&part.columns).fold(0, |mask, (bit, &column)| mask | u64::from(column != 0) << bit))
    }

    /// The rows of the matrix as bits, row 0 being the lowest bit of the first out dim.
    #[must_use]
    #[doc(alias = "getMatrix")]
    pub fn matrix(&self) -> Vec<Vec<u8>> {
        let row = |bit: u32| self.columns.iter().map(|column| (column >> bit & 1) as u8).collect();
        (0..self.outs.total_bits()).map(row).collect()
    }
}

impl fmt::Display for LinearLayout {
    /// Writes one line for each input dim, `lane: [0,1] [0,2] ...`, and a line for the out dims.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for dim in self.ins.dims() {
            write!(f, "{dim}:")?;
            for basis in self.bases_of(dim) {
                let coordinates: Vec<_> = basis.iter().map(u64::to_string).collect();
                write!(f, " [{}]", coordinates.join(","))?;
            }
            writeln!(f)?;
        }
        let outs: Vec<_> = self.outs.iter().map(|(dim, bits)| format!("{dim} {}", 1u128 << bits)).collect();
        write!(f, "onto {}", outs.join(" x "))
    }
}

impl fmt::Debug for LinearLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
