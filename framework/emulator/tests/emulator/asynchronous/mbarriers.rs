//! Mbarriers: phases complete by arrivals and bytes, and order the accesses before them.

use super::{fault, other, passes};
use tilewright_emulator::FaultKind;

const MAKE: &str = "if %14 { mbarrier_init %8, 1\n mbarrier_init %7, 1\n proxy_fence\n yield } else { yield }
    barrier block all\n";

/// A kernel whose first warp starts a copy that completes on an mbarrier; then all warps execute `wait` and `load`.
fn fetched(wait: &str, load: &str) -> String {
    format!(
        "{MAKE}
         if %14 {{ instruction \"fetch\" %5, %8, %13\n mbarrier_arrive %8, 32\n yield }} else {{ yield }}
         {wait}
         {load}"
    )
}

const LOAD: &str = "%20: i32 = load %6 align 4\n store %9, %20 align 4\n";

#[test]
fn whoever_has_waited_for_the_phase_sees_what_came() {
    let words: Vec<u32> = (0..3).flat_map(|_| 4..12).collect();
    assert_eq!(passes(3, &fetched("mbarrier_wait %8, %10", LOAD)), words);
    let early = fault(3, &fetched("", &format!("{LOAD} mbarrier_wait %8, %10")));
    assert!(matches!(early.kind, FaultKind::InFlight { .. }), "{early}");
    assert_eq!(other(&early), "instruction \"fetch\" %5, %8, %13");
    // The first warp has waited, the others have not.
    let by_first = "if %14 { mbarrier_wait %8, %10\n yield } else { yield }";
    let race = fault(3, &fetched(by_first, LOAD));
    assert!(matches!(race.kind, FaultKind::Race { .. }), "{race}");
    assert_eq!(other(&race), "instruction \"fetch\" %5, %8, %13");
    passes(3, &fetched(&format!("{by_first}\n barrier block all"), LOAD));
}

#[test]
fn an_arrival_is_seen_by_those_who_wait() {
    let producer_consumer = |arrive: &str, wait: &str| {
        format!(
            "{MAKE}
             if %14 {{ store %6, %1 align 4\n {arrive}\n yield }} else {{ {wait}\n {LOAD}\n yield }}
             barrier block all"
        )
    };
    let words: Vec<u32> = [0; 8].into_iter().chain(0..8).collect();
    assert_eq!(passes(2, &producer_consumer("mbarrier_arrive %8, 0", "mbarrier_wait %8, %10")), words);
    assert!(matches!(fault(2, &producer_consumer("mbarrier_arrive %8, 0", "")).kind, FaultKind::Race { .. }));
    // The arrival does not order a later store.
    let after = producer_consumer("mbarrier_arrive %8, 0\n store %6, %2 align 4", "mbarrier_wait %8, %10");
    assert!(matches!(fault(2, &after).kind, FaultKind::Race { .. }));
}

/// A kernel whose first warp is the producer and the others are consumers, with a full and an empty mbarrier.
fn handshake(readers: u32, empty: bool) -> String {
    let emptied = if empty { "mbarrier_wait %7, %32\n" } else { "" };
    format!(
        "if %14 {{ mbarrier_init %8, 1\n mbarrier_init %7, {readers}\n proxy_fence\n yield }} else {{ yield }}
         barrier block all
         if %14 {{
           for %10 to %13 step %11 (%30: i32) {{
             %31: i32 = binary add %30, %11
             %32: i32 = binary rem_u %31, %12
             {emptied} instruction \"fetch\" %5, %8, %30
             mbarrier_arrive %8, 32
             yield
           }}
           yield
         }} else {{
           %33: i32 = for %10 to %13 step %11 carry %10 (%40: i32, %41: i32) {{
             %42: i32 = binary rem_u %40, %12
             mbarrier_wait %8, %42
             %43: i32 = load %6 align 4
             %44: i32 = binary add %41, %43
             mbarrier_arrive %7, 0
             yield %44
           }}
           store %9, %33 align 4
           yield
         }}
         barrier block all"
    )
}

/// Four iterations refill one buffer: lane l reads l, l + 1, l + 2 and l + 3.
#[test]
fn a_buffer_is_refilled_when_all_have_read_it() {
    for readers in [1, 3] {
        let found = passes(1 + readers, &handshake(readers, true));
        let totals = (0..readers).flat_map(|_| (0..8).map(|lane| 4 * lane + 6));
        assert_eq!(found, [0; 8].into_iter().chain(totals).collect::<Vec<_>>());
    }
    let overrun = fault(2, &handshake(1, false));
    assert!(matches!(overrun.kind, FaultKind::InFlight { .. } | FaultKind::Mbarrier { .. }), "{overrun}");
}

/// A wait for the parity of the phase before the first returns immediately.
#[test]
fn nothing_is_waited_for_before_the_first_phase() {
    passes(1, &format!("{MAKE} mbarrier_wait %8, %11\n mbarrier_wait %8, %11"));
}

#[test]
fn a_phase_that_never_completes_is_a_fault() {
    let lacks = |text: &str| {
        let fault = fault(2, &format!("{MAKE} {text}"));
        let FaultKind::NeverCompletes { arrivals, bytes, .. } = fault.kind else { panic!("{fault}") };
        (arrivals, bytes)
    };
    assert_eq!(lacks("mbarrier_wait %8, %10"), (1, 0));
    let arrive = |bytes: u32| format!("if %14 {{ mbarrier_arrive %8, {bytes}\n yield }} else {{ yield }}\n");
    assert_eq!(lacks(&format!("{} mbarrier_wait %8, %10", arrive(32))), (0, 32));
    let fetch = "if %14 { instruction \"fetch\" %5, %8, %13\n yield } else { yield }\n";
    assert_eq!(lacks(&format!("{fetch} {} mbarrier_wait %8, %10", arrive(16))), (0, -16));
    // Deadlock: each warp waits for an arrival that the other makes afterwards.
    let crossed = "if %14 { mbarrier_wait %8, %10\n mbarrier_arrive %7, 0\n yield }
        else { mbarrier_wait %7, %10\n mbarrier_arrive %8, 0\n yield }";
    assert_eq!(lacks(crossed), (1, 0));
}

/// The statement by which the first warp invalidates an mbarrier.
const END: &str = "if %14 { mbarrier_invalidate %8\n yield } else { yield }\n";

const BLOCK_BARRIER: &str = "barrier block all\n";

#[test]
fn the_bytes_of_an_invalidated_mbarrier_are_reusable() {
    let used = format!("{MAKE} if %14 {{ mbarrier_arrive %8, 0\n yield }} else {{ yield }}\n mbarrier_wait %8, %10\n");
    // The bytes can become another mbarrier, in a new first phase.
    let reused =
        format!("{used}{BLOCK_BARRIER}{END}{}{}", MAKE.replace("mbarrier_init %7, 1", ""), &used[MAKE.len()..]);
    passes(2, &reused);
    // The bytes can hold data.
    let stored = "if %14 { store %8, %2 align 4\n yield } else { yield }\n barrier block all\n";
    passes(2, &format!("{used}{BLOCK_BARRIER}{END}{stored} %20: i32 = load %8 align 4\n store %9, %20 align 4"));
    // A warp that only arrived may have another warp invalidate it, as the wait orders the arrival.
    let arrives =
        "if %14 { mbarrier_wait %8, %10\n mbarrier_invalidate %8\n yield } else { mbarrier_arrive %8, 0\n yield }";
    passes(2, &format!("{MAKE}{arrives}"));
}

#[test]
fn an_invalidation_follows_all_arrivals_and_waits() {
    let by_second = |first: &str| format!("if %14 {{ {first}\n yield }} else {{ mbarrier_invalidate %8\n yield }}");
    let (arrive, wait) = ("mbarrier_arrive %8, 0", "mbarrier_wait %8, %10");
    let both_wait = format!("if %14 {{ {arrive}\n yield }} else {{ yield }}\n {wait}\n {}", by_second(""));
    for (body, earlier) in [(both_wait, wait), (by_second(wait), wait), (by_second(arrive), arrive)] {
        let found = fault(2, &format!("{MAKE}{body}"));
        assert!(matches!(found.kind, FaultKind::Race { .. }), "{body}: {found}");
        assert_eq!(other(&found), earlier, "{body}");
    }
}

#[test]
fn mbarriers_are_initialized_before_use_and_left_alone() {
    let message = |text: &str| {
        let fault = fault(1, text);
        let FaultKind::Mbarrier { message, .. } = &fault.kind else { panic!("{fault}") };
        message.clone()
    };
    assert_eq!(message("mbarrier_arrive %8, 0"), "no mbarrier is initialized here; `mbarrier_init` initializes one");
    for used in ["mbarrier_arrive %8, 0", "mbarrier_wait %8, %10", "mbarrier_invalidate %8"] {
        let invalidated = message(&format!("mbarrier_init %8, 1\n mbarrier_invalidate %8\n {used}"));
        assert_eq!(invalidated, "no mbarrier is initialized here; `mbarrier_init` initializes one", "{used}");
    }
    let uninitialised = fault(1, "mbarrier_init %8, 1\n mbarrier_invalidate %8\n %20: i32 = load %8 align 4");
    assert!(matches!(uninitialised.kind, FaultKind::Uninitialised { .. }), "{uninitialised}");
    let in_flight = "mbarrier_init %8, 1\n proxy_fence\n instruction \"fetch\" %5, %8, %13\n mbarrier_invalidate %8";
    assert_eq!(message(in_flight), "operations in flight arrive at it; wait for their phase first");
    assert_eq!(message("mbarrier_init %8, 1\n %20: i32 = load %8 + 4 align 4"), "a plain access touches it");
    assert_eq!(message("mbarrier_init %8, 1\n store %8, %1 align 4"), "a plain access touches it");
    assert_eq!(
        message("mbarrier_init %8, 1\n mbarrier_arrive %8, 8\n mbarrier_arrive %8, 0"),
        "more arrivals than its count, before its expected bytes have arrived"
    );
    assert!(message("mbarrier_init %8, 1\n mbarrier_wait %8, %1").contains("all lanes must name the same"));
    let misaligned = fault(1, "%20: ptr.shared = ptr_add %5, %13\n mbarrier_init %20, 1");
    assert!(matches!(misaligned.kind, FaultKind::Misaligned { alignment: 8, .. }), "{misaligned}");
    // Another warp may not use the mbarrier before a barrier.
    let early = fault(2, "if %14 { mbarrier_init %8, 2\n yield } else { yield }\n mbarrier_arrive %8, 0");
    assert!(matches!(early.kind, FaultKind::Race { .. }), "{early}");
}
