//! Rewrites a function with the chosen layouts and inserts conversions.

use crate::graph::Role;
use crate::interner::LayoutId;
use crate::layouts::tensor_shape_from_layout;
use crate::state::State;
use crate::{AssignmentError, LaunchConfig};
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_tile::op::OpDefinition;
use tilewright_tile::op::name::tt;
use tilewright_tile::{Function, FunctionBody, Op, Operation, Value, ValueOrigin};

/// A conversion of a value to another layout that remains in the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemainingConversion {
    /// The value that is converted.
    pub value: Value,
    /// The layout of the value.
    pub from: LayoutId,
    /// The layout of the converted value.
    pub to: LayoutId,
}

/// For each value and layout, the value with the same elements in that layout.
type Versions = BTreeMap<(Value, LayoutId), Value>;

pub(super) struct Rewriter<'r, 's, 'a> {
    pub(super) state: &'r State<'s, 'a>,
    pub(super) config: &'r LaunchConfig<'r>,
    pub(super) body: FunctionBody,
    convert: Arc<OpDefinition>,
    /// For each value index, the layouts that are required of the value if it is rematerialized, in the order of
    /// discovery.
    pub(super) needed: Vec<Vec<LayoutId>>,
    pub(super) versions: Versions,
    /// For each rematerialized operation, the clones that replace it.
    pub(super) instead: BTreeMap<Op, Vec<Op>>,
    /// The clones of rematerialized operations, each with the layout of its results.
    pub(super) rematerialized: Vec<(Op, LayoutId)>,
    /// For each clone, the original operation, which has the same operand requirements.
    pub(super) model: BTreeMap<Op, Op>,
    /// For each result of a conversion, the conversion that produces it.
    pub(super) conversions: BTreeMap<Value, Op>,
    left: Vec<RemainingConversion>,
}

/// Writes the layouts of `state` into a function, with a conversion (an operation defined by `convert`) where they
/// differ; also returns the conversions that remain.
pub(crate) fn rewrite(
    function: &Function,
    state: &State<'_, '_>,
    config: &LaunchConfig<'_>,
    convert: &Arc<OpDefinition>,
) -> Result<(Function, Vec<RemainingConversion>), AssignmentError> {
    let Some(body) = &function.body else { return Ok((function.clone(), Vec::new())) };
    let mut rewriter = Rewriter {
        state,
        config,
        body: body.clone(),
        convert: Arc::clone(convert),
        needed: vec![Vec::new(); body.value_count()],
        versions: Versions::new(),
        instead: BTreeMap::new(),
        rematerialized: Vec::new(),
        model: BTreeMap::new(),
        conversions: BTreeMap::new(),
        left: Vec::new(),
    };
    rewriter.find_needed()?;
    let ops = body.walk_region(body.root());
    rewriter.write_types();
    for &op in &ops {
        if rewriter.is_free(op) {
            rewriter.rematerialize(op);
        }
    }
    rewriter.make_conversions();
    for &op in &ops {
        if !rewriter.is_free(op) {
            rewriter.set_operands(op, op, None)?;
        }
    }
    for (op, layout) in rewriter.rematerialized.clone() {
        let model = rewriter.model.get(&op).copied().unwrap_or(op);
        rewriter.set_operands(op, model, Some(layout))?;
    }
    rewriter.order_ops();
    let mut function = function.clone();
    let body = rewriter.body;
    if let Some(entry) = body.blocks(body.root()).first() {
        function.signature.arguments =
            body.arguments(*entry).iter().map(|value| body.value_type(*value).clone()).collect();
    }
    let returned = ops.iter().find(|op| body.op(**op).name() == tt::RETURN);
    if let Some(returned) = returned {
        function.signature.results =
            body.op(*returned).operands.iter().map(|value| body.value_type(*value).clone()).collect();
    }
    function.body = Some(body);
    Ok((function, rewriter.left))
}

impl Rewriter<'_, '_, '_> {
    pub(super) fn role(&self, value: Value) -> Role {
        self.state.graph.roles[value.index()]
    }

    /// Whether an operation is rematerialized: cloned for each layout that is required of its result.
    pub(super) fn is_free(&self, op: Op) -> bool {
        let results = &self.body.op(op).results;
        results.first().is_some_and(|result| matches!(self.state.graph.roles.get(result.index()), Some(Role::Free(_))))
    }

    pub(super) fn set_type(&mut self, value: Value, layout: LayoutId) {
        let ty = self.body.value_type(value);
        // An explicit layout stays as written.
        if ty.layout().is_none() {
            let ty = ty.with_layout(Some(self.state.graph.interner.name(layout)));
            self.body.set_type(value, ty);
        }
    }

    /// Writes the assigned layout of each value that has one into its type.
    fn write_types(&mut self) {
        for node in &self.state.graph.nodes {
            for end in &node.outs {
                if let Some(assigned) = self.state.assigned_layout(end.value) {
                    self.set_type(end.value, assigned);
                    self.versions.insert((end.value, assigned), end.value);
                }
            }
        }
    }

    /// Adds a conversion for each layout that users require of a value and that the value does not have.
    fn make_conversions(&mut self) {
        let outs = self.state.graph.nodes.iter().flat_map(|node| &node.outs).map(|end| end.value).collect::<Vec<_>>();
        for value in outs {
            let Some(assigned) = self.state.assigned_layout(value) else { continue };
            for required in self.state.required(value).into_iter().flatten().filter(|required| *required != assigned) {
                let name = self.state.graph.interner.name(required);
                let ty = self.body.value_type(value).with_layout(Some(name));
                let mut operation = Operation::new(Arc::clone(&self.convert));
                operation.operands.push(value);
                operation.group_sizes.push(1);
                operation.result_groups.push(1);
                if let ValueOrigin::Result(op, _) = self.body.value_origin(value) {
                    operation.location = self.body.op(op).location.clone();
                }
                let op = self.body.add_op(operation, [ty]);
                let result = self.body.op(op).results[0];
                if let Some(name) = self.body.value_name(value).map(str::to_owned) {
                    self.body.set_name(result, name);
                }
                self.versions.insert((value, required), result);
                self.conversions.insert(result, op);
                self.left.push(RemainingConversion { value, from: assigned, to: required });
            }
        }
    }

    /// Replaces the operands of an operation by values with the same elements in the required layouts. `model` is the
    /// operation whose requirements count: `op`, or the operation that `op` is a clone of. `result_layout` is the
    /// layout of the operation's result, given if the operation is rematerialized.
    fn set_operands(&mut self, op: Op, model: Op, result_layout: Option<LayoutId>) -> Result<(), AssignmentError> {
        for operand in 0..self.body.op(op).operands.len() {
            let value = self.body.op(op).operands[operand];
            let Some(required) = self.required(model, operand, result_layout)? else { continue };
            let Some(&version) = self.versions.get(&(value, required)) else {
                return Err(AssignmentError::Program {
                    operation: self.body.op(op).name().to_owned(),
                    message: format!(
                        "operand {operand} is required in a layout of {:?} that no operation provides",
                        tensor_shape_from_layout(&self.state.graph.interner.get(required))
                    ),
                });
            };
            self.body.op_mut(op).operands[operand] = version;
        }
        self.set_constant(op);
        Ok(())
    }
}
