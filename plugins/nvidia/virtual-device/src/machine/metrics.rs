//! Counts of a launch for comparisons of compilers: issued instructions by class, and memory accesses.

use std::collections::BTreeMap;

use super::launch::LaunchReport;

impl LaunchReport {
    /// Returns counts by name, summed over all warps. `issued` is the number of issued instructions, and each class has
    /// its own count; `sectors` (32 bytes) are of global memory, `l2_sectors` those of them that leave the multiprocessor;
    /// `wavefronts` are of shared memory; `matrix_work` is the number of multiply-adds of MMAs.
    #[must_use]
    pub fn metrics(&self) -> BTreeMap<&'static str, u64> {
        let mut metrics = BTreeMap::from(CLASSES.map(|class| (class, 0)));
        for (opcode, times) in &self.issued {
            *metrics.entry(class(opcode)).or_default() += times;
        }
        metrics.insert("issued", self.issued.values().sum());
        metrics.insert("sectors", self.transactions_loaded + self.transactions_stored);
        metrics.insert("l2_sectors", self.l2_sectors_loaded + self.l2_sectors_stored);
        metrics.insert("wavefronts", self.totals.wavefronts_loaded + self.totals.wavefronts_stored);
        metrics.insert("matrix_work", self.issued.iter().map(|(opcode, times)| matrix_work(opcode) * times).sum());
        metrics
    }
}

/// Returns the number of multiply-adds that one warp performs by an instruction, from the shape `mMnNkK` in the opcode;
/// 0 for other instructions. The four warps of a warpgroup share the work of a `wgmma` equally.
fn matrix_work(opcode: &str) -> u64 {
    let shape = |word: &str| -> Option<u64> {
        let (rows, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (columns, depth) = rest.split_once('k')?;
        Some(rows.parse::<u64>().ok()? * columns.parse::<u64>().ok()? * depth.parse::<u64>().ok()?)
    };
    let work = opcode.split('.').find_map(shape).filter(|_| class(opcode) == "matrix").unwrap_or(0);
    if opcode.starts_with("wgmma") { work / 4 } else { work }
}

/// The classes of instructions for which [`LaunchReport::metrics`] has a count.
const CLASSES: [&str; 12] = [
    "global", "shared", "local", "shuffle", "redux", "barrier", "matrix", "control", "move", "convert", "float",
    "integer",
];

/// Returns the class (one of [`CLASSES`]) of an opcode with its modifiers.
fn class(opcode: &str) -> &'static str {
    let mut words = opcode.split('.');
    let (name, has) =
        (words.next().unwrap_or(opcode), |known: &[&str]| opcode.split('.').any(|word| known.contains(&word)));
    match name {
        "ld" | "st" if has(&["param", "param::entry", "param::func"]) => "move",
        "ld" | "st" | "ldu" | "atom" | "red" if has(&["shared", "shared::cta"]) => "shared",
        "ld" | "st" if has(&["local"]) => "local",
        // A generic address usually points to global memory.
        "ld" | "st" | "ldu" | "atom" | "red" | "prefetch" => "global",
        "ldmatrix" | "stmatrix" => "shared",
        "cp" | "wgmma" if has(&["commit_group", "wait_group", "wait_all", "fence"]) => "barrier",
        "cp" => "global",
        "mma" | "wgmma" => "matrix",
        "shfl" => "shuffle",
        "redux" => "redux",
        "bar" | "barrier" | "mbarrier" | "fence" | "membar" => "barrier",
        "bra" | "brx" | "ret" | "exit" | "call" | "trap" => "control",
        "mov" | "cvta" => "move",
        "cvt" => "convert",
        _ if has(&["f16", "bf16", "f16x2", "bf16x2", "f32", "f64"]) => "float",
        _ => "integer",
    }
}
