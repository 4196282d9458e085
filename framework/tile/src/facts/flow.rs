//! Carries facts from the arguments of a function to all of its values.

use super::operations::results;
use super::{AxisInfo, DimInfo, Range};
use crate::op::name::{scf, tt, ttg};
use crate::{Attribute, Attributes, Body, Function, Op, Region, TileType, Value};

/// After so many rounds bounds that still move are given up.
const PATIENCE: usize = 4;

/// After so many rounds everything that still changes is given up; facts get weaker with each, in few steps.
const ROUNDS: usize = 256;

/// What is known of all values of a function.
#[derive(Debug, Clone)]
pub struct AxisInfoMap {
    /// By number of the value; nothing of those that are neither integers nor pointers.
    known: Vec<Option<AxisInfo>>,
}

impl AxisInfoMap {
    /// What follows from what the function's arguments are told (`tt.divisibility`, `tt.contiguity`, `tt.constancy`) and from
    /// its operations.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let Some(body) = &function.body else { return Self { known: Vec::new() } };
        let mut flow = Flow { body, known: vec![None; body.value_count()], changed: true, round: 0 };
        if let Some(entry) = body.blocks(body.root()).first() {
            for (value, told) in body.arguments(*entry).iter().zip(&function.arguments) {
                flow.set(*value, hinted(AxisInfo::nothing(body.ty(*value)), told));
            }
        }
        while flow.changed && flow.round < ROUNDS {
            flow.changed = false;
            flow.region(body.root());
            flow.round += 1;
        }
        if flow.changed {
            // What has not come to rest is not known.
            flow.known.iter_mut().for_each(|fact| *fact = None);
        }
        Self { known: flow.known }
    }

    /// What is known of a value; nothing of what is neither an integer nor a pointer.
    #[must_use]
    pub fn get(&self, value: Value) -> Option<&AxisInfo> {
        self.known.get(value.index())?.as_ref()
    }
}

struct Flow<'a> {
    body: &'a Body,
    known: Vec<Option<AxisInfo>>,
    changed: bool,
    round: usize,
}

impl Flow<'_> {
    fn set(&mut self, value: Value, fact: AxisInfo) {
        if !is_integral(self.body.ty(value)) {
            return;
        }
        let place = &mut self.known[value.index()];
        if place.as_ref() != Some(&fact) {
            *place = Some(fact);
            self.changed = true;
        }
    }

    /// A value that may come from several places: what was known, weakened by what comes.
    fn join(&mut self, value: Value, coming: Option<AxisInfo>) {
        let Some(coming) = coming else { return };
        let mut fact = match &self.known[value.index()] {
            Some(known) => known.or(&coming),
            None => coming,
        };
        let moved = self.known[value.index()].as_ref().is_some_and(|known| known.range != fact.range);
        if moved && self.round >= PATIENCE {
            fact.range = AxisInfo::nothing(self.body.ty(value)).range;
        }
        self.set(value, fact);
    }

    fn fact(&self, value: Value) -> Option<AxisInfo> {
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
                let fact = self.fact(*value);
                self.join(*argument, fact);
            }
        }
        match operation.name() {
            scf::FOR => self.counted_loop(op),
            scf::WHILE => self.conditional_loop(op),
            scf::IF => self.branches(op),
            _ => self.plain(op),
        }
    }

    /// What groups of warps take from outside is the same inside.
    fn captured(&mut self, op: Op) {
        let operation = self.body.op(op);
        for region in operation.regions.iter().skip(1) {
            let arguments = self.body.blocks(*region).first().map_or(&[][..], |&block| self.body.arguments(block));
            for (argument, value) in arguments.iter().zip(&operation.operands) {
                let fact = self.fact(*value);
                self.join(*argument, fact);
            }
        }
    }

    fn plain(&mut self, op: Op) {
        let operation = self.body.op(op);
        if operation.name() == ttg::WARP_SPECIALIZE {
            self.captured(op);
        }
        // Regions of other operations take values of which nothing is known.
        for region in &operation.regions {
            for block in self.body.blocks(*region) {
                for argument in self.body.arguments(*block) {
                    if self.known[argument.index()].is_none() {
                        self.set(*argument, AxisInfo::nothing(self.body.ty(*argument)));
                    }
                }
            }
            self.region(*region);
        }
        let known = |operand: usize| self.known[operation.operands.get(operand)?.index()].clone();
        let fact = results(self.body, op, &known);
        // An operand of which nothing is known yet is in a loop that has not been round.
        let waits = operation
            .operands
            .iter()
            .any(|value| is_integral(self.body.ty(*value)) && self.known[value.index()].is_none());
        for (number, result) in operation.results.iter().enumerate() {
            let found = fact.clone().filter(|_| number == 0 || operation.name() == tt::SPLIT);
            match found {
                Some(fact) => self.set(*result, hinted(fact, &operation.attributes)),
                None if waits => {}
                None => self.set(*result, hinted(AxisInfo::nothing(self.body.ty(*result)), &operation.attributes)),
            }
        }
    }

    /// The counter begins at the lower bound and grows by the step, below the upper bound.
    fn counted_loop(&mut self, op: Op) {
        let operation = self.body.op(op);
        let Some(region) = operation.regions.first().copied() else { return };
        let Some(entry) = self.body.blocks(region).first().copied() else { return };
        let arguments = self.body.arguments(entry).to_vec();
        let bounds = [0, 1, 2].map(|operand| operation.operands.get(operand).and_then(|value| self.fact(*value)));
        if let ([Some(lower), Some(upper), Some(step)], Some(counter)) = (bounds, arguments.first()) {
            let mut fact = AxisInfo::nothing(self.body.ty(*counter));
            fact.axes[0].divisibility = lower.divisibility_of_all().min(step.divisibility_of_all());
            if step.range.least > 0 {
                let greatest = upper.range.greatest.saturating_sub(1).max(lower.range.least);
                fact.range = Range { least: lower.range.least, greatest };
            }
            self.set(*counter, fact);
        }
        let initial = operation.operand_group(3).to_vec();
        for (argument, value) in arguments.iter().skip(1).zip(&initial) {
            let fact = self.fact(*value);
            self.join(*argument, fact);
        }
        self.region(region);
        let given = self.given(region);
        for (number, value) in given.iter().enumerate() {
            let fact = self.fact(*value);
            if let Some(argument) = arguments.get(number + 1) {
                self.join(*argument, fact.clone());
            }
            if let Some(result) = operation.results.get(number) {
                self.join(*result, fact);
                let first = initial.get(number).and_then(|value| self.fact(*value));
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
        let passed = self.given(before);
        let passed = passed.get(1..).unwrap_or_default().to_vec();
        self.join_all(&entries[1], &passed);
        self.join_all(&operation.results, &passed);
        self.region(after);
        let carried = self.given(after);
        self.join_all(&entries[0], &carried);
    }

    fn branches(&mut self, op: Op) {
        let operation = self.body.op(op);
        for region in &operation.regions {
            self.region(*region);
        }
        for region in &operation.regions {
            let given = self.given(*region);
            self.join_all(&operation.results, &given);
        }
    }

    fn join_all(&mut self, values: &[Value], coming: &[Value]) {
        for (value, coming) in values.iter().zip(coming) {
            let fact = self.fact(*coming);
            self.join(*value, fact);
        }
    }

    /// What the end of a region gives.
    fn given(&self, region: Region) -> Vec<Value> {
        let last = self.body.blocks(region).last().and_then(|block| self.body.ops(*block).last());
        last.map_or_else(Vec::new, |last| self.body.op(*last).operands.to_vec())
    }
}

fn is_integral(ty: &TileType) -> bool {
    matches!(ty.element(), TileType::Integer(..) | TileType::Index | TileType::Pointer(_))
        && !matches!(ty, TileType::Memory(_) | TileType::Descriptor(_))
}

/// A fact with what the program says besides, which its author answers for.
fn hinted(mut fact: AxisInfo, told: &Attributes) -> AxisInfo {
    type Part = fn(&mut DimInfo) -> &mut u64;
    let parts: [(&str, Part); 3] = [
        ("tt.contiguity", |along| &mut along.contiguity),
        ("tt.divisibility", |along| &mut along.divisibility),
        ("tt.constancy", |along| &mut along.constancy),
    ];
    for (name, part) in parts {
        let numbers: Vec<u64> = match told.get(name) {
            Some(Attribute::Dense(dense)) if dense.elements.len() == 1 => vec![dense.elements[0]; fact.axes.len()],
            Some(Attribute::Dense(dense)) => dense.elements.to_vec(),
            Some(other) => other.as_integer().and_then(|value| u64::try_from(value).ok()).into_iter().collect(),
            None => continue,
        };
        for (along, number) in fact.axes.iter_mut().zip(numbers) {
            let power = if number == 0 { 1 } else { 1 << number.trailing_zeros() };
            let place = part(along);
            *place = (*place).max(power);
        }
    }
    fact
}
