//! Reads known answers: JSON Lines with layouts and operations on layouts, computed by the Triton compiler (version
//! 3.9.0), and tables from vendors.
//!
//! A small sample is committed; tests of the executables `external` read the full set, outside of the repository.

use serde_json::Value;
use tilewright_layout::{
    Families, FamilyError, FamilySpec, Layout, LinearLayout, MemoryLayout, layout_from_json, spec_from_json,
};

use crate::shared_data;

/// The known answers (results of Triton or of a vendor's tool) that a test reads: a sample, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// The sample in the repository, which every machine has.
    Sample,
    /// The sample and the full file outside of the repository.
    All,
}

impl Answers {
    /// Returns the text `sample` and, for [`Self::All`], the text of the file with the full set, which lies outside of
    /// the repository.
    pub fn texts(self, sample: &str, file: &str) -> Vec<String> {
        let full = (self == Self::All).then(|| shared_data::text(file));
        std::iter::once(sample.to_owned()).chain(full).collect()
    }

    /// Returns the texts parsed as JSON.
    pub fn files(self, sample: &str, file: &str) -> Vec<Value> {
        let parse = |text: String| serde_json::from_str(&text).expect("a table is JSON");
        self.texts(sample, file).into_iter().map(parse).collect()
    }

    /// Returns the entries of the array in the field `list` of the sample and of the full file, which are JSON. Inputs
    /// as for [`Self::texts`].
    pub fn entries(self, sample: &str, file: &str, list: &str) -> Vec<Value> {
        let entries = |file: Value| file[list].as_array().expect("a list").clone();
        self.files(sample, file).into_iter().flat_map(entries).collect()
    }

    /// Returns the rows of the sample and of the full file, which are JSON Lines. Inputs as for [`Self::texts`].
    pub fn rows(self, sample: &str, file: &str) -> Vec<Value> {
        assert!(!rows(sample).is_empty(), "the sample is empty");
        self.texts(sample, file).iter().flat_map(|text| rows(text)).collect()
    }
}

/// Parses a text of JSON Lines; returns its rows.
pub fn rows(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).expect("a row of known answers is JSON");
    text.lines().filter(|line| !line.is_empty()).map(parse).collect()
}

/// Runs `check` on every row for which `takes` is true, and fails with the ids and reasons of the rows that disagree.
pub fn all_agree(rows: &[Value], takes: impl Fn(&Value) -> bool, check: impl Fn(&Value) -> Result<(), String>) {
    let taken: Vec<_> = rows.iter().filter(|row| takes(row)).collect();
    let failures: Vec<_> =
        taken.iter().filter_map(|row| check(row).err().map(|why| format!("{}: {why}", row["id"]))).collect();
    assert!(!taken.is_empty(), "no row was taken");
    println!("{} of {} rows agree", taken.len() - failures.len(), taken.len());
    let shown = &failures[..failures.len().min(8)];
    assert!(failures.is_empty(), "{} of {} rows disagree:\n{}", failures.len(), taken.len(), shown.join("\n"));
}

/// Returns the family names of a layout's spec and of its nested specs, outermost first.
pub fn list_family_names(spec: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = spec;
    while let Some(name) = at["kind"].as_str() {
        names.push(name.to_owned());
        at = if at["parent"].is_object() { &at["parent"] } else { &at["memory"] };
    }
    names
}

/// Resolves the layout of a row: the family parameters `params` for a tensor of the row's `shape`.
pub fn resolve(row: &Value, families: &dyn Families) -> Result<Layout, FamilyError> {
    let mut spec: FamilySpec = spec_from_json(&row["params"]).expect("params name a family");
    if let Some(bits) = row["element_bits"].as_i64().filter(|_| row["with_element_bits"] == true) {
        spec = spec.with_parameter("element_bits", bits);
    }
    let shape: Vec<u64> = numbers(&row["shape"]);
    families.resolve(&spec, &shape, families)
}

/// Checks that the families build the layout that a row of `layouts.jsonl` expects.
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

/// Fails unless two layouts are equal; the message has both.
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

/// Parses a JSON array of numbers.
pub fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(|n| n.as_u64().expect("a number")).collect()
}
