//! Compares block barriers and bytes of shared memory with those of Triton's final code, for many texts with layouts.
//!
//! Triton's counts are committed; `conformance/peers/shared_memory_beside_triton.py` writes them.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tilewright_kernel::Region;

use crate::prelude::*;

/// Sets of texts in the repository: `slots` has buffers and slices of allocations, `valid` the texts of the comparison
/// of verifiers that are valid.
pub const COMMITTED: [&str; 2] = ["slots", "valid"];
/// The set of texts outside of the repository: real programs with the layouts that Triton chose.
pub const REAL: [&str; 1] = ["ttgir"];

/// Checks that kernels have no more block barriers and bytes of shared memory than Triton's, for the texts of these
/// sets. `target` returns a target by name; texts for other targets are skipped. Texts in the list `more.json`, which
/// has the reasons, exceed Triton's counts, and must leave the list when they do not. Returns the number of compiled
/// texts.
pub fn take_no_more_than_triton<T: Target>(sets: &[&str], target: impl Fn(&str) -> Option<T>) -> usize {
    let (mut count, mut failures) = (0, Vec::new());
    let listed = listed();
    for &set in sets {
        for row in rows(&format!("{set}.jsonl")) {
            let (name, text) = (row["name"].as_str().unwrap(), text(set, row["name"].as_str().unwrap()));
            let Some(target) = target(row["target"].as_str().unwrap()) else { continue };
            let Ok(kernel) = program_kernel(&target, &text) else { continue };
            count += 1;
            let own = [block_barriers(&kernel.body), kernel.shared_bytes()];
            let theirs = ["barriers", "bytes"].map(|key| row[key].as_u64().unwrap());
            let is_more = own.iter().zip(&theirs).any(|(own, theirs)| own > theirs);
            let place = format!("{set}/{name}");
            if is_more != listed.contains(&place) {
                let listed = if is_more { "" } else { "; listed in more.json, which must lose it" };
                failures.push(format!("{place}: barriers and bytes {own:?}, Triton's {theirs:?}{listed}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} texts:\n{}", failures.len(), failures.join("\n"));
    count
}

fn folder() -> PathBuf {
    shared_data::workspace().join("conformance/peers/shared_memory")
}

fn text(set: &str, name: &str) -> String {
    let place = match set {
        "slots" => folder().join("texts"),
        "valid" => shared_data::workspace().join("conformance/peers/verifier/valid"),
        _ => shared_data::path("kernels/ttgir"),
    };
    read(&place.join(name))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn rows(name: &str) -> Vec<Json> {
    read(&folder().join(name)).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the names of texts, `SET/NAME`, whose counts may exceed Triton's.
fn listed() -> BTreeSet<String> {
    let list: Json = serde_json::from_str(&read(&folder().join("more.json"))).unwrap();
    let entries = list.as_array().unwrap().iter();
    entries.flat_map(|entry| entry["texts"].as_array().unwrap()).map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Number of barriers of the block, or of the warps of a partition, in the text of a kernel.
fn block_barriers(region: &Region) -> u64 {
    let each = region.statements.iter().map(|statement| {
        let own =
            matches!(statement.op, Op::Barrier { scope: Scope::Block | Scope::Cluster, .. } | Op::NamedBarrier { .. });
        u64::from(own) + statement.op.regions().into_iter().map(block_barriers).sum::<u64>()
    });
    each.sum()
}
