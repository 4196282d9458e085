//! The solution of shared-memory layout synthesis: a layout, its swizzles, and the alternative of each access.

use std::fmt;

use super::FreeStrideLayout;
use tilewright_layout::cute::{ComposedLayout, CuteError, CuteLayout, Swizzle};
use tilewright_layout::{LinearLayout, MemoryLayout};

/// The solution of one access of the tensor: the alternative that executes it, with its numbers of instructions and
/// wavefronts.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessSolution {
    /// Name of the access (`TensorAccess::name`).
    pub access: String,
    /// Index of the alternative that executes the access, in `TensorAccess::alternatives`.
    pub alternative: usize,
    /// The name of the instruction of this alternative; `None` for plain accesses.
    pub instruction: Option<String>,
    /// Bytes that a lane moves in one access; zero for reads by a matrix unit and for bulk tensor copies.
    pub bytes: u64,
    /// The stride term (layout with free strides) that the access requires; `None` if the hardware fixes the layout.
    pub term: Option<FreeStrideLayout>,
    /// Shared-memory wavefronts of the busiest warp, over all phases of all its accesses.
    pub wavefronts: u64,
    /// Lower bound of the wavefronts of this alternative over all memory layouts.
    pub lower_bound: u64,
    /// Number of access instructions that the busiest warp issues.
    pub issued: u64,
    /// Number of byte permutes by which a lane packs its registers into the words of the accesses, or unpacks them, and
    /// of moves of words between vectors.
    pub permutes: u64,
    /// The register layout of the elements that each lane fetches from global memory, which follows from the memory
    /// layout. `None` except for copies whose lanes write adjacent elements and each give an address to fetch from.
    pub fetched: Option<LinearLayout>,
}

impl AccessSolution {
    /// Returns the wavefronts in excess of the minimum: bank conflicts, that is, lanes of a phase access different
    /// words of a bank.
    #[must_use]
    pub fn conflict_wavefronts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.lower_bound)
    }
}

/// A shared-memory layout that serves all accesses: offset = swizzles(layout(coordinate)).
#[derive(Debug, Clone, PartialEq)]
pub struct SharedLayoutSolution {
    /// The stride term that refines the terms of all accesses; `None` if the hardware fixes the layout.
    pub term: Option<FreeStrideLayout>,
    /// The layout before the swizzles, from coordinates to offsets in elements: one mode for each axis, and no free
    /// strides.
    pub layout: CuteLayout,
    /// The swizzles, outermost first; empty for a plain layout.
    pub swizzles: Vec<Swizzle>,
    /// The swizzled memory layout, from offsets in elements to coordinates.
    pub memory: MemoryLayout,
    /// The name of the canonical layout if the hardware fixes the layout; `None` otherwise.
    pub fixed_layout: Option<String>,
    /// Solution of each access, in the order of the accesses in the problem.
    pub served: Vec<AccessSolution>,
    /// The price of the layout, in shared-memory wavefronts of one warp; lower is better. It is the sum over all
    /// accesses of the access's weight (its assumed number of executions) times the sum of its wavefronts and its
    /// prices of issue and of byte permutes.
    pub price: f64,
    /// Number of search nodes: partial choices of alternatives that were visited.
    pub nodes: usize,
    /// Number of search leaves: complete choices of alternatives for which a swizzle was searched.
    pub leaves: usize,
}

impl SharedLayoutSolution {
    /// Returns the layout with its swizzles as one composed layout, in CuTe's notation.
    ///
    /// # Errors
    /// Solutions of this module always compose; the error is for hand-made values.
    pub fn composed_layout(&self) -> Result<ComposedLayout, CuteError> {
        ComposedLayout::new(self.swizzles.clone(), 0, self.layout.clone())
    }

    /// Returns the wavefronts of all accesses in excess of their lower bounds: bank conflicts.
    #[must_use]
    pub fn conflict_wavefronts(&self) -> u64 {
        self.served.iter().map(AccessSolution::conflict_wavefronts).sum()
    }
}

/// Prints the layout, then one line for each access.
impl fmt::Display for SharedLayoutSolution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for swizzle in &self.swizzles {
            write!(out, "{swizzle} o ")?;
        }
        write!(out, "{}", self.layout)?;
        if let Some(term) = &self.term {
            write!(out, ", from {term}")?;
        }
        if let Some(name) = &self.fixed_layout {
            write!(out, ", canonical layout {name}")?;
        }
        for served in &self.served {
            let by = served.instruction.clone().unwrap_or_else(|| format!("plain accesses of {} bytes", served.bytes));
            write!(out, "\n{}: {by}", served.access)?;
            if let Some(term) = &served.term {
                write!(out, ", {term}")?;
            }
            write!(out, ", {} issued, {} wavefronts of {}", served.issued, served.wavefronts, served.lower_bound)?;
        }
        Ok(())
    }
}
