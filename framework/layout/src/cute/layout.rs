//! Layouts, their evaluation, and coordinates.

use std::fmt;

use super::tuple::TupleView;
use super::{CuteError, IntTuple, Tree};

/// A size and a stride: the values of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CuteMode {
    /// How many elements.
    pub shape: u64,
    /// How far apart they lie.
    pub stride: u64,
}

/// A map of coordinates to offsets: nested shapes and strides.
///
/// Its size and its largest value below the size fit a machine word; no mode is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CuteLayout(Tree<CuteMode>);

impl CuteLayout {
    /// The layout of a shape and strides of the same nesting.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`], [`CuteError::EmptyMode`], [`CuteError::Overflow`].
    pub fn new(shape: &IntTuple, stride: &IntTuple) -> Result<Self, CuteError> {
        let modes = shape.zip(stride, &mut |&shape, &stride| CuteMode { shape, stride });
        Self::from_tree(modes.ok_or_else(|| CuteError::NotCongruent {
            left: shape.to_string(),
            right: stride.to_string(),
            remedy: "give every size a stride",
        })?)
    }

    /// The compact layout of a shape, leftmost mode fastest.
    ///
    /// # Errors
    /// As [`CuteLayout::new`].
    pub fn compact(shape: &IntTuple) -> Result<Self, CuteError> {
        let mut next = Some(1u64);
        let modes = shape.map(|&shape| {
            let stride = next;
            next = stride.and_then(|stride| stride.checked_mul(shape));
            CuteMode { shape, stride: stride.unwrap_or(0) }
        });
        Self::from_tree(modes)
    }

    /// A layout of one mode.
    ///
    /// # Errors
    /// As [`CuteLayout::new`].
    pub fn of(shape: u64, stride: u64) -> Result<Self, CuteError> {
        Self::from_tree(Tree::leaf(CuteMode { shape, stride }))
    }

    /// The layout of a tree of modes.
    ///
    /// # Errors
    /// As [`CuteLayout::new`].
    pub fn from_tree(modes: Tree<CuteMode>) -> Result<Self, CuteError> {
        let (mut size, mut last) = (1u64, 0u64);
        for (at, mode) in modes.leaves().into_iter().enumerate() {
            let reach = mode.shape.checked_sub(1).ok_or(CuteError::EmptyMode { mode: at })?;
            size = size.checked_mul(mode.shape).ok_or(CuteError::Overflow { what: "the size of the layout" })?;
            let reach = reach.checked_mul(mode.stride).and_then(|reach| reach.checked_add(last));
            // One less than the largest word, so that the cosize is a word too.
            last = reach
                .filter(|&last| last < u64::MAX)
                .ok_or(CuteError::Overflow { what: "the largest value of the layout" })?;
        }
        Ok(Self(modes))
    }

    /// The layout with these modes at its top.
    ///
    /// # Errors
    /// As [`CuteLayout::new`], [`CuteError::TooDeep`].
    pub fn from_modes(modes: Vec<Self>) -> Result<Self, CuteError> {
        Self::from_tree(Tree::tuple(modes.into_iter().map(|mode| mode.0).collect())?)
    }

    /// A flat layout: one mode stands alone, none is `1:0`.
    pub(super) fn of_flat(modes: &[CuteMode]) -> Result<Self, CuteError> {
        match modes {
            [] => Self::of(1, 0),
            [mode] => Self::from_tree(Tree::leaf(*mode)),
            _ => Self::from_tree(Tree::flat(modes.iter().copied())),
        }
    }

    /// The modes as a tree.
    pub fn tree(&self) -> &Tree<CuteMode> {
        &self.0
    }

    /// The shape.
    pub fn shape(&self) -> IntTuple {
        self.0.map(|mode| mode.shape)
    }

    /// The strides.
    pub fn stride(&self) -> IntTuple {
        self.0.map(|mode| mode.stride)
    }

    /// How many modes there are at the top.
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// How deep shapes nest.
    pub fn depth(&self) -> usize {
        self.0.depth()
    }

    /// How many coordinates there are.
    pub fn size(&self) -> u64 {
        self.flat().iter().map(|mode| mode.shape).product()
    }

    /// One more than the largest value below the size.
    pub fn cosize(&self) -> u64 {
        1 + self.flat().iter().map(|mode| (mode.shape - 1) * mode.stride).sum::<u64>()
    }

    /// The leaves from left to right.
    pub fn flat(&self) -> Vec<CuteMode> {
        self.0.leaves().into_iter().copied().collect()
    }

    /// The same map without nesting.
    ///
    /// # Errors
    /// None for a layout that exists; the type is that of every operation.
    pub fn flatten(&self) -> Result<Self, CuteError> {
        Self::of_flat(&self.flat())
    }

    /// The modes at the top as layouts.
    pub fn modes(&self) -> Vec<Self> {
        self.0.modes().iter().cloned().map(Self).collect()
    }

    /// The value at an integer coordinate, also past the size.
    ///
    /// # Errors
    /// [`CuteError::Overflow`].
    pub fn at(&self, index: u64) -> Result<u64, CuteError> {
        value_at(&self.flat(), index)
    }

    /// The value at a coordinate: an integer, or a tuple of coordinates of the modes.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`], [`CuteError::Overflow`].
    pub fn at_coordinate(&self, coordinate: &IntTuple) -> Result<u64, CuteError> {
        value_of(&self.0, coordinate)
    }

    /// The values at all integer coordinates below the size.
    pub fn values(&self) -> impl Iterator<Item = u64> + use<> {
        let (size, flat) = (self.size(), self.flat());
        // Below the size every value is below the cosize, which fits.
        (0..size).map(move |index| value_at(&flat, index).unwrap_or(u64::MAX))
    }

    /// Modes `from..to` as one.
    ///
    /// # Errors
    /// [`CuteError::TooManyModes`] where there are not so many, [`CuteError::TooDeep`].
    pub fn group(&self, from: usize, to: usize) -> Result<Self, CuteError> {
        let mut modes = self.modes();
        if to > modes.len() || from > to {
            return Err(CuteError::TooManyModes { what: "the group", have: to.max(from), most: modes.len() });
        }
        let group = Self::from_modes(modes.drain(from..to).collect())?;
        modes.insert(from, group);
        Self::from_modes(modes)
    }

    /// The layout with `mode` (or `1:0`) put behind until it has `rank` modes.
    ///
    /// # Errors
    /// As [`CuteLayout::new`]; [`CuteError::TooManyModes`] where the rank is beyond 1024.
    pub fn append(&self, rank: usize, mode: Option<&Self>) -> Result<Self, CuteError> {
        self.extended(rank, mode, false)
    }

    /// The layout with `mode` (or `1:0`) put before until it has `rank` modes.
    ///
    /// # Errors
    /// As [`CuteLayout::append`].
    pub fn prepend(&self, rank: usize, mode: Option<&Self>) -> Result<Self, CuteError> {
        self.extended(rank, mode, true)
    }

    fn extended(&self, rank: usize, mode: Option<&Self>, before: bool) -> Result<Self, CuteError> {
        if rank > 1024 {
            return Err(CuteError::TooManyModes { what: "the rank", have: rank, most: 1024 });
        }
        let missing = rank.saturating_sub(self.rank());
        if missing == 0 {
            return Ok(self.clone());
        }
        let one = Self::of(1, 0)?;
        let new = vec![mode.unwrap_or(&one).clone(); missing];
        let modes = if before { [new, self.modes()].concat() } else { [self.modes(), new].concat() };
        Self::from_modes(modes)
    }
}

impl fmt::Display for CuteLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.shape(), self.stride())
    }
}

const COORDINATE: CuteError = CuteError::Overflow { what: "the value at the coordinate" };

/// The value of flat modes at an integer; the last mode is not reduced.
pub(super) fn value_at(flat: &[CuteMode], index: u64) -> Result<u64, CuteError> {
    let (mut rest, mut value) = (index, 0u64);
    for (at, mode) in flat.iter().enumerate() {
        let digit = if at + 1 == flat.len() { rest } else { rest % mode.shape };
        rest /= mode.shape;
        let step = digit.checked_mul(mode.stride).ok_or(COORDINATE)?;
        value = value.checked_add(step).ok_or(COORDINATE)?;
    }
    Ok(value)
}

fn value_of(modes: &Tree<CuteMode>, coordinate: &IntTuple) -> Result<u64, CuteError> {
    let inside = match coordinate.view() {
        TupleView::Leaf(&index) => {
            let flat: Vec<_> = modes.leaves().into_iter().copied().collect();
            return value_at(&flat, index);
        }
        TupleView::Tuple(inside) => inside,
    };
    match modes.view() {
        TupleView::Tuple(modes) if modes.len() == inside.len() => modes
            .iter()
            .zip(inside)
            .try_fold(0u64, |sum, (mode, coordinate)| sum.checked_add(value_of(mode, coordinate)?).ok_or(COORDINATE)),
        _ => Err(CuteError::NotCongruent {
            left: coordinate.to_string(),
            right: modes.map(|mode| mode.shape).to_string(),
            remedy: "a coordinate is an integer or has one coordinate a mode",
        }),
    }
}

/// The coordinate of an integer in a shape, nested as the shape; the last leaf is not reduced.
///
/// # Errors
/// [`CuteError::EmptyMode`].
pub fn idx2crd(index: u64, shape: &IntTuple) -> Result<IntTuple, CuteError> {
    let leaves = shape.leaves();
    if let Some(mode) = leaves.iter().position(|&&size| size == 0) {
        return Err(CuteError::EmptyMode { mode });
    }
    let (mut rest, mut left) = (index, leaves.len());
    Ok(shape.map(|&size| {
        left -= 1;
        let digit = if left == 0 { rest } else { rest % size };
        rest /= size;
        digit
    }))
}

/// The integer of a coordinate in a shape.
///
/// # Errors
/// [`CuteError::NotCongruent`], [`CuteError::EmptyMode`], [`CuteError::Overflow`].
pub fn crd2idx(coordinate: &IntTuple, shape: &IntTuple) -> Result<u64, CuteError> {
    CuteLayout::compact(shape)?.at_coordinate(coordinate)
}
