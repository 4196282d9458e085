//! The layout of a buffer in shared memory, with the instructions that fill and read it. The tensors of explicit-memory
//! programs and the buffers of prefetched loads pass the same decision ([`SharedBuffer::solve`]).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

use crate::LaunchConfig;
use crate::dot_plan::DotPlan;
use crate::layouts::LayoutTransfer;
use tilewright_layout::{self as layout, Dim, FamilyParameterValue, FamilySpec, LinearLayout, MemoryLayout};
use tilewright_plan::memory_synthesis::{
    AccessAlternative, MemorySynthesisError, SharedLayoutSearchLimits, SharedLayoutSolution, SharedTensor,
    TensorAccess, solve_shared_layout_with_search_limits,
};
use tilewright_plan::mma::MmaPlan;
use tilewright_target::{Completion, Direction, Instruction, InstructionOperand, Semantics, TensorCopyOperand};
use tilewright_tile::LayoutAttribute;

/// Max number of shared-memory layouts that are compared for one choice of accesses to price a prefetch. Most buffers
/// have a layout without bank conflicts among the first ones.
const PRICED_LAYOUTS: u64 = 1 << 6;
/// Max number of choices of accesses that are compared to price a prefetch.
const PRICED_CHOICES: usize = 4;

/// Returns limits of the search for a layout that only prices a program, which may not be the one that is emitted.
pub(crate) fn limits_for_prices() -> SharedLayoutSearchLimits {
    SharedLayoutSearchLimits { budget: PRICED_LAYOUTS, leaves: PRICED_CHOICES, ..SharedLayoutSearchLimits::default() }
}

/// A buffer in shared memory whose layout is to be found.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedBuffer<'m> {
    /// The tensor that the buffer holds.
    pub tensor: SharedTensor,
    /// The accesses that fill and read the buffer, each with the instructions that can execute it.
    pub accesses: Vec<TensorAccess<'m>>,
    /// The MMAs that read the buffer in place.
    pub mma_reads: Vec<MmaRead>,
    /// The allowed layouts, and the limits of the search for one.
    pub limits: SharedLayoutSearchLimits,
}

/// An MMA that reads a buffer in place.
#[derive(Debug, Clone, PartialEq)]
pub struct MmaRead {
    /// The plan of the dot whose MMA it is.
    pub dot: Rc<DotPlan>,
    /// The operand that the buffer is: A (0) or B (1).
    pub side: usize,
    /// The layout transfers from the buffer to the operand, in order.
    pub view: Vec<LayoutTransfer>,
    /// The coordinates in the buffer, after these transfers, at which the operand begins; empty if it begins at zeros.
    pub first: Vec<u64>,
}

impl<'m> SharedBuffer<'m> {
    /// Creates a buffer with the usual limits of the search for its layout.
    #[must_use]
    pub fn new(tensor: SharedTensor, accesses: Vec<TensorAccess<'m>>, mma_reads: Vec<MmaRead>) -> Self {
        Self { tensor, accesses, mma_reads, limits: SharedLayoutSearchLimits::default() }
    }

    /// Returns the same buffer with these limits of the search for its layout.
    #[must_use]
    pub fn with_limits(self, limits: SharedLayoutSearchLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the same buffer with one more access, which comes before the others.
    #[must_use]
    pub fn with_first_access(&self, access: TensorAccess<'m>) -> Self {
        Self { accesses: [&[access], &self.accesses[..]].concat(), ..self.clone() }
    }

    /// Finds a layout that the widest possible asynchronous copies can fill. If it has bank conflicts, if lanes permute or
    /// move registers, or if plain accesses are wider, a layout for any accesses but narrower asynchronous copies (such as
    /// copies through registers) is returned if it is cheaper. If no asynchronous copies can fill a layout, the layout is
    /// for any accesses too.
    ///
    /// # Errors
    /// [`MemorySynthesisError`] if no layout serves all accesses, or if an MMA cannot read the layout.
    pub fn solve(&self, config: &LaunchConfig<'_>) -> Result<SharedLayoutSolution, Box<MemorySynthesisError>> {
        let copies = self.accesses.iter().filter(|access| access.from_global).flat_map(|access| &access.alternatives);
        let copies = copies.filter(|alternative| alternative.instruction().is_some());
        let widths: BTreeSet<u64> = copies.map(AccessAlternative::bytes).collect();
        for width in widths.into_iter().rev() {
            let Ok(solution) = self.with_copies_of(width).solve_as_is(config) else { continue };
            let is_best =
                solution.served.iter().all(|served| served.conflict_wavefronts() == 0 && served.permutes == 0);
            let is_narrow = |access: &TensorAccess<'_>| access.alternatives.iter().any(|plain| plain.bytes() > width);
            let is_widest = !self.accesses.iter().any(|access| access.from_global && is_narrow(access));
            let other = if is_best && is_widest { None } else { self.with_copies_from(width).solve_as_is(config).ok() };
            return Ok(other.filter(|other| other.price < solution.price).unwrap_or(solution));
        }
        self.solve_as_is(config)
    }

    /// Returns the same buffer, filled from global memory only by asynchronous copies of `width` bytes of a lane.
    fn with_copies_of(&self, width: u64) -> Self {
        let mut narrowed = self.clone();
        for access in narrowed.accesses.iter_mut().filter(|access| access.from_global) {
            access.alternatives.retain(|copy| copy.instruction().is_some() && copy.bytes() == width);
        }
        narrowed
    }

    /// Returns the same buffer without asynchronous copies of less than `width` bytes of a lane.
    fn with_copies_from(&self, width: u64) -> Self {
        let mut wide = self.clone();
        for access in wide.accesses.iter_mut().filter(|access| access.from_global) {
            access.alternatives.retain(|copy| copy.instruction().is_none() || copy.bytes() >= width);
        }
        wide
    }

    /// Finds the cheapest layout for the accesses, and checks that the MMAs can read it.
    fn solve_as_is(&self, config: &LaunchConfig<'_>) -> Result<SharedLayoutSolution, Box<MemorySynthesisError>> {
        let (tensor, limits) = (&self.tensor, &self.limits);
        let solution = solve_shared_layout_with_search_limits(tensor, &self.accesses, &config.context, limits)?;
        for MmaRead { dot, side, view, first } in &self.mma_reads {
            let refused = |reason| MemorySynthesisError::Access { access: dot.plan.atom_name().to_owned(), reason };
            let memory = view.iter().try_fold(solution.memory.linear.clone(), |memory, to| to.apply(&memory));
            let memory = memory.map_err(|error| refused(error.to_string()))?;
            dot.plan.with_operand_memory(*side, &memory, first).map_err(|error| refused(error.to_string()))?;
        }
        Ok(solution)
    }
}

/// The buffers whose layouts were found, with their solutions. Programs that a search compares have many equal buffers.
#[derive(Default)]
pub(crate) struct SolvedLayouts<'m>(RefCell<Vec<(SharedBuffer<'m>, SolvedLayout)>>);

type SolvedLayout = Result<SharedLayoutSolution, Box<MemorySynthesisError>>;

impl<'m> SolvedLayouts<'m> {
    /// Returns the solution of a buffer; finds it if the buffer is new.
    pub fn solve(&self, buffer: &SharedBuffer<'m>, config: &LaunchConfig<'m>) -> SolvedLayout {
        if let Some((_, solution)) = self.0.borrow().iter().find(|(known, _)| known == buffer) {
            return solution.clone();
        }
        let solution = buffer.solve(config);
        self.0.borrow_mut().push((buffer.clone(), solution.clone()));
        solution
    }
}

/// Returns the access that fills a buffer with the value of a load of the register layout `layout`: by asynchronous
/// copies as wide as the load, which accesses `bytes` bytes of a lane, or by stores of at most these bytes. `None` if the
/// target has no such copy.
pub(crate) fn prefetching_access<'a>(
    layout: &LinearLayout,
    bytes: u64,
    config: &LaunchConfig<'a>,
) -> Option<TensorAccess<'a>> {
    let is_copy = |alternative: &AccessAlternative<'_>| alternative.instruction().is_some();
    let copy = TensorAccess::global_to_shared_copy("the copy", layout.clone(), &config.context)
        .with_retained_alternatives(|alternative| match is_copy(alternative) {
            true => alternative.bytes() == bytes,
            false => alternative.bytes() <= bytes,
        });
    copy.alternatives.iter().any(is_copy).then_some(copy)
}

/// Whether asynchronous copies fill a buffer; its first access fills it.
pub(crate) fn is_filled_asynchronously(solution: &SharedLayoutSolution) -> bool {
    solution.served.first().is_some_and(|filled| filled.instruction.is_some())
}

/// Returns the access by which an MMA reads operand A (`side` 0) or B (1) from shared memory. `None` if it reads the
/// operand from registers.
pub(crate) fn mma_operand_access<'a>(
    plan: &MmaPlan,
    side: usize,
    name: &str,
    config: &LaunchConfig<'a>,
) -> Option<TensorAccess<'a>> {
    let role = if (side == 0) == plan.is_transposed() { "b" } else { "a" };
    let row = plan.instruction().and_then(|name| config.context.instructions.iter().find(|row| row.name == name));
    let access = row.and_then(|row| TensorAccess::matrix_unit_read(name, row, role));
    access.map(|access| if plan.is_transposed() { access.of_transposed_tensor() } else { access })
}

/// Returns the access of a bulk tensor copy of boxes of this rank, with one alternative for each instruction that
/// accesses shared memory in this direction. Elements are contiguous along `first` in global memory.
pub(crate) fn bulk_copy_access<'a>(
    name: &str,
    (rank, direction): (usize, Direction),
    first: Dim,
    config: &LaunchConfig<'a>,
) -> TensorAccess<'a> {
    let mut all = TensorAccess::without_alternatives(name);
    let by_row = bulk_copy_instructions(rank, direction, config)
        .filter_map(|(row, _)| TensorAccess::tensor_copy(name, row, first));
    all.alternatives.extend(by_row.flat_map(|one| one.alternatives));
    all
}

/// Iterates over the target's bulk tensor copies of boxes of this rank that store to shared memory (and complete on an
/// mbarrier) or load from it (as a bulk group). Bulk reductions, whose boxes have the layouts of copies, are left out.
pub(crate) fn bulk_copy_instructions<'a>(
    rank: usize,
    direction: Direction,
    config: &LaunchConfig<'a>,
) -> impl Iterator<Item = (&'a Instruction, &'a TensorCopyOperand)> {
    let completes = move |row: &&Instruction| match direction {
        Direction::Store => row.completion == Completion::Mbarrier,
        Direction::Load => matches!(row.completion, Completion::Queue(_)),
    };
    let copies = config.context.instructions.iter().filter(|row| row.semantics == Semantics::Move);
    copies.filter(completes).flat_map(move |row| {
        row.operands.iter().filter_map(move |operand| match operand {
            InstructionOperand::Box(axis_value) if axis_value.rank as usize == rank => Some((row, axis_value)),
            _ => None,
        })
    })
}

/// Returns the attribute by which types name a memory layout.
pub(crate) fn memory_name(memory: &MemoryLayout) -> LayoutAttribute {
    let spec = layout::Layout::Memory(memory.clone()).to_spec().unwrap_or_else(|| FamilySpec::new("shared_linear"));
    let mut text = String::from("#ttg.shared_linear<{offset = [");
    for (index, basis) in memory.linear.bases_of(Dim::OFFSET).iter().enumerate() {
        let basis: Vec<String> = basis.iter().map(u64::to_string).collect();
        // Writing to a text does not fail.
        let _ = write!(text, "{}[{}]", if index == 0 { "" } else { ", " }, basis.join(", "));
    }
    text.push_str("]}");
    if let Some(FamilyParameterValue::Int(alignment)) = spec.attributes.get("alignment") {
        let _ = write!(text, ", alignment = {alignment}");
    }
    text.push('>');
    LayoutAttribute::new(spec, text)
}
