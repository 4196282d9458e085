//! Programs that say where tiles lie, where copies and products go on while the program does: boxes that arrive at mbarriers, sums
//! that are waited for in the next turn. What comes out is executed by the emulator and, from its PTX, by the virtual device, and
//! must be what plain arithmetic says.

use crate::prelude::*;
use tilewright_assign::synthesis::{Options, PredictionLine};
use tilewright_vendor_testkit::explicit::{case, derived, executed, tiled};
use tilewright_virtual_ptx::VirtualDevice;

/// Programs whose loops are filled by nothing but boxes.
const PRODUCED: [&str; 4] = ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq", "explicit_fp8"];

/// The suite's product with so many buffers of each factor.
fn staged(stages: u32) -> String {
    let (_, text) = case("explicit_gemm");
    text.replace("tw.shared_tensor :", &format!("tw.shared_tensor {{stages = {stages} : i32}} :"))
}

/// A text whose loop says whether a warp of its own issues its copies.
fn said_of(text: &str, said: bool) -> String {
    const END: &str = "\n    }\n";
    assert_eq!(text.matches(END).count(), 1, "one loop");
    text.replace(END, &format!("\n    }} {{tt.warp_specialize = {said}}}\n"))
}

/// The suite's product with so many buffers, saying that.
fn produced(stages: u32, said: bool) -> String {
    said_of(&staged(stages), said)
}

/// Both factors of 64 x 32 and 32 x 64 come as one box each, for each of the five turns of K; a turn meets once, as it does before the first
/// one for the mbarriers.
#[test]
fn boxes_fill_the_stages_of_a_product() {
    for product in ["h100", "gh200"] {
        let (case, _) = case("explicit_gemm");
        for stages in 2..=4 {
            let found = executed(&target(product), &case, &produced(stages, false), Options::default());
            let of = &found.derivation.loops[0];
            assert!(of.boxes && of.producers == 0 && of.stages == stages, "{product}: {}", found.derivation);
            assert!(found.kernel.contains("cp.async.bulk.tensor.2d"), "{}", found.kernel);
            let counts = &found.counts;
            assert_eq!((counts.asynchronous_copies, counts.bulk_copies), (0, 2 * 5), "{product}: {counts:?}");
            assert_eq!(counts.bulk_bytes, 2 * 5 * 64 * 32 * 2, "{product}: {counts:?}");
            assert_eq!(counts.barriers, 1 + 5, "{product}: {counts:?}");
            for memory in &found.derivation.memories {
                assert_eq!(memory.accesses.iter().map(|access| access.excess).sum::<u64>(), 0, "{}", found.derivation);
            }
        }
    }
}

/// A warp behind the four that multiply issues the boxes. No turn has a meeting of the block: all meet before the loop and after it,
/// whatever the number of turns. The other warps issue no copies; pending sums are the next turn's to free.
#[test]
fn a_warp_of_its_own_issues_boxes() {
    for product in ["h100", "gh200"] {
        let target = target(product);
        let (case, _) = case("explicit_gemm");
        for stages in 2..=4 {
            let found = executed(&target, &case, &produced(stages, true), Options::default());
            let of = &found.derivation.loops[0];
            assert!(of.boxes && of.producers == 1 && of.stages == stages, "{product}: {}", found.derivation);
            assert!(found.derivation.to_string().contains("which 1 warp of its own issues"), "{}", found.derivation);
            assert!(found.kernel.contains("lanes 32 warps 5"), "{}", found.kernel);
            let counts = &found.counts;
            assert_eq!((counts.bulk_copies, counts.bulk_bytes), (2 * 5, 2 * 5 * 64 * 32 * 2), "{product}: {counts:?}");
            assert_eq!(counts.barriers, 2, "{product}: {counts:?}");
        }
    }
}

/// So does each program all of whose tiles are boxes, where it says so; one that copies packed weights by lanes is told.
#[test]
fn whatever_boxes_fill_may_have_a_producer() {
    let target = target("h100");
    for name in PRODUCED {
        let (case, text) = case(name);
        let found = executed(&target, &case, &said_of(&text, true), Options::default());
        assert_eq!(found.derivation.loops[0].producers, 1, "{name}: {}", found.derivation);
    }
    let (case, text) = case("explicit_int4");
    let error = derived(&target, &said_of(&text, true), case.warps, Options::default()).expect_err("packed weights");
    assert!(error.contains("must go by boxes"), "{error}");
}

/// Where the model says that it gains, it is chosen; it is not where so few blocks would be resident that they take more rounds.
#[test]
fn producers_are_chosen_where_they_gain() {
    let target = target("h100");
    let (small, text) = case("explicit_gemm");
    let (large, of_large_tiles) = tiled(&small, &text, [128, 64, 32], 160);
    // Turns that are counted by the length of a row stay within it.
    let of_large_tiles =
        of_large_tiles.replace("%turns = arith.constant 5 : i32", "%turns = arith.divsi %k, %c32 : i32");
    for (case, text, gains) in [(&small, text, false), (&large, of_large_tiles, true)] {
        let found = &executed(&target, case, &text, Options::default()).derivation;
        assert_eq!(found.loops[0].producers, u32::from(gains), "{found}");
        let of = |said: bool| {
            let found = derived(&target, &said_of(&text, said), case.warps, Options::default());
            found.unwrap_or_else(|error| panic!("{error}")).prediction
        };
        let [with, without] = [true, false].map(of);
        assert_eq!(with.cycles < without.cycles, gains, "{with:?}\n{without:?}");
        // One after the other as many as are resident together.
        let rounds = |of: &PredictionLine| of.blocks_of_a_unit.div_ceil(of.resident);
        assert_eq!(rounds(&with) > rounds(&without), !gains, "{with:?}\n{without:?}");
    }
    // A block of 32 warps has no room for one more.
    let (_, text) = case("explicit_gemm");
    let full = derived(&target, &said_of(&text, true), 32, Options::default()).expect_err("a full block");
    assert!(full.contains("`tt.warp_specialize`"), "{full}");
    assert!(derived(&target, &text, 32, Options::default()).is_ok());
    // A program may ask for it where no boxes fill the stages; that is told.
    let (case, _) = case("explicit_gemm");
    let a100 = self::target("a100");
    let error = derived(&a100, &produced(2, true), case.warps, Options::default()).expect_err("no mbarriers there");
    assert!(error.contains("`tt.warp_specialize`") && error.contains("on `a100` that is not so"), "{error}");
    let found =
        derived(&a100, &produced(2, false), case.warps, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.loops[0].producers, 0, "{found}");
}

/// With three buffers or more a product goes on while the next turn begins.
#[test]
fn products_go_on_while_the_next_turn_begins() {
    let target = target("h100");
    let (case, _) = case("explicit_gemm");
    for stages in 2..=4 {
        let found = executed(&target, &case, &staged(stages), Options::default());
        let pending = &found.derivation.loops[0].pending;
        let expected: &[&str] = if stages > 2 { &["%next"] } else { &[] };
        assert_eq!(pending, expected, "{}", found.derivation);
        let ptx = assembly(&target, &staged(stages));
        assert_eq!(ptx.contains("wgmma.wait_group.sync.aligned 1"), stages > 2, "{ptx}");
    }
}

/// What a part of synthesis finds is not found without it, nor where a program or a target leaves no room for it.
#[test]
fn lanes_copy_where_boxes_may_not() {
    let boxed = |product: &str, text: &str, options: Options| {
        let (case, _) = case("explicit_gemm");
        let found = derived(&target(product), text, case.warps, options);
        let found = found.unwrap_or_else(|error| panic!("{product}: {error}"));
        found.loops[0].boxes || !found.loops[0].pending.is_empty()
    };
    let (all, text) = (Options::default(), staged(2));
    assert!(boxed("h100", &text, all));
    for product in ["a100", "rtx4090"] {
        assert!(!boxed(product, &text, all), "{product}");
    }
    let (_, free) = case("explicit_gemm");
    assert!(!boxed("h100", &free, Options { pipeline: false, ..all }));
    assert!(!boxed("h100", &text, Options { task_mapping: false, ..all }));
    // The program names another row.
    let pinned = |copy: &str| format!("tw.copy {copy} {{instruction = \"cp.async.cg.shared.global.16\"}} :");
    let by_lanes = text.replace("tw.copy %ai to %sa :", &pinned("%ai to %sa"));
    let by_lanes = by_lanes.replace("tw.copy %bi to %sb :", &pinned("%bi to %sb"));
    assert!(!boxed("h100", &by_lanes, all));
    // Tiles that overlap go beyond the end of a row, where a map would have zeros; so may turns that are counted otherwise.
    let overlapping = text.replace("(64,32,?):(?,1,32)", "(64,32,?):(?,1,16)");
    let overlapping = overlapping.replace("(32,64,?):(1,?,32)", "(32,64,?):(1,?,16)");
    assert!(!boxed("h100", &overlapping, all));
    let counted = text.replace("%turns = arith.divsi %k, %c32 : i32", "%turns = arith.divsi %n, %c32 : i32");
    assert!(!boxed("h100", &counted, all));
}

fn assembly(target: &NvidiaTarget, text: &str) -> String {
    let (case, _) = case("explicit_gemm");
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let kernel = case.compile(&compiler, text, &ProgramOptions::default()).expect("a kernel");
    let mut options = CompileOptions { emit: vec![Emit::Assembly], optimisation: 2 };
    if object::assembler().is_ok() {
        options.emit.push(Emit::Object);
    }
    let made = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap_or_else(|error| panic!("{error}"));
    made.text(Emit::Assembly).expect("text").to_owned()
}

/// From the PTX, which the vendor's assembler takes where it is here, with bulk copies that land as late as they may.
#[test]
fn the_virtual_device_runs_what_is_filled_by_boxes() {
    let target = target("h100");
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    let gemm = [2, 3, 4].map(|stages| [true, false].map(|said| ("explicit_gemm", produced(stages, said))));
    for (name, text) in gemm
        .into_iter()
        .flatten()
        .chain(["explicit_fp8", "explicit_attention", "explicit_attention_dkv"].map(|name| (name, case(name).1)))
        .chain(PRODUCED.map(|name| (name, said_of(&case(name).1, true))))
    {
        let (case, _) = case(name);
        let kernel = case.compile(&compiler, &text, &ProgramOptions::default()).expect("a kernel");
        assert!(kernel.to_string().contains("cp.async.bulk.tensor.2d"), "{name}: {kernel}");
        let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
        let checked = case.test_case(kernel).and_then(|case| check(&case, &target, &mut device));
        checked.unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    }
    let ptx = assembly(&target, &staged(3));
    assert!(ptx.contains("mbarrier.try_wait") && ptx.contains("cp.async.bulk.tensor.2d"), "{ptx}");
}
