//! Barriers of some warps: those that come to one wait for each other and for nobody else, and see what they did.

use super::{fault, other, passes};
use tilewright_emulator::FaultKind;

const LOAD: &str = "%21: i32 = load %6 align 4\n store %9, %21 align 4\n";

/// The first warp stores what the second loads, or all others.
fn handed(barrier: &str, others: &str) -> String {
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
fn those_that_meet_see_what_they_did() {
    let words: Vec<u32> = (0..8).chain(0..8).chain([0; 8]).collect();
    assert_eq!(passes(3, &handed("group_barrier 1, 2", "")), words);
    let race = fault(3, &handed("barrier warp all", ""));
    assert!(matches!(race.kind, FaultKind::Race { .. }), "{race}");
    assert_eq!(other(&race), "store %6, %1 align 4");
    // One that does not meet them sees nothing.
    let elsewhere = fault(3, &handed("group_barrier 1, 2", "%22: i32 = load %6 align 4\n"));
    assert!(matches!(elsewhere.kind, FaultKind::Race { .. } | FaultKind::Uninitialised { .. }), "{elsewhere}");
}

/// Warps come to a barrier of one number at different places.
#[test]
fn the_number_says_who_meets() {
    let apart = |first: u32, second: u32| {
        format!(
            "if %14 {{ store %6, %1 align 4\n group_barrier {first}, 2\n yield }}
             else {{ group_barrier {second}, 2\n {LOAD} yield }}"
        )
    };
    let words: Vec<u32> = [0; 8].into_iter().chain(0..8).collect();
    assert_eq!(passes(2, &apart(1, 1)), words);
    let FaultKind::BarrierNotReached { missing } = fault(2, &apart(1, 2)).kind else { panic!("they meet") };
    assert_eq!(missing, [1]);
    let fault = fault(2, &apart(4, 4));
    assert!(matches!(&fault.kind, FaultKind::Launch(message) if message.contains("has 4 barriers")), "{fault}");
}

/// What was read must not be written before those who read it have met whoever writes.
#[test]
fn who_writes_waits_for_all_who_read() {
    let again = |barrier: &str| {
        format!(
            "if %14 {{ store %6, %1 align 4\n yield }} else {{ yield }}
             group_barrier 1, 3
             {LOAD}
             {barrier}
             if %14 {{ store %6, %2 align 4\n yield }} else {{ yield }}"
        )
    };
    passes(3, &again("group_barrier 1, 3"));
    for barrier in ["", "if %14 { group_barrier 2, 1\n yield } else { yield }"] {
        let race = fault(3, &again(barrier));
        assert!(matches!(race.kind, FaultKind::Race { .. }), "{race}");
    }
}
