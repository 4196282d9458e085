//! The counts of a launch that comparisons of compilers use: instructions by class, and accesses of memory.

use std::collections::BTreeMap;

use super::launch::LaunchReport;

impl LaunchReport {
    /// Returns the counts of all warps together, by name: `issued` and the issued instructions of each class, `sectors`
    /// of global memory, `wavefronts` of loads and stores in shared memory, and `matrix_work`, the multiply-adds of
    /// matrix instructions.
    #[must_use]
    pub fn metrics(&self) -> BTreeMap<&'static str, u64> {
        let mut metrics = BTreeMap::from(CLASSES.map(|class| (class, 0)));
        for (opcode, times) in &self.issued {
            *metrics.entry(class(opcode)).or_default() += times;
        }
        metrics.insert("issued", self.issued.values().sum());
        metrics.insert("sectors", self.transactions_loaded + self.transactions_stored);
        metrics.insert("wavefronts", self.totals.wavefronts_loaded + self.totals.wavefronts_stored);
        metrics.insert("matrix_work", self.issued.iter().map(|(opcode, times)| matrix_work(opcode) * times).sum());
        metrics
    }
}

/// Returns the multiply-adds that a warp does by an instruction, by the shape `mMnNkK` in its opcode; 0 if it is no
/// matrix instruction. The four warps of a warpgroup share those of `wgmma`.
fn matrix_work(opcode: &str) -> u64 {
    let shape = |word: &str| -> Option<u64> {
        let (rows, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (columns, depth) = rest.split_once('k')?;
        Some(rows.parse::<u64>().ok()? * columns.parse::<u64>().ok()? * depth.parse::<u64>().ok()?)
    };
    let work = opcode.split('.').find_map(shape).filter(|_| class(opcode) == "matrix").unwrap_or(0);
    if opcode.starts_with("wgmma") { work / 4 } else { work }
}

/// The classes of instructions.
const CLASSES: [&str; 11] =
    ["global", "shared", "local", "shuffle", "barrier", "matrix", "control", "move", "convert", "float", "integer"];

/// Returns the class of an instruction.
fn class(opcode: &str) -> &'static str {
    let mut words = opcode.split('.');
    let (name, has) =
        (words.next().unwrap_or(opcode), |known: &[&str]| opcode.split('.').any(|word| known.contains(&word)));
    match name {
        "ld" | "st" if has(&["param", "param::entry", "param::func"]) => "move",
        "ld" | "st" | "ldu" | "atom" | "red" if has(&["shared", "shared::cta"]) => "shared",
        "ld" | "st" if has(&["local"]) => "local",
        // A generic access may be of global memory.
        "ld" | "st" | "ldu" | "atom" | "red" | "prefetch" => "global",
        "ldmatrix" | "stmatrix" => "shared",
        "cp" | "wgmma" if has(&["commit_group", "wait_group", "wait_all", "fence"]) => "barrier",
        "cp" => "global",
        "mma" | "wgmma" => "matrix",
        "shfl" => "shuffle",
        "bar" | "barrier" | "mbarrier" | "fence" | "membar" => "barrier",
        "bra" | "brx" | "ret" | "exit" | "call" | "trap" => "control",
        "mov" | "cvta" => "move",
        "cvt" => "convert",
        _ if has(&["f16", "bf16", "f16x2", "bf16x2", "f32", "f64"]) => "float",
        _ => "integer",
    }
}
