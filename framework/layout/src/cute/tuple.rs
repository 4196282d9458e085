//! Nested tuples: of integers, and of modes.

use std::fmt;

use super::{CuteError, MAX_DEPTH};

/// A nested tuple: a value, or a tuple of trees. `4` and `(4)` are different trees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tree<T>(Node<T>);

/// A nested tuple of integers: a shape, a stride, a coordinate or an order.
pub type IntTuple = Tree<u64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Node<T> {
    Leaf(T),
    Tuple(Vec<Tree<T>>),
}

/// The top level of a tree, for matching: a value or a tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TupleView<'a, T> {
    /// A value.
    Leaf(&'a T),
    /// A tuple.
    Tuple(&'a [Tree<T>]),
}

impl<T> Tree<T> {
    /// The tree of one value.
    pub fn leaf(value: T) -> Self {
        Self(Node::Leaf(value))
    }

    /// A tuple of trees.
    ///
    /// # Errors
    /// [`CuteError::TooDeep`] if the result is nested deeper than [`MAX_DEPTH`].
    pub fn tuple(modes: Vec<Self>) -> Result<Self, CuteError> {
        let depth = 1 + modes.iter().map(Self::depth).max().unwrap_or(0);
        if depth > MAX_DEPTH { Err(CuteError::TooDeep { depth }) } else { Ok(Self(Node::Tuple(modes))) }
    }

    /// A flat tuple of values.
    pub fn flat(values: impl IntoIterator<Item = T>) -> Self {
        Self(Node::Tuple(values.into_iter().map(Self::leaf).collect()))
    }

    /// Returns the top level of the tree, for matching.
    pub fn view(&self) -> TupleView<'_, T> {
        match &self.0 {
            Node::Leaf(value) => TupleView::Leaf(value),
            Node::Tuple(modes) => TupleView::Tuple(modes),
        }
    }

    /// The modes of a tuple; a value is its own single mode.
    pub fn modes(&self) -> &[Self] {
        match &self.0 {
            Node::Leaf(_) => std::slice::from_ref(self),
            Node::Tuple(modes) => modes,
        }
    }

    /// Returns the number of modes at the top level; 1 for a value.
    pub fn rank(&self) -> usize {
        self.modes().len()
    }

    /// Returns the nesting depth of the tuples; 0 for a value.
    pub fn depth(&self) -> usize {
        match &self.0 {
            Node::Leaf(_) => 0,
            Node::Tuple(modes) => 1 + modes.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    /// The values from left to right.
    pub fn leaves(&self) -> Vec<&T> {
        let mut leaves = Vec::new();
        self.visit(&mut |value| leaves.push(value));
        leaves
    }

    pub(super) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a T)) {
        match &self.0 {
            Node::Leaf(value) => see(value),
            Node::Tuple(modes) => modes.iter().for_each(|mode| mode.visit(see)),
        }
    }

    /// The tree of the same nesting with other values.
    pub fn map<U>(&self, mut change: impl FnMut(&T) -> U) -> Tree<U> {
        self.map_by(&mut change)
    }

    fn map_by<U>(&self, change: &mut impl FnMut(&T) -> U) -> Tree<U> {
        match &self.0 {
            Node::Leaf(value) => Tree::leaf(change(value)),
            Node::Tuple(modes) => Tree(Node::Tuple(modes.iter().map(|mode| mode.map_by(change)).collect())),
        }
    }

    /// This tree with each value replaced by the tree that `grown` returns for it.
    pub(super) fn grow<U>(
        &self,
        grown: &mut impl FnMut(&T) -> Result<Tree<U>, CuteError>,
    ) -> Result<Tree<U>, CuteError> {
        match &self.0 {
            Node::Leaf(value) => grown(value),
            Node::Tuple(modes) => Tree::tuple(modes.iter().map(|mode| mode.grow(grown)).collect::<Result<_, _>>()?),
        }
    }

    /// Combines the values of two trees of the same nesting by `pair`; `None` if the nesting differs.
    pub fn zip<U, V>(&self, other: &Tree<U>, pair: &mut impl FnMut(&T, &U) -> V) -> Option<Tree<V>> {
        match (&self.0, &other.0) {
            (Node::Leaf(left), Node::Leaf(right)) => Some(Tree::leaf(pair(left, right))),
            (Node::Tuple(left), Node::Tuple(right)) if left.len() == right.len() => {
                let modes = left.iter().zip(right).map(|(left, right)| left.zip(right, pair)).collect::<Option<_>>()?;
                Some(Tree(Node::Tuple(modes)))
            }
            _ => None,
        }
    }
}

impl Tree<u64> {
    /// The product of all integers of the tuple.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if the product does not fit 64 bits.
    pub fn product(&self) -> Result<u64, CuteError> {
        let product = self.leaves().into_iter().try_fold(1u64, |product, &value| product.checked_mul(value));
        product.ok_or(CuteError::Overflow { what: "the size" })
    }
}

impl<T: fmt::Display> fmt::Display for Tree<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Node::Leaf(value) => write!(out, "{value}"),
            Node::Tuple(modes) => {
                out.write_str("(")?;
                for (at, mode) in modes.iter().enumerate() {
                    write!(out, "{}{mode}", if at == 0 { "" } else { "," })?;
                }
                out.write_str(")")
            }
        }
    }
}
