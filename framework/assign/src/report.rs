//! The report of layout assignment, as data and as text: the layouts of all tensors, and the conversions that remain.

use std::fmt;

use serde::Serialize;

use super::dot_alternatives::TriedPlans;
use super::graph::Graph;
use super::rewrite::RemainingConversion;
use super::source::{source, suffix};
use super::stages::{BulkStoreReport, LoopPipelineReport};
use super::state::State;
use super::synthesis::alternatives::{Tried, write_alternatives};
use super::synthesis::{PredictedPerformance, RejectedAlternative};
use super::{DotReport, LaunchConfig, Strategy};
use tilewright_kernel::{Counts, SourceLocation};
use tilewright_plan::movement::{ConversionKind, ConversionPlan, plan_conversion};
use tilewright_tile::{Function, FunctionBody, Value, ValueOrigin};

/// The report of layout assignment: layouts and conversions of a module.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssignmentReport {
    /// The strategy by which layouts were chosen.
    pub strategy: Strategy,
    /// One report for each function.
    pub functions: Vec<FunctionReport>,
}

/// The layouts and conversions of a function. Costs are in cycles of the compute unit for each warp
/// ([`tilewright_plan::cost`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionReport {
    /// The name of the function.
    pub name: String,
    /// Total cost, weighted by assumed executions, in cycles for each warp.
    pub cost: f64,
    /// Total cost after propagation alone, in the same unit as `cost`.
    pub cost_of_propagation: f64,
    /// The layouts of all tensors, in program order.
    pub values: Vec<ValueReport>,
    /// All conversions that remain.
    pub conversions: Vec<ConversionReport>,
    /// The pipelined loops; empty if pipelining did not run.
    pub loops: Vec<LoopPipelineReport>,
    /// The stores through tensor descriptors that are bulk tensor copies (TMA); empty if pipelining did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bulk_stores: Vec<BulkStoreReport>,
    /// The plan of each dot.
    pub dots: Vec<DotReport>,
    /// Warnings: dots whose plans spill registers.
    pub warnings: Vec<String>,
    /// The predicted performance of the pipelined function; `None` if no alternative was tried.
    pub prediction: Option<PredictedPerformance>,
    /// The plans of dots and numbers of stages that were tried and not taken: plans that may lower the cost of a dot's
    /// surroundings, and numbers of stages of loops for which neither the program nor the launch states one.
    pub alternatives: Vec<RejectedAlternative>,
    /// The programs whose time was predicted so far.
    #[serde(skip)]
    pub(crate) tried: Tried,
}

/// The layout of a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueReport {
    /// Name of the value in the program's text, e.g. `%acc`.
    pub value: String,
    /// Name of the operation that defines the value, e.g. `tt.load`; `argument` for an argument.
    pub operation: String,
    /// The source line of that operation; `None` if the program gives none.
    pub source: Option<SourceLocation>,
    /// The type of the value, including the layout.
    pub ty: String,
}

/// A layout conversion that remains in the program after layout assignment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConversionReport {
    /// Name of the converted value in the program's text, e.g. `%acc`.
    pub value: String,
    /// Name of the operation that defines the converted value, e.g. `tt.load`; `argument` for an argument.
    pub operation: String,
    /// The source line of that operation; `None` if the program gives none.
    pub source: Option<SourceLocation>,
    /// Name of the value's layout before the conversion, e.g. `#ttg.blocked<{...}>`.
    pub from: String,
    /// Name of the layout that the conversion produces.
    pub to: String,
    /// The kind of the conversion, such as by shuffles or through shared memory; `None` if no plan was found.
    pub path: Option<ConversionKind>,
    /// Cost of one execution in cycles for each warp.
    pub price: f64,
    /// Operation counts of a warp for one execution; zero if no plan was found.
    pub counts: Counts,
    /// Assumed number of executions, relative to code outside of loops.
    pub weight: f64,
    /// The operations that require the converted value, with their source lines if the program gives them.
    pub required_by: Vec<String>,
}

impl AssignmentReport {
    /// Iterates over the conversions with a positive cost, of all functions.
    pub fn costly_conversions(&self) -> impl Iterator<Item = &ConversionReport> {
        self.functions.iter().flat_map(|function| &function.conversions).filter(|conversion| conversion.price > 0.0)
    }

    /// Iterates over the loops that have prefetched loads, of all functions.
    pub fn pipelined_loops(&self) -> impl Iterator<Item = &LoopPipelineReport> {
        self.functions.iter().flat_map(|function| &function.loops).filter(|of| of.stages > 1)
    }

    /// Iterates over the warnings of all functions.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().flat_map(|function| &function.warnings).map(String::as_str)
    }

    /// Total cost of all functions in cycles for each warp.
    #[must_use]
    pub fn total_cost(&self) -> f64 {
        self.functions.iter().map(|function| function.cost).sum()
    }
}

impl FunctionReport {
    pub(super) fn of(
        before: &Function,
        after: &Function,
        state: &State<'_, '_>,
        left: &[RemainingConversion],
        (first, plans): (f64, TriedPlans),
        config: &LaunchConfig<'_>,
    ) -> Self {
        let cost = state.total(f64::INFINITY);
        let (name, cost_of_propagation) = (before.name.to_string(), first);
        let (mut values, mut conversions) = (Vec::new(), Vec::new());
        if let Some(body) = &after.body {
            values = tensors(body).map(|value| of_value(body, value)).collect();
            conversions = left.iter().map(|left| of_conversion(body, state, left, config)).collect();
        }
        let (loops, alternatives) = (Vec::new(), Vec::new());
        let TriedPlans { mut dots, tried } = plans;
        for (dot, report) in state.graph.dots.iter().zip(&mut dots) {
            let name =
                |node: Option<usize>| node.map(|node| state.graph.interner.name(state.keys[node]).text().to_owned());
            report.layouts = [0, 1, 2].map(|operand| name(dot.nodes[operand]).unwrap_or_default());
        }
        let warn = |body| warn_of_spills(body, (state.graph, &dots), config);
        let warnings = before.body.as_ref().map_or_else(Vec::new, warn);
        Self {
            name,
            cost,
            cost_of_propagation,
            values,
            conversions,
            dots,
            warnings,
            loops,
            bulk_stores: Vec::new(),
            prediction: None,
            alternatives,
            tried,
        }
    }
}

/// Returns a warning for each dot whose plan spills registers.
fn warn_of_spills(
    body: &FunctionBody,
    (graph, plans): (&Graph<'_>, &[DotReport]),
    config: &LaunchConfig<'_>,
) -> Vec<String> {
    let spills = graph.dots.iter().zip(plans).filter(|(_, plan)| plan.spilled_registers > 0);
    let warn = spills.map(|(dot, plan)| {
        let operation = body.op(dot.op);
        format!(
            "{} ({}{}): operands and accumulator take up to {} registers of a lane, which has {}; the rest is spilled to \
             memory: more warps or a smaller tile avoid it",
            plan.value,
            operation.name(),
            suffix(source(body, dot.op).as_ref()),
            plan.registers,
            config.registers_per_lane(),
        )
    });
    warn.collect()
}

/// Iterates over all tensors in program order.
fn tensors(body: &FunctionBody) -> impl Iterator<Item = Value> + '_ {
    let entry = body.blocks(body.root()).iter().flat_map(|block| body.arguments(*block));
    let inner = body.walk_region(body.root()).into_iter().flat_map(|op| {
        let operation = body.op(op);
        let blocks = operation.regions.iter().flat_map(|region| body.blocks(*region));
        operation.results.iter().chain(blocks.flat_map(|block| body.arguments(*block)))
    });
    entry.chain(inner).copied().filter(|value| body.value_type(*value).as_tensor().is_some())
}

/// Returns the name and the source line of the operation that defines a value.
fn definition(body: &FunctionBody, value: Value) -> (String, Option<SourceLocation>) {
    match body.value_origin(value) {
        ValueOrigin::Result(op, _) => (body.op(op).name().to_owned(), source(body, op)),
        ValueOrigin::Argument(..) => ("argument".to_owned(), None),
    }
}

fn of_value(body: &FunctionBody, value: Value) -> ValueReport {
    let (operation, source) = definition(body, value);
    ValueReport { value: body.display_name(value), operation, source, ty: body.value_type(value).to_string() }
}

fn of_conversion(
    body: &FunctionBody,
    state: &State<'_, '_>,
    left: &RemainingConversion,
    config: &LaunchConfig<'_>,
) -> ConversionReport {
    let graph: &Graph<'_> = state.graph;
    let (from, to) = (graph.interner.get(left.from), graph.interner.get(left.to));
    let plan = plan_conversion(&from, &to, graph.bits[left.value.index()], config.context).ok();
    let time = |plan: &ConversionPlan| {
        plan.to_warp_work().predict_time(config.warps.into(), config.context.target).total_cycles()
    };
    let users = graph.users[left.value.index()].iter();
    let users = users.filter(|(node, transfer)| state.at(*node, *transfer) == Some(left.to));
    let user = |op| format!("{}{}", body.op(op).name(), suffix(source(body, op).as_ref()));
    let mut required_by: Vec<String> = users.filter_map(|(node, _)| graph.nodes[*node].op).map(user).collect();
    required_by.dedup();
    let (operation, source) = definition(body, left.value);
    ConversionReport {
        value: body.display_name(left.value),
        operation,
        source,
        from: graph.interner.name(left.from).text().to_owned(),
        to: graph.interner.name(left.to).text().to_owned(),
        path: plan.as_ref().map(|plan| plan.path),
        price: plan.as_ref().map_or(f64::INFINITY, time),
        counts: plan.map_or_else(Counts::default, |plan| plan.stats.counts),
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
            "@{}: {:.2} cycles for each warp; by propagation alone {:.2}",
            self.name, self.cost, self.cost_of_propagation
        )?;
        writeln!(f, "  layouts")?;
        let width = self.values.iter().map(|value| value.value.len()).max().unwrap_or(0);
        for value in &self.values {
            let at = suffix(value.source.as_ref());
            writeln!(f, "    {:width$}  {}  ({}{at})", value.value, value.ty, value.operation)?;
        }
        if !self.dots.is_empty() {
            writeln!(f, "  dots")?;
        }
        self.dots.iter().try_for_each(|dot| writeln!(f, "    {dot}"))?;
        self.warnings.iter().try_for_each(|warning| writeln!(f, "  warning: {warning}"))?;
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
        if !self.bulk_stores.is_empty() {
            writeln!(f, "  bulk stores")?;
        }
        self.bulk_stores.iter().try_for_each(|store| write!(f, "{store}"))?;
        write_alternatives(f, self.prediction.as_ref(), &self.alternatives)
    }
}

impl fmt::Display for ConversionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.path.map_or_else(|| "no plan".to_owned(), |path| path.to_string());
        writeln!(
            f,
            "    {}  ({}{}): {:.2} cycles by {by}, {} times",
            self.value,
            self.operation,
            suffix(self.source.as_ref()),
            self.price,
            self.weight
        )?;
        writeln!(f, "      from {}", self.from)?;
        writeln!(f, "      to   {}", self.to)?;
        writeln!(f, "      required by {}", self.required_by.join(", "))
    }
}
