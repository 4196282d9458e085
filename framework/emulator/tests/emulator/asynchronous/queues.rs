//! Queues: groups complete in the order of their commits, and accesses in flight allow no conflicting access.

use super::{fault, other, passes};
use tilewright_emulator::{Fault, FaultKind};
use tilewright_target::Direction;

const LOAD: &str = "%20: i32 = load %6 align 4\n store %9, %20 align 4\n";

fn in_flight(fault: &Fault) -> Direction {
    let FaultKind::InFlight { direction, .. } = &fault.kind else { panic!("{fault}") };
    *direction
}

#[test]
fn a_copy_is_complete_after_the_wait_for_its_group() {
    let copied = passes(1, &format!("instruction \"copy\" %6, %1\n commit copies\n wait copies 0\n {LOAD}"));
    assert_eq!(copied, (0..8).collect::<Vec<_>>());
}

#[test]
fn accesses_before_the_wait_are_faults() {
    let early = fault(1, &format!("instruction \"copy\" %6, %1\n commit copies\n {LOAD} wait copies 0"));
    assert_eq!(in_flight(&early), Direction::Load);
    assert_eq!(other(&early), "instruction \"copy\" %6, %1");
    assert_eq!(early.location.as_ref().unwrap().text, "%20: i32 = load %6 align 4");
    assert_eq!(
        early.kind.to_string(),
        "load at shared address 0x0 before the store of operation 17 `instruction \"copy\" %6, %1` by warp 0, lane 0 \
         has completed: wait for it first"
    );
    let stored = fault(1, "instruction \"copy\" %6, %1\n commit copies\n store %6, %1 align 4\n wait copies 0");
    assert_eq!(in_flight(&stored), Direction::Store);
    let copied = "instruction \"copy\" %6, %1\n commit copies\n instruction \"copy\" %6, %1\n commit copies";
    assert_eq!(in_flight(&fault(1, copied)), Direction::Store);
    // Barriers do not complete a copy of another warp.
    let elsewhere = format!(
        "if %14 {{ instruction \"copy\" %6, %1\n commit copies\n yield }} else {{ yield }}
         barrier block all
         if %15 {{ {LOAD} yield }} else {{ yield }}
         barrier block all
         wait copies 0"
    );
    assert_eq!(in_flight(&fault(2, &elsewhere)), Direction::Load);
}

#[test]
fn a_wait_is_for_what_was_committed() {
    let open = fault(1, &format!("instruction \"copy\" %6, %1\n wait copies 0\n {LOAD}"));
    assert_eq!(in_flight(&open), Direction::Load);
    let of_another = fault(1, &format!("instruction \"copy\" %6, %1\n commit bulk\n wait bulk 0\n {LOAD}"));
    assert_eq!(in_flight(&of_another), Direction::Load);
}

#[test]
fn the_latest_groups_may_be_outstanding() {
    let two = |outstanding: u32, offset: u32| {
        format!(
            "%21: i32 = constant 32
             %22: ptr.shared = ptr_add %6, %21
             instruction \"copy\" %6, %1
             commit copies
             instruction \"copy\" %22, %1
             commit copies
             wait copies {outstanding}
             %23: i32 = load %6 + {offset} align 4
             wait copies 0"
        )
    };
    passes(1, &two(1, 0));
    passes(1, &two(0, 32));
    assert_eq!(in_flight(&fault(1, &two(1, 32))), Direction::Load);
    assert_eq!(in_flight(&fault(1, &two(2, 0))), Direction::Load);
    // An empty group counts as a group.
    passes(1, &two(2, 0).replace("wait copies 2", "commit copies\n commit copies\n wait copies 2"));
}

/// A pipeline of three stages: two are in flight while the third is read.
#[test]
fn stages_of_a_pipeline_overlap() {
    let pipeline = |outstanding: u32| {
        format!(
            "%20: i32 = constant 32
             %21: ptr.shared = ptr_add %6, %20
             %23: i32 = constant 6
             %24: i32 = constant 3
             %25: i32 = constant 7
             instruction \"copy\" %6, %1
             commit copies
             instruction \"copy\" %21, %11
             commit copies
             %26: i32 = for %12 to %25 step %11 carry %10 (%30: i32, %31: i32) {{
               %32: i32 = binary rem_u %30, %24
               %33: i32 = binary mul %32, %20
               %34: ptr.shared = ptr_add %6, %33
               instruction \"copy\" %34, %30
               commit copies
               wait copies {outstanding}
               barrier warp all
               %35: i32 = binary sub %30, %12
               %36: i32 = binary rem_u %35, %24
               %37: i32 = binary mul %36, %20
               %38: ptr.shared = ptr_add %5, %37
               %39: i32 = load %38 align 4
               %40: i32 = binary add %31, %39
               barrier warp all
               yield %40
             }}
             wait copies 0
             store %9, %26 align 4"
        )
    };
    // Sum of the first lane's words of the five stages: 0, 1, 2, 3, 4.
    assert_eq!(passes(1, &pipeline(2)), vec![10; 8]);
    assert_eq!(in_flight(&fault(1, &pipeline(3))), Direction::Load);
    // Without the second barrier, a lane may still read a stage that the next copy overwrites.
    let raced = pipeline(2)
        .replace("%40: i32 = binary add %31, %39\n               barrier warp all", "%40: i32 = binary add %31, %39");
    assert!(matches!(fault(1, &raced).kind, FaultKind::Race { .. }));
}

#[test]
fn a_wait_lands_copies_for_the_lanes_that_issued_them() {
    let neighbour = |between: &str| {
        format!(
            "instruction \"copy\" %6, %1
             commit copies
             wait copies 0
             {between}
             %20: i32 = load %5 align 4
             barrier block all"
        )
    };
    passes(1, &neighbour("barrier warp all"));
    let race = fault(1, &neighbour(""));
    assert!(matches!(race.kind, FaultKind::Race { .. }), "{race}");
    assert_eq!(other(&race), "instruction \"copy\" %6, %1", "the copy is named, not the wait");

    let other_warp = |between: &str| {
        format!(
            "if %14 {{ instruction \"copy\" %6, %1\n commit copies\n wait copies 0\n yield }} else {{ yield }}
             {between}
             if %15 {{ {LOAD} yield }} else {{ yield }}"
        )
    };
    passes(2, &other_warp("barrier block all"));
    assert!(matches!(fault(2, &other_warp("")).kind, FaultKind::Race { .. }));
}

/// A copy also accesses memory when it is issued.
#[test]
fn a_copy_races_with_what_came_before_it() {
    let after = |access: &str, between: &str| {
        format!(
            "if %14 {{ store %6, %1 align 4\n yield }} else {{ yield }}
             barrier block all
             if %14 {{ {access}\n yield }} else {{ yield }}
             {between}
             if %15 {{ instruction \"copy\" %6, %1\n commit copies\n wait copies 0\n yield }} else {{ yield }}"
        )
    };
    for access in ["%30: i32 = load %6 align 4", "store %6, %1 align 4"] {
        passes(2, &after(access, "barrier block all"));
        let race = fault(2, &after(access, ""));
        assert!(matches!(race.kind, FaultKind::Race { direction: Direction::Store, .. }), "{race}");
        assert_eq!(other(&race), access);
    }
}

const FILL: &str = "store %6, %1 align 4\n proxy_fence\n barrier block all\n";

#[test]
fn an_mma_result_is_available_after_its_wait() {
    let given = passes(
        1,
        &format!(
            "{FILL} %20: pending.i32 = instruction \"sum\" %5, %1
             %21: pending.i32 = instruction \"sum\" %5, %20
             commit products
             %22: i32 = wait products 0 %21
             store %9, %22 align 4"
        ),
    );
    assert_eq!(given, (0..8).map(|lane| 56 + lane).collect::<Vec<_>>());
}

#[test]
fn operands_of_an_mma_in_flight_may_be_read_but_not_written() {
    let during = |access: &str| {
        format!(
            "{FILL} %20: pending.i32 = instruction \"sum\" %5, %1
             commit products
             {access}
             %22: i32 = wait products 0 %20"
        )
    };
    passes(1, &during("%30: i32 = load %6 align 4"));
    passes(1, &during("store %6 + 32, %1 align 4"));
    let overwritten = fault(1, &during("store %6, %1 align 4"));
    assert_eq!(in_flight(&overwritten), Direction::Store);
    assert_eq!(other(&overwritten), "%20: pending.i32 = instruction \"sum\" %5, %1");
    assert_eq!(
        in_flight(&fault(1, &during("instruction \"copy\" %6, %1\n commit copies\n wait copies 0"))),
        Direction::Store
    );

    // Another warp may write once the first has waited and a barrier lies between.
    let later = |between: &str| {
        format!(
            "if %14 {{ store %6, %1 align 4\n proxy_fence\n yield }} else {{ yield }}
             barrier block all
             if %14 {{
               %20: pending.i32 = instruction \"sum\" %5, %1
               commit products
               %22: i32 = wait products 0 %20
               yield
             }} else {{ yield }}
             {between}
             if %15 {{ store %6, %1 align 4\n yield }} else {{ yield }}"
        )
    };
    passes(2, &later("barrier block all"));
    assert!(matches!(fault(2, &later("")).kind, FaultKind::Race { .. }));
}

fn pending(text: &str) -> String {
    let fault = fault(1, &format!("{FILL} %20: pending.i32 = instruction \"sum\" %5, %1\n {text}"));
    let FaultKind::Pending(message) = &fault.kind else { panic!("{fault}") };
    message.clone()
}

#[test]
fn a_pending_value_is_taken_once_and_not_too_early() {
    assert_eq!(pending("%22: i32 = wait products 0 %20"), "this wait does not complete its group");
    assert_eq!(pending("commit products\n %22: i32 = wait products 1 %20"), "this wait does not complete its group");
    assert_eq!(
        pending("commit products\n %22: i32 = wait copies 0 %20"),
        "it is on the queue `products`, not on `copies`"
    );
    let twice = "%21: pending.i32 = instruction \"sum\" %5, %20\n commit products\n %22: i32 = wait products 0 %20";
    assert_eq!(pending(twice), "another instruction has consumed it");
}

#[test]
fn a_loop_carries_what_is_pending() {
    let chain = |outstanding: u32, end: u32| {
        format!(
            "{FILL} %20: pending.i32 = instruction \"sum\" %5, %1
             commit products
             %21: pending.i32 = for %10 to %13 step %11 carry %20 (%30: i32, %31: pending.i32) {{
               %32: pending.i32 = instruction \"sum\" %5, %31
               commit products
               wait products {outstanding}
               yield %32
             }}
             %22: i32 = wait products {end} %21
             store %9, %22 align 4
             wait products 0"
        )
    };
    assert_eq!(passes(1, &chain(1, 0)), (0..8).map(|lane| 5 * 28 + lane).collect::<Vec<_>>());
    assert!(matches!(fault(1, &chain(1, 1)).kind, FaultKind::Pending(_)));
}

#[test]
fn what_is_issued_must_be_waited_for() {
    let left = fault(1, "instruction \"copy\" %6, %1\n commit copies");
    assert!(matches!(left.kind, FaultKind::Unfinished { .. }), "{left}");
    assert_eq!(other(&left), "instruction \"copy\" %6, %1");
}
