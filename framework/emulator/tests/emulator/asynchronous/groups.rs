//! Named barriers: the warps of one barrier number wait only for each other, and observe each other's accesses.

use super::{fault, other, passes};
use tilewright_emulator::FaultKind;
use tilewright_kernel::RegisterChange;

const LOAD: &str = "%21: i32 = load %6 align 4\n store %9, %21 align 4\n";

/// A kernel whose first warp stores words; after `barrier`, the first two warps load them. Other warps execute
/// `others`.
fn producer_consumer(barrier: &str, others: &str) -> String {
    format!(
        "%20: i1 = compare lt_u %2, %12
         if %20 {{
           if %14 {{ store %6, %1 align 4\n yield }} else {{ yield }}
           {barrier}
           {LOAD}
           yield
         }} else {{ {others} yield }}"
    )
}

#[test]
fn a_named_barrier_orders_accesses_of_its_warps() {
    let words: Vec<u32> = (0..8).chain(0..8).chain([0; 8]).collect();
    assert_eq!(passes(3, &producer_consumer("named_barrier 1, 2", "")), words);
    let race = fault(3, &producer_consumer("barrier warp all", ""));
    assert!(matches!(race.kind, FaultKind::Race { .. }), "{race}");
    assert_eq!(other(&race), "store %6, %1 align 4");
    // A warp that skips the named barrier is not ordered by it.
    let elsewhere = fault(3, &producer_consumer("named_barrier 1, 2", "%22: i32 = load %6 align 4\n"));
    assert!(matches!(elsewhere.kind, FaultKind::Race { .. } | FaultKind::Uninitialised { .. }), "{elsewhere}");
}

/// Warps that wait at a named barrier of one number may do so at different operations of the kernel.
#[test]
fn a_named_barrier_is_identified_by_its_number() {
    let with_barrier_numbers = |first: u32, second: u32| {
        format!(
            "if %14 {{ store %6, %1 align 4\n named_barrier {first}, 2\n yield }}
             else {{ named_barrier {second}, 2\n {LOAD} yield }}"
        )
    };
    let words: Vec<u32> = [0; 8].into_iter().chain(0..8).collect();
    assert_eq!(passes(2, &with_barrier_numbers(1, 1)), words);
    let FaultKind::BarrierNotReached { missing } = fault(2, &with_barrier_numbers(1, 2)).kind else {
        panic!("they meet")
    };
    assert_eq!(missing, [1]);
    let fault = fault(2, &with_barrier_numbers(4, 4));
    assert!(
        matches!(&fault.kind, FaultKind::Launch(message) if message.contains("the target has 4 of them")),
        "{fault}"
    );
}

/// The number of an indexed barrier is a value: each warp computes its own, and an arrival does not wait.
#[test]
fn an_arrival_releases_the_warp_that_waits() {
    let hand_over = |first: &str, second: &str| {
        format!(
            "%30: i32 = constant 1
             if %14 {{ store %6, %1 align 4\n {first}\n yield }}
             else {{ {second}\n {LOAD} yield }}"
        )
    };
    let words: Vec<u32> = [0; 8].into_iter().chain(0..8).collect();
    let (arrive, sync) = ("indexed_barrier arrive %30, 2", "indexed_barrier sync %30, 2");
    assert_eq!(passes(2, &hand_over(arrive, sync)), words);
    // `named_barrier` and `indexed_barrier` of one number are the same barrier.
    assert_eq!(passes(2, &hand_over(arrive, "named_barrier 1, 2")), words);
    // A second pass needs a second arrival.
    let twice = format!("{sync}\n {sync}");
    assert_eq!(passes(2, &hand_over(&format!("{arrive}\n {arrive}"), sync)), words);
    let FaultKind::BarrierNotReached { missing } = fault(2, &hand_over(arrive, &twice)).kind else {
        panic!("the second wait ends")
    };
    assert_eq!(missing, [0]);
}

#[test]
fn wrong_numbers_of_indexed_barriers_are_detected() {
    let kind = |value: &str| fault(1, &format!("{value}\n indexed_barrier sync %30, 1")).kind;
    assert_eq!(kind("%30: i32 = constant 4"), FaultKind::NamedBarrierNumber { number: 4, most: 4 });
    let differs = kind("%30: i32 = binary and %1, %12");
    assert!(matches!(differs, FaultKind::NotSame { lane: 0, .. }), "{differs}");
    let FaultKind::BarrierNotReached { missing } = kind_of_lost_arrival() else { panic!("the wait ends") };
    assert_eq!(missing, [0]);
}

/// An arrival that states another number of warps is not counted.
fn kind_of_lost_arrival() -> FaultKind {
    let body = "%30: i32 = constant 1
        if %14 { indexed_barrier arrive %30, 1\n yield } else { indexed_barrier sync %30, 2\n yield }";
    fault(2, body).kind
}

/// A write must be ordered after the reads of all warps, by named barriers with each of them.
#[test]
fn who_writes_waits_for_all_who_read() {
    let read_then_store = |barrier: &str| {
        format!(
            "if %14 {{ store %6, %1 align 4\n yield }} else {{ yield }}
             named_barrier 1, 3
             {LOAD}
             {barrier}
             if %14 {{ store %6, %2 align 4\n yield }} else {{ yield }}"
        )
    };
    passes(3, &read_then_store("named_barrier 1, 3"));
    for barrier in ["", "if %14 { named_barrier 2, 1\n yield } else { yield }"] {
        let race = fault(3, &read_then_store(barrier));
        assert!(matches!(race.kind, FaultKind::Race { .. }), "{race}");
    }
}

/// Four warps, in groups of two: the second group executes `released`, the first `acquired`.
fn reallocate(released: &str, acquired: &str) -> String {
    format!(
        "%20: i1 = compare lt_u %2, %12
         if %20 {{ {acquired}\n yield }} else {{ {released}\n yield }}
         store %9, %1 align 4"
    )
}

/// The pool of a block begins empty: registers that one group acquires must be released by another, before or after.
#[test]
fn warp_groups_hand_registers_over() {
    let all: Vec<u32> = [0, 1, 2, 3, 4, 5, 6, 7].repeat(4);
    let check = |released: &str, acquired: &str| assert_eq!(passes(4, &reallocate(released, acquired)), all);
    check("set_max_registers release 16", "set_max_registers acquire 112");
    check("set_max_registers release 16", "set_max_registers acquire 96\n set_max_registers acquire 112");
    check("set_max_registers release 64", "set_max_registers acquire 64");
}

#[test]
fn invalid_register_changes_are_detected() {
    let kind = |released: &str, acquired: &str| fault(4, &reallocate(released, acquired)).kind;
    let release = "set_max_registers release 16";
    let missing = kind(release, "set_max_registers acquire 120");
    assert_eq!(missing, FaultKind::RegistersNotReleased { needed: 56 * 16, free: 48 * 16 });
    assert_eq!(kind("", "set_max_registers acquire 72"), FaultKind::RegistersNotReleased { needed: 8 * 16, free: 0 });
    let (acquire, to) = (RegisterChange::Acquire, 48);
    assert_eq!(
        kind(release, "set_max_registers acquire 48"),
        FaultKind::RegisterChange { change: acquire, from: 64, to }
    );
    let (change, to) = (RegisterChange::Release, 72);
    assert_eq!(kind(release, "set_max_registers release 72"), FaultKind::RegisterChange { change, from: 64, to });
    // One warp of a group alone.
    let alone = kind("if %14 { yield } else { yield }", &format!("if %14 {{ {release}\n yield }} else {{ yield }}"));
    assert_eq!(alone, FaultKind::NotIssuedTogether { together: 2, missing: vec![1] });
    for refused in ["release 20", "acquire 136"] {
        let found = kind("", &format!("set_max_registers {refused}"));
        assert!(matches!(found, FaultKind::Launch(_)), "{refused}: {found}");
    }
    let odd = fault(3, &reallocate(release, "")).kind;
    assert!(matches!(&odd, FaultKind::Launch(message) if message.contains("16 lanes change their registers together")));
}
