//! The answer: a layout, the swizzle over it, and how each access goes.

use std::fmt;

use super::StrideTerm;
use tilewright_layout::cute::{ComposedLayout, CuteError, CuteLayout, Swizzle};
use tilewright_layout::{LinearLayout, MemoryLayout};

/// How one access goes.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessSolution {
    /// Its name.
    pub access: String,
    /// Which of its ways it goes, as an index.
    pub way: usize,
    /// The row of the instruction table; none of plain accesses.
    pub instruction: Option<String>,
    /// Bytes that a lane moves at a time; zero where no lane moves any.
    pub bytes: u64,
    /// What it asks; none where the hardware says the whole layout.
    pub term: Option<StrideTerm>,
    /// Wavefronts of the busiest warp, of all phases of all its accesses.
    pub wavefronts: u64,
    /// Wavefronts that this way takes at least, whatever the layout.
    pub least: u64,
    /// How many accesses the busiest warp issues.
    pub issued: u64,
    /// Who brings what, where lanes write side by side what each fetches: it follows from the memory.
    pub fetched: Option<LinearLayout>,
}

impl AccessSolution {
    /// Wavefronts that there are because lanes of a phase want different words of a bank.
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.least)
    }
}

/// A layout of shared memory that serves all accesses: offset = swizzles(layout(coordinate)).
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// What all accesses ask together; none where the hardware says the whole layout.
    pub term: Option<StrideTerm>,
    /// The layout without its free strides left open, a mode for each axis: `m`.
    pub layout: CuteLayout,
    /// The swizzles over it, the outermost first: `S`.
    pub swizzles: Vec<Swizzle>,
    /// Both together, from offsets in elements to coordinates.
    pub memory: MemoryLayout,
    /// The arrangement that the hardware fixes, where it does.
    pub arrangement: Option<String>,
    /// How the accesses go, in their order.
    pub served: Vec<AccessSolution>,
    /// Wavefronts of all accesses by their weights, and what issuing them counts beside, in slots of wavefronts.
    pub price: f64,
    /// Choices of ways that were begun.
    pub nodes: usize,
    /// Choices of ways for all accesses whose swizzle was searched.
    pub leaves: usize,
}

impl Solution {
    /// The layout under its swizzles, as CuTe writes it.
    ///
    /// # Errors
    /// None for a layout of memory; the type is that of every operation.
    pub fn composed(&self) -> Result<ComposedLayout, CuteError> {
        ComposedLayout::new(self.swizzles.clone(), 0, self.layout.clone())
    }

    /// Wavefronts of all accesses above what their ways take at least.
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.served.iter().map(AccessSolution::conflicts).sum()
    }
}

/// The layout, then how each access goes, a line each.
impl fmt::Display for Solution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for swizzle in &self.swizzles {
            write!(out, "{swizzle} o ")?;
        }
        write!(out, "{}", self.layout)?;
        if let Some(term) = &self.term {
            write!(out, ", from {term}")?;
        }
        if let Some(name) = &self.arrangement {
            write!(out, ", arranged as {name}")?;
        }
        for served in &self.served {
            let by = served.instruction.clone().unwrap_or_else(|| format!("plain accesses of {} bytes", served.bytes));
            write!(out, "\n{}: {by}", served.access)?;
            if let Some(term) = &served.term {
                write!(out, ", {term}")?;
            }
            write!(out, ", {} issued, {} wavefronts of {}", served.issued, served.wavefronts, served.least)?;
        }
        Ok(())
    }
}
