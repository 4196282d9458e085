//! Clusters on the emulator: accesses of other blocks' memory, cluster barriers, and their faults. Every fault has a
//! similar valid kernel.

use tilewright_testkit::emulator_target;

use emulator_target::{kernel, target};
use tilewright_emulator::{Argument, Fault, FaultKind, GlobalMemory, RunLimits, RunReport, run_kernel};
use tilewright_kernel::MemorySpace;
use tilewright_target::Direction;

/// The text of a kernel whose body may use `%1` (lane), `%2` (warp), `%3` (block of the cluster), `%4` (address of the
/// lane's word in the first buffer, 32 bytes), `%5` = 1, `%6` (the next block of four).
fn text(warps: u32, blocks: u32, body: &str) -> String {
    format!(
        "kernel tested(%0 out: ptr.global) lanes 8 warps {warps} blocks {blocks} {{
           shared 0: 32 bytes align 16
           shared 1: 32 bytes align 16
           %1: i32 = special lane
           %2: i32 = special warp
           %3: i32 = special block
           %90: ptr.shared = shared_address 0
           %91: i32 = constant 4
           %92: i32 = binary mul %1, %91
           %4: ptr.shared = ptr_add %90, %92
           %5: i32 = constant 1
           %93: i32 = binary add %3, %5
           %94: i32 = constant 3
           %6: i32 = binary and %93, %94
           {body}
         }}"
    )
}

fn run_grid(text: &str, grid: [u32; 3]) -> Result<(RunReport, Vec<u8>), Fault> {
    let mut memory = GlobalMemory::new();
    let out = memory.allocate(4096);
    let limits = RunLimits { steps: 100_000, ..RunLimits::default() };
    let report = run_kernel(&kernel(text), &target(true), grid, &[Argument::Buffer(out)], &mut memory, &limits)?;
    Ok((report, (0..4096).map_while(|at| memory.read(out, at, 1).ok().map(|bytes| bytes[0])).collect()))
}

fn run_body(blocks: u32, body: &str) -> Result<RunReport, Fault> {
    run_grid(&text(1, blocks, body), [blocks, 1, 1]).map(|(report, _)| report)
}

fn fault(blocks: u32, body: &str) -> Fault {
    run_body(blocks, body).expect_err("the kernel does something wrong")
}

fn passes(blocks: u32, body: &str) -> RunReport {
    run_body(blocks, body).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Statements by which each lane stores 16 times the index of its block plus the index of the lane, and after a cluster
/// barrier loads the word that the same lane of the next block stored.
const ROUND: &str = "%7: i32 = constant 16
    %8: i32 = binary mul %3, %7
    %9: i32 = binary add %8, %1
    store %4, %9 align 4
    barrier cluster all
    %10: ptr.cluster = cluster_address %4, %6
    %11: i32 = load %10 align 4
    barrier cluster all";

#[test]
fn blocks_read_what_the_next_one_stored() {
    let write = "%12: i32 = special program 0
        %13: i32 = constant 32
        %14: i32 = binary mul %12, %13
        %15: i32 = binary add %14, %92
        %16: ptr.global = ptr_add %0, %15
        store %16, %11 align 4";
    let (report, written) = run_grid(&text(1, 4, &format!("{ROUND}\n{write}")), [8, 1, 1]).expect("sound");
    let words: Vec<u32> = written.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4"))).collect();
    let expected: Vec<u32> = (0..8).flat_map(|block| (0..8).map(move |lane| (block + 1) % 4 * 16 + lane)).collect();
    assert_eq!(words, expected);
    let counts = report.counts;
    assert_eq!((counts.cluster_barriers, counts.barriers), (2, 0));
    assert_eq!((counts.shared_loads, counts.wavefronts_loaded), (1, 1));
}

#[test]
fn blocks_write_to_others_and_advance_cluster_pointers() {
    // Each block stores to the next; the pointer is moved back by 8 words after it is mapped.
    let body = "store %4, %1 align 4
        barrier cluster all
        %7: ptr.cluster = cluster_address %4, %6
        %8: i32 = constant 32
        %9: ptr.cluster = ptr_add %7, %91
        store %9 - 4, %3 align 4
        barrier cluster all
        %10: i32 = load %4 align 4
        %11: i32 = special program 0
        %12: i32 = binary mul %11, %8
        %13: i32 = binary add %12, %92
        %14: ptr.global = ptr_add %0, %13
        store %14, %10 align 4";
    let (report, written) = run_grid(&text(1, 4, body), [4, 1, 1]).expect("sound");
    let blocks: Vec<u8> = written.chunks(32).map(|block| block[0]).collect();
    assert_eq!(blocks, [3, 0, 1, 2]);
    assert_eq!(report.counts.shared_stores, 2);
}

#[test]
fn a_wavefront_is_of_one_memory() {
    // Lanes 0 to 3 read from block 0, the others from block 1, words in different banks: two wavefronts.
    let load = |block: &str| {
        format!(
            "store %4, %1 align 4
             barrier cluster all
             {block}
             %11: ptr.cluster = cluster_address %4, %10
             %12: i32 = load %11 align 4
             barrier cluster all"
        )
    };
    let by_lane = "%9: i32 = constant 2\n %10: i32 = binary shr_u %1, %9";
    assert_eq!(passes(2, &load(by_lane)).counts.wavefronts_loaded, 2);
    assert_eq!(passes(2, &load("%10: i32 = binary and %6, %5")).counts.wavefronts_loaded, 1);
    // Four blocks, each read by two lanes.
    assert_eq!(passes(4, &load("%10: i32 = binary shr_u %1, %5")).counts.wavefronts_loaded, 4);
}

#[test]
fn blocks_race_without_a_barrier_of_the_cluster() {
    let sound = "store %4, %1 align 4
        barrier cluster all
        %7: ptr.cluster = cluster_address %4, %6
        %8: i32 = load %7 align 4
        barrier cluster all
        store %4, %3 align 4";
    passes(4, sound);
    // A block barrier does not order other blocks.
    let racing = sound.replacen("barrier cluster all\n        store", "barrier block all\n        store", 1);
    let racing = format!("{racing}\n barrier cluster all");
    let fault = fault(4, &racing);
    let FaultKind::Race { direction, other, .. } = &fault.kind else { panic!("{fault}") };
    // Block 0 reads what block 1 overwrites: reported at the store of block 1.
    assert_eq!((*direction, other.direction, other.block), (Direction::Store, Direction::Load, Some(0)));
    assert_eq!(fault.location.as_ref().map(|location| location.block), Some([1, 0, 0]));
    assert!(fault.to_string().contains("by block 0 of the cluster, warp 0"), "{fault}");
}

#[test]
fn warps_of_a_block_are_ordered_by_its_own_barrier_in_other_memories_too() {
    let body = |barrier: &str| {
        format!(
            "store %4, %1 align 4
             barrier cluster all
             %7: ptr.cluster = cluster_address %4, %6
             %8: i32 = constant 0
             %9: i1 = compare eq %2, %8
             store %7, %3 align 4 if %9
             {barrier}
             %10: i32 = load %7 align 4
             barrier cluster all"
        )
    };
    let text = |barrier: &str| text(2, 4, &body(barrier)).replacen("store %4, %1 align 4", FIRST_WARP, 1);
    const FIRST_WARP: &str = "%80: i32 = constant 0\n %81: i1 = compare eq %2, %80\n store %4, %1 align 4 if %81";
    run_grid(&text("barrier block all"), [4, 1, 1]).unwrap_or_else(|fault| panic!("{fault}"));
    let fault = run_grid(&text(""), [4, 1, 1]).expect_err("warp 1 reads what warp 0 writes");
    let FaultKind::Race { other, .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!((other.block, other.warp), (None, Some(0)));
}

#[test]
fn a_block_is_reached_only_while_it_runs_for_sure() {
    let early = "store %4, %1 align 4
        %7: ptr.cluster = cluster_address %4, %6
        store %7, %1 align 4
        barrier cluster all";
    let fault = self::fault(4, early);
    assert_eq!(fault.kind, FaultKind::NotRunning { direction: Direction::Store, owner: 1, too_late: false });
    assert_eq!(fault.location.as_ref().map(|location| (location.operation, location.lane)), Some((13, Some(0))));

    let unsynchronized =
        ROUND.replace("%11: i32 = load %10 align 4\n    barrier cluster all", "%11: i32 = load %10 align 4");
    let fault = self::fault(4, &unsynchronized);
    assert_eq!(fault.kind, FaultKind::NotRunning { direction: Direction::Load, owner: 0, too_late: true });
    let location = fault.location.as_ref().expect("a place");
    // The first faulty memory is reported: that of block 0, which block 3 reads.
    assert_eq!((location.operation, location.block), (17, [3, 0, 0]));
    assert!(fault.to_string().contains("`%11: i32 = load %10 align 4`"), "{fault}");
    assert!(fault.to_string().contains("block 0 of the cluster, which may have ended"), "{fault}");

    // A block may access its own memory at any time, through any pointer.
    passes(4, "store %4, %1 align 4\n %7: ptr.cluster = cluster_address %4, %3\n %8: i32 = load %7 align 4");
}

#[test]
fn blocks_that_are_not_there_and_bytes_out_of_bounds_are_found() {
    let load = |block: &str, offset: u32| {
        format!(
            "store %4, %1 align 4
             barrier cluster all
             %7: i32 = constant {block}
             %8: ptr.cluster = cluster_address %4, %7
             %9: i32 = load %8 + {offset} align 4
             barrier cluster all"
        )
    };
    passes(2, &load("1", 0));
    let missing = fault(2, &load("2", 0));
    assert!(missing.to_string().contains("there is no block 2 in a cluster of 2"), "{missing}");
    // Lane 7 is beyond the first buffer, though the second buffer follows.
    let beyond = fault(2, &load("1", 4));
    let FaultKind::OutOfBounds { space: MemorySpace::Cluster, address, .. } = beyond.kind else { panic!("{beyond}") };
    assert_eq!(address, 1 << 32 | 32);
    let misaligned = fault(2, &load("0", 2));
    assert!(matches!(misaligned.kind, FaultKind::Misaligned { space: MemorySpace::Cluster, .. }), "{misaligned}");
    let unwritten = fault(2, &load("1", 0).replacen("store %4, %1 align 4", "", 1));
    let FaultKind::Uninitialised { space: MemorySpace::Cluster, address } = unwritten.kind else {
        panic!("{unwritten}")
    };
    assert_eq!(address, 1 << 32);
}

#[test]
fn a_barrier_of_the_cluster_is_for_all_of_it() {
    // Block 1 does not reach the barrier.
    let body = "%7: i32 = constant 1
        %8: i1 = compare eq %3, %7
        if %8 { yield } else { barrier cluster all\n yield }";
    let missing = fault(3, body);
    assert_eq!(missing.kind, FaultKind::ClusterBarrierNotReached { missing: vec![1] });
    // Warp 1 of each block does not reach the barrier.
    let body = "%7: i1 = compare eq %2, %5
        if %7 { yield } else { barrier cluster all\n yield }";
    let fault = run_grid(&text(2, 2, body), [2, 1, 1]).expect_err("a warp is missing");
    assert_eq!(fault.kind, FaultKind::BarrierNotReached { missing: vec![1] });
    // Lane 1 does not reach the barrier.
    let body = "%7: i1 = compare eq %1, %5\n if %7 { yield } else { barrier cluster all\n yield }";
    assert!(matches!(self::fault(2, body).kind, FaultKind::Divergent { missing: 2 }));
}

#[test]
fn a_grid_consists_of_complete_clusters_that_the_target_supports() {
    let launched = |blocks: u32, grid| run_grid(&text(1, blocks, ""), grid).map(|_| ()).map_err(|f| f.to_string());
    assert_eq!(launched(4, [8, 2, 1]), Ok(()));
    let odd = launched(4, [6, 1, 1]).expect_err("6 blocks");
    assert!(odd.contains("does not consist of clusters of 4 blocks along its first axis"), "{odd}");
    let large = launched(8, [8, 1, 1]).expect_err("8 blocks");
    assert!(large.contains("a cluster has 8 blocks; the target's have at most 4"), "{large}");
}
