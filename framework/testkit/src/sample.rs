//! Long tests check a share of their cases, unless a developer asks for all of them.

/// Environment variable: if it is set, long tests check all of their cases, which takes up to half an hour.
pub const ALL_CASES: &str = "TILEWRIGHT_ALL_CASES";

/// Whether long tests check all of their cases.
pub fn is_all() -> bool {
    std::env::var_os(ALL_CASES).is_some()
}

/// Returns one of each `share` items, from item `phase % share` on; all items if [`ALL_CASES`] is set. Tests of several
/// targets give each target a phase of its own, so that together they check more cases.
pub fn sample<T>(items: Vec<T>, share: usize, phase: usize) -> Vec<T> {
    if is_all() {
        return items;
    }
    items.into_iter().skip(phase % share).step_by(share).collect()
}
