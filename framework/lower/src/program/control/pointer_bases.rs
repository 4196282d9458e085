//! Finds the arguments of loops whose pointers are one base plus loop-invariant offsets ([`PointerSum`]), and lowers
//! their bases.

use std::collections::{HashMap, HashSet};

use tilewright_kernel::Value;
use tilewright_layout::LinearLayout;
use tilewright_target::Optimization;
use tilewright_tile::axis_info::AxisInfo;
use tilewright_tile::op::name::{arith, tt, ttg};
use tilewright_tile::{self as tile, FunctionBody, TileType, ValueOrigin};

use super::super::error::Lowered;
use super::super::lowered::{self, LoweredValue};
use super::super::lowering::Lowering;
use super::super::register_differences::RegisterDifferences;
use super::super::scalar::add_elements;
use super::pointer_sum::{Offset, PointerSum, Term};

/// Least number of pointers in a loop argument for which the loop carries a base instead. Fewer pointers take few
/// registers. A loop adds the step to carried pointers while it waits for loads, but must add the offsets to a base
/// before it issues the loads.
const LEAST_POINTERS: usize = 16;

/// Least ratio of the registers that the carried pointers would take to the registers of the offsets; with a smaller
/// ratio, the loop carries the pointers. An offset of 32 bits for each pointer has this ratio: one instruction adds it
/// to the base, and two add a step to a carried pointer.
const LEAST_GAIN: usize = 2;

/// Number of 32-bit registers that a pointer takes.
const POINTER_REGISTERS: usize = 2;

/// For each analyzed pointer, the register of `value` that belongs to it. `value` is the tensor of pointers or one of
/// its addends.
struct Registers {
    value: tile::Value,
    registers: Vec<Value>,
}

/// The operands of an operation, in the layout of its result.
struct Operands<'a> {
    result: &'a lowered::Registers,
    /// For each pointer the number of its register in the layout.
    positions: Vec<usize>,
    of: [Registers; 2],
}

impl Lowering<'_> {
    /// Finds the arguments of a loop that it carries as one base, and emits their first bases. The loop starts with the
    /// values `initial`, and an iteration yields `yielded`.
    pub(super) fn find_pointer_bases(
        &mut self,
        arguments: &[tile::Value],
        initial: &[tile::Value],
        yielded: &[tile::Value],
    ) -> Lowered<()> {
        for ((&argument, &initial), &yielded) in arguments.iter().zip(initial).zip(yielded) {
            let sum = self.pointer_sum(argument, initial, yielded)?;
            match sum {
                Some(sum) => self.pointer_bases.insert(argument, sum),
                None => self.pointer_bases.remove(&argument),
            };
        }
        Ok(())
    }

    fn pointer_sum(
        &mut self,
        argument: tile::Value,
        initial: tile::Value,
        yielded: tile::Value,
    ) -> Lowered<Option<PointerSum>> {
        if !self.config.context.enables(Optimization::PointerBases) {
            return Ok(None);
        }
        let TileType::Pointer(pointer) = self.body.value_type(argument).element() else { return Ok(None) };
        let Some(bits) = pointer.pointee.element_bits() else { return Ok(None) };
        let LoweredValue::Tensor(tensor) = self.lowered(initial)?.clone() else { return Ok(None) };
        let layout = self.layout_of(argument)?;
        if tensor.layout != layout || !self.is_moved_alike(argument, yielded) {
            return Ok(None);
        }
        let registers = self.carried_registers(argument, &layout);
        if registers.count() < LEAST_POINTERS {
            return Ok(None);
        }
        let (bases, terms) = self.split_pointers(initial, registers.select(&tensor.values));
        let offset_registers: usize = terms.iter().map(|term| term.registers(&self.builder)).sum();
        let Some((&first, others)) = bases.split_first() else { return Ok(None) };
        let is_less = offset_registers * LEAST_GAIN <= registers.count() * POINTER_REGISTERS;
        if others.iter().any(|&other| other != first) || !is_less {
            return Ok(None);
        }
        let bytes = u64::from(bits.div_ceil(8));
        let (shared, mut terms): (Vec<_>, Vec<_>) = terms.into_iter().partition(|one| one.count() == 1);
        let mut base = first;
        for term in shared {
            base = term.0[0].add_to(&mut self.builder, base, bytes);
        }
        terms.sort_by_key(Term::count);
        Ok(Some(PointerSum { base, bytes, registers, terms }))
    }

    /// Whether an iteration moves all pointers of a loop's argument by the same amount.
    fn is_moved_alike(&self, argument: tile::Value, yielded: tile::Value) -> bool {
        let is_equal = |&step: &tile::Value| self.axis_info.get_proven(step).is_some_and(AxisInfo::is_uniform);
        steps_from(self.body, argument, yielded).is_some_and(|steps| steps.iter().all(is_equal))
    }

    /// Returns the base that belongs to `value`, a value that the loop's argument `argument` takes; `None` if the loop
    /// carries no base for the argument. If `value` is the argument plus steps, emits the addition of the steps to the
    /// base; otherwise it is the initial value, with the initial base.
    pub(super) fn carried_base(&mut self, value: tile::Value, argument: tile::Value) -> Lowered<Option<Value>> {
        let Some(sum) = self.pointer_bases.get(&argument) else { return Ok(None) };
        let (mut base, bytes) = (sum.base, sum.bytes);
        for step in steps_from(self.body, argument, value).unwrap_or_default() {
            let step = match self.lowered(step)? {
                LoweredValue::Tensor(tensor) => tensor.values.first().copied(),
                _ => None,
            };
            base = step.map_or(base, |step| add_elements(&mut self.builder, base, step, bytes));
        }
        Ok(Some(base))
    }

    /// Emits the pointers of a loop's argument whose base is `base` from now on; `None` if the loop carries no base.
    pub(super) fn expand_base(&mut self, argument: tile::Value, base: Value) -> Option<Vec<Value>> {
        let sum = self.pointer_bases.get_mut(&argument)?;
        sum.base = base;
        Some(sum.expand(&mut self.builder))
    }

    /// Emits the registers of a `tt.addptr`, `pointers` plus `offsets`, as the pointers' own bases plus `offsets`, plus
    /// the pointers' own offsets, if that takes fewer additions. So do rows of a tile whose registers share a column:
    /// it is added once, and the pointers to the rows are not needed. Registers that differ by constants count once.
    /// `None` if it takes as many additions or more, and in loops and branches, where `pointers` may be loop-invariant
    /// while `offsets` change.
    pub(in super::super) fn add_to_bases(
        &mut self,
        op: tile::Op,
        layout: &LinearLayout,
        [pointers, offsets]: [&[Value]; 2],
    ) -> Option<Vec<Value>> {
        let entry = self.body.blocks(self.body.root()).first().copied();
        if self.block != entry {
            return None;
        }
        let operation = self.body.op(op);
        let value = operation.operands[0];
        let TileType::Pointer(ty) = self.body.value_type(value).element() else { return None };
        let bytes = u64::from(ty.pointee.element_bits()?.div_ceil(8));
        let differences = RegisterDifferences::of(layout, self.axis_info.get_proven(operation.results[0]));
        let [pointers, offsets] = [pointers, offsets].map(|registers| differences.select(registers));
        let separate = pointers.iter().collect::<HashSet<_>>().len();
        let [bases, own] = self.operands_of(&Registers { value, registers: pointers }, tt::ADDPTR)?.of;
        if bases.registers.iter().zip(&offsets).collect::<HashSet<_>>().len() >= separate {
            return None;
        }
        let mut known = HashMap::new();
        let mut add = |lowering: &mut Self, pointer: Value, offset: Value| {
            *known.entry((pointer, offset)).or_insert_with(|| {
                let sum = add_elements(&mut lowering.builder, pointer, offset, bytes);
                lowering.propagate_uniform(&[pointer, offset], &[sum]);
                sum
            })
        };
        let addends = bases.registers.into_iter().zip(offsets).zip(own.registers);
        let added = addends.map(|((base, offset), own)| {
            let moved = add(self, base, offset);
            add(self, moved, own)
        });
        let added: Vec<Value> = added.collect();
        Some(differences.expand(&mut self.builder, &added))
    }

    /// Splits pointers, registers of the value `from`, into bases and offsets.
    fn split_pointers(&self, from: tile::Value, pointers: Vec<Value>) -> (Vec<Value>, Vec<Term>) {
        let mut terms = Vec::new();
        let mut rest = Registers { value: from, registers: pointers };
        while let Some(Operands { of: [base, offset], .. }) = self.operands_of(&rest, tt::ADDPTR) {
            terms.extend(self.split_offsets(&offset));
            rest = base;
        }
        (rest.registers, terms)
    }

    /// Splits offsets that are sums or products if the parts take fewer registers. Signed numbers are assumed not to
    /// overflow, as axis information assumes too.
    fn split_offsets(&self, undivided: &Registers) -> Vec<Term> {
        let registers = |all: &[Term]| all.iter().map(|one| one.registers(&self.builder)).sum::<usize>();
        let sum = self.operands_of(undivided, arith::ADDI);
        let parts = sum.map(|sum| sum.of.iter().flat_map(|part| self.split_offsets(part)).collect());
        let parts = parts.or_else(|| self.split_product(undivided));
        let undivided = vec![Term::of(undivided.registers.iter().copied())];
        parts.filter(|parts: &Vec<_>| registers(parts) < registers(&undivided)).unwrap_or(undivided)
    }

    /// Splits offsets that are indices times one stride, if the indices differ by constants: one product, and multiples
    /// of the stride.
    fn split_product(&self, undivided: &Registers) -> Option<Vec<Term>> {
        let Operands { result, positions, of: [a, b] } = self.operands_of(undivided, arith::MULI)?;
        let stride_of = |side: &Registers| {
            side.registers.first().copied().filter(|first| side.registers.iter().all(|own| own == first))
        };
        let (indices, stride) = match (stride_of(&a), stride_of(&b)) {
            (_, Some(stride)) => (&a, stride),
            (Some(stride), _) => (&b, stride),
            _ => return None,
        };
        let differences = RegisterDifferences::of(&result.layout, self.axis_info.get_proven(indices.value));
        let (first, _) = differences.source(*positions.first()?);
        let sources = positions.iter().map(|&position| differences.source(position));
        let multiple = |(from, multiple)| (from == first).then_some(Offset { unit: stride, multiple });
        let multiples = sources.map(multiple).collect::<Option<Vec<_>>>()?;
        let product = std::iter::repeat_n(result.values[first], positions.len());
        Some(vec![Term::of(product), Term(multiples)])
    }

    /// Returns the operands of the operation `name` that defines registers of a tensor; `None` if another operation
    /// does. Views, whose registers are those of their operand, are looked through.
    fn operands_of(&self, of: &Registers, name: &str) -> Option<Operands<'_>> {
        const VIEWS: [&str; 3] = [tt::BROADCAST, tt::EXPAND_DIMS, ttg::CONVERT_LAYOUT];
        let mut value = of.value;
        let op = loop {
            let ValueOrigin::Result(op, _) = self.body.value_origin(value) else { return None };
            if !VIEWS.contains(&self.body.op(op).name()) {
                break op;
            }
            value = self.body.op(op).operands.first().copied()?;
        };
        if self.body.op(op).name() != name {
            return None;
        }
        let values = |value: tile::Value| match self.lowered(value) {
            Ok(LoweredValue::Tensor(tensor)) => Some(tensor),
            _ => None,
        };
        let result = values(value)?;
        let positions: HashMap<Value, usize> = result.values.iter().enumerate().map(|(at, &own)| (own, at)).collect();
        let positions = of.registers.iter().map(|own| positions.get(own).copied()).collect::<Option<Vec<usize>>>()?;
        let operand = |index: usize| {
            let value = self.body.op(op).operands.get(index).copied()?;
            let tensor = values(value).filter(|tensor| tensor.layout == result.layout)?;
            Some(Registers { value, registers: positions.iter().map(|&at| tensor.values[at]).collect() })
        };
        Some(Operands { result, of: [operand(0)?, operand(1)?], positions })
    }
}

/// Returns the offsets whose additions to the pointers `from` make the pointers `to`; `None` if `to` is no such sum.
fn steps_from(body: &FunctionBody, from: tile::Value, to: tile::Value) -> Option<Vec<tile::Value>> {
    let mut steps = Vec::new();
    let mut value = to;
    while value != from {
        let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
        let (tt::ADDPTR, &[pointer, step]) = (body.op(op).name(), &body.op(op).operands[..]) else { return None };
        steps.push(step);
        value = pointer;
    }
    Some(steps)
}
