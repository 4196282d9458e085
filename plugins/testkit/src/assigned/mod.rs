//! Checks the layouts that are assigned to whole programs, by rules that do not use the code of the layout assignment.

pub mod lane_local;
pub mod on_target;
pub mod pinned_dots;
pub mod semantics;

use std::path::PathBuf;
use tilewright_assign::Strategy;

use crate::prelude::*;
use tilewright_assign::AssignmentError;
use tilewright_assign::dot_plan::plan_dot;
use tilewright_assign::layouts::LayoutCache;
use tilewright_tile::import::{ForeignOpReplacements, replace_vendor_operations};
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::{arith, tt};
use tilewright_tile::{Attribute, FunctionBody, Op, TileModule, TileType, text, verify_transformed_module};

/// A program in Triton IR without layouts, with Triton's results for it (`triton`).
pub struct Program {
    pub name: String,
    pub module: TileModule,
    pub warps: u32,
    pub triton: serde_json::Value,
}

/// Returns the programs without layouts in the shared test data outside of the repository. The environment variable
/// `TILEWRIGHT_PROGRAM` selects files by a part of their path.
pub fn programs() -> Vec<Program> {
    let folder = shared_data::path("kernels/cases");
    let only = std::env::var("TILEWRIGHT_PROGRAM").unwrap_or_default();
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "ttir") && path.to_string_lossy().contains(&only));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &std::path::Path) -> Program {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let json = |end: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(path.with_extension(end)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let warps = json("json")["num_warps"].as_u64().unwrap() as u32;
    let program = std::fs::read_to_string(path).unwrap();
    let dialects = Dialects::neutral();
    let module = text::parse_module(&program, &dialects).unwrap_or_else(|error| panic!("{name}:{error}"));
    Program { name, module, warps, triton: json("triton.json") }
}

impl Program {
    /// Returns the number of layout conversions in Triton's result for one of its targets, including loads from shared
    /// memory that replace a conversion. `None` if there is no result for the target.
    pub fn of_triton(&self, target: &str) -> Option<u64> {
        let counts = &self.triton["targets"][target]["ttgir"];
        Some(counts["convert_layout"].as_u64()? + counts["local_load"].as_u64()?)
    }
}

/// Assigns layouts to a program by both strategies, propagation and least cost, and checks both results. Returns the
/// result of least cost; an error if it costs more than that of propagation.
pub fn assign_and_check(program: &Program, config: &LaunchConfig<'_>) -> Result<AssignedModule, String> {
    let one = |strategy| {
        let assigned = assign_layouts(&program.module, config, strategy).map_err(|error| error.to_string())?;
        check_assigned_module(&program.module, &assigned.module, config)
            .map_err(|error| format!("{strategy:?}: {error}"))?;
        Ok::<_, String>(assigned)
    };
    let (followed, least) = (one(Strategy::Propagation)?, one(Strategy::LeastCost)?);
    if least.report.total_cost() > followed.report.total_cost() + 1e-6 {
        return Err(format!(
            "{} is more than {} by propagation",
            least.report.total_cost(),
            followed.report.total_cost()
        ));
    }
    Ok(least)
}

/// Checks that every tensor of `after` has a layout, that operands have the layouts that their operations require, and
/// that `after` computes the same as `before`.
pub fn check_assigned_module(before: &TileModule, after: &TileModule, config: &LaunchConfig<'_>) -> Result<(), String> {
    let printed = text::print_module(after);
    verify_transformed_module(after).map_err(|violation| format!("{violation}\n{printed}"))?;
    let reparsed = text::parse_module(&printed, &Dialects::neutral()).map_err(|error| error.to_string())?;
    if text::print_module(&reparsed) != printed {
        return Err("it is not read as it was written".to_owned());
    }
    let layouts = LayoutCache::new(config.families);
    for function in &after.functions {
        let Some(body) = &function.body else { continue };
        for op in body.walk_region(body.root()) {
            rules(body, op, &layouts, config).map_err(|why| format!("{}: {why}\n{printed}", body.op(op).name()))?;
        }
    }
    semantics::same(before, after)
}

fn rules(body: &FunctionBody, op: Op, layouts: &LayoutCache<'_>, config: &LaunchConfig<'_>) -> Result<(), String> {
    let operation = body.op(op);
    let layout_of = |value: &tilewright_tile::Value| -> Result<Option<LinearLayout>, String> {
        let ty = body.value_type(*value);
        match ty {
            TileType::Tensor(tensor) => {
                let layout = layouts.resolve_distributed(ty).map_err(|error| error.to_string())?;
                let sizes: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
                let fits = sizes == tensor.shape && layout.is_surjective();
                fits.then_some(Some(layout)).ok_or_else(|| format!("the layout of {ty} is none"))
            }
            _ => Ok(None),
        }
    };
    let operands = operation.operands.iter().map(layout_of).collect::<Result<Vec<_>, _>>()?;
    let results = operation.results.iter().map(layout_of).collect::<Result<Vec<_>, _>>()?;
    if operation.is_dot() {
        let plan = plan_dot(body, op, config).map_err(|error| error.to_string())?;
        let [a, b] = &plan.operands;
        for (assigned, planned) in operands.iter().zip([a.as_ref(), b.as_ref(), Some(&plan.accumulator)]) {
            if planned.is_some_and(|planned| Some(planned) != assigned.as_ref()) {
                return Err(format!("an operand is in {assigned:?}, and planned is {planned:?}"));
            }
        }
    }
    let name = operation.name();
    if matches!(name, arith::SELECT | tt::LOAD | tt::STORE | tt::SCAN | tt::ATOMIC_RMW | tt::MAP_ELEMENTWISE) {
        let mut all = operands.iter().chain(&results).flatten();
        let first = all.next();
        if all.any(|other| Some(other) != first) {
            return Err("its tensors are in different layouts".to_owned());
        }
    }
    lane_local::check_lane_local(body, op, &operands, &results)
}

/// Checks that layout assignment keeps the layouts of programs that have layouts already, and adds no operation. The
/// programs are the files of the shared test data whose names end with one of `endings`; vendors' operations are first
/// replaced by `imports`, which may leave operands of dots without a layout.
pub fn check_layouts_stay(
    context: PlanContext<'_>,
    families: &dyn Families,
    (dialects, imports): (&Dialects, &ForeignOpReplacements),
    endings: &[&str],
) {
    let folder = shared_data::path("kernels/ttgir");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if !endings.iter().any(|ending| file.ends_with(ending)) {
            continue;
        }
        let module = text::parse_module(&std::fs::read_to_string(&path).unwrap(), dialects).unwrap();
        let module =
            replace_vendor_operations(&module, imports, dialects).unwrap_or_else(|error| panic!("{file}: {error:?}"));
        let number = |name: &str| module.attributes.get(name).and_then(Attribute::as_integer).unwrap() as u32;
        let (lanes, warps) = (number("ttg.threads-per-warp"), number("ttg.num-warps"));
        let config = LaunchConfig { context, families, lanes, warps };
        let assignment = match assign_layouts(&module, &config, Strategy::LeastCost) {
            Ok(assignment) => assignment,
            // Dots that the target cannot execute are rejected before layouts are assigned.
            Err(AssignmentError::Mma { .. }) => continue,
            Err(error) => panic!("{file}: {error}"),
        };
        let (before, after) = (results(&module), results(&assignment.module));
        assert_eq!(before.len(), after.len(), "{file}: operations were added");
        let is_open = |ty: &TileType| ty.shape().is_some() && ty.layout().is_none();
        let differ = before.iter().zip(&after).find(|(before, after)| before != after && !is_open(&before.1));
        assert!(differ.is_none(), "{file}: {differ:?}");
    }
}

/// Returns each result of a module: the name of its operation, and its type.
fn results(module: &TileModule) -> Vec<(&str, TileType)> {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let ops = bodies.flat_map(|body| body.walk_region(body.root()).into_iter().map(move |op| (body, op)));
    let results = ops.flat_map(|(body, op)| body.op(op).results.iter().map(move |&value| (body, op, value)));
    results.map(|(body, op, value)| (body.op(op).name(), body.value_type(value).clone())).collect()
}

/// Returns the text of a program that loads a 32 x 32 matrix of f16 as `%x`, executes the statements `what`, and stores
/// `result` (a value with its type) at `%to`. The value of `%count` is unknown at compile time.
pub fn build_square_tile_program(what: &str, result: &str) -> String {
    let tile = TileAddressText { name: "", rows: 32, columns: 32, pitch: 32, layout: None };
    let address_ops = tile.offsets() + &tile.addresses("from", "p", "f16") + &tile.addresses("to", "q", "f32");
    format!(
        "module {{
  tt.func public @f(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %count: i32) {{
    {address_ops}
    %x = tt.load %from : tensor<32x32x!tt.ptr<f16>>
    {what}
    tt.store %to, {result} : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }}
}}"
    )
}
