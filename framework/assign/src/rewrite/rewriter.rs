//! Rewrites a function with the layouts that were chosen, and inserts conversions.

use crate::graph::Role;
use crate::layouts::shape_of;
use crate::pool::LayoutId;
use crate::state::State;
use crate::{EngineError, LaunchConfig};
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_tile::op::Definition;
use tilewright_tile::op::name::tt;
use tilewright_tile::{Body, Function, Op, Operation, Value, ValueOrigin};

/// One conversion that is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    /// The value, and what it becomes.
    pub value: Value,
    /// In which layout it is.
    pub from: LayoutId,
    /// In which layout it is wanted.
    pub to: LayoutId,
}

/// What is in which layout.
type Versions = BTreeMap<(Value, LayoutId), Value>;

pub(super) struct Rewriter<'r, 's, 'a> {
    pub(super) state: &'r State<'s, 'a>,
    pub(super) machine: &'r LaunchConfig<'r>,
    pub(super) body: Body,
    convert: Arc<Definition>,
    /// Layouts in which values are wanted that are computed again; in the order in which they were found.
    pub(super) needed: Vec<Vec<LayoutId>>,
    pub(super) versions: Versions,
    /// By number of the operation: those that stand in its place.
    pub(super) instead: BTreeMap<Op, Vec<Op>>,
    /// Operations that are done in a layout since their results are wanted in it.
    pub(super) rematerialized: Vec<(Op, LayoutId)>,
    /// The operation that stands for one that is done again, which knows what it wants.
    pub(super) model: BTreeMap<Op, Op>,
    /// The conversion that makes a value.
    pub(super) conversions: BTreeMap<Value, Op>,
    left: Vec<Left>,
}

/// The function with the layouts of a state, and the conversions in it.
pub(crate) fn rewrite(
    function: &Function,
    state: &State<'_, '_>,
    machine: &LaunchConfig<'_>,
    convert: &Arc<Definition>,
) -> Result<(Function, Vec<Left>), EngineError> {
    let Some(body) = &function.body else { return Ok((function.clone(), Vec::new())) };
    let mut rewriter = Rewriter {
        state,
        machine,
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
    let ops = body.walk(body.root());
    rewriter.make_homes();
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
    rewriter.put_in_place();
    let mut function = function.clone();
    let body = rewriter.body;
    if let Some(entry) = body.blocks(body.root()).first() {
        function.signature.arguments = body.arguments(*entry).iter().map(|value| body.ty(*value).clone()).collect();
    }
    let returned = ops.iter().find(|op| body.op(**op).name() == tt::RETURN);
    if let Some(returned) = returned {
        function.signature.results = body.op(*returned).operands.iter().map(|value| body.ty(*value).clone()).collect();
    }
    function.body = Some(body);
    Ok((function, rewriter.left))
}

impl Rewriter<'_, '_, '_> {
    pub(super) fn role(&self, value: Value) -> Role {
        self.state.graph.roles[value.index()]
    }

    /// Whether an operation is done again wherever its results are wanted.
    pub(super) fn is_free(&self, op: Op) -> bool {
        let results = &self.body.op(op).results;
        results.first().is_some_and(|result| matches!(self.state.graph.roles.get(result.index()), Some(Role::Free(_))))
    }

    pub(super) fn set_type(&mut self, value: Value, layout: LayoutId) {
        let ty = self.body.ty(value);
        // What the program says already is said as it says it.
        if ty.layout().is_none() {
            let ty = ty.with_layout(Some(self.state.graph.pool.name(layout)));
            self.body.set_type(value, ty);
        }
    }

    /// Values with a layout of their own have it.
    fn make_homes(&mut self) {
        for node in &self.state.graph.nodes {
            for end in &node.outs {
                if let Some(home) = self.state.home(end.value) {
                    self.set_type(end.value, home);
                    self.versions.insert((end.value, home), end.value);
                }
            }
        }
    }

    /// Conversions of values to the layouts in which they are wanted elsewhere.
    fn make_conversions(&mut self) {
        let outs = self.state.graph.nodes.iter().flat_map(|node| &node.outs).map(|end| end.value).collect::<Vec<_>>();
        for value in outs {
            let Some(home) = self.state.home(value) else { continue };
            for required in self.state.required(value).into_iter().flatten().filter(|required| *required != home) {
                let name = self.state.graph.pool.name(required);
                let ty = self.body.ty(value).with_layout(Some(name));
                let mut operation = Operation::new(Arc::clone(&self.convert));
                operation.operands.push(value);
                operation.groups.push(1);
                operation.result_groups.push(1);
                if let ValueOrigin::Result(op, _) = self.body.origin(value) {
                    operation.location = self.body.op(op).location.clone();
                }
                let op = self.body.add_op(operation, [ty]);
                let result = self.body.op(op).results[0];
                if let Some(name) = self.body.name(value).map(str::to_owned) {
                    self.body.set_name(result, name);
                }
                self.versions.insert((value, required), result);
                self.conversions.insert(result, op);
                self.left.push(Left { value, from: home, to: required });
            }
        }
    }

    /// The operands of an operation in the layouts in which it wants them.
    fn set_operands(&mut self, op: Op, model: Op, own: Option<LayoutId>) -> Result<(), EngineError> {
        for operand in 0..self.body.op(op).operands.len() {
            let value = self.body.op(op).operands[operand];
            let Some(required) = self.required(model, operand, own)? else { continue };
            let Some(&version) = self.versions.get(&(value, required)) else {
                return Err(EngineError::Program {
                    operation: self.body.op(op).name().to_owned(),
                    message: format!(
                        "operand {operand} is wanted in a layout of {:?} that nothing makes",
                        shape_of(&self.state.graph.pool.get(required))
                    ),
                });
            };
            self.body.op_mut(op).operands[operand] = version;
        }
        self.set_constant(op);
        Ok(())
    }
}
