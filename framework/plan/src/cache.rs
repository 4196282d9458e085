//! A cache of plans for one program: layout assignment, software pipelining and lowering ask for many plans again.

use std::cell::RefCell;
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tilewright_layout::LinearLayout;
use tilewright_target::{Instruction, OptimizationSet, TargetDescription};

use crate::mma::{MmaError, MmaPlan, MmaProblem};
use crate::movement::{
    ConversionPlan, GlobalTensor, MovementError, PlanContext, SharedAccessKind, find_coalesced_layout,
};

/// The coalesced layouts, and the plans of conversions and of MMAs, that were found for one target. A [`PlanContext`] refers to it
/// ([`PlanContext::with_cache`]); contexts with another target or instruction table do not use it.
pub struct PlanCache<'a> {
    target: &'a TargetDescription,
    instructions: &'a [Instruction],
    coalesced: Plans<CoalescedKey, LinearLayout, MovementError>,
    conversions: Plans<ConversionKey, ConversionPlan, MovementError>,
    mmas: Plans<(MmaProblem, Limits), MmaPlan, MmaError>,
    restricted: RefCell<FxHashMap<RestrictionKey, Rc<RestrictedTarget>>>,
}

/// A target and an instruction table, both restricted to one kind of accesses of shared memory.
type RestrictedTarget = (TargetDescription, Vec<Instruction>);

/// The properties of a kind of accesses that restrict a target: the instruction, the bytes of a lane, and whether it
/// copies from global memory.
type RestrictionKey = (Option<String>, u64, bool);

/// Results of planning by problem.
type Plans<Problem, Plan, Failure> = RefCell<FxHashMap<Problem, Result<Plan, Failure>>>;

/// The source, the destination and the bits of an element.
type ConversionKey = (LinearLayout, LinearLayout, u32, Limits);

/// The tensor, the bits of an element, the lanes of a warp and the warps.
type CoalescedKey = (GlobalTensor, u32, [u64; 2]);

/// The limits that the plans of a context keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Limits {
    scratch_bytes: u64,
    registers: Option<u32>,
    shares_replicas: bool,
    keeps_words: bool,
    keeps_order: bool,
    blocks: u32,
    disabled: OptimizationSet,
}

impl Limits {
    fn of(context: &PlanContext<'_>) -> Self {
        let PlanContext {
            scratch_bytes, registers, shares_replicas, keeps_words, keeps_order, blocks, disabled, ..
        } = *context;
        Self { scratch_bytes, registers, shares_replicas, keeps_words, keeps_order, blocks, disabled }
    }
}

impl<'a> PlanCache<'a> {
    /// Creates an empty cache for a target with this instruction table.
    #[must_use]
    pub fn new(target: &'a TargetDescription, instructions: &'a [Instruction]) -> Self {
        let (coalesced, conversions, mmas) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { target, instructions, coalesced, conversions, mmas, restricted: RefCell::default() }
    }

    /// Whether plans of the context may be in the cache: it has the same target and instruction table.
    fn serves(&self, context: &PlanContext<'_>) -> bool {
        std::ptr::eq(self.target, context.target) && std::ptr::eq(self.instructions, context.instructions)
    }
}

impl PlanContext<'_> {
    /// Returns the coalesced layout of a tensor for `warps` warps of `lanes` lanes, as [`find_coalesced_layout`].
    ///
    /// # Errors
    /// As [`find_coalesced_layout`].
    pub fn find_coalesced_layout(
        &self,
        tensor: &GlobalTensor,
        element_bits: u32,
        [lanes, warps]: [u64; 2],
    ) -> Result<LinearLayout, MovementError> {
        let search = || find_coalesced_layout(tensor, element_bits, lanes, warps, self.target);
        match self.cache.filter(|cache| cache.serves(self)) {
            Some(cache) => find(&cache.coalesced, (tensor.clone(), element_bits, [lanes, warps]), search),
            None => search(),
        }
    }

    /// Returns the target and the instruction table of the context, both restricted to accesses of this kind.
    pub(crate) fn restrict_to(&self, kind: &SharedAccessKind) -> Rc<RestrictedTarget> {
        let restrict = || Rc::new(kind.restrict_target(self.target, self.instructions));
        let Some(cache) = self.cache.filter(|cache| cache.serves(self)) else { return restrict() };
        let key = (kind.instruction.clone(), kind.bytes, kind.copies);
        Rc::clone(cache.restricted.borrow_mut().entry(key).or_insert_with(restrict))
    }

    /// Returns the cached plan of a conversion; plans it by `plan` if it is new.
    pub(crate) fn cached_conversion(
        &self,
        (src, dst, element_bits): (&LinearLayout, &LinearLayout, u32),
        plan: impl FnOnce() -> Result<ConversionPlan, MovementError>,
    ) -> Result<ConversionPlan, MovementError> {
        match self.cache.filter(|cache| cache.serves(self)) {
            Some(cache) => find(&cache.conversions, (src.clone(), dst.clone(), element_bits, Limits::of(self)), plan),
            None => plan(),
        }
    }

    /// Returns the cached plan of an MMA problem; plans it by `plan` if it is new.
    pub(crate) fn cached_mma(
        &self,
        problem: &MmaProblem,
        plan: impl FnOnce() -> Result<MmaPlan, MmaError>,
    ) -> Result<MmaPlan, MmaError> {
        match self.cache.filter(|cache| cache.serves(self)) {
            Some(cache) => find(&cache.mmas, (problem.clone(), Limits::of(self)), plan),
            None => plan(),
        }
    }
}

/// Returns the known plan of a problem; plans it by `plan` if it is new. The cache is not borrowed meanwhile, since
/// plans have parts that it also keeps.
fn find<Problem: Hash + Eq, Plan: Clone, Failure: Clone>(
    known: &Plans<Problem, Plan, Failure>,
    problem: Problem,
    plan: impl FnOnce() -> Result<Plan, Failure>,
) -> Result<Plan, Failure> {
    if let Some(known) = known.borrow().get(&problem) {
        return known.clone();
    }
    let planned = plan();
    known.borrow_mut().insert(problem, planned.clone());
    planned
}

impl std::fmt::Debug for PlanCache<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanCache")
            .field("target", &self.target.name)
            .field("conversions", &self.conversions.borrow().len())
            .field("mmas", &self.mmas.borrow().len())
            .finish_non_exhaustive()
    }
}
