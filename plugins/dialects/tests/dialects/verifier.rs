//! Compares the verifier with Triton's: a corpus of texts with the recorded verdicts of Triton 3.9.0.
//!
//! `conformance/peers/verifier` has a folder of invalid texts, which break one rule each, a folder of valid ones,
//! `verdicts.jsonl`, and `differences.txt`: the texts whose verdict here differs, each with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tilewright_amd_tables::families::AmdFamilies;
use tilewright_dialects::all_dialects;
use tilewright_layout::FamilyProviders;
use tilewright_layout::families::NeutralFamilies;
use tilewright_nvidia_tables::families::NvidiaFamilies;
use tilewright_tile::{text, verify_module_with_families};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/peers/verifier")
}

fn read(name: &str) -> String {
    let file = corpus().join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns Triton's verdicts: whether it accepts each text, by the text's name.
fn verdicts_of_triton() -> BTreeMap<String, bool> {
    let verdict = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        (entry["name"].as_str().expect("a name").to_owned(), entry["verdict"] == "accepts")
    };
    read("verdicts.jsonl").lines().map(verdict).collect()
}

/// Returns the texts with verdicts that are known to differ from Triton's, each with the reason.
fn listed() -> BTreeMap<String, String> {
    let text = read("differences.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, reason) = line.split_once(": ").unwrap_or_else(|| panic!("expected `NAME: REASON`: {line}"));
        (name.to_owned(), reason.to_owned())
    };
    lines.map(pair).collect()
}

/// Each text except the listed ones gets Triton's verdict. A listed text that gets it must be removed from the list.
#[test]
fn verdicts_are_those_of_triton() {
    let (nvidia, amd) = (NvidiaFamilies::for_architecture("sm_100a"), AmdFamilies::for_architecture("gfx950"));
    let families = FamilyProviders::new(vec![&NeutralFamilies, &nvidia, &amd]);
    let dialects = all_dialects();
    let (expected, listed) = (verdicts_of_triton(), listed());
    assert!(expected.len() > 1000, "{} verdicts", expected.len());
    let mut wrong = Vec::new();
    for (name, accepts) in &expected {
        let program = read(name);
        let error = match text::parse_module(&program, &dialects) {
            Err(error) => Some(error.to_string()),
            Ok(module) => verify_module_with_families(&module, &families).err().map(|violation| violation.to_string()),
        };
        let differs = *accepts != error.is_none();
        match (differs, listed.contains_key(name)) {
            (true, false) => wrong.push(format!("{name}: {}", error.as_deref().unwrap_or("accepted, and invalid"))),
            (false, true) => wrong.push(format!("{name}: the verdict is Triton's: remove it from `differences.txt`")),
            _ => {}
        }
    }
    let unknown = listed.keys().filter(|name| !expected.contains_key(*name));
    wrong.extend(unknown.map(|name| format!("{name}: `differences.txt` lists it, and the corpus does not have it")));
    assert!(wrong.is_empty(), "{} verdicts:\n{}", wrong.len(), wrong.join("\n"));
}
