//! Programs that say where tiles lie, on a product of AMD's.

use crate::targets::target;
use tilewright_assign::synthesis::Options;
use tilewright_vendor_testkit::explicit;
use tilewright_vendor_testkit::explicit::{MIXED, PROGRAMS, is_inside, kept, solved, table};

/// What each program is executed for is right (`solved` says so where not), and it takes the fewest wavefronts.
#[test]
fn no_loop_has_conflicts_of_banks() {
    let target = target("mi300x");
    for name in PROGRAMS {
        let solved = solved(&target, name, Options::default());
        assert_eq!(solved.derivation.conflicts_in_loops(), 0, "{name}:\n{}", solved.derivation);
    }
}

/// The results of a product are a factor of the next one where they are: the unit's factors are exchanged for it. With one warp
/// (`explicit_decode`) some lanes exchange instead, which takes less than other loads would.
#[test]
fn attention_converts_nothing_between_its_products() {
    let target = target("mi300x");
    for name in ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq"] {
        let solved = solved(&target, name, Options::default());
        let between = solved.derivation.conversions.iter().filter(|line| is_inside(line));
        assert_eq!(between.collect::<Vec<_>>(), [""; 0], "{name}:\n{}", solved.derivation);
    }
}

/// Weights go from bytes to the unit's factor by operations of a lane alone.
#[test]
fn weights_are_converted_nowhere() {
    let target = target("mi300x");
    for name in MIXED {
        let solved = solved(&target, name, Options::default());
        let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inside(line));
        assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name}:\n{}", solved.derivation);
    }
}

#[test]
fn branches_that_are_cut_would_not_have_been_better() {
    let compared = explicit::pruning_changes_nothing("mi300x", &target("mi300x"));
    assert!(compared >= 12, "{compared} programs");
}

/// Copies past the registers put lanes side by side; lanes fetch what a swizzle has there. So there are no conflicts, each turn
/// meets once, and no copy is a store.
#[test]
fn lanes_fetch_what_a_swizzle_wants() {
    let target = target("mi300x");
    for (name, iterations) in [("explicit_int4", 4), ("explicit_int1", 2)] {
        let found = solved(&target, name, Options::default());
        let copies = found.derivation.memories.iter().flat_map(|memory| &memory.accesses);
        for copy in copies.filter(|access| access.operation != "ttg.local_load") {
            assert_eq!(copy.instruction.as_deref(), Some("global_load_lds_dword"), "{name}: {}", found.derivation);
            assert_eq!(copy.excess, 0, "{name}: {}", found.derivation);
        }
        assert!(
            found.derivation.memories.iter().any(|memory| memory.notation.starts_with("Swizzle")),
            "{}",
            found.derivation
        );
        assert_eq!(
            (found.counts.barriers, found.counts.shared_stores),
            (iterations, 0),
            "{name}: {}",
            found.derivation
        );
    }
}

/// What no row copies, since some of it is not there, is loaded before a turn does its work and stored after it: each turn meets once,
/// and what stands before the loop is stored once.
#[test]
fn what_registers_hold_goes_ahead() {
    let found = solved(&target("mi300x"), "explicit_gemm_edges", Options::default());
    let derivation = &found.derivation;
    assert!(derivation.copies.iter().any(|copy| copy.operation == "ttg.local_store"), "{derivation}");
    assert!(derivation.loops[0].stages > 1, "{derivation}");
    // Three turns, and where the first tiles are stored: one meeting before each tensor's second buffer at most.
    let stages = derivation.loops[0].stages as u64;
    assert!(found.counts.barriers < 3 + stages, "{} barriers: {derivation}", found.counts.barriers);
    assert_eq!(found.counts.asynchronous_copies, 0, "{derivation}");
}

#[test]
fn products_go_by_the_matrix_unit() {
    let solved = solved(&target("mi300x"), "explicit_gemm", Options::default());
    assert!(solved.kernel.contains("mfma"), "{}", solved.derivation);
}

#[test]
fn the_page_has_what_was_found() {
    let target = target("mi300x");
    kept("amd", &table(&[("mi300x", &target)]));
}
