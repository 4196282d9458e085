//! Compares the number of block barriers and the bytes of shared memory with those of Triton's code, for many programs
//! with layouts.
//!
//! Triton's counts are committed; `conformance/peers/shared_memory_beside_triton.py` writes them.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tilewright_kernel::Region;

use crate::prelude::*;

/// Sets of programs in the repository: `slots` has buffers and slices of allocations, `valid` the valid texts from the
/// comparison with Triton's verifier.
pub const COMMITTED_SETS: [&str; 2] = ["slots", "valid"];
/// Set of programs outside of the repository: real programs with the layouts that Triton chose.
pub const REAL_SETS: [&str; 1] = ["ttgir"];

/// Checks that kernels of these sets of programs have no more block barriers and bytes of shared memory than Triton's.
/// `target` returns a target by its name, or `None` to skip its programs. Programs in the list `more.json`, which has
/// the reasons, must exceed Triton's counts. Returns the number of compiled programs.
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

/// Returns the names (`SET/NAME`) of the programs that exceed Triton's counts, from `more.json`.
fn listed() -> BTreeSet<String> {
    let list: Json = serde_json::from_str(&read(&folder().join("more.json"))).unwrap();
    let entries = list.as_array().unwrap().iter();
    entries.flat_map(|entry| entry["texts"].as_array().unwrap()).map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Returns the number of barriers in the kernel's text, of the whole block or of some of its warps.
fn block_barriers(region: &Region) -> u64 {
    let each = region.statements.iter().map(|statement| {
        let own = matches!(
            statement.op,
            Op::Barrier { scope: CollectiveScope::Block | CollectiveScope::Cluster, .. }
                | Op::NamedBarrier { .. }
                | Op::IndexedBarrier { .. }
        );
        u64::from(own) + statement.op.regions().into_iter().map(block_barriers).sum::<u64>()
    });
    each.sum()
}
