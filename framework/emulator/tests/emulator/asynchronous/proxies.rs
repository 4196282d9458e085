//! Proxies: an asynchronous read observes plain stores only after a proxy fence of the storing warp.

use super::{fault, other, passes, run};
use tilewright_emulator::FaultKind;

/// A kernel whose first warp executes plain stores and `by_first`; behind a barrier, the second warp executes
/// `by_second` and reads the words asynchronously.
fn read(by_first: &str, by_second: &str) -> String {
    format!(
        "if %14 {{ store %6, %1 align 4\n {by_first} yield }} else {{ yield }}
         barrier block all
         if %15 {{
           {by_second}
           %20: pending.i32 = instruction \"sum\" %5, %1
           commit products
           %22: i32 = wait products 0 %20
           store %9, %22 align 4
           yield
         }} else {{ yield }}"
    )
}

#[test]
fn the_warp_that_stored_must_have_fenced() {
    let summed = passes(2, &read("proxy_fence\n", ""));
    assert_eq!(summed[8..], (28..36).collect::<Vec<_>>());
    for text in [read("", ""), read("", "proxy_fence"), read("proxy_fence\n store %6, %1 align 4\n", "")] {
        let unfenced = fault(2, &text);
        assert!(matches!(unfenced.kind, FaultKind::Unfenced { .. }), "{unfenced}");
        assert_eq!(other(&unfenced), "store %6, %1 align 4");
    }
}

#[test]
fn where_there_is_one_proxy_nothing_is_fenced() {
    run(2, false, &read("", "")).unwrap();
}

/// Asynchronous copies of lanes write through the generic proxy.
#[test]
fn what_copies_brought_is_fenced_after_their_wait() {
    let brought = |before: &str, after: &str| {
        format!(
            "instruction \"copy\" %6, %1
             commit copies
             {before} wait copies 0
             {after} barrier warp all
             %20: pending.i32 = instruction \"sum\" %5, %1
             commit products
             %22: i32 = wait products 0 %20"
        )
    };
    passes(1, &brought("", "proxy_fence\n"));
    assert!(matches!(fault(1, &brought("proxy_fence\n", "")).kind, FaultKind::Unfenced { .. }));
}

/// Copies that complete on an mbarrier write through the asynchronous proxy.
#[test]
fn what_an_mbarrier_brought_needs_no_fence() {
    let brought = "mbarrier_init %8, 1
         proxy_fence
         instruction \"fetch\" %5, %8, %10
         mbarrier_arrive %8, 32
         mbarrier_wait %8, %10
         %20: pending.i32 = instruction \"sum\" %5, %1
         commit products
         %22: i32 = wait products 0 %20
         store %9, %22 align 4";
    assert_eq!(passes(1, brought), (28..36).collect::<Vec<_>>());
    let unfenced = fault(1, &brought.replace("proxy_fence\n", ""));
    assert!(matches!(unfenced.kind, FaultKind::Unfenced { .. }), "{unfenced}");
    assert_eq!(other(&unfenced), "mbarrier_init %8, 1");
}
