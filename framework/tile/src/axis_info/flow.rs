//! Dataflow analysis: propagates axis information from the arguments of a function to all values.

use super::hints::{hints_at_steps, refine};
use super::operations::results;
use super::{AxisInfo, IndexBitPosition, IntegerRange, LaunchValues};
use crate::op::name::{scf, tt, ttg, ub};
use crate::{Attributes, Function, FunctionBody, Op, Region, TileType, Value};

/// Number of rounds of the analysis after which ranges that still change are widened to unbounded.
const PATIENCE: usize = 4;

/// Number of rounds of the analysis after which, if a value still changes, all values lose their information.
///
/// Each change weakens a value's information, so few rounds suffice.
const ROUNDS: usize = 256;

/// Axis information of all values of a function.
#[derive(Debug, Clone)]
pub struct AxisInfoMap {
    /// The axis information of each value, by value index; `None` in the cases of [`AxisInfoMap::get`].
    known: Vec<Option<AxisInfo>>,
    /// As `known`, without the hints of operations about contiguity and constancy; `None` if they add nothing.
    proven: Option<Vec<Option<AxisInfo>>>,
}

impl AxisInfoMap {
    /// Runs the analysis, starting with the argument attributes `tt.divisibility`, `tt.contiguity` and `tt.constancy`.
    #[must_use]
    pub fn analyze(function: &Function) -> Self {
        Self::analyze_for_launch(function, &LaunchValues::default())
    }

    /// Runs the analysis for one launch, whose arguments and grid are known.
    #[must_use]
    pub fn analyze_for_launch(function: &Function, launch: &LaunchValues) -> Self {
        let Some(body) = &function.body else { return Self { known: Vec::new(), proven: None } };
        let flow = |uses_hints| {
            let known = vec![None; body.value_count()];
            Flow { body, launch, uses_hints, known, changed: true, is_refined: false, round: 0 }.run(function)
        };
        let hinted = flow(true);
        let proven = hinted.is_refined.then(|| flow(false).known);
        Self { known: hinted.known, proven }
    }

    /// Returns the axis information of a value; `None` if nothing is known about it.
    ///
    /// That is so for types other than integers and pointers, for poison, and for code that the analysis does not
    /// reach.
    #[must_use]
    pub fn get(&self, value: Value) -> Option<&AxisInfo> {
        self.known.get(value.index())?.as_ref()
    }

    /// As [`AxisInfoMap::get`], without the hints `tt.contiguity` and `tt.constancy` of operations.
    ///
    /// Code that computes an element from another one needs this. Kernels give such hints for indices that they clamp
    /// (`max_contiguous(where(i < n, i, 0), ...)`), for vectors inside the bounds; they do not hold for all elements.
    #[must_use]
    pub fn get_proven(&self, value: Value) -> Option<&AxisInfo> {
        self.proven.as_ref().unwrap_or(&self.known).get(value.index())?.as_ref()
    }

    /// Returns the index bits that number the elements of the widest vectors in memory at a pointer, the lowest bit
    /// first: vectors whose first address is a multiple of their size, or, without hints, of `sufficient_alignment`
    /// bytes.
    ///
    /// Hints describe aligned vectors only. Kernels give them for indices that wrap (`max_contiguous(i % n, ...)`): an
    /// aligned vector does not reach across `n` if its length divides `n`, but another one reads behind the tensor.
    #[must_use]
    pub fn vector_bits(&self, pointer: Value, sufficient_alignment: u64) -> Vec<IndexBitPosition> {
        let aligned = self.get(pointer).map(AxisInfo::aligned_vector_bits).unwrap_or_default();
        let proven = self.get_proven(pointer).map(|info| info.vector_bits(sufficient_alignment)).unwrap_or_default();
        if proven.len() > aligned.len() { proven } else { aligned }
    }
}

struct Flow<'a> {
    body: &'a FunctionBody,
    launch: &'a LaunchValues,
    /// Whether hints of operations about contiguity and constancy are used.
    uses_hints: bool,
    known: Vec<Option<AxisInfo>>,
    changed: bool,
    /// Whether such hints added information.
    is_refined: bool,
    round: usize,
}

impl Flow<'_> {
    /// Runs the analysis until no value changes.
    fn run(mut self, function: &Function) -> Self {
        if let Some(entry) = self.body.blocks(self.body.root()).first() {
            let arguments = self.body.arguments(*entry).iter().zip(&function.arguments);
            for (index, (value, attributes)) in arguments.enumerate() {
                let ty = self.body.value_type(*value);
                let known = self.launch.argument(index, ty).unwrap_or_else(|| AxisInfo::unknown(ty));
                self.set(*value, refine(known, attributes));
            }
        }
        while self.changed && self.round < ROUNDS {
            self.changed = false;
            self.region(self.body.root());
            self.round += 1;
        }
        if self.changed {
            // Without a fixed point, nothing is known.
            self.known.iter_mut().for_each(|info| *info = None);
        }
        self
    }

    /// Refines the information on a result by the hints of its operation.
    ///
    /// The divisor in a hint divides the first element of each contiguous group, so it means nothing without groups.
    fn refine_result(&mut self, info: AxisInfo, attributes: &Attributes) -> AxisInfo {
        if !hints_at_steps(attributes) {
            return refine(info, attributes);
        }
        if !self.uses_hints {
            return info;
        }
        let refined = refine(info.clone(), attributes);
        self.is_refined |= refined.steps != info.steps;
        refined
    }

    fn set(&mut self, value: Value, info: AxisInfo) {
        if !is_integral(self.body.value_type(value)) {
            return;
        }
        let known = &mut self.known[value.index()];
        if known.as_ref() != Some(&info) {
            *known = Some(info);
            self.changed = true;
        }
    }

    /// Joins `coming`, the information of one more source of a value, with that of its earlier sources.
    ///
    /// `None` is a source without information yet, which changes nothing.
    fn join(&mut self, value: Value, coming: Option<AxisInfo>) {
        let Some(coming) = coming else { return };
        let mut info = match &self.known[value.index()] {
            Some(known) => known.join(&coming),
            None => coming,
        };
        if let (Some(known), true) = (&self.known[value.index()], self.round >= PATIENCE) {
            // Bounds that still change are dropped.
            let all = AxisInfo::unknown(self.body.value_type(value)).range;
            let min = if known.range.min == info.range.min { info.range.min } else { all.min };
            let max = if known.range.max == info.range.max { info.range.max } else { all.max };
            info.range = IntegerRange { min, max, ..info.range };
        }
        self.set(value, info);
    }

    fn info(&self, value: Value) -> Option<AxisInfo> {
        self.known[value.index()].clone()
    }

    fn region(&mut self, region: Region) {
        for block in self.body.blocks(region) {
            for op in self.body.ops(*block) {
                self.op(*op);
            }
        }
    }

    fn op(&mut self, op: Op) {
        let operation = self.body.op(op);
        for successor in &operation.successors {
            let along = operation.operands.get(successor.operands.clone()).unwrap_or_default();
            for (argument, value) in self.body.arguments(successor.block).iter().zip(along) {
                let info = self.info(*value);
                self.join(*argument, info);
            }
        }
        match operation.name() {
            scf::FOR => self.counted_loop(op),
            scf::WHILE => self.conditional_loop(op),
            scf::IF => self.branches(op),
            _ => self.plain(op),
        }
    }

    /// Assigns to each argument of a warp partition the axis information of the operand that it captures.
    fn captured(&mut self, op: Op) {
        let operation = self.body.op(op);
        for region in operation.regions.iter().skip(1) {
            let arguments = self.body.blocks(*region).first().map_or(&[][..], |&block| self.body.arguments(block));
            for (argument, value) in arguments.iter().zip(&operation.operands) {
                let info = self.info(*value);
                self.join(*argument, info);
            }
        }
    }

    fn plain(&mut self, op: Op) {
        let operation = self.body.op(op);
        if operation.name() == ttg::WARP_SPECIALIZE {
            self.captured(op);
        }
        // Nothing is known about the region arguments of other operations.
        for region in &operation.regions {
            for block in self.body.blocks(*region) {
                for argument in self.body.arguments(*block) {
                    if self.known[argument.index()].is_none() {
                        self.set(*argument, AxisInfo::unknown(self.body.value_type(*argument)));
                    }
                }
            }
            self.region(*region);
        }
        let known = |operand: usize| self.known[operation.operands.get(operand)?.index()].clone();
        let info = self.launch.of_grid(self.body, op).or_else(|| results(self.body, op, &known));
        // If an operand has no information yet, because a loop brings it back, the results also wait for a later round.
        let waits = operation
            .operands
            .iter()
            .any(|value| is_integral(self.body.value_type(*value)) && self.known[value.index()].is_none());
        for (index, result) in operation.results.iter().enumerate() {
            // Poison may be any value: it gets no information, and so weakens none that it is joined with.
            if operation.name() == ub::POISON {
                continue;
            }
            let found = info.clone().filter(|_| index == 0 || operation.name() == tt::SPLIT);
            match found {
                None if waits => {}
                found => {
                    let info = found.unwrap_or_else(|| AxisInfo::unknown(self.body.value_type(*result)));
                    let refined = self.refine_result(info, &operation.attributes);
                    self.set(*result, refined);
                }
            }
        }
    }

    /// Analyzes an `scf.for`. The induction variable is as divisible as the lower bound and the step. It stays below
    /// the upper bound even if the step is an argument, since `scf.for` is defined only for positive steps. A
    /// loop-carried value joins its initial value and the yielded one.
    fn counted_loop(&mut self, op: Op) {
        let operation = self.body.op(op);
        let Some(region) = operation.regions.first().copied() else { return };
        let Some(entry) = self.body.blocks(region).first().copied() else { return };
        let arguments = self.body.arguments(entry).to_vec();
        let bounds = [0, 1, 2].map(|operand| operation.operands.get(operand).and_then(|value| self.info(*value)));
        if let ([Some(lower), Some(upper), Some(step)], Some(counter)) = (bounds, arguments.first()) {
            let mut info = AxisInfo::unknown(self.body.value_type(*counter));
            info.divisibility = lower.divisibility().min(step.divisibility());
            let max = upper.range.max.saturating_sub(1).max(lower.range.min);
            info.range = lower.range.derived(upper.range, lower.range.min, max);
            self.set(*counter, info);
        }
        let initial = operation.operand_group(3).to_vec();
        for (argument, value) in arguments.iter().skip(1).zip(&initial) {
            let info = self.info(*value);
            self.join(*argument, info);
        }
        self.region(region);
        let given = self.yielded_operands(region);
        for (index, value) in given.iter().enumerate() {
            let info = self.info(*value);
            if let Some(argument) = arguments.get(index + 1) {
                self.join(*argument, info.clone());
            }
            if let Some(result) = operation.results.get(index) {
                self.join(*result, info);
                let first = initial.get(index).and_then(|value| self.info(*value));
                self.join(*result, first);
            }
        }
    }

    fn conditional_loop(&mut self, op: Op) {
        let operation = self.body.op(op);
        let [before, after] = operation.regions[..] else { return };
        let entries = [before, after].map(|region| {
            self.body.blocks(region).first().map_or_else(Vec::new, |entry| self.body.arguments(*entry).to_vec())
        });
        self.join_all(&entries[0], &operation.operands);
        self.region(before);
        let passed = self.yielded_operands(before);
        let passed = passed.get(1..).unwrap_or_default().to_vec();
        self.join_all(&entries[1], &passed);
        self.join_all(&operation.results, &passed);
        self.region(after);
        let carried = self.yielded_operands(after);
        self.join_all(&entries[0], &carried);
    }

    fn branches(&mut self, op: Op) {
        let operation = self.body.op(op);
        for region in &operation.regions {
            self.region(*region);
        }
        // A region that is never executed gives no value.
        let condition = operation.operands.first().and_then(|condition| self.info(*condition)?.range.constant_value());
        let executed = match condition {
            Some(0) => operation.regions.get(1..).unwrap_or_default(),
            Some(_) => operation.regions.get(..1).unwrap_or_default(),
            None => &operation.regions[..],
        };
        for region in executed {
            let given = self.yielded_operands(*region);
            self.join_all(&operation.results, &given);
        }
    }

    fn join_all(&mut self, values: &[Value], coming: &[Value]) {
        for (value, coming) in values.iter().zip(coming) {
            let info = self.info(*coming);
            self.join(*value, info);
        }
    }

    /// The operands of the terminator of a region.
    fn yielded_operands(&self, region: Region) -> Vec<Value> {
        let last = self.body.blocks(region).last().and_then(|block| self.body.ops(*block).last());
        last.map_or_else(Vec::new, |last| self.body.op(*last).operands.to_vec())
    }
}

fn is_integral(ty: &TileType) -> bool {
    matches!(ty.element(), TileType::Integer(..) | TileType::Index | TileType::Pointer(_))
        && !matches!(ty, TileType::Memory(_) | TileType::Descriptor(_))
}
