//! Exclusive sections of warp groups (*ping-pong*): named barriers let the MMAs of one warp group run while another
//! does other work.

use crate::prelude::*;
use crate::tma_loops::{assembly, check_ptx};
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};
use tilewright_vendor_testkit::explicit::{
    persistent_tiles_program, sized_attention, synthesize_and_emulate, synthesize_layouts,
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

/// The registers of attention with 256 rows exceed those of nine warps most within the reductions. The producer warp
/// then hands registers over to the warp groups, so that their lanes have the 232 that they need.
#[test]
fn reductions_take_registers_of_the_producer_warp() {
    let (case, text) = sized_attention([256, 128, 128], 64, 8);
    let found = synthesize_layouts(&target("h100"), &text, case.warps, SynthesisOptions::default());
    let found = found.expect("a program");
    assert_eq!(found.loops[0].registers, Some([240, 24]), "{found}");
}
