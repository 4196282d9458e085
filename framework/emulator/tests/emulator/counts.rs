//! Counts of the emulator, compared with values by hand and by brute force over bytes.

use tilewright_testkit::emulator_target;

use std::collections::{BTreeMap, BTreeSet};

use emulator_target::{body, kernel, run_body, target};
use tilewright_emulator::{
    Argument, Emulator, GlobalMemory, InstructionCall, LaneFault, RunLimits, RunReport, SemanticsTable, run_kernel,
};
use tilewright_kernel::Counts;

fn report(warps: u32, text: &str) -> RunReport {
    run_body(warps, text, true).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The text of a kernel whose lane `l` accesses byte `l * stride` of the first buffer.
fn strided(stride: u32, access: &str) -> String {
    format!("%7: i32 = constant {stride}\n %8: i32 = binary mul %0, %7\n %9: ptr.shared = ptr_add %5, %8\n {access}")
}

fn stored(stride: u32, access: &str) -> u64 {
    report(1, &strided(stride, access)).counts.wavefronts_stored
}

#[test]
fn textbook_bank_conflicts() {
    // Eight banks of four bytes. Adjacent words: no conflict.
    assert_eq!(stored(4, "store %9, %0 align 4"), 1);
    // Every second word: lanes 0 and 4 conflict in bank 0, and so on.
    assert_eq!(stored(8, "store %9, %0 align 4"), 2);
    assert_eq!(stored(16, "store %9, %0 align 4"), 4);
    // A column of a matrix with rows of eight words: all in one bank.
    assert_eq!(stored(32, "store %9, %0 align 4"), 8);
    // The same column, rows padded by a word: no conflict.
    assert_eq!(stored(36, "store %9, %0 align 4"), 1);
    // All lanes access one word, which is broadcast.
    assert_eq!(stored(0, "store %9, %4 align 4"), 1);
    // Bytes of one word do not conflict.
    assert_eq!(stored(1, "%10: i8 = cast truncate %0\n store %9, %10 align 1"), 1);
    // 64 bits per lane: four lanes fill the banks, so two phases.
    assert_eq!(stored(8, "%10: 2xi32 = pack %0, %0\n store %9, %10 align 8"), 2);
    // 128 bits: two lanes fill the banks; four phases.
    assert_eq!(stored(16, "%10: 4xi32 = pack %0, %0, %0, %0\n store %9, %10 align 16"), 4);
    // For stores, lanes 0 and 1 are a phase, 32 bytes apart: two wavefronts per phase.
    assert_eq!(stored(32, "%10: 4xi32 = pack %0, %0, %0, %0\n store %9, %10 align 16"), 8);
}

/// Eight lanes of each of two warps store three times: to adjacent words, to one common address, and only lanes 0 to 4.
#[test]
fn bytes_stored_count_every_lane() {
    let bytes = |stride: u32, access: &str| report(2, &strided(stride, access)).shared_bytes_stored;
    let strided_by_warp =
        "%10: i32 = constant 32\n %11: i32 = binary mul %1, %10\n %12: ptr.shared = ptr_add %9, %11\n";
    assert_eq!(bytes(4, &format!("{strided_by_warp} store %12, %0 align 4")), 64);
    assert_eq!(bytes(0, &format!("{strided_by_warp} store %12, %4 align 4")), 64);
    let some = "%13: i32 = constant 5\n %14: i1 = compare lt_u %0, %13\n store %12, %0 align 4 if %14";
    assert_eq!(bytes(4, &format!("{strided_by_warp} {some}")), 40);
}

#[test]
fn directions_have_their_own_bank_rows() {
    // For loads, lanes l and l + 4 are a phase, 64 bytes apart and always in the same banks; for stores, the adjacent
    // lanes l and l + 1.
    let text = "%10: 4xi32 = pack %0, %0, %0, %0\n store %9, %10 align 16\n %11: 4xi32 = load %9 align 16";
    let counts = report(1, &strided(16, text)).counts;
    let expected =
        Counts { shared_stores: 1, shared_loads: 1, wavefronts_stored: 4, wavefronts_loaded: 8, ..Counts::default() };
    assert_eq!(counts, expected);
}

/// Counts wavefronts by brute force: in every wavefront each bank serves one word to all lanes of the phase that still
/// need it.
fn wavefronts_by_moving(addresses: &[u64], bytes: u64, phases: &[&[usize]]) -> u64 {
    let mut count = 0;
    for phase in phases {
        let mut required: BTreeSet<(usize, u64)> = BTreeSet::new();
        for &lane in *phase {
            required.extend((addresses[lane]..addresses[lane] + bytes).map(|byte| (lane, byte / 4)));
        }
        while !required.is_empty() {
            let mut given: BTreeMap<u64, u64> = BTreeMap::new();
            for &(_, word) in &required {
                given.entry(word % 8).or_insert(word);
            }
            required.retain(|(_, word)| given[&(word % 8)] != *word);
            count += 1;
        }
    }
    count
}

#[test]
fn wavefronts_agree_with_moving_words_by_hand() {
    // Lanes at (l * a + b) mod 16 units of the access width, for all a and b.
    let all: &[&[usize]] = &[&[0, 1, 2, 3, 4, 5, 6, 7]];
    let half_warps: &[&[usize]] = &[&[0, 1, 2, 3], &[4, 5, 6, 7]];
    let interleaved: &[&[usize]] = &[&[0, 4], &[1, 5], &[2, 6], &[3, 7]];
    for (bytes, ty, phases) in [(2, "i16", all), (4, "i32", all), (8, "i64", half_warps), (16, "2xi64", interleaved)] {
        for (a, b) in (0..16).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let text = format!(
                "kernel tested() lanes 8 warps 1 {{
                   shared 0: 256 bytes align 16
                   %0: i32 = special lane
                   %1: i32 = constant {a}
                   %2: i32 = constant {b}
                   %3: i32 = constant 15
                   %4: i32 = constant {bytes}
                   %5: i32 = constant 32
                   %6: ptr.shared = shared_address 0
                   %7: i32 = binary mul %0, %5
                   %8: ptr.shared = ptr_add %6, %7
                   %9: 4xi64 = constant 0
                   %10: 2xi64 = constant 0
                   store %8, %10 align 16
                   store %8 + 16, %10 align 16
                   %11: i32 = binary mul %0, %1
                   %12: i32 = binary add %11, %2
                   %13: i32 = binary and %12, %3
                   %14: i32 = binary mul %13, %4
                   %15: ptr.shared = ptr_add %6, %14
                   %16: {ty} = load %15 align {bytes}
                 }}"
            );
            let addresses: Vec<u64> = (0..8).map(|lane| (lane * a + b) % 16 * bytes).collect();
            let kernel = kernel(&text);
            let report =
                run_kernel(&kernel, &target(true), [1, 1, 1], &[], &mut GlobalMemory::new(), &RunLimits::default());
            let counted = report.unwrap_or_else(|fault| panic!("{fault}")).counts.wavefronts_loaded;
            assert_eq!(counted, wavefronts_by_moving(&addresses, bytes, phases), "{bytes} bytes, a = {a}, b = {b}");
        }
    }
}

#[test]
fn predicated_lanes_count_as_issues_but_not_as_wavefronts() {
    let text = |bound: u32| {
        strided(
            32,
            &format!("%10: i32 = constant {bound}\n %11: i1 = compare lt_u %0, %10\n store %9, %0 align 4 if %11"),
        )
    };
    for bound in [0, 1, 3, 8] {
        let counts = report(1, &text(bound)).counts;
        assert_eq!((counts.shared_stores, counts.wavefronts_stored), (1, u64::from(bound)));
    }
}

#[test]
fn operations_count_once_for_every_issue_by_at_least_one_lane() {
    let text = "%7: i32 = shuffle index all %0, %2
        %8: i32 = shuffle index all %0, %0
        %20: i32, %21: i32 = swap 1 all %0, %1
        %22: i32 = shuffle_xor 5 all %0
        %9: i32 = permute_bytes %0, %1, 0x3210
        %10: i1 = compare eq %0, %2
        %11: i32 = select %10, %0, %1
        barrier warp all
        barrier block all
        barrier block all
        if %10 {
          store %5, %0 align 4
          yield
        } else {
          %12: i32 = permute_bytes %0, %1, 0x7654
          yield
        }
        %13: i1 = constant 0
        if %13 {
          %14: i32 = permute_bytes %0, %1, 0x7654
          yield
        } else {
          yield
        }
        %15: i32 = constant 3
        for %2 to %15 step %3 (%16: i32) {
          %17: i32 = select %10, %0, %1
          yield
        }
        for %2 to %0 step %3 (%18: i32) {
          %19: i32 = load %6 align 4 if %13
          yield
        }";
    let expected = Counts {
        shuffles: 4,
        shuffles_xor: 1,
        swaps: 1,
        shared_stores: 1,
        shared_loads: 7,
        wavefronts_stored: 1,
        barriers: 2,
        warp_barriers: 1,
        permutes: 2,
        selects: 4,
        ..Counts::default()
    };
    // Lane 7 executes seven iterations of the last loop, and no other lane more.
    let report = run_body(1, text, false).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(report.counts, expected);
}

/// On hardware that orders the accesses of a warp, warp barriers only restrict the compiler and cost nothing.
#[test]
fn barriers_of_a_warp_are_free_where_its_accesses_are_ordered() {
    let barriers = |ordered| run_body(1, "barrier warp all\n barrier block all", ordered);
    let counts = |ordered| barriers(ordered).unwrap_or_else(|fault| panic!("{fault}")).counts;
    assert_eq!((counts(false).warp_barriers, counts(true).warp_barriers), (1, 0));
    assert_eq!((counts(false).barriers, counts(true).barriers), (1, 1));
}

#[test]
fn where_warps_or_blocks_differ_the_most_is_counted() {
    // Warp w executes w stores and 3 - w shuffles.
    let text = "for %2 to %1 step %3 (%7: i32) {
          %8: i1 = constant 0
          store %5, %0 align 4 if %8
          yield
        }
        %9: i32 = constant 3
        for %1 to %9 step %3 (%10: i32) {
          %11: i32 = shuffle index all %0, %0
          yield
        }";
    let counts = report(4, text).counts;
    assert_eq!((counts.shared_stores, counts.shuffles), (3, 3));
    let by_block = text.replace("to %1 step", "to %12 step").replacen("for", "%12: i32 = special program 1\n for", 1);
    let run =
        run_kernel(&body(1, &by_block), &target(true), [2, 6, 1], &[], &mut GlobalMemory::new(), &RunLimits::default());
    assert_eq!(run.unwrap_or_else(|fault| panic!("{fault}")).counts.shared_stores, 5);
}

#[test]
fn global_transactions_are_the_sectors_that_each_access_touches() {
    // Sectors of 32 bytes; buffers are aligned to them.
    let transactions = |stride: u32, offset: u32, ty: &str| {
        let text = format!(
            "kernel tested(%0 buffer: ptr.global) lanes 8 warps 2 {{
               %1: i32 = special lane
               %2: i32 = constant {stride}
               %3: i32 = binary mul %1, %2
               %4: ptr.global = ptr_add %0, %3
               %5: {ty} = load %4 + {offset} align 4
               store %4 + {offset}, %5 align 4
             }}"
        );
        let mut memory = GlobalMemory::new();
        let buffer = Argument::Buffer(memory.allocate_with(&[0; 1024]));
        let kernel = kernel(&text);
        let report = run_kernel(&kernel, &target(true), [3, 1, 1], &[buffer], &mut memory, &RunLimits::default());
        let report = report.unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(report.transactions_loaded, report.transactions_stored);
        // Three blocks of two warps.
        assert_eq!(report.transactions_loaded % 6, 0);
        report.transactions_loaded / 6
    };
    assert_eq!(transactions(4, 0, "i32"), 1);
    assert_eq!(transactions(4, 4, "i32"), 2, "not aligned to a unit");
    assert_eq!(transactions(0, 0, "i32"), 1, "one word for all");
    assert_eq!(transactions(32, 0, "i32"), 8);
    assert_eq!(transactions(16, 0, "4xi32"), 4);
    assert_eq!(transactions(16, 24, "4xi32"), 5);
}

#[test]
fn vendor_instructions_move_data_by_their_own_bank_row() {
    // Row i, 8 bytes at the address of lane i, goes to lane 7 - i. Phases are lanes {0, 1, 4, 5} and {2, 3, 6, 7}.
    let mut semantics = SemanticsTable::new();
    semantics.insert("move_rows", |call: &mut InstructionCall<'_>| -> Result<(), LaneFault> {
        let addresses: Result<Vec<_>, _> = (0..call.lanes()).map(|lane| call.operand(0, 0, lane).map(Some)).collect();
        let rows = call.load_shared(&addresses?, 8, 8)?;
        for (lane, row) in rows.chunks_exact(8).enumerate() {
            let reader = call.lanes() - 1 - lane as u32;
            call.set_result(0, 0, reader, u64::from(row[0]))?;
            call.set_result(0, 1, reader, u64::from(row[4]))?;
        }
        Ok(())
    });
    let text = "kernel tested(%0 to: ptr.global) lanes 8 warps 1 {
        shared 0: 64 bytes align 16
        %1: i32 = special lane
        %2: i32 = constant 8
        %3: i32 = binary mul %1, %2
        %4: ptr.shared = shared_address 0
        %5: ptr.shared = ptr_add %4, %3
        %6: i32 = binary mul %1, %1
        %7: 2xi32 = pack %1, %6
        store %5, %7 align 8
        barrier warp all
        %8: 2xi32 = instruction \"move_rows\" %5
        %9: ptr.global = ptr_add %0, %3
        store %9, %8 align 8
      }";
    let (kernel, target) = (kernel(text), target(false));
    let mut memory = GlobalMemory::new();
    let buffer = memory.allocate(64);
    let emulator = Emulator::new(&kernel, &target).expect("a valid kernel").with_semantics(&semantics);
    let report = emulator.run([1, 1, 1], &[Argument::Buffer(buffer)], &mut memory, &RunLimits::default());
    let counts = report.unwrap_or_else(|fault| panic!("{fault}")).counts;
    let expected = Counts {
        shared_stores: 1,
        matrix_loads: 1,
        wavefronts_stored: 2,
        // Lanes 0, 1 and 4, 5 are 32 bytes apart, in the same banks: two wavefronts for each of two phases.
        wavefronts_loaded: 4,
        warp_barriers: 1,
        ..Counts::default()
    };
    assert_eq!(counts, expected);
    let words: Vec<u32> = (0..8).rev().flat_map(|lane| [lane, lane * lane]).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(memory.read_all(buffer).expect("all is written"), bytes);
}
