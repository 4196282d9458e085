//! Task mappings as loop nests: the loops of a worker over its tasks.

use std::fmt;

use super::digits::{Digit, Kind};

/// The loop nest of a worker over its tasks, the outermost loop first, and the coordinate of a task along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLoopNest {
    /// Trip count of each loop, the outermost first.
    pub loops: Vec<u64>,
    /// The coordinate of a task along each axis.
    pub axes: Vec<TaskCoordinateExpr>,
}

/// The coordinate of a task along one axis: a sum of terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskCoordinateExpr {
    /// The terms whose total is the coordinate, the coarsest first.
    pub terms: Vec<IndexTerm>,
}

/// A term of a coordinate: a multiple of a loop counter or of a digit of the thread index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexTerm {
    /// The loop counter, or the digit of the thread index.
    pub of: LoopOrThreadIndex,
    /// The number by which the loop counter or the digit is multiplied.
    pub scale: u64,
}

/// The variable of a term: a loop counter, or a digit of the thread index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopOrThreadIndex {
    /// The counter of the loop with this index.
    Loop(usize),
    /// A digit of the thread index: the quotient by `divide`, then the remainder by `modulo`.
    Thread {
        /// The number that the thread index is divided by.
        divide: u64,
        /// The modulus; `None` for the coarsest digit.
        modulo: Option<u64>,
    },
}

impl TaskLoopNest {
    /// Builds the loops from digits that are listed finest first, for a grid of `rank` axes.
    pub(super) fn from_digits(digits: &[Digit], rank: usize) -> Self {
        let values: Vec<&Digit> = digits.iter().filter(|digit| digit.kind == Kind::Value).collect();
        let workers: u64 = digits.iter().filter(|digit| digit.kind == Kind::Thread).map(|digit| digit.size).product();
        let mut axes = vec![TaskCoordinateExpr::default(); rank];
        let (mut divide, mut seen) = (1, 0);
        for digit in digits {
            let of = match digit.kind {
                Kind::Value => {
                    seen += 1;
                    LoopOrThreadIndex::Loop(values.len() - seen)
                }
                Kind::Thread => {
                    let source = LoopOrThreadIndex::Thread {
                        divide,
                        modulo: (divide * digit.size < workers).then_some(digit.size),
                    };
                    divide *= digit.size;
                    source
                }
            };
            axes[digit.axis].terms.insert(0, IndexTerm { of, scale: digit.step });
        }
        Self { loops: values.iter().rev().map(|digit| digit.size).collect(), axes }
    }

    /// Returns the coordinates of each task of a thread, in the order of the loops.
    #[must_use]
    pub fn tasks(&self, thread: u64) -> Vec<Vec<u64>> {
        let count: u64 = self.loops.iter().product();
        let task = |number: u64| {
            let mut rest = number;
            let mut counters = vec![0; self.loops.len()];
            for (counter, size) in counters.iter_mut().zip(&self.loops).rev() {
                *counter = rest % size;
                rest /= size;
            }
            self.axes.iter().map(|index| index.at(&counters, thread)).collect()
        };
        (0..count).map(task).collect()
    }
}

impl TaskCoordinateExpr {
    fn at(&self, counters: &[u64], thread: u64) -> u64 {
        let of = |term: &IndexTerm| {
            term.scale
                * match term.of {
                    LoopOrThreadIndex::Loop(number) => counters.get(number).copied().unwrap_or(0),
                    LoopOrThreadIndex::Thread { divide, modulo } => {
                        let digit = thread / divide.max(1);
                        modulo.map_or(digit, |size| digit % size.max(1))
                    }
                }
        };
        self.terms.iter().map(of).sum()
    }
}

impl fmt::Display for IndexTerm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            LoopOrThreadIndex::Loop(number) => write!(out, "i{number}")?,
            LoopOrThreadIndex::Thread { divide, modulo } => {
                let divided = if divide == 1 { "thread".to_owned() } else { format!("thread / {divide}") };
                let digit = modulo.map_or(divided.clone(), |size| format!("{divided} % {size}"));
                if self.scale != 1 && digit != "thread" { write!(out, "({digit})")? } else { write!(out, "{digit}")? }
            }
        }
        if self.scale == 1 { Ok(()) } else { write!(out, " * {}", self.scale) }
    }
}

impl fmt::Display for TaskCoordinateExpr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.terms.iter().map(IndexTerm::to_string).collect();
        out.write_str(if terms.is_empty() { "0" } else { "" })?;
        out.write_str(&terms.join(" + "))
    }
}

/// Prints each loop on a line, indented by its depth, and then the task.
impl fmt::Display for TaskLoopNest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, size) in self.loops.iter().enumerate() {
            writeln!(out, "{}for i{number} in 0..{size}:", "    ".repeat(number))?;
        }
        let axes: Vec<String> = self.axes.iter().map(TaskCoordinateExpr::to_string).collect();
        write!(out, "{}task({})", "    ".repeat(self.loops.len()), axes.join(", "))
    }
}
