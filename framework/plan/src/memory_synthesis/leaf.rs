//! One way for each access: the best swizzle over their term, and what the accesses take.

use super::packing::Packing;
use super::{
    AccessAlternative, AccessSolution, MemorySynthesisError, SharedTensor, Solution, StrideTerm, TensorAccess,
};
use crate::layouts;
use crate::movement::{
    AccessKind, Accessor, Begin, Constraints, Kind, PlanContext, SharedLayoutCandidate, access_shared,
    choose_memory_begun, least_wavefronts,
};
use tilewright_layout::cute::{self, CuteLayout, Swizzle};
use tilewright_layout::f2::{multiply, rank};
use tilewright_layout::{Dim, Layout as TensorLayout, LayoutError, LinearLayout, MemoryLayout};
use tilewright_target::Direction;

/// What issuing and addressing an access counts beside its wavefronts, in slots: a compute unit issues for several warps
/// at once, while its memory serves one wavefront.
const ISSUE_SLOTS: f64 = 0.25;

/// The question, checked.
pub(super) struct Problem<'q, 'a> {
    pub(super) tensor: &'q SharedTensor,
    /// Log2 of the sizes of the axes.
    pub(super) axes: Vec<u32>,
    pub(super) accesses: &'q [TensorAccess<'a>],
    /// The layouts of the accesses, axes in order.
    pub(super) layouts: Vec<Option<LinearLayout>>,
    pub(super) context: PlanContext<'a>,
    /// The layout that the program gives.
    pub(super) given: Option<StrideTerm>,
    /// What swizzles there may be, and how many are looked at.
    pub(super) constraints: Constraints,
}

/// A choice of ways for accesses whose lanes give addresses.
pub(super) struct Chosen<'q> {
    pub(super) access: usize,
    pub(super) way: usize,
    pub(super) lanes: &'q AccessKind,
    pub(super) term: StrideTerm,
}

impl<'q> Problem<'q, '_> {
    /// Log2 of the elements of a byte.
    fn byte_bits(&self) -> usize {
        (8 / self.tensor.bits).max(1).ilog2() as usize
    }

    /// Width of what lies in memory as one: an element, or the byte that several share.
    fn unit_bits(&self) -> u32 {
        self.tensor.bits.max(8)
    }

    pub(super) fn lanes(&self, access: usize, way: usize) -> Option<&'q AccessKind> {
        match self.accesses.get(access)?.ways.get(way)? {
            AccessAlternative::Lanes(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// What an access takes at least by a way, whatever the layout of memory: its wavefronts, and the price.
    pub(super) fn least(&self, chosen: &Chosen<'_>) -> Result<(u64, f64), MemorySynthesisError> {
        let access = &self.accesses[chosen.access];
        let low = chosen.term.assigned().unwrap_or_default();
        let packing = Packing::new(&self.axes, low.get(..self.byte_bits()).unwrap_or_default());
        let layout = packing.registers(self.layout(chosen.access)?)?;
        let (target, rows) = chosen.lanes.alone(self.context.target, self.context.instructions);
        let context = PlanContext::of(&target).with_instructions(&rows);
        let numbered =
            (u64::from(self.unit_bits()) << rank(layout.columns_of(Dim::REGISTER))) / (8 * chosen.lanes.bytes);
        let accessor = self.accessor(chosen, layout);
        let wavefronts = least_wavefronts(&accessor, self.unit_bits(), context)?;
        let alike = match accessor.direction {
            Direction::Store => accessor.layout.columns_of(Dim::WARP).iter().filter(|column| **column == 0).count(),
            Direction::Load => 0,
        };
        Ok((wavefronts, self.price(access, chosen.lanes, wavefronts, (numbered >> alike).max(1))))
    }

    fn price(&self, access: &TensorAccess<'_>, lanes: &AccessKind, wavefronts: u64, issued: u64) -> f64 {
        // What is stored after it was loaded from global memory was issued once more.
        let times = if access.from_global && !lanes.copies { 2.0 } else { 1.0 };
        access.weight as f64 * (wavefronts as f64 + times * ISSUE_SLOTS * issued as f64)
    }

    fn layout(&self, access: usize) -> Result<&LinearLayout, MemorySynthesisError> {
        self.layouts[access].as_ref().ok_or_else(|| MemorySynthesisError::Access {
            access: self.accesses[access].name.clone(),
            reason: "lanes give addresses, and it is not said what they hold: give it a layout".to_owned(),
        })
    }

    fn accessor(&self, chosen: &Chosen<'_>, layout: LinearLayout) -> Accessor {
        let (direction, weight) = (chosen.lanes.direction, self.accesses[chosen.access].weight);
        Accessor { layout, direction, weight, copy: None }
    }

    /// The best swizzle for a choice of ways and their common term.
    pub(super) fn weigh(&self, chosen: &[Chosen<'_>], term: &StrideTerm) -> Result<Solution, MemorySynthesisError> {
        let low = term.assigned().unwrap_or_default();
        let (within, rest) = low.split_at(self.byte_bits().min(low.len()));
        let packing = Packing::new(&self.axes, within);
        let layouts = chosen.iter().map(|one| Ok(packing.registers(self.layout(one.access)?)?));
        let layouts = layouts.collect::<Result<Vec<_>, MemorySynthesisError>>()?;
        let mut accessors: Vec<Accessor> =
            chosen.iter().zip(layouts).map(|(one, layout)| self.accessor(one, layout)).collect();
        let alone: Vec<_> =
            chosen.iter().map(|one| one.lanes.alone(self.context.target, self.context.instructions)).collect();
        let context: Vec<_> =
            alone.iter().map(|(target, rows)| PlanContext::of(target).with_instructions(rows)).collect();
        let (unit, target) = (self.unit_bits(), self.context.target);
        let begin = begin(chosen, rest, &packing, within.len());
        // What lanes fetch side by side fills its wavefronts whatever the swizzle: others say what is best.
        let fetched: Vec<bool> = chosen.iter().map(|one| one.lanes.is_fetched()).collect();
        let says = |at: &usize| !fetched[*at] || fetched.iter().all(|fetched| *fetched);
        let sides: Vec<usize> = (0..chosen.len()).filter(says).collect();
        let weighed: Vec<Accessor> = sides.iter().map(|&at| accessors[at].clone()).collect();
        let own: Vec<PlanContext<'_>> = sides.iter().map(|&at| context[at]).collect();
        let choice = choose_memory_begun(&weighed, unit, &begin, &self.constraints, target, &own)?;
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

    /// Who brings what in a memory of whole elements, of an access by lanes that fetch what lies side by side.
    fn fetched(&self, one: &Chosen<'_>, memory: &MemoryLayout) -> Result<Option<LinearLayout>, MemorySynthesisError> {
        if !one.lanes.is_fetched() {
            return Ok(None);
        }
        Ok(Some(in_order_of(&memory.linear, self.layout(one.access)?, one.term.firm_bits())?))
    }

    /// How an access goes in a memory.
    pub(super) fn served(
        &self,
        chosen: &Chosen<'_>,
        accessor: &Accessor,
        memory: &MemoryLayout,
        context: PlanContext<'_>,
    ) -> Result<AccessSolution, MemorySynthesisError> {
        let plan = access_shared(&accessor.layout, memory, self.unit_bits(), accessor.direction, context)?;
        Ok(AccessSolution {
            access: self.accesses[chosen.access].name.clone(),
            way: chosen.way,
            instruction: chosen.lanes.instruction.clone(),
            bytes: chosen.lanes.bytes,
            term: Some(chosen.term.clone()),
            wavefronts: plan.wavefronts(),
            least: least_wavefronts(accessor, self.unit_bits(), context)?,
            issued: plan.issued(),
            fetched: None,
        })
    }

    /// How an access goes by a way in a memory of whole elements; none where it does not.
    pub(super) fn served_in(&self, access: usize, way: usize, memory: &MemoryLayout) -> Option<AccessSolution> {
        let (lanes, layout) = (self.lanes(access, way)?, self.layout(access).ok()?);
        let term =
            StrideTerm::of_access(layout, lanes, self.tensor.bits).ok().filter(|term| term.admits(&memory.linear))?;
        let chosen = Chosen { access, way, lanes, term };
        let (target, rows) = lanes.alone(self.context.target, self.context.instructions);
        let fetched = self.fetched(&chosen, memory).ok()?;
        let accessor = self.accessor(&chosen, fetched.clone().unwrap_or_else(|| layout.clone()));
        let served = self.served(&chosen, &accessor, memory, PlanContext::of(&target).with_instructions(&rows)).ok()?;
        Some(AccessSolution { fetched, ..served })
    }

    /// The price of how one access goes; nothing where no lane moves anything.
    pub(super) fn price_of(&self, access: usize, served: &AccessSolution) -> f64 {
        let lanes = self.lanes(access, served.way);
        lanes.map_or(0.0, |lanes| self.price(&self.accesses[access], lanes, served.wavefronts, served.issued))
    }

    /// The price of how all accesses go.
    pub(super) fn priced(&self, served: &[AccessSolution]) -> f64 {
        served.iter().enumerate().map(|(access, one)| self.price_of(access, one)).sum()
    }

    fn solution(
        &self,
        best: &SharedLayoutCandidate,
        packing: &Packing,
        term: &StrideTerm,
        served: Vec<AccessSolution>,
    ) -> Result<Solution, MemorySynthesisError> {
        let memory = packing.memory(&best.memory)?;
        let (layout, swizzles) = match best.functor {
            Some(functor) => {
                let base = packing.memory(&before(functor, &best.memory)?)?;
                (written(&base)?.0, packing.swizzle(functor).into_iter().collect())
            }
            None => written(&memory)?,
        };
        Ok(Solution {
            term: Some(term.clone()),
            layout,
            swizzles,
            memory,
            arrangement: None,
            price: self.priced(&served),
            served,
            nodes: 0,
            leaves: 0,
        })
    }

    /// The kinds of swizzles that are meant by default.
    pub(super) const KINDS: [Kind; 3] = [Kind::Plain, Kind::Functor, Kind::Swizzle];
}

/// How memory begins: with what the terms say, of which swizzles leave alone what is not fetched.
fn begin(chosen: &[Chosen<'_>], low: &[u32], packing: &Packing, within: usize) -> Begin {
    let most = |bits: &mut dyn Iterator<Item = usize>| bits.max().unwrap_or(0).saturating_sub(within).min(low.len());
    let fetched = || chosen.iter().filter(|one| one.lanes.is_fetched());
    Begin {
        order: low.iter().map(|&bit| packing.narrow(1 << bit)).collect(),
        kept: most(&mut chosen.iter().map(|one| one.term.firm_bits())),
        together: most(&mut fetched().map(|one| one.term.decided_bits())),
    }
}

/// The layout like another one, of which so many bits are a lane's own, in which lanes, then warps, then registers follow each
/// other in memory.
fn in_order_of(memory: &LinearLayout, like: &LinearLayout, own: usize) -> Result<LinearLayout, LayoutError> {
    let mut rest = memory.columns_of(Dim::OFFSET).iter().copied();
    let mut registers: Vec<u64> = rest.by_ref().take(own).collect();
    let mut next = |column: &u64| if *column == 0 { 0 } else { rest.next().unwrap_or(0) };
    let [lanes, warps] =
        [Dim::LANE, Dim::WARP].map(|dim| like.columns_of(dim).iter().map(&mut next).collect::<Vec<_>>());
    registers.extend(rest);
    layouts::distributed([&registers, &lanes, &warps], memory.outs())
}

/// The memory before a swizzle: a swizzle undoes itself.
fn before(functor: Swizzle, memory: &MemoryLayout) -> Result<MemoryLayout, MemorySynthesisError> {
    let linear = &memory.linear;
    let columns: Vec<u64> =
        (0..linear.columns().len()).map(|bit| multiply(linear.columns(), functor.apply(1 << bit))).collect();
    let linear = LinearLayout::from_columns(linear.ins().clone(), linear.outs().clone(), &columns)?;
    Ok(MemoryLayout { linear, ..memory.clone() })
}

/// A memory as swizzles over a layout with a mode for each axis.
pub(super) fn written(memory: &MemoryLayout) -> Result<(CuteLayout, Vec<Swizzle>), MemorySynthesisError> {
    let composed = cute::of_tensor(&TensorLayout::Memory(memory.clone()))?;
    Ok((composed.layout().clone(), composed.swizzles().to_vec()))
}
