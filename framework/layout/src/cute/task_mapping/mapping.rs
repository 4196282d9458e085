//! Task mappings: construction, composition, and conversion to and from thread-value layouts.

use super::digits;
use super::digits::{Digit, Kind};
use super::loops::TaskLoopNest;
use crate::cute::{CuteError, CuteLayout, CuteLeaf, IntTuple, ThreadValue, Tree, coalesce};
use std::fmt;

/// A task mapping (Hexcute): assigns the tasks of a grid to workers, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaskMapping {
    /// Number of axes of the grid of tasks.
    rank: usize,
    /// The basic mappings whose composition this is, the outermost first.
    mappings: Vec<BasicMapping>,
}

/// A mapping without composition: `repeat` (one worker for all tasks) or `spatial` (one worker for each task) of a
/// grid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct BasicMapping {
    kind: Kind,
    shape: Vec<u64>,
}

impl TaskMapping {
    /// The mapping `repeat`: one worker does all tasks of a grid, the last axis fastest.
    ///
    /// # Errors
    /// [`CuteError::EmptyMode`] if a size is 0, [`CuteError::Overflow`] if the number of tasks does not fit 64 bits.
    pub fn repeat(shape: &[u64]) -> Result<Self, CuteError> {
        Self::of(Kind::Value, shape)
    }

    /// The mapping `spatial`: as many workers as the grid has tasks do one each, the last axis fastest.
    ///
    /// # Errors
    /// As [`TaskMapping::repeat`].
    pub fn spatial(shape: &[u64]) -> Result<Self, CuteError> {
        Self::of(Kind::Thread, shape)
    }

    fn of(kind: Kind, shape: &[u64]) -> Result<Self, CuteError> {
        Self::compose(shape.len(), vec![BasicMapping { kind, shape: shape.to_vec() }])
    }

    fn compose(rank: usize, mappings: Vec<BasicMapping>) -> Result<Self, CuteError> {
        let sizes = mappings.iter().flat_map(|mapping| mapping.shape.iter().copied());
        if let Some(mode) = sizes.clone().position(|size| size == 0) {
            return Err(CuteError::EmptyMode { mode });
        }
        let all = sizes.into_iter().try_fold(1u64, u64::checked_mul);
        all.ok_or(CuteError::Overflow { what: "the number of tasks" })?;
        Ok(Self { rank, mappings })
    }

    /// The composition `self * inner`: each task of this mapping becomes a whole grid of `inner`, and each worker as
    /// many workers as `inner` has.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] if the mappings have different numbers of axes; [`CuteError::Overflow`] if the
    /// number of tasks does not fit 64 bits.
    pub fn then(&self, inner: &Self) -> Result<Self, CuteError> {
        if self.rank != inner.rank {
            return Err(CuteError::NotCongruent {
                left: self.to_string(),
                right: inner.to_string(),
                remedy: "give both mappings as many axes",
            });
        }
        Self::compose(self.rank, self.mappings.iter().chain(&inner.mappings).cloned().collect())
    }

    /// Number of workers.
    #[must_use]
    pub fn workers(&self) -> u64 {
        self.sizes_of(Kind::Thread)
    }

    /// Number of tasks that each worker does.
    #[must_use]
    pub fn tasks_per_worker(&self) -> u64 {
        self.sizes_of(Kind::Value)
    }

    fn sizes_of(&self, kind: Kind) -> u64 {
        self.mappings.iter().filter(|mapping| mapping.kind == kind).flat_map(|mapping| &mapping.shape).product()
    }

    /// Sizes of the grid of tasks, one for each axis.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        (0..self.rank).map(|axis| self.mappings.iter().map(|mapping| mapping.shape[axis]).product()).collect()
    }

    /// Returns the coordinates of each task of a worker, in order; `worker` is taken modulo the number of workers.
    #[must_use]
    pub fn tasks(&self, worker: u64) -> Vec<Vec<u64>> {
        let digits = self.digits();
        let at = |value: u64| {
            let mut task = vec![0; self.rank];
            let (mut worker, mut value) = (worker, value);
            for digit in &digits {
                let number = if digit.kind == Kind::Thread { &mut worker } else { &mut value };
                task[digit.axis] += *number % digit.size * digit.step;
                *number /= digit.size;
            }
            task
        };
        (0..self.tasks_per_worker()).map(at).collect()
    }

    /// The digits of the worker index and of the task index, the fastest first.
    fn digits(&self) -> Vec<Digit> {
        let mut steps = vec![1; self.rank];
        let mut digits = Vec::new();
        for mapping in self.mappings.iter().rev() {
            for axis in (0..self.rank).rev().filter(|&axis| mapping.shape[axis] > 1) {
                let size = mapping.shape[axis];
                digits.push(Digit { kind: mapping.kind, axis, size, step: steps[axis] });
                steps[axis] *= size;
            }
        }
        digits
    }

    /// The mapping as a thread-value layout: workers are threads, tasks are values, the grid is the tile.
    ///
    /// # Errors
    /// As [`ThreadValue::new`].
    pub fn thread_value(&self) -> Result<ThreadValue, CuteError> {
        let shape = self.shape();
        let before = |axis: usize| shape[..axis].iter().product::<u64>();
        let of = |kind: Kind| {
            let own = self.digits().into_iter().filter(|digit| digit.kind == kind);
            let modes: Vec<CuteLeaf> =
                own.map(|digit| CuteLeaf { shape: digit.size, stride: digit.step * before(digit.axis) }).collect();
            coalesce(&CuteLayout::from_tree(Tree::flat(if modes.is_empty() {
                vec![CuteLeaf { shape: 1, stride: 0 }]
            } else {
                modes
            }))?)
        };
        ThreadValue::new(
            &IntTuple::flat(shape.iter().copied()),
            CuteLayout::from_modes(vec![of(Kind::Thread)?, of(Kind::Value)?])?,
        )
    }

    /// The task mapping whose thread-value layout is `layout`.
    ///
    /// # Errors
    /// [`CuteError::NoMapping`] with the reason: an element of several threads or of none; a mode along several axes
    /// that does not divide them; threads or values that are not ordered from coarse to fine along an axis.
    pub fn from_thread_value(layout: &ThreadValue) -> Result<Self, CuteError> {
        let shape: Vec<u64> = layout.tile().leaves().into_iter().copied().collect();
        let ordered = digits::ordered_digits(layout.layout(), &shape)
            .map_err(|reason| CuteError::NoMapping { layout: layout.layout().to_string(), reason })?;
        let mut mappings: Vec<BasicMapping> = Vec::new();
        // From coarse to fine. A digit joins the mapping before it if both are of the same index (worker or task) and
        // that mapping has size one along the digit's axis and all later ones.
        for digit in ordered.into_iter().rev() {
            match mappings.last_mut() {
                Some(last) if last.kind == digit.kind && last.shape[digit.axis..].iter().all(|&size| size == 1) => {
                    last.shape[digit.axis] = digit.size;
                }
                _ => {
                    let mut shape = vec![1; shape.len()];
                    shape[digit.axis] = digit.size;
                    mappings.push(BasicMapping { kind: digit.kind, shape });
                }
            }
        }
        if mappings.is_empty() {
            mappings.push(BasicMapping { kind: Kind::Thread, shape: vec![1; shape.len()] });
        }
        Self::compose(shape.len(), mappings)
    }

    /// The loop nest of a worker over its tasks.
    #[must_use]
    pub fn loops(&self) -> TaskLoopNest {
        TaskLoopNest::from_digits(&self.digits(), self.rank)
    }
}

impl fmt::Display for TaskMapping {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mapping) in self.mappings.iter().enumerate() {
            let name = if mapping.kind == Kind::Value { "repeat" } else { "spatial" };
            let sizes: Vec<String> = mapping.shape.iter().map(u64::to_string).collect();
            write!(out, "{}{name}({})", if at == 0 { "" } else { " * " }, sizes.join(", "))?;
        }
        Ok(())
    }
}
