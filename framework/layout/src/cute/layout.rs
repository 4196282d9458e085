//! Layouts, their evaluation, and coordinates.

use std::fmt;

use super::tuple::TupleView;
use super::{CuteError, IntTuple, Tree};

/// A leaf of a layout: a size and a stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CuteLeaf {
    /// Number of elements of the mode.
    pub shape: u64,
    /// Difference between the values of neighbouring elements of the mode.
    pub stride: u64,
}

/// A map of coordinates to offsets: nested shapes and strides.
///
/// The size and the largest value within it fit a 64-bit word; no mode is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CuteLayout(Tree<CuteLeaf>);

impl CuteLayout {
    /// The layout of a shape and strides of the same nesting.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] if shape and strides are nested differently, [`CuteError::EmptyMode`] if a size is
    /// 0, [`CuteError::Overflow`] if the size or the largest value does not fit 64 bits.
    pub fn new(shape: &IntTuple, stride: &IntTuple) -> Result<Self, CuteError> {
        let modes = shape.zip(stride, &mut |&shape, &stride| CuteLeaf { shape, stride });
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
    pub fn from_compact_shape(shape: &IntTuple) -> Result<Self, CuteError> {
        let mut next = Some(1u64);
        let modes = shape.map(|&shape| {
            let stride = next;
            next = stride.and_then(|stride| stride.checked_mul(shape));
            CuteLeaf { shape, stride: stride.unwrap_or(0) }
        });
        Self::from_tree(modes)
    }

    /// The compact layout of a shape. `order` has a rank for each size: the size of smallest rank has stride 1, and of
    /// equal ranks the left one is faster. Modes of size 1 have stride 0.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] if `order` does not have one integer for each size, [`CuteError::Overflow`] if the
    /// layout has more than 2^64 - 1 elements, and as [`CuteLayout::new`].
    pub fn from_ordered_shape(shape: &IntTuple, order: &IntTuple) -> Result<Self, CuteError> {
        let (sizes, ranks) = (shape.leaves(), order.leaves());
        if sizes.len() != ranks.len() {
            return Err(CuteError::NotCongruent {
                left: order.to_string(),
                right: shape.to_string(),
                remedy: "the order has one integer for each mode",
            });
        }
        let mut by_rank: Vec<usize> = (0..sizes.len()).collect();
        by_rank.sort_by_key(|&at| (ranks[at], at));
        let (mut strides, mut next) = (vec![0; sizes.len()], 1u64);
        for at in by_rank {
            strides[at] = if *sizes[at] == 1 { 0 } else { next };
            next = next.checked_mul(*sizes[at]).ok_or(CuteError::Overflow { what: "the size of the result" })?;
        }
        let mut strides = strides.into_iter();
        Self::from_tree(shape.map(|&shape| CuteLeaf { shape, stride: strides.next().unwrap_or(0) }))
    }

    /// A layout of one mode.
    ///
    /// # Errors
    /// As [`CuteLayout::new`].
    pub fn single_mode(shape: u64, stride: u64) -> Result<Self, CuteError> {
        Self::from_tree(Tree::leaf(CuteLeaf { shape, stride }))
    }

    /// The layout of a tree of modes.
    ///
    /// # Errors
    /// As [`CuteLayout::new`].
    pub fn from_tree(modes: Tree<CuteLeaf>) -> Result<Self, CuteError> {
        let (mut size, mut last) = (1u64, 0u64);
        for (at, mode) in modes.leaves().into_iter().enumerate() {
            let reach = mode.shape.checked_sub(1).ok_or(CuteError::EmptyMode { mode: at })?;
            size = size.checked_mul(mode.shape).ok_or(CuteError::Overflow { what: "the size of the layout" })?;
            let reach = reach.checked_mul(mode.stride).and_then(|reach| reach.checked_add(last));
            // The largest value must be below `u64::MAX`, so that the cosize, which is one more, fits a word.
            last = reach
                .filter(|&last| last < u64::MAX)
                .ok_or(CuteError::Overflow { what: "the largest value of the layout" })?;
        }
        Ok(Self(modes))
    }

    /// The layout with these layouts as its top-level modes.
    ///
    /// # Errors
    /// As [`CuteLayout::new`]; [`CuteError::TooDeep`] if the result is nested deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH).
    pub fn from_modes(modes: Vec<Self>) -> Result<Self, CuteError> {
        Self::from_tree(Tree::tuple(modes.into_iter().map(|mode| mode.0).collect())?)
    }

    /// Builds the layout of a flat list of modes: a single mode gets no parentheses, and an empty list gives `1:0`.
    pub(super) fn from_flat_modes(modes: &[CuteLeaf]) -> Result<Self, CuteError> {
        match modes {
            [] => Self::single_mode(1, 0),
            [mode] => Self::from_tree(Tree::leaf(*mode)),
            _ => Self::from_tree(Tree::flat(modes.iter().copied())),
        }
    }

    /// The modes as a nested tuple.
    pub fn tree(&self) -> &Tree<CuteLeaf> {
        &self.0
    }

    /// The nested sizes.
    pub fn shape(&self) -> IntTuple {
        self.0.map(|mode| mode.shape)
    }

    /// The nested strides.
    pub fn stride(&self) -> IntTuple {
        self.0.map(|mode| mode.stride)
    }

    /// Number of top-level modes.
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Nesting depth of the shape.
    pub fn depth(&self) -> usize {
        self.0.depth()
    }

    /// Number of coordinates: the product of all sizes.
    pub fn size(&self) -> u64 {
        self.leaf_modes().iter().map(|mode| mode.shape).product()
    }

    /// The smallest size of memory that holds all values (CuTe `cosize`): one more than the largest value at the
    /// integer coordinates below the size.
    pub fn cosize(&self) -> u64 {
        1 + self.leaf_modes().iter().map(|mode| (mode.shape - 1) * mode.stride).sum::<u64>()
    }

    /// The leaf modes from left to right.
    pub fn leaf_modes(&self) -> Vec<CuteLeaf> {
        self.0.leaves().into_iter().copied().collect()
    }

    /// The same map without nesting.
    ///
    /// # Errors
    /// None for a valid layout; it returns a `Result` as every operation does.
    pub fn flatten(&self) -> Result<Self, CuteError> {
        Self::from_flat_modes(&self.leaf_modes())
    }

    /// The top-level modes, each as a layout.
    pub fn modes(&self) -> Vec<Self> {
        self.0.modes().iter().cloned().map(Self).collect()
    }

    /// The value at an integer coordinate, which may be beyond the size.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if the value does not fit 64 bits.
    pub fn at(&self, index: u64) -> Result<u64, CuteError> {
        value_of_leaves(&self.0, index)
    }

    /// The value at a coordinate: an integer, or a tuple of coordinates of the modes.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] if the coordinate is nested differently from the shape, [`CuteError::Overflow`] if
    /// the value does not fit 64 bits.
    pub fn at_coordinate(&self, coordinate: &IntTuple) -> Result<u64, CuteError> {
        value_of(&self.0, coordinate)
    }

    /// The values at all integer coordinates below the size.
    pub fn values(&self) -> impl Iterator<Item = u64> + use<> {
        let (size, mut modes) = (self.size(), self.leaf_modes());
        modes.retain(|mode| mode.shape > 1);
        let (mut digits, mut next) = (vec![0u64; modes.len()], 0u64);
        // Counts in mixed radix: below the size every value fits a word, and the step past the last one may wrap.
        (0..size).map(move |_| {
            let value = next;
            for (digit, mode) in digits.iter_mut().zip(&modes) {
                *digit += 1;
                next = next.wrapping_add(mode.stride);
                if *digit < mode.shape {
                    break;
                }
                next = next.wrapping_sub(mode.shape.wrapping_mul(mode.stride));
                *digit = 0;
            }
            value
        })
    }

    /// The layout with its top-level modes `from..to` grouped into one.
    ///
    /// # Errors
    /// [`CuteError::TooManyModes`] if `to` is more than the number of modes, or `from` more than `to`,
    /// [`CuteError::TooDeep`] if the result is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    pub fn group(&self, from: usize, to: usize) -> Result<Self, CuteError> {
        let mut modes = self.modes();
        if to > modes.len() || from > to {
            return Err(CuteError::TooManyModes { what: "the group", have: to.max(from), most: modes.len() });
        }
        let group = Self::from_modes(modes.drain(from..to).collect())?;
        modes.insert(from, group);
        Self::from_modes(modes)
    }

    /// The layout with copies of `mode` (if `None`, of `1:0`) appended until it has `rank` top-level modes.
    ///
    /// # Errors
    /// As [`CuteLayout::new`]; [`CuteError::TooManyModes`] if the rank is beyond 1024.
    pub fn append(&self, rank: usize, mode: Option<&Self>) -> Result<Self, CuteError> {
        self.extended(rank, mode, false)
    }

    /// The layout with copies of `mode` (if `None`, of `1:0`) prepended until it has `rank` top-level modes.
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
        let one = Self::single_mode(1, 0)?;
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

/// The value of flat modes at an integer coordinate; the index of the last mode is not reduced modulo its size.
pub(super) fn value_at(flat: &[CuteLeaf], index: u64) -> Result<u64, CuteError> {
    let mut evaluation = Evaluation::new(index);
    flat.iter().for_each(|mode| evaluation.add(mode));
    evaluation.value()
}

fn value_of_leaves(modes: &Tree<CuteLeaf>, index: u64) -> Result<u64, CuteError> {
    let mut evaluation = Evaluation::new(index);
    modes.visit(&mut |mode| evaluation.add(mode));
    evaluation.value()
}

/// The state of the evaluation of a layout at an integer coordinate: modes are added one after the other. Allocates
/// nothing.
struct Evaluation {
    /// The integer coordinate divided by the sizes of all added modes except the last: it contains the indices in the
    /// last added mode and in the modes that follow.
    rest: u64,
    /// The sum of index times stride over all added modes except the last; `None` if it does not fit 64 bits.
    value: Option<u64>,
    last: Option<CuteLeaf>,
}

impl Evaluation {
    fn new(index: u64) -> Self {
        Self { rest: index, value: Some(0), last: None }
    }

    fn add(&mut self, mode: &CuteLeaf) {
        if let Some(before) = self.last.replace(*mode) {
            self.value = self.value_with(self.rest % before.shape, before.stride);
            self.rest /= before.shape;
        }
    }

    fn value_with(&self, digit: u64, stride: u64) -> Option<u64> {
        self.value?.checked_add(digit.checked_mul(stride)?)
    }

    fn value(self) -> Result<u64, CuteError> {
        let value = self.value_with(self.rest, self.last.map_or(0, |last| last.stride));
        // Not `ok_or`, which would also create and drop the error if there is a value, at the cost of all the
        // arithmetic above.
        if let Some(value) = value { Ok(value) } else { Err(COORDINATE) }
    }
}

fn value_of(modes: &Tree<CuteLeaf>, coordinate: &IntTuple) -> Result<u64, CuteError> {
    let inside = match coordinate.view() {
        TupleView::Leaf(&index) => return value_of_leaves(modes, index),
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

/// Converts an integer to a coordinate of a shape, nested as the shape; the last leaf is not reduced modulo its size.
///
/// # Errors
/// [`CuteError::EmptyMode`] if a size is 0.
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

/// Converts a coordinate of a shape to its integer coordinate.
///
/// # Errors
/// [`CuteError::NotCongruent`] if the coordinate is nested differently from the shape, [`CuteError::EmptyMode`] if a
/// size is 0, [`CuteError::Overflow`] if the result does not fit 64 bits.
pub fn crd2idx(coordinate: &IntTuple, shape: &IntTuple) -> Result<u64, CuteError> {
    CuteLayout::from_compact_shape(shape)?.at_coordinate(coordinate)
}
