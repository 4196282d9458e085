//! The static check of listings on all programs of the conformance suite, and on listings with a wait or barrier
//! removed or an access moved.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "the tests that need external data use the rest")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::listing::generation::Generation;
use crate::listing::parse::Listing;
use crate::listing::{violations, waits};
use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_plugin::codegen::check_limits;
use tilewright_testkit::sample::sample;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::case::ProgramCase;

/// All targets of this vendor.
const TARGETS: [&str; 6] = ["mi100", "mi250", "mi300x", "mi355x", "rx7900xtx", "rx9070xt"];

#[test]
fn listings_of_programs_wait_and_keep_their_order() {
    check_listings_wait_and_keep_their_order(Answers::Sample);
}

pub fn check_listings_wait_and_keep_their_order(answers: Answers) {
    let folder = match answers {
        Answers::Sample => shared_data::workspace().join("conformance/kernels"),
        Answers::All => shared_data::path("kernels/cases"),
    };
    let all_files = ProgramCase::list_case_files(&folder).unwrap();
    let share = if answers == Answers::All { 1 } else { 3 };
    let (checked, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let of_target = &|(phase, name): (usize, &str)| {
        let target = target(name);
        for file in sample(all_files.clone(), share, phase) {
            if let Some(found) = check_program(&target, &file) {
                checked.fetch_add(1, Ordering::Relaxed);
                let found = found.into_iter().map(|why| format!("{name} {}: {why}", file.display()));
                wrong.lock().unwrap().extend(found);
            }
        }
    };
    // This is the longest test, so it runs in threads.
    std::thread::scope(|scope| {
        let run = |target| scope.spawn(move || of_target(target));
        let threads: Vec<_> = TARGETS.into_iter().enumerate().map(run).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let (checked, wrong) = (checked.into_inner(), wrong.into_inner().unwrap());
    assert!(wrong.is_empty(), "{} violations: {:#?}", wrong.len(), &wrong[..wrong.len().min(400)]);
    assert!(checked * share > 4 * all_files.len(), "{checked} listings");
}

/// Returns the violations of a program's listing; `None` if the target does not support the program.
fn check_program(target: &AmdTarget, file: &Path) -> Option<Vec<String>> {
    let case = ProgramCase::read(file).unwrap_or_else(|error| panic!("{error}"));
    let options = ProgramOptions::default().with_warps(case.warps).with_entry(&case.entry);
    check_text(target, &case.program, &options)
}

fn check_text(target: &AmdTarget, file: &Path, options: &ProgramOptions) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap();
    let kernel = match compiler(target).compile_kernel(&text, options, &mut |_| {}) {
        Ok(kernel) => kernel,
        Err(error) if error.is_unsupported() => return None,
        Err(error) => panic!("{}: {error}", file.display()),
    };
    if check_limits(target.description(), &Module { kernels: vec![kernel.clone()] }).is_err() {
        return None;
    }
    match artifact(target, vec![kernel.clone()], &[CodeFormat::Assembly]) {
        Ok(code) => {
            let text = code.payload_text(CodeFormat::Assembly).unwrap();
            Some(violations(&target.description().architecture, &kernel, text))
        }
        Err(CompileError::Unsupported(_)) => None,
        Err(error) => panic!("{}: {error}", file.display()),
    }
}

pub fn listings_of_modules_with_layouts_wait_and_keep_their_order() {
    let folder = shared_data::path("kernels/ttgir");
    let (mut checked, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if !file.to_string_lossy().ends_with(".gfx942.ttgir") {
            continue;
        }
        for name in ["mi300x", "mi355x"] {
            if let Some(found) = check_text(&target(name), &file, &ProgramOptions::default()) {
                checked += 1;
                wrong.extend(found.into_iter().map(|why| format!("{name} {}: {why}", file.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{} violations: {:#?}", wrong.len(), &wrong[..wrong.len().min(400)]);
    assert!(checked > 300, "{checked} listings");
}

/// A kernel through shared memory: its lanes store, wait at a barrier, and load what other lanes stored.
fn through_shared(name: &str) -> (AmdTarget, Kernel, String) {
    let target = target(name);
    let kernel =
        kernels::through_shared(StaticLaunchConfig::new(target.description().lanes.default, 4), CollectiveScope::Block);
    let text = assembly(&target, vec![kernel.clone()]);
    (target, kernel, text)
}

/// Returns a listing without one line.
fn without(text: &str, line: usize) -> String {
    let lines = text.lines().enumerate().filter(|&(at, _)| at != line);
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

/// Removes each wait and each barrier, one at a time. The check must report each, except a wait next to an equal one.
#[test]
fn removed_waits_and_barriers_are_reported() {
    for name in TARGETS {
        let (target, kernel, text) = through_shared(name);
        let architecture = &target.description().architecture;
        assert_eq!(violations(architecture, &kernel, &text), Vec::<String>::new(), "{name}: {text}");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let mut reported = [0, 0];
        for (at, line) in lines.iter().enumerate() {
            let is_wait = line.starts_with("s_wait") && !line.starts_with("s_wait_alu") && !line.contains("depctr");
            let is_barrier = line.starts_with("s_barrier");
            let mnemonic = line.split_whitespace().next().unwrap_or_default();
            let has_twin = (at.saturating_sub(4)..at + 5).any(|other| {
                other != at && lines.get(other).is_some_and(|it| it.split_whitespace().next() == Some(mnemonic))
            });
            if !is_wait && !is_barrier {
                continue;
            }
            let found = violations(architecture, &kernel, &without(&text, at));
            assert!(!found.is_empty() || is_wait && has_twin, "{name} without `{line}`: {text}");
            reported[usize::from(is_barrier)] += usize::from(!found.is_empty());
        }
        assert!(reported[0] >= 2 && reported[1] >= 1, "{name}: {reported:?} of {text}");
    }
}

/// Moves each access to shared memory to the other side of the barrier; the check must report each.
#[test]
fn accesses_on_the_other_side_of_a_barrier_are_reported() {
    for name in TARGETS {
        let (target, kernel, text) = through_shared(name);
        let lines: Vec<&str> = text.lines().collect();
        let is = |at: usize, words: &[&str]| words.iter().any(|word| lines[at].trim_start().starts_with(word));
        let comment = (0..lines.len()).find(|&at| lines[at].trim() == "; barrier 0").unwrap();
        let barrier = (0..lines.len()).rfind(|&at| is(at, &["s_barrier"])).unwrap();
        let stores = (0..comment).filter(|&at| is(at, &["ds_write", "ds_store"]));
        let loads = (barrier..lines.len()).filter(|&at| is(at, &["ds_read", "ds_load"]));
        let mut moved = 0;
        for (from, to) in stores.map(|at| (at, barrier + 1)).chain(loads.map(|at| (at, comment))) {
            let mut lines = lines.clone();
            let line = lines.remove(from);
            lines.insert(if from < to { to - 1 } else { to }, line);
            let found = violations(&target.description().architecture, &kernel, &lines.join("\n"));
            assert!(found.iter().any(|why| why.contains("in the kernel IR")), "{name}: {line}: {found:?}");
            moved += 1;
        }
        assert_eq!(moved, 4, "{name}: {text}");
    }
}

/// Short listings with the violations of each generation's rules, as line numbers.
const SHORT: [(&str, &str, &[usize]); 9] = [
    ("gfx942", "global_load_dword v1, v[2:3], off\n v_add_u32_e32 v4, v1, v1\n s_endpgm", &[1]),
    ("gfx942", "global_load_dword v1, v[2:3], off\n s_waitcnt vmcnt(0)\n v_add_u32_e32 v4, v1, v1\n s_endpgm", &[]),
    // The second load may be outstanding, and the store counts like a load.
    (
        "gfx942",
        "global_load_dword v1, v[2:3], off\n global_load_dword v5, v[2:3], off offset:4\n
         global_store_dword v[2:3], v9, off\n s_waitcnt vmcnt(2)\n v_mov_b32_e32 v4, v1\n v_mov_b32_e32 v4, v5",
        &[5],
    ),
    (
        "gfx1100",
        "global_load_b32 v1, v[2:3], off\n global_store_b32 v[2:3], v9, off\n s_waitcnt vmcnt(1)\n
         v_mov_b32_e32 v4, v1",
        &[3],
    ),
    // Scalar loads complete in any order.
    (
        "gfx942",
        "s_load_dword s4, s[0:1], 0x0\n s_load_dword s5, s[0:1], 0x4\n s_waitcnt lgkmcnt(1)\n s_add_u32 s6, s4, s4\n
         s_waitcnt lgkmcnt(0)\n s_add_u32 s6, s5, s5",
        &[3],
    ),
    ("gfx1201", "ds_load_b32 v1, v2\n s_wait_loadcnt 0x0\n v_mov_b32_e32 v4, v1\n s_wait_dscnt 0x0", &[2]),
    (
        "gfx1201",
        "ds_load_b32 v1, v2\n global_load_b32 v3, v[4:5], off\n s_wait_loadcnt_dscnt 0x100\n v_mov_b32_e32 v4, v1\n
         v_mov_b32_e32 v4, v3",
        &[4],
    ),
    // In the second iteration the store is in flight at the barrier.
    (
        "gfx1201",
        ".LBB0_1:\n s_barrier_signal -1\n s_barrier_wait -1\n ds_store_b32 v1, v2\n s_cbranch_scc1 .LBB0_1\n s_endpgm",
        &[0],
    ),
    (
        "gfx1100",
        ".LBB0_1:\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_store_b32 v1, v2\n s_cbranch_scc1 .LBB0_1\n s_endpgm",
        &[],
    ),
];

#[test]
fn rules_of_the_generations_find_violations_in_short_listings() {
    for (architecture, text, lines) in SHORT {
        let found = waits::violations(Generation::of(architecture), 4, &Listing::of_body(text));
        let at = |why: &String| why.split([' ', ':']).nth(1).and_then(|number| number.parse().ok()).unwrap();
        assert_eq!(found.iter().map(at).collect::<Vec<usize>>(), lines, "{architecture}: {found:?}");
    }
}

/// Values of the kernels below: `%0` (to), `%1` (count), the address `%10` of the lane's word in shared memory and
/// `%13` of another lane's, that of its word in global memory, `%16`, and the numbers 0, 1 and 64 (`%14`, `%15`,
/// `%11`).
const VALUES: &str = "shared 0: 4096 bytes align 16
    %2: i32 = special lane
    %3: i32 = special warp
    %4: i32 = constant 64
    %5: i32 = binary mul %3, %4
    %6: i32 = binary add %5, %2
    %7: i32 = constant 4
    %8: i32 = binary mul %6, %7
    %9: ptr.shared = shared_address 0
    %10: ptr.shared = ptr_add %9, %8
    %11: i32 = constant 64
    %12: i32 = binary xor %8, %11
    %13: ptr.shared = ptr_add %9, %12
    %14: i32 = constant 0
    %15: i32 = constant 1
    %16: ptr.global = ptr_add %0, %8";

/// Kernels that LLVM compiles wrongly without the code generator's help.
const HARD: [(&str, &str); 4] = [
    // The load's result is used in a uniform branch only: LLVM moves the load there, behind the barrier.
    (
        "a load before a barrier",
        "store %10, %6 align 4
         barrier block all
         %17: i32 = load %13 align 4
         barrier block all
         %18: i1 = compare lt_u %1, %11
         if %18 { store %16, %17 align 4 yield } else { yield }
         store %10, %7 align 4
         barrier block all
         %19: i32 = load %13 align 4
         store %16 + 8192, %19 align 4",
    ),
    (
        "a load before a fence",
        "store %10, %6 align 4
         barrier block all
         %17: i32 = load %13 align 4
         fence device
         %18: i1 = compare lt_u %1, %11
         if %18 { store %16, %17 align 4 yield } else { yield }",
    ),
    // Nothing is in flight before the loop, but the store at its end is: LLVM drops the wait at the loop's head.
    (
        "a barrier at the head of a loop",
        "%17: i32 = for %14 to %1 step %15 carry %14 (%18: i32, %19: i32) {
           barrier block all
           %20: i32 = load %13 align 4
           %21: i32 = binary add %19, %20
           barrier block all
           store %10, %21 align 4
           yield %21
         }
         store %16, %17 align 4",
    ),
    (
        "an atomic at the head of a loop",
        "%17: i32 = for %14 to %1 step %15 carry %14 (%18: i32, %19: i32) {
           %20: i32 = atomic_rmw add acquire_release device %0, %15
           store %16, %18 align 4
           yield %19
         }
         fence system",
    ),
];

#[test]
fn loads_stay_before_barriers_and_waits_at_the_heads_of_loops() {
    for name in TARGETS {
        let target = target(name);
        let (lanes, architecture) = (target.description().lanes.default, &target.description().architecture);
        for (what, statements) in HARD {
            let text = format!(
                "kernel hard(%0 to: ptr.global, %1 count: i32) lanes {lanes} warps 4 {{ {VALUES}\n{statements} }}"
            );
            let module =
                tilewright_kernel::text::parse_module(&text).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let code = assembly(&target, module.kernels.clone());
            assert_eq!(
                violations(architecture, &module.kernels[0], &code),
                Vec::<String>::new(),
                "{name} {what}: {code}"
            );
        }
    }
}
