//! The loops of a worker over its tasks.

use std::fmt;

use super::digits::{Digit, Kind};

/// Loops around a task, the outermost first, and the task's place along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopNest {
    /// How often each loop goes round.
    pub loops: Vec<u64>,
    /// The task along each axis.
    pub axes: Vec<LoopIndex>,
}

/// A place along an axis: a sum of terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopIndex {
    /// The terms, the coarsest first.
    pub terms: Vec<IndexTerm>,
}

/// A multiple of what a loop or the thread's number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexTerm {
    /// What is multiplied.
    pub of: Source,
    /// By how much.
    pub scale: u64,
}

/// What a term comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The counter of a loop.
    Loop(usize),
    /// A digit of the thread's number: divided, then what is left of a division where one is said.
    Thread {
        /// By what it is divided.
        divide: u64,
        /// Of which division the rest is taken; none of the coarsest digit.
        modulo: Option<u64>,
    },
}

impl LoopNest {
    /// The loops of digits, the finest first.
    pub(super) fn of(digits: &[Digit], rank: usize) -> Self {
        let values: Vec<&Digit> = digits.iter().filter(|digit| digit.kind == Kind::Value).collect();
        let workers: u64 = digits.iter().filter(|digit| digit.kind == Kind::Thread).map(|digit| digit.size).product();
        let mut axes = vec![LoopIndex::default(); rank];
        let (mut divide, mut seen) = (1, 0);
        for digit in digits {
            let of = match digit.kind {
                Kind::Value => {
                    seen += 1;
                    Source::Loop(values.len() - seen)
                }
                Kind::Thread => {
                    let source =
                        Source::Thread { divide, modulo: (divide * digit.size < workers).then_some(digit.size) };
                    divide *= digit.size;
                    source
                }
            };
            axes[digit.axis].terms.insert(0, IndexTerm { of, scale: digit.step });
        }
        Self { loops: values.iter().rev().map(|digit| digit.size).collect(), axes }
    }

    /// The tasks of a thread, in order, as the loops do them.
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

impl LoopIndex {
    fn at(&self, counters: &[u64], thread: u64) -> u64 {
        let of = |term: &IndexTerm| {
            term.scale
                * match term.of {
                    Source::Loop(number) => counters.get(number).copied().unwrap_or(0),
                    Source::Thread { divide, modulo } => {
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
            Source::Loop(number) => write!(out, "i{number}")?,
            Source::Thread { divide, modulo } => {
                let divided = if divide == 1 { "thread".to_owned() } else { format!("thread / {divide}") };
                let digit = modulo.map_or(divided.clone(), |size| format!("{divided} % {size}"));
                if self.scale != 1 && digit != "thread" { write!(out, "({digit})")? } else { write!(out, "{digit}")? }
            }
        }
        if self.scale == 1 { Ok(()) } else { write!(out, " * {}", self.scale) }
    }
}

impl fmt::Display for LoopIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.terms.iter().map(IndexTerm::to_string).collect();
        out.write_str(if terms.is_empty() { "0" } else { "" })?;
        out.write_str(&terms.join(" + "))
    }
}

/// The loops, each a line with what is in it further in, and the task.
impl fmt::Display for LoopNest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, size) in self.loops.iter().enumerate() {
            writeln!(out, "{}for i{number} in 0..{size}:", "    ".repeat(number))?;
        }
        let axes: Vec<String> = self.axes.iter().map(LoopIndex::to_string).collect();
        write!(out, "{}task({})", "    ".repeat(self.loops.len()), axes.join(", "))
    }
}
