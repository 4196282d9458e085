//! Tests of the command on layout conversions across the blocks of a cluster.

use crate::command;

use command::{Printed, run, tilewright};

fn blocked(blocks: &str) -> String {
    format!(
        "#ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], \
         CGALayout = {blocks}}}>"
    )
}

fn explained(target: &str) -> Printed {
    let (src, dst) = (blocked("[[1, 0]]"), blocked("[[0, 1]]"));
    let options = ["convert", "--explain", "--target", target, "--shape", "128x128", "--element", "f16"];
    run(tilewright().args(options).args([src, dst]))
}

#[test]
fn the_path_across_blocks_is_explained() {
    let printed = explained("h100");
    assert!(printed.ok().starts_with("path cluster: "), "{}", printed.out);
    let line = |label: &str| printed.out.lines().find(|line| line.trim().starts_with(label)).map(str::to_owned);
    let numbers = |label: &str| -> Vec<u64> {
        let line = line(label).unwrap_or_else(|| panic!("no `{label}`: {}", printed.out));
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    // Half of the 128 x 128 x 2 bytes in each block: 128 bytes a wavefront, four warps.
    assert_eq!((numbers("wavefronts stored"), numbers("wavefronts loaded")), (vec![32, 32], vec![32, 32]));
    assert_eq!(numbers("cluster barriers"), [2]);
    assert!(line("shared  ").is_some_and(|line| line.contains("rejected: elements cross blocks")), "{}", printed.out);
}

#[test]
fn a_target_without_clusters_is_reported() {
    let printed = explained("a100");
    assert_ne!(printed.code, Some(0));
    assert!(printed.err.contains("elements cross blocks, and target a100 has no clusters"), "{}", printed.err);
}
