//! Layout rules: how the layouts of an operation's operands and results depend on each other.

use super::build::Builder;
use super::kind::Access;
use super::transfers::ReshapeTransfers;
use super::{DotNodes, Kind, RequiredLayout};
use crate::bulk_store::find_bulk_store;
use crate::dot_plan::OPERANDS;
use crate::layouts::LayoutTransfer;
use crate::memory::{describe_descriptor_global_tensor, element_bits_while_moved, find_descriptor_mask_alignment};
use crate::{AssignmentError, LOOP_WEIGHT};
use tilewright_target::{Direction, InstructionOperand};
use tilewright_tile::op::name::{tt, ttg, tw};
use tilewright_tile::{Attribute, Op, Operation, Value};

impl Builder<'_, '_> {
    pub(super) fn op(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op);
        let values = || operation.operands.iter().chain(&operation.results);
        if self.is_explicit(op) {
            return self.as_written(op, weight);
        }
        if self.control(op, weight)? {
            return Ok(());
        }
        if !values().any(|value| self.is_tensor(*value)) {
            return self.regions(op, weight);
        }
        if self.is_free(op) {
            return self.freely(op, weight);
        }
        match operation.name() {
            _ if operation.is_dot() => self.add_dot(op, weight)?,
            tt::LOAD | tt::ATOMIC_LOAD => self.accesses(op, weight, Direction::Load)?,
            tt::STORE | tt::ATOMIC_STORE | tt::ATOMIC_RMW | tt::ATOMIC_CAS | tt::ATOMIC_POLL => {
                self.accesses(op, weight, Direction::Store)?;
            }
            tt::DESCRIPTOR_LOAD
            | tt::DESCRIPTOR_GATHER
            | tt::DESCRIPTOR_STORE
            | tt::DESCRIPTOR_REDUCE
            | tt::DESCRIPTOR_SCATTER => self.copies(op, weight)?,
            tt::REDUCE | tt::SCAN => self.along_an_axis(op, weight)?,
            tt::GATHER => self.gathers(op, weight)?,
            tt::HISTOGRAM => self.add_histogram(op, weight)?,
            tw::MMA_WAIT => self.each_as_it_is(op, weight),
            tt::PRINT | tt::ASSERT | tt::UNSPLAT | ttg::CONVERT_LAYOUT => self.add_independent_results(op, weight)?,
            _ => match self.transfers(op) {
                Some(transfers) => self.reshapes(op, weight, transfers)?,
                None if self.is_of_one_shape(op) => self.elementwise(op, weight)?,
                None => self.add_independent_results(op, weight)?,
            },
        }
        self.regions(op, weight)
    }

    pub(super) fn integer_attribute(&self, op: Op, name: &str) -> Option<usize> {
        self.body.op(op).attributes.get(name).and_then(Attribute::as_integer).and_then(|n| usize::try_from(n).ok())
    }

    fn reshapes(&mut self, op: Op, weight: f64, transfers: ReshapeTransfers) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let of_result = transfers.result.0 == LayoutTransfer::Same;
        let keyed = if of_result { operation.results[0] } else { operation.operands[0] };
        let node = self.node(Kind::Nothing, Some(op), weight, self.shape(keyed));
        for &result in &operation.results {
            self.out(node, result, transfers.result.0.clone(), transfers.result.1.clone(), weight);
        }
        for operand in 0..operation.operands.len() {
            self.required(node, (op, operand), transfers.operand.0.clone(), transfers.operand.1.clone());
        }
        Ok(())
    }

    /// Whether all tensor operands and results of an operation have the same shape.
    pub(super) fn is_of_one_shape(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let mut shapes = operation.operands.iter().chain(&operation.results).filter(|value| self.is_tensor(**value));
        let first = shapes.next().map(|value| self.shape(*value));
        shapes.all(|value| Some(self.shape(*value)) == first)
    }

    /// Adds a node for an elementwise operation: all its tensors have one layout.
    fn elementwise(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        self.add_same_layout(op, weight, Kind::elementwise((self.body, self.axis_info), self.body.op(op))).map(drop)
    }

    fn add_same_layout(&mut self, op: Op, weight: f64, kind: Kind) -> Result<Option<usize>, AssignmentError> {
        let operation = self.body.op(op).clone();
        let tensors = operation.results.iter().chain(&operation.operands).copied();
        let Some(first) = tensors.into_iter().find(|value| self.is_tensor(*value)) else { return Ok(None) };
        let node = self.node(kind, Some(op), weight, self.shape(first));
        for &result in operation.results.iter().filter(|value| self.is_tensor(**value)).collect::<Vec<_>>() {
            self.out(node, result, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
        }
        for operand in 0..operation.operands.len() {
            self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
        }
        Ok(Some(node))
    }

    /// Adds a node for each result of an operation; each result has the layout of the operand with the same index.
    fn each_as_it_is(&mut self, op: Op, weight: f64) {
        let operation = self.body.op(op).clone();
        for (operand, (&value, &result)) in operation.operands.iter().zip(&operation.results).enumerate() {
            if self.is_tensor(value) {
                let node = self.node(Kind::Nothing, Some(op), weight, self.shape(value));
                self.out(node, result, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
                self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            }
        }
    }

    fn accesses(&mut self, op: Op, weight: f64, direction: Direction) -> Result<(), AssignmentError> {
        let kind = Kind::of_access((self.body, self.axis_info), self.config.context.target, op, direction);
        self.add_same_layout(op, weight, kind).map(drop)
    }

    fn copies(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let tensor = operation.results.first().copied().or_else(|| self.body.operand(op, "src"));
        let Some(tensor) = tensor.filter(|value| self.is_tensor(*value)) else { return Ok(()) };
        let is_load = !operation.results.is_empty();
        let direction = if is_load { Direction::Load } else { Direction::Store };
        let named = describe_descriptor_global_tensor(self.body.value_type(tensor), self.together(op, weight));
        let bulk_block = find_bulk_store(self.body, op, self.config);
        let kind = named.map_or(Kind::Nothing, |named| Kind::Access(Access { named, direction, bulk_block }));
        let node = self.node(kind, Some(op), weight, self.shape(tensor));
        for (operand, value) in operation.operands.iter().enumerate() {
            if *value == tensor {
                self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            }
        }
        if is_load {
            self.out(node, tensor, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
        }
        self.leave_unconstrained(op);
        Ok(())
    }

    /// Returns the max number of consecutive elements that one access through the operation's tensor descriptor covers:
    /// 1 for `tt.descriptor_reduce`. A load in a loop can be prefetched by bulk tensor copies if the target has these,
    /// so it is unlimited (`u64::MAX`). All other loads and stores are plain accesses of elements that are all in
    /// bounds or all out of bounds.
    fn together(&self, op: Op, weight: f64) -> u64 {
        let is_box = |operand: &InstructionOperand| matches!(operand, InstructionOperand::Box(_));
        let has_bulk_copies = || self.config.context.instructions.iter().any(|row| row.operands.iter().any(is_box));
        match self.body.op(op).name() {
            tt::DESCRIPTOR_LOAD if weight >= LOOP_WEIGHT as f64 && has_bulk_copies() => u64::MAX,
            tt::DESCRIPTOR_LOAD | tt::DESCRIPTOR_STORE | tt::DESCRIPTOR_REDUCE => {
                find_descriptor_mask_alignment(self.body, self.axis_info, op)
            }
            _ => u64::MAX,
        }
    }

    fn along_an_axis(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let kind = Kind::along_an_axis(self.body, op);
        let Kind::Reduce(axis, ..) = kind else { return self.add_same_layout(op, weight, kind).map(drop) };
        let Some(&first) = operation.operands.first() else { return Ok(()) };
        let node = self.node(kind, Some(op), weight, self.shape(first));
        for &result in operation.results.iter().filter(|value| self.is_tensor(**value)).collect::<Vec<_>>() {
            self.out(node, result, LayoutTransfer::RemoveAxis(axis), None, weight);
        }
        for operand in 0..operation.operands.len() {
            self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
        }
        Ok(())
    }

    /// Adds a node for `tt.gather`: the result has the layout of the indices; the source may have any layout.
    fn gathers(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let axis = self.integer_attribute(op, "axis").unwrap_or(0);
        let (&[source, indices], &[result]) = (&operation.operands[..], &operation.results[..]) else { return Ok(()) };
        let bits = element_bits_while_moved(self.body.value_type(source));
        let node = self.node(Kind::Gather(axis, bits, source), Some(op), weight, self.shape(indices));
        self.out(node, result, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
        self.required(node, (op, 1), LayoutTransfer::Same, Some(LayoutTransfer::Same));
        self.set_required(op, 0, RequiredLayout::AsIs);
        self.graph.nodes[node].watched.push(source);
        Ok(())
    }

    /// Adds nodes for `tt.histogram`: the source and its mask share a layout; the result has a layout of its own.
    fn add_histogram(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operands = self.body.op(op).operands.clone();
        if let Some(&first) = operands.first() {
            let node = self.node(Kind::Nothing, Some(op), weight, self.shape(first));
            for operand in 0..operands.len() {
                self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            }
        }
        self.add_independent_results(op, weight)
    }

    fn add_dot(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let dot_plan = self.cached_dot_plan(op)?;
        let operation = self.body.op(op).clone();
        let mut nodes = [None; 5];
        for ((group, layout), own) in OPERANDS.into_iter().zip(dot_plan.layouts()).zip(&mut nodes) {
            let Some(value) = self.body.operand(op, group).filter(|value| self.is_tensor(*value)) else { continue };
            // One value may be an operand of two groups, so its operand index is found by the group.
            let Some(operand) = find_operand_index(&operation, group) else { continue };
            let Some(layout) = layout else {
                self.set_required(op, operand, RequiredLayout::AsIs);
                continue;
            };
            let key = self.graph.interner.layout(layout)?;
            let node = self.node(Kind::Dot, Some(op), weight, self.shape(value));
            self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            if group == "c" {
                self.out(node, operation.results[0], LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
            }
            // A layout that the program states takes precedence over the plan's.
            self.graph.nodes[node].fixed.get_or_insert(key);
            *own = Some(node);
        }
        self.graph.dots.push(DotNodes { op, dot_plan, nodes });
        Ok(())
    }

    /// Adds nodes for an operation that takes its operands in the layouts that they have; each result gets a node of
    /// its own.
    fn add_independent_results(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        self.leave_unconstrained(op);
        let results: Vec<Value> = self.body.op(op).results.to_vec();
        for result in results {
            if self.is_tensor(result) {
                let node = self.node(Kind::Nothing, Some(op), weight, self.shape(result));
                self.out(node, result, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
            }
        }
        Ok(())
    }
}

/// Returns the index of the first operand of the group `group` among all operands; `None` if the group is empty.
fn find_operand_index(operation: &Operation, group: &str) -> Option<usize> {
    let group_index = operation.definition.operand_group_index(group)?;
    Some(operation.group_sizes.get(..group_index)?.iter().sum::<u32>() as usize)
}
