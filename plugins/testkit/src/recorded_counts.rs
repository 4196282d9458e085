//! Committed counts of Triton's code and of ours for the test programs: ours, computed afresh, may not grow.
//!
//! The scripts `executed_beside_triton.py` and `machine_code_beside_triton.py` in `conformance/peers` write the files
//! with `--record`; with `TILEWRIGHT_BLESS=1` the tests write our counts.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tilewright_verify::TestLaunch;
use tilewright_verify::case::ProgramCase;

use crate::prelude::*;

/// Optimisation level of Triton.
const OPTIMISATION: u8 = 3;

/// Our counts of a case, by name.
pub type Metrics = BTreeMap<String, u64>;

/// A case compiled for a target.
pub struct CompiledCase {
    pub launch: TestLaunch,
    pub artifact: Artifact,
}

impl CompiledCase {
    fn of(name: &str, target: &dyn Target) -> Self {
        let file = shared_data::workspace().join("conformance/kernels").join(format!("{name}.json"));
        let case = ProgramCase::read(&file).unwrap();
        let text = std::fs::read_to_string(&case.program).unwrap();
        let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
        let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
        let options = CompileOptions {
            emit: vec![CodeFormat::Assembly],
            optimisation: OPTIMISATION,
            ..CompileOptions::default()
        };
        let (launch, artifact) = case.compile_variant_launch(&compiler, &text, &options).unwrap();
        Self { launch, artifact }
    }
}

/// Returns a file of committed counts.
pub fn file(name: &str) -> PathBuf {
    shared_data::workspace().join("conformance/peers/recorded").join(name)
}

/// Returns the first line of a file of committed counts, a JSON object that states how they were measured.
pub fn about(file: &Path) -> Json {
    let text = std::fs::read_to_string(file).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

/// Compares the counts of every row of a file with those that `count` computes now: each that has grown is a failure,
/// also because its ratio to Triton's has.
pub fn check_no_growth(file: &Path, target: &dyn Target, count: impl Fn(&CompiledCase) -> Metrics) {
    let text = std::fs::read_to_string(file).unwrap();
    let about = about(file);
    let (mut written, mut grown, mut compared) = (vec![about], Vec::new(), 0);
    for line in text.lines().skip(1) {
        let mut row: Json = serde_json::from_str(line).unwrap();
        let name = row["case"].as_str().unwrap().to_owned();
        let counts = count(&CompiledCase::of(&name, target));
        let recorded = std::mem::take(&mut row["ours"]);
        for (metric, recorded) in recorded.as_object().unwrap() {
            let (recorded, now) = (recorded.as_u64().unwrap(), counts[metric]);
            compared += 1;
            if now > recorded {
                grown.push(format!("{name}: {metric} {now}, was {recorded}; Triton's {}", row["triton"][metric]));
            }
            row["ours"][metric] = json!(now);
        }
        written.push(row);
    }
    assert!(compared > 0, "{} has no counts", file.display());
    if golden::blesses() {
        let text: String = written.iter().map(|line| format!("{line}\n")).collect();
        return std::fs::write(file, text).unwrap();
    }
    let hint = "if the code is better all the same, TILEWRIGHT_BLESS=1 writes the new counts";
    assert!(grown.is_empty(), "{} of {compared} counts grew; {hint}:\n{}", grown.len(), grown.join("\n"));
}
