//! Nodes of the layout graph for values carried by loops, branches and block arguments: each carried value has one
//! layout.

use super::build::Builder;
use super::{Kind, RequiredLayout, Role};
use crate::AssignmentError;
use crate::layouts::LayoutTransfer;
use tilewright_tile::op::name::{scf, tt, ttg};
use tilewright_tile::{Op, Region, Value};

impl Builder<'_, '_> {
    /// Adds the nodes of a control-flow operation to the graph; returns `false`, and adds nothing, for any other
    /// operation.
    pub(super) fn control(&mut self, op: Op, weight: f64) -> Result<bool, AssignmentError> {
        match self.body.op(op).name() {
            scf::FOR => self.counted_loop(op, weight)?,
            scf::WHILE => self.conditional_loop(op, weight)?,
            scf::IF | scf::INDEX_SWITCH | scf::EXECUTE_REGION | ttg::MASK => self.branches(op, weight)?,
            ttg::WARP_SPECIALIZE => self.add_warp_specialize(op, weight)?,
            // The operands of a region's terminator are handled with the operation that owns the region.
            scf::YIELD | scf::CONDITION | ttg::MASK_RETURN | ttg::WARP_YIELD => self.leave_unconstrained(op),
            tt::CALL | tt::RETURN => self.add_call_boundary(op, weight)?,
            _ if !self.body.op(op).successors.is_empty() => self.jump(op, weight)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Adds a node that gives one layout to `values`, which carry the same elements (such as a loop's result and
    /// iteration argument); each has its assumed number of executions. The operands `sources` (operation and operand
    /// index), from which the elements come, are required in this layout.
    fn add_carried(
        &mut self,
        op: Op,
        weight: f64,
        values: &[(Value, f64)],
        sources: &[(Op, usize)],
    ) -> Result<(), AssignmentError> {
        let Some(&(first, _)) = values.first().filter(|(value, _)| self.is_tensor(*value)) else { return Ok(()) };
        let node = self.node(Kind::Nothing, Some(op), weight, self.shape(first));
        for &(value, weight) in values {
            self.out(node, value, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
        }
        for &source in sources {
            self.required(node, source, LayoutTransfer::Same, Some(LayoutTransfer::Same));
        }
        Ok(())
    }

    fn counted_loop(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let inner = Self::loop_weight(weight);
        let Some(&region) = operation.regions.first() else { return Ok(()) };
        let (arguments, ends) = (self.entry(region), self.end_of(region));
        for (index, &result) in operation.results.iter().enumerate() {
            let values: Vec<_> = [Some((result, weight)), arguments.get(index + 1).map(|&value| (value, inner))]
                .into_iter()
                .flatten()
                .collect();
            let ends = ends.map(|end| (end, index));
            let sources: Vec<_> = std::iter::once((op, 3 + index)).chain(ends).collect();
            self.add_carried(op, inner, &values, &sources)?;
        }
        self.region(region, inner)
    }

    fn conditional_loop(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let inner = Self::loop_weight(weight);
        let &[before, after] = &operation.regions[..] else { return Ok(()) };
        for (index, &argument) in self.entry(before).iter().enumerate() {
            let back = self.end_of(after).map(|end| (end, index));
            let sources: Vec<_> = std::iter::once((op, index)).chain(back).collect();
            self.add_carried(op, inner, &[(argument, inner)], &sources)?;
        }
        let passed = self.entry(after);
        for (index, &result) in operation.results.iter().enumerate() {
            let values: Vec<_> = [Some((result, weight)), passed.get(index).map(|&value| (value, inner))]
                .into_iter()
                .flatten()
                .collect();
            let sources: Vec<_> = self.end_of(before).map(|end| (end, index + 1)).into_iter().collect();
            self.add_carried(op, inner, &values, &sources)?;
        }
        self.region(before, inner)?;
        self.region(after, inner)
    }

    fn branches(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let inner = Self::branch_weight(weight);
        for (index, &result) in operation.results.iter().enumerate() {
            let ends = operation.regions.iter().filter_map(|&region| self.end_of(region));
            let sources: Vec<_> = ends.map(|end| (end, index)).collect();
            self.add_carried(op, weight, &[(result, weight)], &sources)?;
        }
        self.regions(op, inner)
    }

    /// Adds a node for each result of `ttg.warp_specialize`; the results are the values that its default region yields.
    fn add_warp_specialize(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        for (index, &result) in operation.results.iter().enumerate() {
            let end = operation.regions.first().and_then(|&region| self.end_of(region));
            let sources: Vec<_> = end.into_iter().map(|end| (end, index)).collect();
            self.add_carried(op, weight, &[(result, weight)], &sources)?;
        }
        self.leave_unconstrained(op);
        self.regions(op, weight)
    }

    /// Pins the operands and results of calls, and the operands of returns, to the default layout, because callee and
    /// caller must agree.
    fn add_call_boundary(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let operands = (0..operation.operands.len()).map(|operand| (operation.operands[operand], Some(operand)));
        let values: Vec<_> = operands.chain(operation.results.iter().map(|&result| (result, None))).collect();
        for (value, operand) in values {
            if !self.is_tensor(value) {
                continue;
            }
            let shape = self.shape(value);
            let usual = self.usual(&shape)?;
            let node = self.node(Kind::Nothing, Some(op), weight, shape);
            match operand {
                Some(operand) => self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same)),
                None => self.out(node, value, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight),
            }
            self.graph.nodes[node].fixed.get_or_insert(usual);
        }
        Ok(())
    }

    fn jump(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        for successor in self.body.op(op).successors.clone() {
            for (&argument, operand) in self.body.arguments(successor.block).iter().zip(successor.operands.clone()) {
                if !self.is_tensor(argument) {
                    continue;
                }
                let node = match self.graph.roles[argument.index()] {
                    Role::Of(node, _) => node,
                    _ => {
                        let node = self.node(Kind::Nothing, None, weight, self.shape(argument));
                        self.out(node, argument, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
                        node
                    }
                };
                self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            }
        }
        Ok(())
    }

    /// Records that an operation takes its operands in the layouts that they have. Operands with a requirement recorded
    /// before keep it.
    pub(super) fn leave_unconstrained(&mut self, op: Op) {
        for operand in 0..self.body.op(op).operands.len() {
            let explicit =
                self.graph.wants[op.index()].get(operand).is_some_and(|required| *required != RequiredLayout::Scalar);
            if !explicit && self.is_tensor(self.body.op(op).operands[operand]) {
                self.set_required(op, operand, RequiredLayout::AsIs);
            }
        }
    }

    fn entry(&self, region: Region) -> Vec<Value> {
        self.body.blocks(region).first().map_or_else(Vec::new, |entry| self.body.arguments(*entry).to_vec())
    }

    fn end_of(&self, region: Region) -> Option<Op> {
        self.body.blocks(region).last().and_then(|block| self.body.ops(*block).last()).copied()
    }
}
