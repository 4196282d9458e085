//! Layouts whose values are coordinates: a stride steps along axes rather than through memory.

use std::fmt;

use super::{CuteError, CuteLayout, CuteLeaf, IntTuple, Tree, composition};

/// A mode of a coordinate layout: a size, and the step along each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CoordinateMode {
    /// Number of elements of the mode.
    pub shape: u64,
    /// The step along each axis, the first axis first.
    pub stride: Vec<u64>,
}

/// A layout whose values are coordinates, as for bulk tensor copies (TMA), which take the coordinate of a tile. Strides
/// are written `2@1`, a step of 2 along axis 1, or `1@0+1@1`, a step of 1 along axes 0 and 1.
///
/// ```
/// use tilewright_layout::cute::{CoordinateLayout, IntTuple};
/// let tensor = CoordinateLayout::identity(&"(16,8)".parse::<IntTuple>()?)?;
/// assert_eq!(tensor.to_string(), "(16,8):(1@0,1@1)");
/// let rows_of_four = tensor.compose(&"(4,8):(4,16)".parse()?)?;
/// assert_eq!(rows_of_four.to_string(), "(4,8):(4@0,1@1)");
/// assert_eq!(rows_of_four.at(5)?, [4, 1]);
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CoordinateLayout {
    axes: usize,
    modes: Tree<CoordinateMode>,
}

const VALUE: CuteError = CuteError::Overflow { what: "a coordinate" };

impl CoordinateLayout {
    /// The layout of these modes, with values along `axes` axes.
    ///
    /// # Errors
    /// [`CuteError::EmptyMode`] if a size is 0; [`CuteError::NotCongruent`] if the number of steps of a stride is not
    /// the number of axes.
    pub fn new(axes: usize, modes: Tree<CoordinateMode>) -> Result<Self, CuteError> {
        for (at, mode) in modes.leaves().into_iter().enumerate() {
            if mode.shape == 0 {
                return Err(CuteError::EmptyMode { mode: at });
            }
            if mode.stride.len() != axes {
                return Err(CuteError::NotCongruent {
                    left: format!("{:?}", mode.stride),
                    right: format!("{axes} axes"),
                    remedy: "a stride needs one step for each axis",
                });
            }
        }
        Ok(Self { axes, modes })
    }

    /// The identity layout of a shape: maps each coordinate to itself, with one axis for each size from left to right.
    ///
    /// # Errors
    /// [`CuteError::EmptyMode`] if a size is 0.
    pub fn identity(shape: &IntTuple) -> Result<Self, CuteError> {
        let axes = shape.leaves().len();
        let mut axis = 0;
        let modes = shape.map(|&shape| {
            let mut stride = vec![0; axes];
            stride[axis] = 1;
            axis += 1;
            CoordinateMode { shape, stride }
        });
        Self::new(axes, modes)
    }

    /// Number of axes of the values.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// The modes as a nested tuple.
    pub fn tree(&self) -> &Tree<CoordinateMode> {
        &self.modes
    }

    /// The shape: the sizes of the modes.
    pub fn shape(&self) -> IntTuple {
        self.modes.map(|mode| mode.shape)
    }

    /// The coordinates at an integer coordinate, which may be beyond the size: the last mode continues.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if a coordinate does not fit 64 bits.
    pub fn at(&self, index: u64) -> Result<Vec<u64>, CuteError> {
        let (mut rest, mut coordinates) = (index, vec![0u64; self.axes]);
        let modes = self.modes.leaves();
        let last = modes.len().saturating_sub(1);
        for (at, mode) in modes.into_iter().enumerate() {
            let digit = if at == last { rest } else { rest % mode.shape };
            rest /= mode.shape;
            for (sum, step) in coordinates.iter_mut().zip(&mode.stride) {
                let moved = digit.checked_mul(*step).and_then(|moved| sum.checked_add(moved));
                *sum = moved.ok_or(VALUE)?;
            }
        }
        Ok(coordinates)
    }

    /// The layout whose values are elements of a tensor of `shape`, counted with the first axis the fastest, in place of
    /// their coordinates.
    ///
    /// # Errors
    /// [`CuteError::TooManyModes`] if the coordinates have more axes than the tensor; [`CuteError::Overflow`] if an
    /// element does not fit 64 bits.
    pub fn to_elements(&self, shape: &[u64]) -> Result<CuteLayout, CuteError> {
        if self.axes > shape.len() {
            return Err(CuteError::TooManyModes { what: "the coordinate", have: self.axes, most: shape.len() });
        }
        let weights = shape.iter().scan(1u64, |weight, size| {
            let own = *weight;
            *weight = weight.checked_mul(*size)?;
            Some(own)
        });
        self.packed(&weights.collect::<Vec<_>>())
    }

    /// The composition: the layout `c -> self(inner(c))`.
    ///
    /// # Errors
    /// As [`composition`], with the coordinates of a counterexample packed into one number, the first axis lowest;
    /// [`CuteError::Overflow`] if they do not fit 64 bits.
    pub fn compose(&self, inner: &CuteLayout) -> Result<Self, CuteError> {
        let weights = self.weights(inner)?;
        let packed = composition(&self.packed(&weights)?, inner)?;
        let modes = packed.tree().map(|mode| {
            let mut left = mode.stride;
            let mut stride = vec![0; self.axes];
            for (step, weight) in stride.iter_mut().zip(&weights).rev() {
                *step = left / weight;
                left %= weight;
            }
            CoordinateMode { shape: mode.shape, stride }
        });
        Self::new(self.axes, modes)
    }

    /// The weight of one step along each axis when coordinates are packed into one number: more than the axes before it
    /// can reach together within `inner`, so that neither additions nor joined modes cross axes.
    fn weights(&self, inner: &CuteLayout) -> Result<Vec<u64>, CuteError> {
        let (mut weight, mut weights) = (1u64, Vec::with_capacity(self.axes));
        for axis in 0..self.axes {
            weights.push(weight);
            let reach = self.modes.leaves().into_iter().try_fold(1u64, |sum, mode| {
                mode.shape.max(inner.cosize()).checked_mul(mode.stride[axis])?.checked_add(sum)
            });
            weight = reach.and_then(|reach| weight.checked_mul(reach)).ok_or(VALUE)?;
        }
        Ok(weights)
    }

    fn packed(&self, weights: &[u64]) -> Result<CuteLayout, CuteError> {
        let packed = |mode: &CoordinateMode| {
            let mut steps = mode.stride.iter().zip(weights);
            let stride = steps.try_fold(0u64, |sum, (step, weight)| sum.checked_add(step.checked_mul(*weight)?))?;
            Some(CuteLeaf { shape: mode.shape, stride })
        };
        let modes = self.modes.grow(&mut |mode| packed(mode).map(Tree::leaf).ok_or(VALUE))?;
        CuteLayout::from_tree(modes)
    }
}

impl fmt::Display for CoordinateLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strides = self.modes.map(|mode| {
            let steps = mode.stride.iter().enumerate().filter(|(_, step)| **step != 0);
            let steps: Vec<_> = steps.map(|(axis, step)| format!("{step}@{axis}")).collect();
            if steps.is_empty() { "0".to_owned() } else { steps.join("+") }
        });
        write!(out, "{}:{strides}", self.shape())
    }
}
