//! Defines the rule of cluster launch control (`clusterlaunchcontrol`), by which a running block takes over the work of
//! a block that has not started.

use tilewright_tile::TileType;
use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure, find_layout_bases};

/// The rule of `ttng`'s operations of cluster launch control.
pub(super) const RULES: [VerifyRule; 1] = [VerifyRule::new("clc_buffer", clc_buffer)];

/// Rule `clc_buffer(memory)`: checks that the shared memory has the type of a response of cluster launch control, two
/// `i64` elements, and that each block of a cluster has its own response.
fn clc_buffer(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    check.types_of_groups(groups).into_iter().try_for_each(|ty| {
        ensure(ty.shape() == Some(&[2]) && *ty.element() == TileType::integer(64), || {
            format!("`{ty}` is no response of cluster launch control: expected two elements of i64")
        })?;
        let blocks =
            ty.as_memory().and_then(|memory| find_layout_bases(memory.layout.spec(), "cga_layout")).unwrap_or_default();
        ensure(blocks.iter().flatten().all(|by| *by == 0), || {
            format!("`{ty}` is divided among blocks: expected a response in each, with zeros in `CGALayout`")
        })
    })
}
