//! Task mappings.

use super::digits;
use super::digits::{Digit, Kind};
use super::loops::LoopNest;
use crate::cute::{CuteError, CuteLayout, CuteMode, IntTuple, ThreadValue, Tree, coalesce};
use std::fmt;

/// A mapping of workers to tasks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaskMapping {
    /// Sizes of the grid, one an axis.
    rank: usize,
    /// The outermost first.
    factors: Vec<Factor>,
}

/// `repeat` or `spatial` of a grid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Factor {
    kind: Kind,
    shape: Vec<u64>,
}

impl TaskMapping {
    /// One worker does all tasks of a grid, the last axis fastest.
    ///
    /// # Errors
    /// [`CuteError::EmptyMode`], [`CuteError::Overflow`].
    pub fn repeat(shape: &[u64]) -> Result<Self, CuteError> {
        Self::of(Kind::Value, shape)
    }

    /// As many workers as the grid has tasks do one each, the last axis fastest.
    ///
    /// # Errors
    /// As [`TaskMapping::repeat`].
    pub fn spatial(shape: &[u64]) -> Result<Self, CuteError> {
        Self::of(Kind::Thread, shape)
    }

    fn of(kind: Kind, shape: &[u64]) -> Result<Self, CuteError> {
        Self::of_factors(shape.len(), vec![Factor { kind, shape: shape.to_vec() }])
    }

    fn of_factors(rank: usize, factors: Vec<Factor>) -> Result<Self, CuteError> {
        let sizes = factors.iter().flat_map(|factor| factor.shape.iter().copied());
        if let Some(mode) = sizes.clone().position(|size| size == 0) {
            return Err(CuteError::EmptyMode { mode });
        }
        let all = sizes.into_iter().try_fold(1u64, u64::checked_mul);
        all.ok_or(CuteError::Overflow { what: "the number of tasks" })?;
        Ok(Self { rank, factors })
    }

    /// Each task of this mapping is a whole grid of the other, each worker as many workers as the other has.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] where they have other numbers of axes; [`CuteError::Overflow`].
    pub fn then(&self, inner: &Self) -> Result<Self, CuteError> {
        if self.rank != inner.rank {
            return Err(CuteError::NotCongruent {
                left: self.to_string(),
                right: inner.to_string(),
                remedy: "give both mappings as many axes",
            });
        }
        Self::of_factors(self.rank, self.factors.iter().chain(&inner.factors).cloned().collect())
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> u64 {
        self.sizes_of(Kind::Thread)
    }

    /// How many tasks each worker does.
    #[must_use]
    pub fn tasks_of_each(&self) -> u64 {
        self.sizes_of(Kind::Value)
    }

    fn sizes_of(&self, kind: Kind) -> u64 {
        self.factors.iter().filter(|factor| factor.kind == kind).flat_map(|factor| &factor.shape).product()
    }

    /// Sizes of the grid of tasks.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        (0..self.rank).map(|axis| self.factors.iter().map(|factor| factor.shape[axis]).product()).collect()
    }

    /// The tasks of a worker, in order; workers beyond the last are counted around.
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
        (0..self.tasks_of_each()).map(at).collect()
    }

    /// The digits of workers' and of tasks' numbers, the fastest first.
    fn digits(&self) -> Vec<Digit> {
        let mut steps = vec![1; self.rank];
        let mut digits = Vec::new();
        for factor in self.factors.iter().rev() {
            for axis in (0..self.rank).rev().filter(|&axis| factor.shape[axis] > 1) {
                let size = factor.shape[axis];
                digits.push(Digit { kind: factor.kind, axis, size, step: steps[axis] });
                steps[axis] *= size;
            }
        }
        digits
    }

    /// The same as a layout of threads and values over the grid as a tile.
    ///
    /// # Errors
    /// As [`ThreadValue::new`].
    pub fn thread_value(&self) -> Result<ThreadValue, CuteError> {
        let shape = self.shape();
        let before = |axis: usize| shape[..axis].iter().product::<u64>();
        let of = |kind: Kind| {
            let own = self.digits().into_iter().filter(|digit| digit.kind == kind);
            let modes: Vec<CuteMode> =
                own.map(|digit| CuteMode { shape: digit.size, stride: digit.step * before(digit.axis) }).collect();
            coalesce(&CuteLayout::from_tree(Tree::flat(if modes.is_empty() {
                vec![CuteMode { shape: 1, stride: 0 }]
            } else {
                modes
            }))?)
        };
        ThreadValue::new(
            &IntTuple::flat(shape.iter().copied()),
            CuteLayout::from_modes(vec![of(Kind::Thread)?, of(Kind::Value)?])?,
        )
    }

    /// The mapping that is a thread-value layout.
    ///
    /// # Errors
    /// [`CuteError::NoMapping`] with the reason: elements that several hold, or none; modes along several axes that do not
    /// divide them; threads, or values, that follow each other in another order than coarse to fine along an axis.
    pub fn of_thread_value(layout: &ThreadValue) -> Result<Self, CuteError> {
        let shape: Vec<u64> = layout.tile().leaves().into_iter().copied().collect();
        let ordered = digits::ordered(layout.layout(), &shape)
            .map_err(|reason| CuteError::NoMapping { layout: layout.layout().to_string(), reason })?;
        let mut factors: Vec<Factor> = Vec::new();
        // Coarse to fine; a finer digit along a later axis joins the factor before it.
        for digit in ordered.into_iter().rev() {
            match factors.last_mut() {
                Some(last) if last.kind == digit.kind && last.shape[digit.axis..].iter().all(|&size| size == 1) => {
                    last.shape[digit.axis] = digit.size;
                }
                _ => {
                    let mut shape = vec![1; shape.len()];
                    shape[digit.axis] = digit.size;
                    factors.push(Factor { kind: digit.kind, shape });
                }
            }
        }
        if factors.is_empty() {
            factors.push(Factor { kind: Kind::Thread, shape: vec![1; shape.len()] });
        }
        Self::of_factors(shape.len(), factors)
    }

    /// The loops by which a worker does its tasks.
    #[must_use]
    pub fn loops(&self) -> LoopNest {
        LoopNest::of(&self.digits(), self.rank)
    }
}

impl fmt::Display for TaskMapping {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, factor) in self.factors.iter().enumerate() {
            let name = if factor.kind == Kind::Value { "repeat" } else { "spatial" };
            let sizes: Vec<String> = factor.shape.iter().map(u64::to_string).collect();
            write!(out, "{}{name}({})", if at == 0 { "" } else { " * " }, sizes.join(", "))?;
        }
        Ok(())
    }
}
