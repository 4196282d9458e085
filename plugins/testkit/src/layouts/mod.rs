//! Writes layouts of the vendors' tests as text.

use crate::prelude::*;

/// Returns a blocked layout as text. Parameters: elements of a thread, threads of a warp and warps of a block along
/// each axis, and the order of the axes, the fastest first.
pub fn format_blocked_layout(size: &[u64], threads: &[u64], warps: &[u64], order: &[u64]) -> String {
    format!(
        "#ttg.blocked<{{sizePerThread = {size:?}, threadsPerWarp = {threads:?}, warpsPerCTA = {warps:?}, \
         order = {order:?}}}>"
    )
}

fn resolved(target: &dyn Target, text: &str, shape: &[u64]) -> Layout {
    let spec = parse_family_spec(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let layout = FamilyProviders::new(vec![&NeutralFamilies, target.families()]).layout(&spec, shape);
    layout.unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn resolve_distributed(target: &dyn Target, text: &str, shape: &[u64]) -> LinearLayout {
    match resolved(target, text, shape) {
        Layout::Distributed(layout) => layout,
        other => panic!("{text}: {other:?}"),
    }
}

pub fn resolve_memory(target: &dyn Target, text: &str, shape: &[u64]) -> MemoryLayout {
    match resolved(target, text, shape) {
        Layout::Memory(layout) => layout,
        other => panic!("{text}: {other:?}"),
    }
}
