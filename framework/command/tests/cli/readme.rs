//! Runs every command of the README and checks its output.

use crate::command;

use std::collections::BTreeSet;
use std::path::Path;

use command::{root, run, shell};
use serde_json::Value as Json;

/// Returns the commands in the README's section "The command", each with its lines joined.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let section = text.split("\n## ").find(|section| section.starts_with("The command\n")).expect("the section");
    let lines = section.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| !line.starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_readme_command_prints_the_expected_output() {
    let mut checked = BTreeSet::new();
    for line in commands() {
        if line == "cargo build --release" || line.starts_with("alias ") {
            continue;
        }
        // Commands that create files run in the user's folder.
        let own = tempfile::tempdir().expect("a folder");
        let folder = if line.contains("new-plugin") { own.path().to_owned() } else { root() };
        let printed = run(&mut shell(&line, &folder));
        assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""), "{line}");
        let name = line.split("tilewright ").nth(1).and_then(|rest| rest.split_whitespace().next());
        match name.unwrap_or_default() {
            "targets" => lists_all_targets(&printed.out),
            "instructions" => assert!(printed.out.contains("v_wmma_f32_16x16x16_f16  "), "{}", printed.out),
            "layout" if line.contains("--as cute") => assert_eq!(printed.out, "((8,4),(2,2)):((16,1),(8,4))\n"),
            "layout" => shows_every_element(&printed.out),
            "draw" => draws_every_element(&printed.out),
            "convert" if line.contains("--draw") => draws_a_conversion(&printed.out),
            "convert" if line.contains("--emit") => is_code(&line, &printed.out),
            "convert" => explains(&printed.out),
            "memory" => chooses(&printed.out),
            "reduce" => reduces(&printed.out),
            "scan" => scans(&printed.out),
            "gather" => gathers(&printed.out),
            "access" => accesses(&printed.out),
            "compile" => is_a_program(&printed.out),
            "explain" => {
                assert!(printed.out.contains("cp.async") && printed.out.contains("ldmatrix"), "{}", printed.out)
            }
            "run" => {
                let lines: Vec<_> =
                    printed.out.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
                assert_eq!(lines, ["pass         softmax", "pass         argmax", "mi250"], "{}", printed.out);
            }
            "batch" => answers(&printed.out),
            "new-plugin" => assert!(own.path().join("acme/src/lib.rs").is_file(), "{}", printed.out),
            other => panic!("no test says what `{other}` should print: {line}"),
        }
        checked.insert(name.unwrap_or_default().to_owned());
    }
    let all = ["access", "batch", "compile", "convert", "draw", "gather", "instructions", "layout", "memory", "reduce"];
    let all = all.into_iter().chain(["explain", "new-plugin", "run", "scan", "targets"]).map(str::to_owned);
    assert_eq!(checked, all.collect(), "the README shows every command");
}

fn lists_all_targets(out: &str) {
    let files = std::fs::read_dir(root().join("targets")).expect("the targets");
    let files = files.map(|file| file.expect("a file").path());
    let is_target = |file: &Path| file.extension().is_some_and(|e| e == "toml") && !file.ends_with("Cargo.toml");
    let files: BTreeSet<String> = files
        .filter(|file| is_target(file))
        .map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert!(files.len() >= 7);
    let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0].to_owned()).collect::<BTreeSet<_>>(), files);
    for row in rows {
        assert!(["nvidia", "amd", "intel"].contains(row.last().expect("a plugin")), "{row:?}");
    }
}

/// Checks the printed layout against its definition: two elements of a row in a register pair, eight lanes along a row,
/// four along a column, and the rest of the column in further registers.
fn shows_every_element(out: &str) {
    let cells: Vec<Vec<&str>> = out
        .lines()
        .skip_while(|line| !line.starts_with("lane:register"))
        .skip(2)
        .map(|line| line.split_whitespace().skip(1).collect())
        .filter(|row: &Vec<&str>| !row.is_empty())
        .collect();
    let expected: Vec<Vec<String>> =
        (0..8).map(|i| (0..16).map(|j| format!("{}:{}", i % 4 * 8 + j / 2 % 8, i / 4 * 2 + j % 2)).collect()).collect();
    assert_eq!(cells, expected, "{out}");
}

/// Checks the picture of the layout of `shows_every_element`: it has the lane and register of every element.
fn draws_every_element(out: &str) {
    let rows = out.lines().filter_map(|line| line.split_once('│')).filter(|(_, cells)| cells.contains('T'));
    let cells: Vec<Vec<&str>> = rows.map(|(_, cells)| cells.split_whitespace().take(16).collect()).collect();
    let expected: Vec<Vec<String>> = (0..8)
        .map(|i| (0..16).map(|j| format!("T{}:{}", i % 4 * 8 + j / 2 % 8, i / 4 * 2 + j % 2)).collect())
        .collect();
    assert_eq!(cells, expected, "{out}");
}

/// Returns the numbers after a label at the start of a line of the output.
fn numbers(out: &str, label: &str) -> Vec<u64> {
    let line = out.lines().map(str::trim).find(|line| line.starts_with(label));
    let line = line.unwrap_or_else(|| panic!("no `{label}`: {out}"));
    line[label.len()..].split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// Checks the picture of a conversion: a lane has 16 elements, two per word, so there are eight rounds of shuffles,
/// whichever words each round moves.
fn draws_a_conversion(out: &str) {
    for phrase in ["conversion of 16x32 f16", "before: tensor", "after: hardware", "shuffle rounds, warp 0"] {
        assert!(out.contains(phrase), "no `{phrase}` in {out}");
    }
    let rounds = out.lines().skip_while(|line| !line.starts_with("shuffle rounds")).skip(5);
    assert_eq!(rounds.filter(|line| line.contains('│')).count(), 8, "{out}");
}

/// Checks the plan of a reduction: two of the four warps lie along the rows, so each holds half of the elements of a
/// row's result, and one barrier separates their stores and loads.
fn reduces(out: &str) {
    assert!(out.starts_with("dim1: several warps have parts of it"), "{out}");
    assert_eq!(numbers(out, "block barriers"), [1], "{out}");
    assert!(out.contains("chosen: ") && out.contains("the result's layout"), "{out}");
}

/// Checks the plan of a scan: sixteen lanes hold a row, four elements each, so there are four doublings, and one step
/// more that fetches the total of the preceding lanes. Each has a shuffle for each of the 16 rows with elements in a
/// lane.
fn scans(out: &str) {
    assert!(out.starts_with("dim1: lanes of each warp have parts of it"), "{out}");
    assert_eq!(numbers(out, "shuffles"), [80, 4], "{out}");
}

/// Checks the plan of a gather: a line of 32 elements lies in the lanes of a warp, so there is one shuffle for each of
/// the 16 results of a lane.
fn gathers(out: &str) {
    assert!(out.starts_with("path shuffle"), "{out}");
    assert_eq!(numbers(out, "shuffles"), [16], "{out}");
    assert!(out.lines().any(|line| line.trim().starts_with("shared") && line.contains("times the cycles")), "{out}");
}

/// Checks the plan of accesses: with 64 elements of 16 bits a lane and 16 bytes per access, 8 stores and 8 loads of 4
/// wavefronts each, which equals the lower bound.
fn accesses(out: &str) {
    assert!(out.contains("stored: 128 bits") && out.contains("loaded: 128 bits"), "{out}");
    assert_eq!(numbers(out, "wavefronts stored"), [32, 32], "{out}");
    assert_eq!(numbers(out, "wavefronts loaded"), [32, 32], "{out}");
}

/// Checks the explained conversion: each lane of four warps holds 64 elements of 16 bits, so 8 stores and 8 loads of 16
/// bytes at best, which take 4 wavefronts of 128 bytes each.
fn explains(out: &str) {
    assert!(out.starts_with("path shared: "), "{out}");
    for side in ["wavefronts stored", "wavefronts loaded"] {
        let counted = numbers(out, side);
        assert_eq!((counted.len(), counted[1]), (2, 32), "{side}: the plan's and the bound: {out}");
        assert!(counted[0] >= counted[1], "{out}");
    }
    assert!(numbers(out, "block barriers") == [1] || numbers(out, "warp barriers") == [1], "{out}");
    let bits = out.lines().filter(|line| line.trim_start().starts_with("offset ")).count();
    assert_eq!(1 << bits, 128 * 64, "every bit of the offset is shown: {out}");
    assert!(out.contains("by predicted cycles of a block on h100:"), "{out}");
    assert!(out.lines().any(|line| line.trim().starts_with("shared") && line.contains(" chosen: ")), "{out}");
    assert!(out.lines().any(|line| line.trim().starts_with("shuffle") && line.contains("rejected: ")), "{out}");
}

/// Checks the choice of a shared-memory layout: 64x64 elements of 16 bits are 8 KiB, which only padding exceeds. The
/// kinds of layouts are listed with the chosen one first.
fn chooses(out: &str) {
    let kind = out.strip_prefix("chosen ").and_then(|rest| rest.split(':').next()).expect("a kind");
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    let first = rows.iter().position(|row| row.first() == Some(&"kind")).expect("a table of kinds") + 1;
    assert_eq!((rows[first][0], rows[first].last()), (kind, Some(&"chosen")), "{out}");
    let number = |row: &[&str], at: usize| row[at].parse::<u64>().expect("a number");
    for row in rows[first..].iter().take_while(|row| !row.is_empty()).filter(|row| row[1] != "-") {
        assert!(number(row, 1) >= number(&rows[first], 1), "{out}");
        assert_eq!(number(row, 3) > 8192, row[0] == "padding", "{out}");
    }
    assert!(out.contains("\nlayout:\n#ttg.") && out.contains("\nin CuTe's notation:\n"), "{out}");
}

fn is_code(line: &str, out: &str) {
    assert!(line.contains("--target mi250") && line.contains("--emit asm"), "{line}");
    for phrase in ["amdhsa--gfx90a", "\nconvert:", "ds_write", "ds_read", "s_barrier", ".max_flat_workgroup_size: 256"]
    {
        assert!(out.contains(phrase), "no `{phrase}` in {out}");
    }
}

fn is_a_program(out: &str) {
    for phrase in
        ["amdhsa--gfx90a", "\nsoftmax:", "global_load_dword", "global_store_dword", ".max_flat_workgroup_size: 256"]
    {
        assert!(out.contains(phrase), "no `{phrase}` in {out}");
    }
}

/// Checks an answered swizzle against its definition: groups of `vec` elements of a row are permuted by the row's
/// phase.
fn answers(out: &str) {
    let answer: Json = serde_json::from_str(out).expect("one line of JSON");
    assert_eq!(answer["id"], 1);
    let bases: Vec<[u64; 2]> = serde_json::from_value(answer["result"]["bases"]["offset"].clone()).expect("bases");
    assert_eq!(1 << bases.len(), 8 * 16);
    for offset in 0..8 * 16u64 {
        let set = bases.iter().enumerate().filter(|(bit, _)| offset >> bit & 1 == 1);
        let element = set.fold([0, 0], |sum, (_, basis)| [sum[0] ^ basis[0], sum[1] ^ basis[1]]);
        let (row, col) = (offset / 16, offset % 16);
        assert_eq!(element, [row, ((col / 4) ^ (row % 4)) * 4 + col % 4], "offset {offset}");
    }
}
