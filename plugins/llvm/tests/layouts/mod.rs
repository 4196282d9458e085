//! Layouts as text, for tests that look at what a vendor's crate makes of them.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use tilewright::layout::families::Neutral;
use tilewright::layout::{FamilySet, Layout, LinearLayout, parse_spec};
use tilewright::vendor::Target;

/// A blocked layout as text: elements of a thread, threads of a warp, warps, and the order.
pub fn blocked(size: &[u64], threads: &[u64], warps: &[u64], order: &[u64]) -> String {
    format!(
        "#ttg.blocked<{{sizePerThread = {size:?}, threadsPerWarp = {threads:?}, warpsPerCTA = {warps:?}, \
         order = {order:?}}}>"
    )
}

/// The distributed layout that a text names, for a tensor of this shape.
pub fn distributed(target: &dyn Target, text: &str, shape: &[u64]) -> LinearLayout {
    let spec = parse_spec(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    match FamilySet::new(vec![&Neutral, target.families()]).layout(&spec, shape) {
        Ok(Layout::Distributed(layout)) => layout,
        other => panic!("{text}: {other:?}"),
    }
}
