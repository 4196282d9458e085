//! Reads known answers: JSON Lines of layouts and of operations on them, computed by the Triton
//! compiler (version 3.9.0). A small sample is committed; the full set is used where it is found,
//! in the directory that `TILEWRIGHT_SHARED` names or in `shared` beside the repository.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tilewright_layout::{
    Families, FamilyError, FamilySpec, Layout, LinearLayout, MemoryLayout, layout_from_json, spec_from_json,
};

/// The directory with the full data, where there is one.
pub fn full_data() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|up| up.join("rust-toolchain.toml").is_file());
    let named = std::env::var_os("TILEWRIGHT_SHARED").map(PathBuf::from);
    named.into_iter().chain(root.map(|root| root.join("../shared"))).find(|directory| directory.join("oracle").is_dir())
}

/// The text of a file of the full data, where it is there; says so either way.
pub fn full_text(file: &str) -> Option<String> {
    let text = full_data().and_then(|directory| std::fs::read_to_string(directory.join(file)).ok());
    match &text {
        Some(_) => println!("all of {file} is checked"),
        None => println!("{file} is not here: only the committed sample is checked"),
    }
    text
}

/// The rows of a JSON Lines text.
pub fn rows(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).expect("a row of known answers is JSON");
    text.lines().filter(|line| !line.is_empty()).map(parse).collect()
}

/// The committed sample and, where it is there, the full file.
pub fn sample_and_full(sample: &str, file: &str) -> Vec<Value> {
    let mut all = rows(sample);
    assert!(!all.is_empty(), "the sample is empty");
    all.extend(full_text(file).map(|text| rows(&text)).unwrap_or_default());
    all
}

/// Runs every row that `takes` takes and fails with the ids and reasons of those that disagree.
pub fn all_agree(rows: &[Value], takes: impl Fn(&Value) -> bool, check: impl Fn(&Value) -> Result<(), String>) {
    let taken: Vec<_> = rows.iter().filter(|row| takes(row)).collect();
    let failures: Vec<_> =
        taken.iter().filter_map(|row| check(row).err().map(|why| format!("{}: {why}", row["id"]))).collect();
    assert!(!taken.is_empty(), "no row was taken");
    println!("{} of {} rows agree", taken.len() - failures.len(), taken.len());
    let shown = &failures[..failures.len().min(8)];
    assert!(failures.is_empty(), "{} of {} rows disagree:\n{}", failures.len(), taken.len(), shown.join("\n"));
}

/// The names of the families of a spec, the outermost first.
pub fn chain(spec: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = spec;
    while let Some(name) = at["kind"].as_str() {
        names.push(name.to_owned());
        at = if at["parent"].is_object() { &at["parent"] } else { &at["memory"] };
    }
    names
}

/// The layout of a row: `params` for a tensor of `shape`.
pub fn resolve(row: &Value, families: &dyn Families) -> Result<Layout, FamilyError> {
    let mut spec: FamilySpec = spec_from_json(&row["params"]).expect("params name a family");
    if let Some(bits) = row["element_bits"].as_i64().filter(|_| row["with_element_bits"] == true) {
        spec = spec.with("element_bits", bits);
    }
    let shape: Vec<u64> = numbers(&row["shape"]);
    families.resolve(&spec, &shape, families)
}

/// Checks that a row of `layouts.jsonl` agrees with what the families make of it.
pub fn check_layout(row: &Value, families: &dyn Families) -> Result<(), String> {
    let expected = &row["expected"];
    let linear = layout_from_json(expected).expect("expected is a layout");
    let found = resolve(row, families).map_err(|error| format!("{error}; params {}", row["params"]))?;
    same_layout(found.linear(), &linear).map_err(|why| format!("{why}\nparams {}", row["params"]))?;
    match found {
        Layout::Memory(memory) => check_memory(&memory, expected),
        _ => Ok(()),
    }
}

/// Whether two layouts are the same, with both in the message where they are not.
pub fn same_layout(found: &LinearLayout, expected: &LinearLayout) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("found\n{found}\nexpected\n{expected}")) }
}

fn check_memory(memory: &MemoryLayout, expected: &Value) -> Result<(), String> {
    if let Some(alignment) = expected["alignment"].as_u64().filter(|&a| Some(a) != memory.alignment.map(u64::from)) {
        return Err(format!("alignment {:?}, expected {alignment}", memory.alignment));
    }
    for point in expected["physical_offsets"].as_array().into_iter().flatten() {
        let (offset, physical) = (point[0].as_u64().expect("offset"), point[2].as_u64().expect("physical offset"));
        let coordinates: Vec<u64> =
            memory.linear.outs().unpack(memory.linear.apply_packed(offset)).map(|(_, c)| c).collect();
        if coordinates != numbers(&point[1]) || memory.physical_offset(offset) != physical {
            return Err(format!("offset {offset}: {coordinates:?} at {}", memory.physical_offset(offset)));
        }
    }
    match expected["allocated_elements"].as_u64() {
        Some(size) if size != memory.allocated_elements() => {
            Err(format!("{} elements allocated, expected {size}", memory.allocated_elements()))
        }
        _ => Ok(()),
    }
}

/// A list of numbers in JSON.
pub fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(|n| n.as_u64().expect("a number")).collect()
}
