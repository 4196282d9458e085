//! Layouts of whole programs, looked at by other means than those by which they were chosen.

pub mod held;
pub mod meaning;
pub mod on_target;

use std::path::PathBuf;
use tilewright_assign::Strategy;

use crate::prelude::*;
use tilewright_assign::EngineError;
use tilewright_assign::layouts::LayoutCache;
use tilewright_assign::product::product;
use tilewright_tile::import::{Imports, import};
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::{arith, tt};
use tilewright_tile::{Attribute, Body, Op, TileModule, TileType, text, verify};

/// A real program, with what Triton makes of it.
pub struct Program {
    pub name: String,
    pub module: TileModule,
    pub warps: u32,
    pub triton: serde_json::Value,
}

/// The programs of the full data before layouts are assigned.
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
    let module = text::parse(&program, &dialects).unwrap_or_else(|error| panic!("{name}:{error}"));
    Program { name, module, warps, triton: json("triton.json") }
}

impl Program {
    /// Conversions that Triton leaves on a target of its own, with those from shared memory that stand for one.
    pub fn of_triton(&self, target: &str) -> Option<u64> {
        let counts = &self.triton["targets"][target]["ttgir"];
        Some(counts["convert_layout"].as_u64()? + counts["local_load"].as_u64()?)
    }
}

/// Assigns layouts both ways, and looks at the result.
pub fn assigned(program: &Program, machine: &LaunchConfig<'_>) -> Result<Assigned, String> {
    let one = |strategy| {
        let assigned = assign(&program.module, machine, strategy).map_err(|error| error.to_string())?;
        look(&program.module, &assigned.module, machine).map_err(|error| format!("{strategy:?}: {error}"))?;
        Ok::<_, String>(assigned)
    };
    let (followed, least) = (one(Strategy::Propagation)?, one(Strategy::LeastCost)?);
    if least.report.cost() > followed.report.cost() + 1e-6 {
        return Err(format!("{} is more than {} by propagation", least.report.cost(), followed.report.cost()));
    }
    Ok(least)
}

/// Every tensor has a layout, operations have their operands where they need them, and the program means the same.
pub fn look(before: &TileModule, after: &TileModule, machine: &LaunchConfig<'_>) -> Result<(), String> {
    let printed = text::print(after);
    verify(after).map_err(|violation| format!("{violation}\n{printed}"))?;
    let again = text::parse(&printed, &Dialects::neutral()).map_err(|error| error.to_string())?;
    if text::print(&again) != printed {
        return Err("it is not read as it was written".to_owned());
    }
    let layouts = LayoutCache::new(machine.families);
    for function in &after.functions {
        let Some(body) = &function.body else { continue };
        for op in body.walk(body.root()) {
            rules(body, op, &layouts, machine).map_err(|why| format!("{}: {why}\n{printed}", body.op(op).name()))?;
        }
    }
    meaning::same(before, after)
}

fn rules(body: &Body, op: Op, layouts: &LayoutCache<'_>, machine: &LaunchConfig<'_>) -> Result<(), String> {
    let operation = body.op(op);
    let layout_of = |value: &tilewright_tile::Value| -> Result<Option<LinearLayout>, String> {
        let ty = body.ty(*value);
        match ty {
            TileType::Tensor(tensor) => {
                let layout = layouts.distributed(ty).map_err(|error| error.to_string())?;
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
        let plan = product(body, op, machine).map_err(|error| error.to_string())?;
        let [a, b] = &plan.factors;
        for (held, planned) in operands.iter().zip([a.as_ref(), b.as_ref(), Some(&plan.accumulator)]) {
            if planned.is_some_and(|planned| Some(planned) != held.as_ref()) {
                return Err(format!("an operand is in {held:?}, and planned is {planned:?}"));
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
    held::in_place(body, op, &operands, &results)
}

/// Programs of the full data whose names end so, which say their layouts, are left as they are once vendors' words are
/// neutral ones.
pub fn stay(
    context: PlanContext<'_>,
    families: &dyn Families,
    (dialects, imports): (&Dialects, &Imports),
    endings: &[&str],
) {
    let folder = shared_data::path("kernels/ttgir");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if !endings.iter().any(|ending| file.ends_with(ending)) {
            continue;
        }
        let module = text::parse(&std::fs::read_to_string(&path).unwrap(), dialects).unwrap();
        let module = import(&module, imports, dialects).unwrap_or_else(|error| panic!("{file}: {error:?}"));
        let number = |name: &str| module.attributes.get(name).and_then(Attribute::as_integer).unwrap() as u32;
        let (lanes, warps) = (number("ttg.threads-per-warp"), number("ttg.num-warps"));
        let machine = LaunchConfig { context, families, lanes, warps };
        let made = match assign(&module, &machine, Strategy::LeastCost) {
            Ok(made) => made,
            // What the target cannot multiply is said before layouts matter.
            Err(EngineError::Product { .. }) => continue,
            Err(error) => panic!("{file}: {error}"),
        };
        let (before, after) = (text::print(&module), text::print(&made.module));
        let differ = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        assert!(before == after, "{file}: {differ:?}");
    }
}

/// A program that loads a square of 32 rows of 32 binary16 numbers `%x`, does something to it, and stores it at
/// `%to`; `%count` is a number that nobody knows.
pub fn square(what: &str, result: &str) -> String {
    let tile = Tile { name: "", rows: 32, columns: 32, pitch: 32, layout: None };
    let places = tile.offsets() + &tile.addresses("from", "p", "f16") + &tile.addresses("to", "q", "f32");
    format!(
        "module {{
  tt.func public @f(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %count: i32) {{
    {places}
    %x = tt.load %from : tensor<32x32x!tt.ptr<f16>>
    {what}
    tt.store %to, {result} : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }}
}}"
    )
}
