//! What was chosen, and why: a value that prints for people.

use std::fmt;

use super::graph::Graph;
use super::rewrite::Left;
use super::stages::PipelinedLoopLine;
use super::state::State;
use super::{LaunchConfig, Strategy};
use tilewright_plan::movement::{Path, convert, slots};
use tilewright_tile::{Body, Function, Value, ValueOrigin};

/// What was chosen in a module.
#[derive(Debug, Clone, PartialEq)]
pub struct AssignmentReport {
    /// How.
    pub strategy: Strategy,
    /// Function by function.
    pub functions: Vec<FunctionReport>,
}

/// What was chosen in a function. Costs are in wavefront slots of a warp ([`tilewright_plan::movement::slots`]).
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionReport {
    /// The function.
    pub name: String,
    /// All that depends on layouts, loops weighted.
    pub cost: f64,
    /// The same of what propagation alone gives.
    pub cost_of_propagation: f64,
    /// Every tensor, in the order of the program.
    pub values: Vec<ValueReport>,
    /// Every conversion.
    pub conversions: Vec<ConversionReport>,
    /// The loops whose loads were looked at, where that was asked for.
    pub loops: Vec<PipelinedLoopLine>,
}

/// The layout of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueReport {
    /// The name of the value.
    pub value: String,
    /// The operation that makes it; `argument` where none does.
    pub operation: String,
    /// Its type, which names the layout.
    pub ty: String,
}

/// A conversion that is left.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversionReport {
    /// The name of the value.
    pub value: String,
    /// The operation that makes it.
    pub operation: String,
    /// The layout that it has.
    pub from: String,
    /// The layout in which it is wanted.
    pub to: String,
    /// By what way it moves; absent where there is none.
    pub path: Option<Path>,
    /// The slots of one.
    pub slots: f64,
    /// How often it happens, beside what happens once.
    pub weight: f64,
    /// The operations that want it so.
    pub required_by: Vec<String>,
}

impl AssignmentReport {
    /// Conversions in all functions that cost something.
    pub fn costly(&self) -> impl Iterator<Item = &ConversionReport> {
        self.functions.iter().flat_map(|function| &function.conversions).filter(|conversion| conversion.slots > 0.0)
    }

    /// What everything costs together.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.functions.iter().map(|function| function.cost).sum()
    }
}

impl FunctionReport {
    pub(super) fn of(
        before: &Function,
        after: &Function,
        state: &State<'_, '_>,
        left: &[Left],
        first: f64,
        machine: &LaunchConfig<'_>,
    ) -> Self {
        let cost = state.total();
        let (name, cost_of_propagation) = (before.name.to_string(), first);
        let (mut values, mut conversions) = (Vec::new(), Vec::new());
        if let Some(body) = &after.body {
            values = tensors(body).map(|value| of_value(body, value)).collect();
            conversions = left.iter().map(|left| of_conversion(body, state, left, machine)).collect();
        }
        Self { name, cost, cost_of_propagation, values, conversions, loops: Vec::new() }
    }
}

/// All tensors, each behind those before it in the program.
fn tensors(body: &Body) -> impl Iterator<Item = Value> + '_ {
    let entry = body.blocks(body.root()).iter().flat_map(|block| body.arguments(*block));
    let inner = body.walk(body.root()).into_iter().flat_map(|op| {
        let operation = body.op(op);
        let blocks = operation.regions.iter().flat_map(|region| body.blocks(*region));
        operation.results.iter().chain(blocks.flat_map(|block| body.arguments(*block)))
    });
    entry.chain(inner).copied().filter(|value| body.ty(*value).as_tensor().is_some())
}

fn maker(body: &Body, value: Value) -> String {
    match body.origin(value) {
        ValueOrigin::Result(op, _) => body.op(op).name().to_owned(),
        ValueOrigin::Argument(..) => "argument".to_owned(),
    }
}

fn of_value(body: &Body, value: Value) -> ValueReport {
    ValueReport { value: body.display_name(value), operation: maker(body, value), ty: body.ty(value).to_string() }
}

fn of_conversion(body: &Body, state: &State<'_, '_>, left: &Left, machine: &LaunchConfig<'_>) -> ConversionReport {
    let graph: &Graph<'_> = state.graph;
    let (from, to) = (graph.pool.get(left.from), graph.pool.get(left.to));
    let plan = convert(&from, &to, graph.bits[left.value.index()], machine.context).ok();
    let users = graph.users[left.value.index()].iter();
    let users = users.filter(|(node, view)| state.at(*node, *view) == Some(left.to));
    let mut required_by: Vec<String> =
        users.filter_map(|(node, _)| graph.nodes[*node].op).map(|op| body.op(op).name().to_owned()).collect();
    required_by.dedup();
    ConversionReport {
        value: body.display_name(left.value),
        operation: maker(body, left.value),
        from: graph.pool.name(left.from).text().to_owned(),
        to: graph.pool.name(left.to).text().to_owned(),
        path: plan.as_ref().map(|plan| plan.path),
        slots: plan.map_or(f64::INFINITY, |plan| slots(&plan.stats.counts)),
        weight: graph.weights[left.value.index()],
        required_by,
    }
}

impl fmt::Display for AssignmentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for function in &self.functions {
            write!(f, "{function}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FunctionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "@{}: {:.2} slots of a warp; by propagation alone {:.2}",
            self.name, self.cost, self.cost_of_propagation
        )?;
        writeln!(f, "  layouts")?;
        let width = self.values.iter().map(|value| value.value.len()).max().unwrap_or(0);
        for value in &self.values {
            writeln!(f, "    {:width$}  {}  ({})", value.value, value.ty, value.operation)?;
        }
        writeln!(f, "  {}conversions", if self.conversions.is_empty() { "no " } else { "" })?;
        for conversion in &self.conversions {
            write!(f, "{conversion}")?;
        }
        if !self.loops.is_empty() {
            writeln!(f, "  loops")?;
        }
        for of in &self.loops {
            write!(f, "{of}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ConversionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.path.map_or_else(|| "no way".to_owned(), |path| path.to_string());
        writeln!(f, "    {}  ({}): {} slots by {by}, {} times", self.value, self.operation, self.slots, self.weight)?;
        writeln!(f, "      from {}", self.from)?;
        writeln!(f, "      to   {}", self.to)?;
        writeln!(f, "      since it is wanted so by {}", self.required_by.join(", "))
    }
}
