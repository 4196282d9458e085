//! Tests of `tilewright draw`: pictures on the terminal and in files, and rejected input.

use crate::command;

use std::path::Path;

use command::{BLOCKED, root, run, shell, tilewright};
use tilewright_testkit::golden;

const MATRIX: &str =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>";
const SWIZZLED: &str = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>";

/// Returns the text of the picture that `tilewright draw` prints for these arguments.
fn drawn(arguments: &[&str]) -> String {
    run(tilewright().arg("draw").args(arguments)).ok().to_owned()
}

fn refused(arguments: &[&str]) -> String {
    run(tilewright().arg("draw").args(arguments)).failed(2).to_owned()
}

/// Returns the commands on a page of the documentation, each with its lines joined.
fn commands(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).expect("a page");
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().map(str::trim).filter(|line| line.starts_with("tilewright")).map(str::to_owned).collect()
}

/// The pictures on a page of the documentation equal the output of the page's commands; `TILEWRIGHT_BLESS=1` rewrites
/// them.
#[test]
fn the_documentation_shows_what_its_commands_draw() {
    let page = std::fs::read_to_string(root().join("docs/pictures.md")).expect("the page");
    let mut pictures = 0;
    for line in commands("docs/pictures.md") {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("docs/pictures")).expect("a folder");
        assert_eq!(run(&mut shell(&line, folder.path())).ok(), "", "{line}");
        for file in std::fs::read_dir(folder.path().join("docs/pictures")).expect("a folder") {
            let file = file.expect("a file");
            let name = Path::new("docs/pictures").join(file.file_name());
            golden::check(&root().join(&name), &std::fs::read_to_string(file.path()).expect("a picture"));
            assert!(page.contains(&format!("](pictures/{})", file.file_name().to_string_lossy())));
            pictures += 1;
        }
    }
    assert!(pictures >= 2, "the page shows pictures");
}

#[test]
fn a_file_is_svg_or_html_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, start) in [("picture.svg", "<svg "), ("picture.html", "<!DOCTYPE html>")] {
        let file = folder.path().join(name);
        let file = file.to_str().expect("a path");
        assert_eq!(drawn(&["layout", "--shape", "16x16", BLOCKED, "-o", file]), "");
        let text = std::fs::read_to_string(file).expect("a picture");
        assert!(text.starts_with(start), "{name}");
        // Lane 9 by the layout's definition: second row, second pair.
        assert!(text.contains(">T9:0</text>"), "{name}");
    }
    let file = folder.path().join("picture.png");
    let printed = refused(&["matrix", "--shape", "16x16", BLOCKED, "-o", file.to_str().expect("a path")]);
    assert!(printed.contains("a picture is a .svg or a .html file"), "{printed}");
    let printed = refused(&["matrix", "--shape", "16x16", BLOCKED, "-o", "/no/such/folder/picture.svg"]);
    assert!(printed.contains("/no/such/folder/picture.svg"), "{printed}");
}

#[test]
fn output_that_is_no_terminal_is_plain() {
    for command in ["layout", "matrix"] {
        let text = drawn(&[command, "--shape", "16x16", MATRIX]);
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.starts_with("layout of a tensor of 16x16\n") || text.starts_with("matrix over F2"), "{text}");
        assert!(text.contains(MATRIX), "the picture says what it shows");
    }
}

#[test]
fn a_large_picture_can_be_cropped() {
    let text = drawn(&["layout", "--shape", "64x64", BLOCKED, "--rows", "8..10", "--columns", "4..6"]);
    let tensor: Vec<&str> = text.lines().filter(|line| line.contains("│") && line.contains('T')).collect();
    // Row 8: lanes 0 to 7 again, two elements a lane; columns 4 and 5 are lane 2.
    assert_eq!(tensor.len(), 2, "{text}");
    assert!(tensor[0].contains("T2:") && !tensor[0].contains("T3:"), "{text}");
    for (phrase, what) in [("5..5", "empty"), ("5", "not a range"), ("a..b", "not a range")] {
        let printed = run(tilewright().args(["draw", "layout", "--shape", "8x8", BLOCKED, "--rows", phrase]));
        assert_eq!(printed.code, Some(2));
        assert!(printed.err.contains(what), "{phrase}: {}", printed.err);
    }
}

#[test]
fn axes_and_colours_are_chosen_by_name() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [2, 2, 8], warpsPerCTA = [1, 1, 1], order = [2, 1, 0]}>";
    let text = drawn(&["layout", "--shape", "2x4x16", blocked, "--dims", "dim2,dim0", "--colour", "register"]);
    assert!(text.contains("tensor, dim1 = 3") && text.contains("rows: dim2, columns: dim0"), "{text}");
    assert!(text.contains("colours by register"), "{text}");
    let printed = refused(&["layout", "--shape", "2x4x16", blocked, "--dims", "dim0,dim9"]);
    assert!(printed.contains("the tensor's axes are dim0, dim1, dim2"), "{printed}");
}

#[test]
fn two_layouts_are_compared_composed_and_divided() {
    let text = drawn(&["difference", "--shape", "16x16", BLOCKED, MATRIX]);
    // Row 0: lanes 0 to 3 hold two elements each in both layouts; then one of them continues with lane 4.
    let first = "240 of 256 elements differ; the first is 0,8: A: lane 4 register 0, B: lane 0 register 4";
    assert!(text.contains(first), "{text}");
    let text = drawn(&["compose", "--invert", "--shape", "16x16", MATRIX, SWIZZLED]);
    // Lane 4 is row 1, whose groups of four columns are swapped pairwise: offset 16 + 4.
    assert!(text.contains("lane 4      dim0 1  offset 20"), "{text}");
    let tile = r#"{"in_dims": [["register", 2], ["lane", 32]], "out_dims": [["dim0", 8], ["dim1", 8]],
        "bases": {"register": [[0, 1]], "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}}"#;
    let text = drawn(&["divide", "--shape", "16x16", "--by-shape", "8x8", MATRIX, tile]);
    assert!(text.contains("A is a direct sum, with B in the low bits of each dim"), "{text}");
    let text = drawn(&["divide", "--shape", "16x16", "--by-shape", "8x8", BLOCKED, tile]);
    assert!(text.contains("marked bits mismatch"), "{text}");
}

/// A register layout with one lane per row of 128 bytes: all lanes start in one bank unless rows are swizzled or
/// padded.
const ROW_A_LANE: &str =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>";

#[test]
fn swizzle_and_padding_of_the_seed_have_no_conflicts() {
    // 32x64 elements of 16 bits: 8 accesses of 16 bytes a lane, four phases of eight lanes each.
    let swizzled = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    let padded = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>";
    for memory in [swizzled, padded] {
        let request = ["memory", "--target", "h100", "--shape", "32x64", "--element", "f16"];
        let text = drawn(&[&request[..], &[memory, "--access", ROW_A_LANE]].concat());
        let numbers = |name: &str| -> Vec<u64> {
            let at =
                text.lines().position(|line| line.contains("bytes a lane") && line.contains("bound")).expect("a table");
            let line = text.lines().skip(at).find(|line| line.contains(name)).expect("a row");
            let after = line.split_once("stores and loads").expect("both alike").1;
            after.split_whitespace().map_while(|word| word.parse().ok()).collect()
        };
        assert_eq!(numbers("this one"), [16, 8, 32, 32], "{memory}");
        assert_eq!(numbers("without swizzle"), [16, 8, 256, 32], "{memory}");
        assert_eq!(numbers("best swizzle"), [16, 8, 32, 32], "{memory}");
    }
}

#[test]
fn requests_operands_and_conversions_are_drawn() {
    let request = ["--target", "h100", "--shape", "32x64", "--element", "f16"];
    let text = drawn(&[&["global"], &request[..], &[ROW_A_LANE]].concat());
    assert!(text.contains("warp 0: 8 requests touch 256 sectors of 32 bytes; lower bound 128"), "{text}");
    let text = drawn(&[&["global", "--order", "0,1"], &request[..], &[ROW_A_LANE]].concat());
    assert!(text.contains("a lane moves 2 bytes at once"), "{text}");
    let text = drawn(&["instruction", "--target", "mi300x", "v_mfma_f32_32x32x8_f16"]);
    assert!(text.contains("A 32x8 f16 at the left, B 8x32 f16 on top, C and D 32x32 f32"), "{text}");
    let text = drawn(&[&["conversion"], &request[..], &[ROW_A_LANE, ROW_A_LANE]].concat());
    assert!(text.contains("no data movement"), "{text}");
}

#[test]
fn undrawable_movement_is_rejected_with_a_remedy() {
    let request = ["--target", "h100", "--shape", "32x64", "--element", "f16"];
    let message = refused(&[&["memory"], &request[..], &[ROW_A_LANE]].concat());
    assert!(message.contains("no layout of shared memory; `draw layout` draws"), "{message}");
    let message = refused(&["instruction", "--target", "h100", "m16n8k16"]);
    assert!(message.contains("instructions called `m16n8k16`; there are mma.sync.aligned.m16n8k16"), "{message}");
    let message = refused(&[&["global", "--warp", "1"], &request[..], &[ROW_A_LANE]].concat());
    assert!(message.contains("there is no warp 1 of 1"), "{message}");
}

#[test]
fn undrawable_layouts_are_rejected_with_a_remedy() {
    let cases: [(&[&str], &str); 6] = [
        (&["layout", "--shape", "1024x1024", BLOCKED], "smaller shape"),
        (&["layout", "--shape", "3x16", BLOCKED], "not a power of two"),
        (&["layout", "--shape", "8x8", "#ttg.blocked<{"], "LAYOUT"),
        (&["compose", "--shape", "16x16", MATRIX, SWIZZLED], "--invert applies B backwards"),
        (&["divide", "--shape", "8x8", "--by-shape", "32x32", BLOCKED, BLOCKED], "divide by a smaller layout"),
        (
            &[
                "layout",
                "--shape",
                "8x8",
                r#"{"in_dims": [["lane", 2]], "out_dims": [["dim0", 2]], "bases": {"lane": [[1]]}}"#,
            ],
            "differs from the given shape",
        ),
    ];
    for (arguments, remedy) in cases {
        let printed = refused(arguments);
        assert!(printed.contains(remedy), "{arguments:?}: {printed}");
    }
}
