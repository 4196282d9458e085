//! Test that the documented commands share their artifacts: a crate that `cargo test --workspace` has compiled is not
//! compiled again for `cargo build`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::source_tree::cargo;

/// A graph of compilations as `cargo --unit-graph` prints it.
struct UnitGraph {
    units: Vec<Value>,
    /// The descriptions so far, by the index of the unit.
    descriptions: BTreeMap<usize, String>,
}

impl UnitGraph {
    /// Asks cargo for the compilations of a command.
    fn of(command: &[&str]) -> Self {
        let text = cargo(&[command, &["--offline", "--unit-graph", "-Zunstable-options"]].concat());
        let graph: Value = serde_json::from_str(&text).expect("JSON");
        Self { units: graph["units"].as_array().expect("units").clone(), descriptions: BTreeMap::new() }
    }

    /// Returns what decides whether an artifact can serve another command: package, target, features and profile of the unit
    /// and of all units that it depends on. Cargo names an artifact by a hash of the same facts.
    fn describe(&mut self, index: usize) -> String {
        if let Some(known) = self.descriptions.get(&index) {
            return known.clone();
        }
        let unit = self.units[index].clone();
        let mut profile: Map<String, Value> = unit["profile"].as_object().expect("a profile").clone();
        profile.remove("name");
        let dependencies = unit["dependencies"].as_array().expect("dependencies").iter();
        let indices = dependencies.map(|dependency| dependency["index"].as_u64().expect("an index") as usize);
        let needed: BTreeSet<String> = indices.map(|index| digest(&self.describe(index))).collect();
        let (package, target) = (&unit["pkg_id"], &unit["target"]["name"]);
        let text = format!("{package} {target} {} {} {profile:?} {needed:?}", unit["mode"], unit["features"]);
        self.descriptions.insert(index, text.clone());
        text
    }

    fn describe_all(&mut self) -> BTreeSet<String> {
        (0..self.units.len()).map(|index| self.describe(index)).collect()
    }
}

/// Returns a short name for a description.
fn digest(text: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[test]
fn build_compiles_nothing_that_test_has_compiled() {
    let tested = UnitGraph::of(&["test", "--workspace", "--no-run"]).describe_all();
    let built = UnitGraph::of(&["build"]).describe_all();
    let recompiled: Vec<&String> = built.difference(&tested).collect();
    assert!(built.len() > 100, "{} compilations", built.len());
    assert!(recompiled.is_empty(), "{} of {} are compiled once more: {recompiled:#?}", recompiled.len(), built.len());
}
