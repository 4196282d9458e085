//! What each operation says of the layouts of its operands and results.

use super::build::Builder;
use super::kind::Access;
use super::views::Views;
use super::{Kind, Multiplication, RequiredLayout};
use crate::EngineError;
use crate::layouts::LayoutTransfer;
use crate::memory::{described, moved_bits, together};
use crate::product::OPERANDS;
use tilewright_target::{Direction, Operand};
use tilewright_tile::op::name::{tt, ttg, tw};
use tilewright_tile::{Attribute, Op, Operation, Value};

impl Builder<'_, '_> {
    pub(super) fn op(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
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
            _ if operation.is_dot() => self.multiplies(op, weight)?,
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
            tt::HISTOGRAM => self.counts(op, weight)?,
            tw::AWAIT_PRODUCTS => self.each_as_it_is(op, weight),
            tt::PRINT | tt::ASSERT | tt::UNSPLAT | ttg::CONVERT_LAYOUT => self.apart(op, weight)?,
            _ => match self.views(op) {
                Some(views) => self.reshapes(op, weight, views)?,
                None if self.is_of_one_shape(op) => self.elementwise(op, weight)?,
                None => self.apart(op, weight)?,
            },
        }
        self.regions(op, weight)
    }

    pub(super) fn number(&self, op: Op, name: &str) -> Option<usize> {
        self.body.op(op).attributes.get(name).and_then(Attribute::as_integer).and_then(|n| usize::try_from(n).ok())
    }

    fn reshapes(&mut self, op: Op, weight: f64, views: Views) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let of_result = views.result.0 == LayoutTransfer::Same;
        let keyed = if of_result { operation.results[0] } else { operation.operands[0] };
        let node = self.node(Kind::Nothing, Some(op), weight, self.shape(keyed));
        for &result in &operation.results {
            self.out(node, result, views.result.0.clone(), views.result.1.clone(), weight);
        }
        for operand in 0..operation.operands.len() {
            self.required(node, (op, operand), views.operand.0.clone(), views.operand.1.clone());
        }
        Ok(())
    }

    /// Whether all tensors have one shape.
    pub(super) fn is_of_one_shape(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let mut shapes = operation.operands.iter().chain(&operation.results).filter(|value| self.is_tensor(**value));
        let first = shapes.next().map(|value| self.shape(*value));
        shapes.all(|value| Some(self.shape(*value)) == first)
    }

    /// All tensors in one layout.
    fn elementwise(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        self.alike(op, weight, Kind::elementwise(self.body.op(op))).map(drop)
    }

    fn alike(&mut self, op: Op, weight: f64, kind: Kind) -> Result<Option<usize>, EngineError> {
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

    /// Each result in the layout of its operand.
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

    fn accesses(&mut self, op: Op, weight: f64, direction: Direction) -> Result<(), EngineError> {
        self.alike(op, weight, Kind::of_access(self.body, self.facts, op, direction)).map(drop)
    }

    fn copies(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let tensor = operation.results.first().copied().or_else(|| self.body.operand(op, "src"));
        let Some(tensor) = tensor.filter(|value| self.is_tensor(*value)) else { return Ok(()) };
        let is_load = !operation.results.is_empty();
        let direction = if is_load { Direction::Load } else { Direction::Store };
        let named = described(self.body.ty(tensor), self.together(op));
        let kind = named.map_or(Kind::Nothing, |named| Kind::Access(Access { named, direction }));
        let node = self.node(kind, Some(op), weight, self.shape(tensor));
        for (operand, value) in operation.operands.iter().enumerate() {
            if *value == tensor {
                self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            }
        }
        if is_load {
            self.out(node, tensor, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
        }
        self.as_is_where_unsaid(op);
        Ok(())
    }

    /// How many elements one access of a descriptor's tensor may have. Where the target copies boxes, their edges are its own.
    fn together(&self, op: Op) -> u64 {
        let is_box = |operand: &Operand| matches!(operand, Operand::Box(_));
        let rows = self.machine.context.instructions;
        match self.body.op(op).name() {
            tt::DESCRIPTOR_REDUCE => 1,
            tt::DESCRIPTOR_LOAD | tt::DESCRIPTOR_STORE if !rows.iter().any(|row| row.operands.iter().any(is_box)) => {
                together(self.body, self.facts, op)
            }
            _ => u64::MAX,
        }
    }

    fn along_an_axis(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let kind = Kind::along_an_axis(self.body, op);
        let Kind::Reduce(axis, ..) = kind else { return self.alike(op, weight, kind).map(drop) };
        let Some(&first) = operation.operands.first() else { return Ok(()) };
        let node = self.node(kind, Some(op), weight, self.shape(first));
        for &result in operation.results.iter().filter(|value| self.is_tensor(**value)).collect::<Vec<_>>() {
            self.out(node, result, LayoutTransfer::Without(axis), None, weight);
        }
        for operand in 0..operation.operands.len() {
            self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
        }
        Ok(())
    }

    /// The result has the layout of the indices; the source is taken as it is.
    fn gathers(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let axis = self.number(op, "axis").unwrap_or(0);
        let (&[source, indices], &[result]) = (&operation.operands[..], &operation.results[..]) else { return Ok(()) };
        let bits = moved_bits(self.body.ty(source));
        let node = self.node(Kind::Gather(axis, bits, source), Some(op), weight, self.shape(indices));
        self.out(node, result, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
        self.required(node, (op, 1), LayoutTransfer::Same, Some(LayoutTransfer::Same));
        self.set_required(op, 0, RequiredLayout::AsIs);
        self.graph.nodes[node].watched.push(source);
        Ok(())
    }

    /// Numbers and mask are in one layout, and the counts in another.
    fn counts(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operands = self.body.op(op).operands.clone();
        if let Some(&first) = operands.first() {
            let node = self.node(Kind::Nothing, Some(op), weight, self.shape(first));
            for operand in 0..operands.len() {
                self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            }
        }
        self.apart(op, weight)
    }

    fn multiplies(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let product = self.product(op)?;
        let operation = self.body.op(op).clone();
        let mut nodes = [None; 5];
        for ((group, layout), own) in OPERANDS.into_iter().zip(product.layouts()).zip(&mut nodes) {
            let Some(value) = self.body.operand(op, group).filter(|value| self.is_tensor(*value)) else { continue };
            // An operand may stand in two groups, so that its place must be found in its own.
            let Some(operand) = place(&operation, group) else { continue };
            let Some(layout) = layout else {
                self.set_required(op, operand, RequiredLayout::AsIs);
                continue;
            };
            let key = self.graph.pool.layout(layout)?;
            let node = self.node(Kind::Product, Some(op), weight, self.shape(value));
            self.required(node, (op, operand), LayoutTransfer::Same, Some(LayoutTransfer::Same));
            if group == "c" {
                self.out(node, operation.results[0], LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
            }
            // Where the program says layouts of its own, the product is done in those.
            self.graph.nodes[node].fixed.get_or_insert(key);
            *own = Some(node);
        }
        self.graph.products.push(Multiplication { op, product, nodes });
        Ok(())
    }

    /// Operands are taken as they are, and each result has a layout of its own.
    fn apart(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        self.as_is_where_unsaid(op);
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

/// Where the operand of a group is among all.
fn place(operation: &Operation, group: &str) -> Option<usize> {
    let number = operation.definition.operand_group(group)?;
    Some(operation.groups.get(..number)?.iter().sum::<u32>() as usize)
}
