//! Global memory that programs of a launch share: races between them, and programs that wait for each other.
#![allow(clippy::unwrap_used)]

use tilewright_emulator::{Argument, Fault, FaultKind, GlobalMemory, RunLimits, RunReport, run_kernel};
use tilewright_testkit::emulator_target::{kernel, target};

/// Runs a kernel of one warp of 8 lanes over 4 programs, with a buffer of 64 words of value 0. Before `body`, these
/// values are defined: `%1` (program), `%2` (lane), `%3` = 0, `%4` = 1, `%5` (address of the word of the program), `%6`
/// (of the lane), and `%7` (whether the lane is the first).
fn run_programs(warps: u32, body: &str) -> Result<Vec<u8>, Fault> {
    let limits = RunLimits { steps: 10_000_000, global_races: true, ..RunLimits::default() };
    run_grid([4, 1, 1], warps, body, &limits).map(|(bytes, _)| bytes)
}

/// As [`run_programs`], for any grid.
fn run_grid(grid: [u32; 3], warps: u32, body: &str, limits: &RunLimits) -> Result<(Vec<u8>, RunReport), Fault> {
    let text = format!(
        "kernel tested(%0 to: ptr.global) lanes 8 warps {warps} {{
           %1: i32 = special program 0
           %2: i32 = special lane
           %3: i32 = constant 0
           %4: i32 = constant 1
           %8: i32 = constant 2
           %9: i32 = binary shl %1, %8
           %5: ptr.global = ptr_add %0, %9
           %10: i32 = binary shl %2, %8
           %6: ptr.global = ptr_add %0, %10
           %7: i1 = compare eq %2, %3
           %11: i32 = special warp
           {body}
         }}"
    );
    let mut memory = GlobalMemory::new();
    let buffer = memory.allocate_with(&[0; 4352]);
    let report = run_kernel(&kernel(&text), &target(true), grid, &[Argument::Buffer(buffer)], &mut memory, limits)?;
    Ok((memory.read_all(buffer).unwrap().to_vec(), report))
}

/// Bodies without races, and the reason why there is none.
const ORDERED: &[(&str, u32, &str)] = &[
    ("each program has its own word", 1, "store %5, %1 align 4 if %7"),
    ("all programs store one value", 1, "store %0, %4 align 4 if %7"),
    (
        "all programs load one word",
        1,
        "%30: i32 = constant 128
         %20: i32 = load %0 align 4
         %21: ptr.global = ptr_add %5, %30
         store %21, %4 align 4 if %7",
    ),
    ("atomic operations", 1, "%20: i32 = atomic_rmw add acquire_release device %0, %1 if %7"),
    (
        "a lock orders the programs",
        1,
        "%30: i32 = constant 128
         %20: i32 = atomic_rmw add acquire_release device %0, %4 if %7
         %21: ptr.global = ptr_add %0, %30
         %22: i32 = load %21 align 4 if %7
         %23: i32 = binary add %22, %4
         store %21, %23 align 4 if %7
         %24: i32 = atomic_rmw add acquire_release device %0, %4 if %7",
    ),
    (
        "a warp has replicas of what another one updates in place",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i1 = compare eq %11, %3
         %22: i1 = binary and %20, %21
         %23: i32 = load %6 align 4 if %20
         %24: i32 = binary add %23, %4
         store %6, %24 align 4 if %22",
    ),
    (
        "replicas of what another warp updates twice",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i1 = compare eq %11, %3
         %22: i1 = binary and %20, %21
         %23: i32 = load %6 align 4 if %20
         %24: i32 = binary add %23, %4
         store %6, %24 align 4 if %22
         %25: i32 = load %6 align 4 if %20
         %26: i32 = binary add %25, %4
         store %6, %26 align 4 if %22",
    ),
    (
        "replicas of what a warp updates, one program after the other",
        2,
        "%20: i1 = compare eq %11, %3
         %30: i32 = constant 128
         %31: ptr.global = ptr_add %0, %30
         %32: i32 = atomic_rmw add acquire_release device %31, %4 if %7
         %23: i32 = load %6 align 4
         %24: i32 = binary add %23, %4
         store %6, %24 align 4 if %20
         barrier block all
         %33: i32 = atomic_rmw add acquire_release device %31, %4 if %7",
    ),
    (
        "a block barrier orders the warps",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i1 = compare eq %11, %3
         %22: i1 = binary and %20, %21
         store %6, %4 align 4 if %22
         barrier block all
         %23: i32 = load %6 align 4 if %20",
    ),
];

/// Bodies with races.
const RACES: &[(&str, u32, &str, bool)] = &[
    ("two programs store different values", 1, "store %0, %1 align 4 if %7", false),
    (
        "a program loads what another stores",
        1,
        "%20: i32 = load %0 align 4
         %21: i32 = binary add %1, %4
         store %5, %21 align 4 if %7",
        false,
    ),
    ("a program stores what another has loaded", 1, "%20: i32 = load %6 align 4\n store %5, %4 align 4 if %7", false),
    ("two lanes store different values", 1, "%20: i1 = compare eq %1, %3\n store %0, %2 align 4 if %20", true),
    (
        "a warp loads what another stores",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i1 = compare eq %11, %3
         %22: i1 = binary and %20, %21
         store %6, %4 align 4 if %22
         %23: i32 = load %6 align 4 if %20",
        true,
    ),
    (
        "a warp loads by another operation what a warp updates in place",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i1 = compare eq %11, %3
         %22: i1 = binary and %20, %21
         %23: i32 = load %6 align 4 if %22
         %24: i32 = binary add %23, %4
         store %6, %24 align 4 if %22
         %25: i32 = load %6 align 4 if %20",
        true,
    ),
    (
        "a loop observes replicas of what another warp updates in place",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i1 = compare eq %11, %3
         %22: i1 = binary and %20, %21
         %23: i32 = load %0 align 4 if %20
         %24: i32 = binary add %23, %4
         %29: i1 = binary and %22, %7
         store %0, %24 align 4 if %29
         %25: i32 = for %3 to %23 step %4 carry %3 (%26: i32, %27: i32) {
             %28: i32 = binary add %27, %26
             yield %28
         }
         store %6, %25 align 4 if %22",
        true,
    ),
    (
        // Warp w loads the words of the lanes of warp (w + i) mod 2 in iteration i; warp 0 updates them.
        "a warp loads in one iteration what another updates in the next one",
        2,
        "%20: i1 = compare eq %1, %3
         %21: i32 = constant 2
         %22: i32 = constant 5
         %32: i1 = compare eq %11, %3
         %33: i1 = binary and %20, %32
         %23: i32 = for %3 to %21 step %4 carry %3 (%24: i32, %25: i32) {
             %26: i32 = binary add %11, %24
             %27: i32 = binary and %26, %4
             %28: i32 = binary shl %27, %22
             %29: ptr.global = ptr_add %6, %28
             %30: i32 = load %29 align 4 if %20
             %31: i32 = binary add %30, %4
             store %29, %31 align 4 if %33
             yield %31
         }",
        true,
    ),
    ("a byte of a word", 1, "%20: i8 = cast truncate %1\n store %0, %20 align 1 if %7", false),
    (
        // Accesses are recorded by pages of 4096 bytes.
        "the second page of a store",
        1,
        "%20: i32 = constant 4092
         %21: ptr.global = ptr_add %0, %20
         %25: i32 = constant 4
         %22: ptr.global = ptr_add %21, %25
         %23: i32 = load %22 align 4
         %24: i64 = constant 4294967296
         store %21, %24 align 4 if %7",
        false,
    ),
];

#[test]
fn ordered_accesses_are_no_races() {
    for (name, warps, body) in ORDERED {
        let done = run_programs(*warps, body);
        assert!(done.is_ok(), "{name}: {}", done.unwrap_err());
    }
}

#[test]
fn races_name_both_operations() {
    for (name, warps, body, within) in RACES {
        match run_programs(*warps, body) {
            Err(Fault {
                kind: FaultKind::GlobalRace { other, same_program, .. }, location: Some(location), ..
            }) => {
                assert_eq!(same_program, *within, "{name}");
                assert!(location.text.contains("store") || other.text.contains("store"), "{name}: {location:?}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Each program adds one, and waits until all four have.
const WAITING: &str = "%20: i32 = atomic_rmw add acquire_release device %0, %4 if %7
         %21: i32 = constant 4
         %22: i32 = while carry %20 (%23: i32) {
             %24: i32 = atomic_rmw or acquire_release device %0, %3 if %7
             %25: i1 = compare ne %24, %21
             %26: i1 = binary and %25, %7
             yield %26, %24
         }";

#[test]
fn programs_wait_for_later_ones() {
    let words = run_programs(1, WAITING).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(words[..4], 4_u32.to_le_bytes());
}

#[test]
fn a_sample_has_programs_of_all_parts_of_the_grid() {
    // Program (x, y, z) counts in the word x + 5 y + 10 z.
    let body = "%20: i32 = special program 1
         %21: i32 = special program 2
         %22: i32 = constant 20
         %23: i32 = constant 40
         %24: i32 = binary mul %20, %22
         %25: i32 = binary mul %21, %23
         %26: i32 = binary add %24, %25
         %27: ptr.global = ptr_add %5, %26
         %28: i32 = atomic_rmw add acquire_release device %27, %4 if %7";
    let sample = |steps: Option<u64>| {
        let limits = RunLimits { sampled_steps: steps, ..RunLimits::default() };
        let (bytes, report) = run_grid([5, 2, 6], 1, body, &limits).unwrap_or_else(|fault| panic!("{fault}"));
        let counts: Vec<u8> = bytes.chunks(4).map(|word| word[0]).collect();
        assert!(counts.iter().all(|count| *count <= 1), "no program runs twice");
        let ran: Vec<usize> = (0..60).filter(|&program| counts[program] == 1).collect();
        assert_eq!((report.clusters, counts[60..].iter().sum::<u8>()), (ran.len() as u64, 0));
        (ran, report.steps)
    };
    let (all, steps) = sample(None);
    assert_eq!(all.len(), 60);
    assert_eq!(sample(Some(u64::MAX)), (all, steps));
    assert_eq!(sample(Some(1)).0, [30], "one program, of the middle");
    let (some, some_steps) = sample(Some(steps / 6));
    assert_eq!((some.len(), some_steps), (10, steps / 6));
    for (third, programs) in [0..20, 20..40, 40..60].into_iter().enumerate() {
        assert!(some.iter().filter(|program| programs.contains(*program)).count() >= 3, "third {third}: {some:?}");
    }
}

#[test]
fn a_sample_has_the_programs_that_it_waits_for() {
    let limits = RunLimits { sampled_steps: Some(1), ..RunLimits::default() };
    let done = run_grid([4, 1, 1], 1, WAITING, &limits);
    assert_eq!(done.unwrap_or_else(|fault| panic!("{fault}")).1.clusters, 4);
}

#[test]
fn words_of_atomic_operations_may_exceed_a_buffer_of_two_bytes() {
    let run_on = |bytes: &[u8], value: u32| {
        let text = format!(
            "kernel tested(%0 to: ptr.global) lanes 8 warps 1 {{
               %1: i32 = special lane
               %2: i32 = constant 0
               %3: i1 = compare eq %1, %2
               %4: i32 = constant {value}
               %5: i32 = atomic_rmw add acquire_release device %0, %4 if %3
             }}"
        );
        let mut memory = GlobalMemory::new();
        let buffer = memory.allocate_with(bytes);
        let limits = RunLimits::default();
        run_kernel(&kernel(&text), &target(true), [1, 1, 1], &[Argument::Buffer(buffer)], &mut memory, &limits)?;
        Ok::<_, Fault>(memory.read_all(buffer).unwrap().to_vec())
    };
    assert_eq!(run_on(&[1, 0], 0x0102).unwrap(), [3, 1]);
    let kind = run_on(&[1, 0], 0x0001_0000).unwrap_err().kind;
    assert!(matches!(kind, FaultKind::OutOfBounds { .. }), "{kind}");
    assert!(matches!(run_on(&[], 1).unwrap_err().kind, FaultKind::OutOfBounds { .. }));
}
