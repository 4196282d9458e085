//! Values that are carried round loops, given by branches, and brought along jumps: each has one layout.

use super::build::Builder;
use super::{Kind, RequiredLayout, Role};
use crate::EngineError;
use crate::layouts::LayoutTransfer;
use tilewright_tile::op::name::{scf, tt, ttg};
use tilewright_tile::{Op, Region, Value};

impl Builder<'_, '_> {
    /// Whether the operation is one of control, and has been taken in.
    pub(super) fn control(&mut self, op: Op, weight: f64) -> Result<bool, EngineError> {
        match self.body.op(op).name() {
            scf::FOR => self.counted_loop(op, weight)?,
            scf::WHILE => self.conditional_loop(op, weight)?,
            scf::IF | scf::INDEX_SWITCH | scf::EXECUTE_REGION | ttg::MASK => self.branches(op, weight)?,
            ttg::WARP_SPECIALIZE => self.groups_of_warps(op, weight)?,
            // Those that end regions are taken in with what they end.
            scf::YIELD | scf::CONDITION | ttg::MASK_RETURN | ttg::WARP_YIELD => self.as_is_where_unsaid(op),
            tt::CALL | tt::RETURN => self.at_the_border(op, weight)?,
            _ if !self.body.op(op).successors.is_empty() => self.jump(op, weight)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// One layout for values that are the same at different times, and for what they come from.
    fn one(
        &mut self,
        op: Op,
        weight: f64,
        values: &[(Value, f64)],
        sources: &[(Op, usize)],
    ) -> Result<(), EngineError> {
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

    fn counted_loop(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let inner = Self::loop_weight(weight);
        let Some(&region) = operation.regions.first() else { return Ok(()) };
        let (arguments, ends) = (self.entry(region), self.end_of(region));
        for (number, &result) in operation.results.iter().enumerate() {
            let values: Vec<_> = [Some((result, weight)), arguments.get(number + 1).map(|&value| (value, inner))]
                .into_iter()
                .flatten()
                .collect();
            let ends = ends.map(|end| (end, number));
            let sources: Vec<_> = std::iter::once((op, 3 + number)).chain(ends).collect();
            self.one(op, inner, &values, &sources)?;
        }
        self.region(region, inner)
    }

    fn conditional_loop(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let inner = Self::loop_weight(weight);
        let &[before, after] = &operation.regions[..] else { return Ok(()) };
        for (number, &argument) in self.entry(before).iter().enumerate() {
            let back = self.end_of(after).map(|end| (end, number));
            let sources: Vec<_> = std::iter::once((op, number)).chain(back).collect();
            self.one(op, inner, &[(argument, inner)], &sources)?;
        }
        let passed = self.entry(after);
        for (number, &result) in operation.results.iter().enumerate() {
            let values: Vec<_> = [Some((result, weight)), passed.get(number).map(|&value| (value, inner))]
                .into_iter()
                .flatten()
                .collect();
            let sources: Vec<_> = self.end_of(before).map(|end| (end, number + 1)).into_iter().collect();
            self.one(op, inner, &values, &sources)?;
        }
        self.region(before, inner)?;
        self.region(after, inner)
    }

    fn branches(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let inner = Self::branch_weight(weight);
        for (number, &result) in operation.results.iter().enumerate() {
            let ends = operation.regions.iter().filter_map(|&region| self.end_of(region));
            let sources: Vec<_> = ends.map(|end| (end, number)).collect();
            self.one(op, weight, &[(result, weight)], &sources)?;
        }
        self.regions(op, inner)
    }

    /// What groups of warps give is what the first of them gives.
    fn groups_of_warps(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        for (number, &result) in operation.results.iter().enumerate() {
            let end = operation.regions.first().and_then(|&region| self.end_of(region));
            let sources: Vec<_> = end.into_iter().map(|end| (end, number)).collect();
            self.one(op, weight, &[(result, weight)], &sources)?;
        }
        self.as_is_where_unsaid(op);
        self.regions(op, weight)
    }

    /// What comes from other functions, and goes to them, is in the usual layout.
    fn at_the_border(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
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

    fn jump(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
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

    /// What an operation without rules of its own takes, it takes as it is.
    pub(super) fn as_is_where_unsaid(&mut self, op: Op) {
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
