//! Tests of `tilewright instructions`, which prints a target's instruction table.

use crate::command;

use command::{json_lines, run, tilewright};
use serde_json::Value as Json;

#[test]
fn a_table_has_a_line_for_each_instruction() {
    let printed = run(tilewright().args(["instructions", "--target", "rx7900xtx"]));
    let lines: Vec<Vec<&str>> = printed.ok().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["instruction", "shape", "types", "cycles", "evidence", "source"]);
    // RDNA 3 has four with floating-point operands and two with integers, the latter for either sign of each operand,
    // wrapping or clamping; all for waves of 32 and of 64 lanes.
    let listed = lines.iter().take_while(|line| !line.is_empty()).count();
    assert_eq!(listed, 1 + 2 * (4 + 2 * 4 * 2), "{}", printed.out);
    let mma = lines.iter().find(|line| line[0] == "v_wmma_f32_16x16x16_bf16").expect("it is listed");
    assert_eq!(mma[1..], ["16x16x16", "d:f32", "a:bf16", "b:bf16", "c:f32", "32", "documented", "[1]", "[1]"]);
    assert!(printed.out.contains("\n[1] AMD Matrix Instruction Calculator\n"), "{}", printed.out);
}

/// Texts that many rows share are printed once; each row has the memory of its operands, and the elements per scale.
#[test]
fn operand_locations_and_scales_are_listed() {
    let printed = run(tilewright().args(["instructions", "--target", "b200"]));
    let listed = printed.ok();
    let line = |name: &str| {
        listed.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("no {name}"))
    };
    let scaled = line("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X.m128n64k32.f32.e4m3.e5m2.");
    assert!(
        scaled
            .contains("128x64x32, a and b in memory, d, scale_a and scale_b in tensor memory, a scale for 32 along K")
    );
    assert!(scaled.contains("d:f32 a:e4m3 b:e5m2 scale_a:ue8m0 scale_b:ue8m0"), "{scaled}");
    let listed_row = line("tcgen05.mma.cta_group::1.kind::f16.m64n8k16.f32.f16.f16.ts.k");
    assert!(listed_row.contains("64x8x16, b in memory, d and a in tensor memory  "), "{listed_row}");
    assert!(line("tcgen05.cp").contains("32 rows of 4 columns, 4 copies"), "{}", line("tcgen05.cp"));
    let notes: Vec<&str> = printed.out.lines().skip_while(|line| *line != "reasons and sources").skip(1).collect();
    let last = format!("[{}] ", notes.len());
    assert!(notes.len() > 10 && notes[notes.len() - 1].starts_with(&last), "{notes:?}");
}

#[test]
fn the_same_as_json_lines() {
    let lines = json_lines(run(tilewright().args(["instructions", "--target", "a100", "--json"])).ok());
    let named = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let mma = named("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    assert_eq!((&mma["kind"], &mma["shape"]), (&"matrix".into(), &"16x8x16".into()));
    assert_eq!(mma["types"], serde_json::json!({"d": "f32", "a": "bf16", "b": "bf16", "c": "f32"}));
    let moved = named("ldmatrix.sync.aligned.m8n8.x4.shared.b16");
    assert_eq!((&moved["kind"], &moved["shape"]), (&"shared_move".into(), &"32 slots of 16 bytes".into()));
    assert!(moved["source"].as_str().is_some_and(|source| source.contains("PTX ISA")), "{moved}");
}

#[test]
fn blocks_of_an_mma_are_listed() {
    let printed = run(tilewright().args(["instructions", "--target", "mi100", "--json"]));
    let line = printed.out.lines().find(|line| line.contains("v_mfma_f32_4x4x1f32")).expect("it is listed");
    let line: Json = serde_json::from_str(line).expect("JSON");
    assert_eq!((&line["shape"], &line["cycles"]), (&"4x4x1, 16 blocks".into(), &8.0.into()));
}

#[test]
fn a_target_that_is_not_known_is_named() {
    let printed = run(tilewright().args(["instructions", "--target", "nosuch"]));
    assert!(printed.failed(2).contains("nosuch"), "{}", printed.err);
}

#[test]
fn an_instruction_is_drawn_as_by_draw() {
    for (target, name) in [("h100", "m16n8k16.row.col.f32.f16"), ("a100", "ldmatrix.sync.aligned.m8n8.x4.shared.b16")] {
        let drawn = run(tilewright().args(["instructions", "--target", target, "--draw", name]));
        assert_eq!(drawn.ok(), run(tilewright().args(["draw", "instruction", "--target", target, name])).out);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mma.svg");
    let arguments = ["instructions", "--target", "h100", "--draw", "m16n8k16.row.col.f32.f16", "-o"];
    assert_eq!(run(tilewright().args(arguments).arg(&file)).ok(), "");
    let text = std::fs::read_to_string(&file).expect("a picture");
    let kept = std::fs::read_to_string(command::root().join("docs/pictures/mma.svg")).expect("a picture");
    assert!(text == kept, "the picture of the documentation");
}

#[test]
fn a_picture_needs_an_instruction() {
    let printed = run(tilewright().args(["instructions", "--target", "h100", "-o", "table.svg"]));
    assert!(printed.failed(2).contains("--draw"), "{}", printed.err);
    let printed = run(tilewright().args(["instructions", "--target", "h100", "--draw", "nosuch"]));
    assert!(printed.failed(2).contains("target h100 has 0 instructions called `nosuch`"), "{}", printed.err);
    let printed = run(tilewright().args(["instructions", "--target", "h100", "--draw", "m16n8k8"]));
    assert!(printed.failed(2).contains("mma.sync.aligned.m16n8k8"), "{}", printed.err);
}
