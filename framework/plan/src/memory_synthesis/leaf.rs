//! Evaluates one choice of an alternative (an instruction, or plain accesses) for each access: finds the best swizzle
//! over their common stride term, and prices the accesses.

use super::packing::Packing;
use super::{
    AccessAlternative, AccessSolution, FreeStrideLayout, MemorySynthesisError, SharedLayoutSolution, SharedTensor,
    TensorAccess,
};
use crate::layouts;
use crate::movement::{
    LayoutPrefixConstraint, PlanContext, SELECTS_PER_WAVEFRONT, SharedAccessKind, SharedLayoutCandidate,
    SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor, choose_shared_layout_with_prefix,
    plan_shared_access, wavefront_lower_bound,
};
use tilewright_layout::cute::{self, CuteLayout, Swizzle};
use tilewright_layout::f2::{multiply_vector, rank};
use tilewright_layout::{Dim, Layout as TensorLayout, LayoutError, LinearLayout, MemoryLayout};
use tilewright_target::Direction;

/// The price of issuing and addressing one access, in addition to its wavefronts, in units of one shared-memory
/// wavefront. It is below 1 because a compute unit issues for several warps at once, while its shared memory serves one
/// wavefront.
const ISSUE_PRICE: f64 = 0.25;

/// Bits of a register.
const WORD_BITS: u64 = 32;

/// The synthesis problem after validation: one tensor, its accesses, and derived data.
pub(super) struct Problem<'q, 'a> {
    pub(super) tensor: &'q SharedTensor,
    /// Log2 of the sizes of the tensor's axes.
    pub(super) axes: Vec<u32>,
    pub(super) accesses: &'q [TensorAccess<'a>],
    /// The register layout of each access, with its axes in the order of the tensor's; `None` if no lane accesses the
    /// tensor.
    pub(super) layouts: Vec<Option<LinearLayout>>,
    pub(super) context: PlanContext<'a>,
    /// The stride term (layout with free strides) of the layout that the program states; `None` if the program states
    /// none.
    pub(super) given: Option<FreeStrideLayout>,
    /// Limits of the swizzle search: the allowed kinds of swizzles, and the max number of layouts to compare.
    pub(super) constraints: SharedLayoutSearchOptions,
}

/// The alternative chosen for one access, with the stride term (memory layout with free strides) that it requires. Only
/// alternatives whose lanes provide addresses have one; matrix descriptors and bulk tensor copies do not.
pub(super) struct Chosen<'q> {
    pub(super) access: usize,
    pub(super) alternative: usize,
    pub(super) lanes: &'q SharedAccessKind,
    pub(super) term: FreeStrideLayout,
}

impl<'q> Problem<'q, '_> {
    /// Log2 of the number of elements in a byte; 0 for elements of a byte or more.
    fn byte_bits(&self) -> usize {
        (8 / self.tensor.bits).max(1).ilog2() as usize
    }

    /// Returns the width in bits of the smallest unit with an offset of its own: an element, or the byte that several
    /// elements share.
    fn unit_bits(&self) -> u32 {
        self.tensor.bits.max(8)
    }

    pub(super) fn lanes(&self, access: usize, alternative: usize) -> Option<&'q SharedAccessKind> {
        match self.accesses.get(access)?.alternatives.get(alternative)? {
            AccessAlternative::Lanes(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// Returns lower bounds over all memory layouts for one access by one alternative: the number of its wavefronts,
    /// and its price in units of a wavefront.
    pub(super) fn lower_bound(&self, chosen: &Chosen<'_>) -> Result<(u64, f64), MemorySynthesisError> {
        let access = &self.accesses[chosen.access];
        let low = chosen.term.assigned().unwrap_or_default();
        let packing = Packing::new(&self.axes, low.get(..self.byte_bits()).unwrap_or_default());
        let layout = packing.registers(self.layout(chosen.access)?)?;
        let restricted = self.context.restrict_to(chosen.lanes);
        let (target, rows) = &*restricted;
        let context = PlanContext::new(target).with_instructions(rows).without_sharing();
        let numbered =
            (u64::from(self.unit_bits()) << rank(layout.columns_of(Dim::REGISTER))) / (8 * chosen.lanes.bytes);
        let accessor = self.accessor(chosen, layout);
        let wavefronts = wavefront_lower_bound(&accessor, self.unit_bits(), context)?;
        let alike = match accessor.direction {
            Direction::Store => accessor.layout.columns_of(Dim::WARP).iter().filter(|column| **column == 0).count(),
            Direction::Load => 0,
        };
        Ok((wavefronts, self.price(access, chosen.lanes, wavefronts, (numbered >> alike).max(1))))
    }

    fn price(&self, access: &TensorAccess<'_>, lanes: &SharedAccessKind, wavefronts: u64, issued: u64) -> f64 {
        // A plain store of data from global memory has a load before it. A copy whose lanes write adjacent elements has
        // an instruction before it that sets their common address (AMD: M0).
        let is_pair = access.from_global && (!lanes.copies || lanes.has_fetching_lanes());
        let times = if is_pair { 2.0 } else { 1.0 };
        access.weight as f64 * (wavefronts as f64 + times * ISSUE_PRICE * issued as f64)
    }

    fn layout(&self, access: usize) -> Result<&LinearLayout, MemorySynthesisError> {
        self.layouts[access].as_ref().ok_or_else(|| MemorySynthesisError::Access {
            access: self.accesses[access].name.clone(),
            reason: "its lanes provide addresses, but its register layout is unknown: give it a layout".to_owned(),
        })
    }

    fn accessor(&self, chosen: &Chosen<'_>, layout: LinearLayout) -> SharedMemoryAccessor {
        let (direction, weight) = (chosen.lanes.direction, self.accesses[chosen.access].weight);
        SharedMemoryAccessor { layout, direction, weight, copy: None }
    }

    /// Returns the cheapest solution over the allowed swizzles, for one alternative of each access. `term` is the
    /// common term of these alternatives (a layout with free strides).
    pub(super) fn weigh(
        &self,
        chosen: &[Chosen<'_>],
        term: &FreeStrideLayout,
    ) -> Result<SharedLayoutSolution, MemorySynthesisError> {
        let low = term.assigned().unwrap_or_default();
        let (within, rest) = low.split_at(self.byte_bits().min(low.len()));
        let packing = Packing::new(&self.axes, within);
        let layouts = chosen.iter().map(|one| Ok(packing.registers(self.layout(one.access)?)?));
        let layouts = layouts.collect::<Result<Vec<_>, MemorySynthesisError>>()?;
        let mut accessors: Vec<SharedMemoryAccessor> =
            chosen.iter().zip(layouts).map(|(one, layout)| self.accessor(one, layout)).collect();
        let alone: Vec<_> = chosen.iter().map(|one| self.context.restrict_to(one.lanes)).collect();
        let context = chosen.iter().zip(&alone).map(|(one, restricted)| {
            let (target, rows) = &**restricted;
            let ordered = is_ordered(one.lanes);
            PlanContext::new(target)
                .with_instructions(rows)
                .without_sharing()
                .with_kept_words()
                .with_register_order(ordered)
        });
        let context: Vec<_> = context.collect();
        let (unit, target) = (self.unit_bits(), self.context.target);
        let begin = begin(chosen, rest, &packing, within.len());
        // A copy whose lanes can choose which elements they fetch has no bank conflicts with any swizzle, so only the
        // other accesses decide between swizzles.
        let fetched: Vec<bool> = chosen.iter().map(|one| one.lanes.has_fetching_lanes()).collect();
        let decides = |at: &usize| !fetched[*at] || fetched.iter().all(|fetched| *fetched);
        let sides: Vec<usize> = (0..chosen.len()).filter(decides).collect();
        let weighed: Vec<SharedMemoryAccessor> = sides.iter().map(|&at| accessors[at].clone()).collect();
        let own: Vec<PlanContext<'_>> = sides.iter().map(|&at| context[at]).collect();
        let choice = choose_shared_layout_with_prefix(&weighed, unit, &begin, &self.constraints, target, &own)?;
        let best = choice.chosen();
        let memory = packing.memory(&best.memory)?;
        let mut served = Vec::new();
        for (one, (accessor, context)) in chosen.iter().zip(accessors.iter_mut().zip(&context)) {
            let layout = self.fetched(one, &memory)?;
            if let Some(layout) = &layout {
                accessor.layout = packing.registers(layout)?;
            }
            served.push(AccessSolution { fetched: layout, ..self.served(one, accessor, &best.memory, *context)? });
        }
        self.solution(best, &packing, term, served)
    }

    /// Returns the register layout of the elements that each lane fetches from global memory, if `memory` is the
    /// shared-memory layout of the unpacked elements; `None` if each lane must fetch the elements of the access's own
    /// layout.
    fn fetched(&self, one: &Chosen<'_>, memory: &MemoryLayout) -> Result<Option<LinearLayout>, MemorySynthesisError> {
        if !one.lanes.has_fetching_lanes() {
            return Ok(None);
        }
        Ok(Some(in_order_of(&memory.linear, self.layout(one.access)?, one.term.preserved_bits())?))
    }

    /// Returns the solution of one access (instruction, wavefronts, number of accesses) in a memory layout. The layout
    /// is of bytes if the tensor's elements are narrower than a byte.
    pub(super) fn served(
        &self,
        chosen: &Chosen<'_>,
        accessor: &SharedMemoryAccessor,
        memory: &MemoryLayout,
        context: PlanContext<'_>,
    ) -> Result<AccessSolution, MemorySynthesisError> {
        let plan = plan_shared_access(&accessor.layout, memory, self.unit_bits(), accessor.direction, context)?;
        Ok(AccessSolution {
            access: self.accesses[chosen.access].name.clone(),
            alternative: chosen.alternative,
            instruction: chosen.lanes.instruction.clone(),
            bytes: chosen.lanes.bytes,
            term: Some(chosen.term.clone()),
            wavefronts: plan.wavefronts(),
            lower_bound: wavefront_lower_bound(accessor, self.unit_bits(), context)?,
            issued: plan.issued(),
            permutes: match plan.stats.permutes {
                // Asynchronous copies bypass the registers.
                _ if chosen.lanes.copies => 0,
                0 => self.word_moves(chosen, accessor, memory),
                permutes => permutes,
            },
            fetched: None,
        })
    }

    /// Returns the number of moves of a lane between registers before a store or after a load. The words of a vector are
    /// in consecutive registers, for the access and for the other instruction that moves it, so a vector that takes words
    /// of several vectors, or in another order, is put together word by word.
    fn word_moves(&self, chosen: &Chosen<'_>, accessor: &SharedMemoryAccessor, memory: &MemoryLayout) -> u64 {
        let bytes = self.accesses[chosen.access].register_vector_bytes.min(chosen.lanes.bytes);
        let (unit_bits, vector_bits) = (u64::from(self.unit_bits()), 8 * bytes);
        let columns = accessor.layout.columns_of(Dim::REGISTER).iter().copied();
        let registers: Vec<u64> = columns.filter(|&column| column != 0).collect();
        let offsets = memory.linear.columns_of(Dim::OFFSET);
        let is_word = |bit: &usize| (WORD_BITS..vector_bits).contains(&(unit_bits << bit));
        let is_in_place = |bit: usize| registers.get(bit) == offsets.get(bit);
        if chosen.lanes.instruction.is_some() || (0..offsets.len()).filter(is_word).all(is_in_place) {
            return 0;
        }
        (unit_bits << registers.len()) / WORD_BITS
    }

    /// Returns the solution of the access by the alternative with this index, in the memory layout `memory` of unpacked
    /// elements; `None` if the alternative is impossible.
    pub(super) fn served_in(&self, access: usize, alternative: usize, memory: &MemoryLayout) -> Option<AccessSolution> {
        let (lanes, layout) = (self.lanes(access, alternative)?, self.layout(access).ok()?);
        let term = FreeStrideLayout::from_access(layout, lanes, self.tensor.bits)
            .ok()
            .filter(|term| term.admits(&memory.linear))?;
        let chosen = Chosen { access, alternative, lanes, term };
        let restricted = self.context.restrict_to(lanes);
        let (target, rows) = &*restricted;
        let fetched = self.fetched(&chosen, memory).ok()?;
        let accessor = self.accessor(&chosen, fetched.clone().unwrap_or_else(|| layout.clone()));
        let context = PlanContext::new(target).with_instructions(rows).without_sharing();
        let served = self.served(&chosen, &accessor, memory, context.with_register_order(is_ordered(lanes))).ok()?;
        Some(AccessSolution { fetched, ..served })
    }

    /// Returns the price of the access with this index and the solution `served`, in shared-memory wavefronts times the
    /// access's weight; zero if its lanes give no addresses.
    pub(super) fn price_of(&self, access: usize, served: &AccessSolution) -> f64 {
        let lanes = self.lanes(access, served.alternative);
        let weight = self.accesses[access].weight as f64;
        lanes.map_or(0.0, |lanes| {
            self.price(&self.accesses[access], lanes, served.wavefronts, served.issued)
                + weight * served.permutes as f64 / SELECTS_PER_WAVEFRONT as f64
        })
    }

    /// Returns the price of the solution `served` of all accesses: the sum of their prices in shared-memory wavefronts,
    /// each times the access's weight.
    pub(super) fn priced(&self, served: &[AccessSolution]) -> f64 {
        served.iter().enumerate().map(|(access, one)| self.price_of(access, one)).sum()
    }

    fn solution(
        &self,
        best: &SharedLayoutCandidate,
        packing: &Packing,
        term: &FreeStrideLayout,
        served: Vec<AccessSolution>,
    ) -> Result<SharedLayoutSolution, MemorySynthesisError> {
        let memory = packing.memory(&best.memory)?;
        let (layout, swizzles) = match best.functor {
            Some(functor) => {
                let base = packing.memory(&before(functor, &best.memory)?)?;
                (written(&base)?.0, packing.swizzle(functor).into_iter().collect())
            }
            None => written(&memory)?,
        };
        Ok(SharedLayoutSolution {
            term: Some(term.clone()),
            layout,
            swizzles,
            memory,
            fixed_layout: None,
            price: self.priced(&served),
            served,
            nodes: 0,
            leaves: 0,
        })
    }

    /// Kinds of swizzles that the search tries unless the caller restricts them.
    pub(super) const KINDS: [SharedLayoutKind; 3] =
        [SharedLayoutKind::Plain, SharedLayoutKind::Functor, SharedLayoutKind::Swizzle];
}

/// Whether an access moves the registers of a lane in their order: asynchronous copies do, except those whose lanes fetch
/// what the memory layout determines.
fn is_ordered(lanes: &SharedAccessKind) -> bool {
    lanes.copies && !lanes.has_fetching_lanes()
}

/// Returns the constraint on the lowest address bits: `low` has the coordinate bit of each offset bit that the terms of
/// the accesses decide. Swizzles must keep the bits that some term preserves; the decided bits above them, which number
/// the lanes of fetching copies, may be in any order. `within` is the number of offset bits that select an element
/// within a byte.
fn begin(chosen: &[Chosen<'_>], low: &[u32], packing: &Packing, within: usize) -> LayoutPrefixConstraint {
    let most = |bits: &mut dyn Iterator<Item = usize>| bits.max().unwrap_or(0).saturating_sub(within).min(low.len());
    let fetched = || chosen.iter().filter(|one| one.lanes.has_fetching_lanes());
    LayoutPrefixConstraint {
        order: low.iter().map(|&bit| packing.narrow(1 << bit)).collect(),
        kept: most(&mut chosen.iter().map(|one| one.term.preserved_bits())),
        together: most(&mut fetched().map(|one| one.term.decided_bits())),
    }
}

/// Returns a register layout with the sizes of `like` whose input bits follow the offset bits of `memory` in order:
/// first `own` register bits, then the lane bits and the warp bits that are no replicas in `like`, then the other
/// register bits.
fn in_order_of(memory: &LinearLayout, like: &LinearLayout, own: usize) -> Result<LinearLayout, LayoutError> {
    let mut rest = memory.columns_of(Dim::OFFSET).iter().copied();
    let mut registers: Vec<u64> = rest.by_ref().take(own).collect();
    let mut next = |column: &u64| if *column == 0 { 0 } else { rest.next().unwrap_or(0) };
    let [lanes, warps] =
        [Dim::LANE, Dim::WARP].map(|dim| like.columns_of(dim).iter().map(&mut next).collect::<Vec<_>>());
    registers.extend(rest);
    layouts::distributed([&registers, &lanes, &warps], memory.outs())
}

/// Returns the memory layout that becomes `memory` if the swizzle `functor` is applied; a swizzle is its own inverse.
fn before(functor: Swizzle, memory: &MemoryLayout) -> Result<MemoryLayout, MemorySynthesisError> {
    let linear = &memory.linear;
    let columns: Vec<u64> =
        (0..linear.columns().len()).map(|bit| multiply_vector(linear.columns(), functor.apply(1 << bit))).collect();
    let linear = LinearLayout::from_columns(linear.ins().clone(), linear.outs().clone(), &columns)?;
    Ok(MemoryLayout { linear, ..memory.clone() })
}

/// Converts a memory layout to a CuTe layout that has one mode for each axis, and the swizzles over it, outermost
/// first.
pub(super) fn written(memory: &MemoryLayout) -> Result<(CuteLayout, Vec<Swizzle>), MemorySynthesisError> {
    let composed = cute::from_tensor_layout(&TensorLayout::Memory(memory.clone()))?;
    Ok((composed.layout().clone(), composed.swizzles().to_vec()))
}
