//! Exclusive sections of warp groups (*ping-pong*): named barriers let the MMAs of one warp group run while another
//! does other work.

use crate::prelude::*;
use crate::tma_loops::{assembly, bounded_gemm, check_ptx};
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};
use tilewright_vendor_testkit::explicit::{
    self, persistent_tiles_program, ragged_tiles_program, sized_attention, synthesize_and_emulate, synthesize_layouts,
};
use tilewright_verify::case::ProgramCase;

/// Attributes of the loop.
const END: &str = "\n    }\n    %divisor";

/// Returns the attention of four iterations by two warp groups, with these attributes of its loop.
fn attention(attributes: &str) -> (ProgramCase, String) {
    let (case, text) = sized_attention([128, 512, 128], 128, 8);
    assert_eq!(text.matches(END).count(), 1, "one loop");
    (case, text.replace(END, &format!("\n    }} {{{attributes}}}\n    %divisor")))
}

fn ping_pong(found: &Derivation) -> Option<(u32, &str, &str)> {
    found.loops[0].ping_pong.as_ref().map(|ping_pong| (ping_pong.groups, &*ping_pong.first, &*ping_pong.last))
}

/// An exclusive section begins with the second MMA and lasts over the first MMA of the next iteration, so that another
/// warp group multiplies during the softmax. The results are right on the emulator, and from PTX on the virtual device.
#[test]
fn warp_groups_alternate_in_attention() {
    let target = target("h100");
    let (case, text) = attention("tt.warp_specialize, tw.ping_pong");
    let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
    assert_eq!(ping_pong(&found.derivation), Some((2, "%next", "%scores")), "{}", found.derivation);
    let line = "2 warp groups alternate from %next to %scores";
    assert!(found.derivation.to_string().contains(line), "{}", found.derivation);
    // In the loop, before and behind it.
    let count = |part: &str| found.kernel.matches(part).count();
    assert_eq!((count("indexed_barrier sync"), count("indexed_barrier arrive")), (3, 3), "{}", found.kernel);
    check_ptx(&target, &case, &text);
    let ptx = assembly(&target, &case, &text);
    for word in ["bar.arrive", "bar.sync"] {
        let is_by_register = |line: &&str| line.trim_start().starts_with(word) && line.contains("%r");
        assert!(ptx.lines().filter(is_by_register).count() > 1, "the numbers are in registers: {ptx}");
    }
}

/// Warp groups alternate in each inner loop of a persistent program, although its tiles have barriers between the inner
/// loops. The results are right on the emulator, and from PTX on the virtual device.
#[test]
fn warp_groups_alternate_in_persistent_programs() {
    let target = target("h100");
    let (case, text) = persistent_tiles_program([320, 64, 256], "tt.warp_specialize");
    let case = ProgramCase { warps: 8, ..case };
    let text = text.replace("    }\n    %rounded", "    } {tw.ping_pong}\n    %rounded");
    let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
    assert_eq!(ping_pong(&found.derivation), Some((2, "%next", "%next")), "{}", found.derivation);
    assert!(found.kernel.contains("indexed_barrier sync"), "{}", found.kernel);
    check_ptx(&target, &case, &text);
}

/// The model chooses exclusive sections where it predicts a gain; the program and an option can forbid them.
#[test]
fn ping_pong_is_chosen_where_it_gains_and_can_be_forbidden() {
    let target = target("h100");
    let of = |attributes: &str| {
        let (case, text) = attention(attributes);
        synthesize_layouts(&target, &text, case.warps, SynthesisOptions::default()).expect("a program")
    };
    let [open, forbidden] = ["tt.warp_specialize", "tt.warp_specialize, tw.ping_pong = false"].map(of);
    assert!(ping_pong(&open).is_some() && ping_pong(&forbidden).is_none(), "{open}\n{forbidden}");
    let gain = forbidden.prediction.latency / open.prediction.latency;
    // FlashAttention-3 reports 1.09 to 1.12 for these tiles.
    assert!((1.07..1.13).contains(&gain), "{gain}");
}

/// Without a producer warp, the block barriers of each iteration would keep the warp groups together.
#[test]
fn a_request_without_a_producer_warp_is_an_error() {
    let (case, text) = attention("tt.warp_specialize = false, tw.ping_pong");
    let error = synthesize_layouts(&target("h100"), &text, case.warps, SynthesisOptions::default());
    let error = error.expect_err("no producer warp");
    assert!(error.contains("tw.ping_pong") && error.contains("producer warp"), "{error}");
}

/// A GEMM may request exclusive sections and the producer warp that they need.
#[test]
fn both_requests_hold_together() {
    let text = bounded_gemm([128, 128, 64]);
    let with =
        |attributes: &str| text.replace("    }\n    %rounded", &format!("    }} {{{attributes}}}\n    %rounded"));
    for attributes in ["tw.ping_pong", "tt.warp_specialize, tw.ping_pong"] {
        let found = synthesize_layouts(&target("h100"), &with(attributes), 8, SynthesisOptions::default());
        let found = found.unwrap_or_else(|error| panic!("{attributes}: {error}"));
        assert!(found.loops[0].producers == 1 && ping_pong(&found).is_some(), "{attributes}: {found}");
    }
}

/// The registers of attention with 256 rows exceed those of nine warps most within the reductions. The producer warp
/// then hands registers over to the warp groups, so that their lanes have the 232 that they need.
#[test]
fn reductions_take_registers_of_the_producer_warp() {
    let (case, text) = sized_attention([256, 128, 128], 64, 8);
    let found = synthesize_layouts(&target("h100"), &text, case.warps, SynthesisOptions::default());
    let found = found.expect("a program");
    assert_eq!(found.loops[0].registers, Some([240, 24]), "{found}");
}

/// Returns the persistent program whose tiles two groups of warps alternate between.
fn alternating_tiles(size: [usize; 3]) -> (ProgramCase, String) {
    persistent_tiles_program(size, "tt.warp_specialize, tw.ping_pong = \"tiles\"")
}

/// Two groups of four warps alternate between the tiles of persistent programs: with even and odd numbers of tiles for
/// a block, with one tile and with none, and with more and fewer iterations than buffers. The results are right on the
/// emulator, and from PTX on the virtual device, whose bulk copies complete as late as possible.
#[test]
fn warp_groups_alternate_between_tiles() {
    let target = target("h100");
    for size in [[640, 64, 256], [320, 64, 256], [128, 128, 320], [64, 64, 64], [448, 64, 64]] {
        let (case, text) = alternating_tiles(size);
        let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        assert_eq!(found.derivation.loops[0].tile_groups, Some(2), "{size:?}: {}", found.derivation);
        let line = "2 groups of consumer warps alternate between tiles";
        assert!(found.derivation.to_string().contains(line), "{}", found.derivation);
        check_ptx(&target, &case, &text);
    }
}

/// A group steps over the buffers that the other one reads, also if the loop over K has between none and three
/// iterations, so that the number of buffers and the trip counts have no common multiple.
#[test]
fn groups_step_over_loops_of_different_lengths() {
    let target = target("h100");
    for (rows, stages) in [(960, 2), (960, 3), (704, 4), (192, 3)] {
        let (case, text) = ragged_tiles_program(rows, "tt.warp_specialize, tw.ping_pong = \"tiles\"");
        let text = text.replace("tw.shared_tensor :", &format!("tw.shared_tensor {{stages = {stages} : i32}} :"));
        let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        let of = &found.derivation.loops[0];
        assert_eq!((of.tile_groups, of.stages), (Some(2), stages), "{rows}: {}", found.derivation);
        check_ptx(&target, &case, &text);
    }
}

/// The operations of the tile of a group: a shared tensor through which it stores its result is its own, and a tensor
/// that the program computes before the loop over tiles is computed in each partition.
#[test]
fn groups_have_their_own_tensors() {
    let target = target("h100");
    let (case, text) = alternating_tiles([448, 64, 192]);
    let direct = "tw.copy %rounded to %gc : (tensor<64x64xf16>, !tw.view<64x64xf16>) -> ()";
    let staged = "%sc = tw.shared_tensor : !s
    tw.copy %rounded to %sc : (tensor<64x64xf16>, !s) -> ()
    tw.copy %sc to %gc : (!s, !tw.view<64x64xf16>) -> ()";
    let (initial, loop_over_tiles) = ("%empty = tw.register_tensor %zero : tensor<64x64xf32>", "scf.for %row =");
    let captured = text.replace(initial, "").replace(loop_over_tiles, &format!("{initial}\n    {loop_over_tiles}"));
    for text in [text.replace(direct, staged), captured] {
        let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        assert_eq!(found.derivation.loops[0].tile_groups, Some(2), "{}", found.derivation);
        check_ptx(&target, &case, &text);
    }
}

/// The model chooses groups that alternate for a persistent program, whose tiles have no order, where it predicts a
/// gain. The program can forbid them. If tiles have an order, only a request gives groups: in a loop from zero, or if
/// the tiles of a block store to the same addresses. Tiles that may read what others store have none.
#[test]
fn tile_groups_are_chosen_if_tiles_have_no_order() {
    let target = target("h100");
    let solve = |attributes: &str, replaced: [&str; 2]| {
        let (case, text) = persistent_tiles_program([640, 64, 256], attributes);
        // One block for each compute unit.
        let text = text.replace("%blocks = arith.constant 2", "%blocks = arith.constant 132");
        let text = text.replace("%tiles = arith.constant 10", "%tiles = arith.constant 1320");
        let text = text.replace("%column = tt.get_program_id y", "%column = arith.constant 0");
        assert!(text.contains(replaced[0]), "{text}");
        let text = text.replace(replaced[0], replaced[1]);
        synthesize_layouts(&target, &text, case.warps, SynthesisOptions::default())
    };
    let groups = |attributes: &str, replaced: [&str; 2]| {
        let found = solve(attributes, replaced).expect("a program");
        (found.loops[0].tile_groups, found.prediction.cycles)
    };
    let [(chosen, with), (forbidden, without)] = ["tt.warp_specialize", "tt.warp_specialize, tw.ping_pong = false"]
        .map(|attributes| groups(attributes, [""; 2]));
    assert_eq!((chosen, forbidden), (Some(2), None));
    assert!(with < without, "{with} {without}");
    let from_zero = ["%row = %first to", "%row = %c0 to"];
    let same_rows = ["%c_row = arith.muli %first_row, %n", "%c_row = arith.muli %c64, %n"];
    let in_place = ["tt.addptr %c, %c_at", "tt.addptr %b, %c_at"];
    let by_block = ["%c_at = arith.addi %c_row, %first_column", "%c_at = arith.addi %c_row, %first"];
    for replaced in [from_zero, same_rows, by_block] {
        assert_eq!(groups("tt.warp_specialize", replaced).0, None, "{replaced:?}");
        assert_eq!(groups("tw.ping_pong = \"tiles\"", replaced).0, Some(2), "{replaced:?}");
    }
    // A producer warp would copy a tile before an earlier one is stored.
    for request in ["tw.ping_pong = \"tiles\"", "tw.ping_pong", "tt.warp_specialize"] {
        let error = solve(request, in_place).expect_err("stores to memory that the copies read");
        let reason = "of an enclosing loop may write memory that the copies read: remove the attribute";
        assert!(error.contains("the loop that fills %sa, %sb") && error.contains(reason), "{request}: {error}");
    }
    assert_eq!(groups("tt.warp_specialize = false", in_place).0, None);
}

/// Requests that cannot have an effect are errors: other values, a loop that fills no tensor, stages of tensors that no
/// loop fills or whose copies cannot be prefetched, and different stages of one loop.
#[test]
fn requests_without_effect_are_errors() {
    let (case, text) = persistent_tiles_program([320, 64, 256], "tw.ping_pong = \"tile\"");
    let idle = text.replace("tw.ping_pong = \"tile\"", "").replace(
        "    tt.return",
        "    scf.for %step = %first to %tiles step %blocks : i32 {\n    ttg.barrier all\n    } {tw.ping_pong}\n    tt.return",
    );
    let specialized = text.replace("tw.ping_pong", "tt.warp_specialize");
    let [(_, gemm), (_, attention)] = ["explicit_gemm", "explicit_attention"].map(explicit::case);
    let stages = |text: &str, tensor: &str, count: u32| {
        let allocation = format!("{tensor} = tw.shared_tensor :");
        assert!(text.contains(&allocation), "{text}");
        text.replace(&allocation, &format!("{tensor} = tw.shared_tensor {{stages = {count} : i32}} :"))
    };
    let reread = "    %reread = tw.copy %sa : (!a) -> tensor<64x32xf16>\n    tt.return";
    let programs = [
        (text, "expected no value, `true`, `false` or `\"tiles\"`"),
        (specialized, "expected no value, `true` or `false`"),
        (idle, "neither the loop nor a loop in it copies tiles from global to shared memory: remove"),
        (stages(&attention, "%sq", 2), "2 stages, and no loop fills the tensor from global memory: remove"),
        (stages(&stages(&gemm, "%sa", 2), "%sb", 3), "2 stages, and 3 of another tensor of the loop"),
        (stages(&gemm, "%sa", 2).replace("    tt.return", reread), "2 stages, and its copies cannot be prefetched: "),
    ];
    for (text, reason) in programs {
        let error = synthesize_layouts(&target("h100"), &text, case.warps, SynthesisOptions::default());
        let error = error.expect_err(reason);
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

/// Requests that no choice satisfies are errors, which state the reason.
#[test]
fn requests_for_tile_groups_state_why_they_fail() {
    let (case, text) = alternating_tiles([320, 64, 256]);
    let allocation = "%sc = tw.shared_tensor : !s";
    let stored = "tw.copy %rounded to %gc : (tensor<64x64xf16>, !tw.view<64x64xf16>) -> ()";
    let staged = "tw.copy %rounded to %sc : (tensor<64x64xf16>, !s) -> ()
    tw.copy %sc to %gc : (!s, !tw.view<64x64xf16>) -> ()";
    let outside = text.replace(stored, staged).replace("scf.for %row =", &format!("{allocation}\n    scf.for %row ="));
    let twice = text
        .replace("scf.for %row =", "scf.for %again = %c0 to %c1 step %c1 : i32 {\n    scf.for %row =")
        .replace("    tt.return", "    }\n    tt.return");
    let unspecialized = text.replace("tt.warp_specialize,", "tt.warp_specialize = false,");
    let reasons = [
        (outside, "both groups would access the shared tensor"),
        (twice, "2 loops are around the loop: expected one"),
        (unspecialized, "producer warps or ping-pong are forbidden"),
    ];
    for (text, reason) in reasons {
        let error = synthesize_layouts(&target("h100"), &text, case.warps, SynthesisOptions::default());
        let error = error.expect_err(reason);
        assert!(error.contains(reason) && error.contains("tw.ping_pong"), "{error}");
    }
    // Two groups of sixteen warps leave no thread for a producer warp.
    let error = synthesize_layouts(&target("h100"), &text, 16, SynthesisOptions::default()).expect_err("a full block");
    assert!(error.contains("the block needs both groups' warps"), "{error}");
}
