//! Tile programs as text: what is read is written again, as Triton writes it.

use std::path::{Path, PathBuf};

use tilewright::tile::op::Dialects;
use tilewright::tile::text::{parse, print};

/// The programs of a folder, or of the folder of this name in the full data.
fn programs(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ttir" || extension == "ttgir"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a program that can be read");
            (path, text)
        })
        .collect();
    programs.sort();
    programs
}

/// Without comments and names of layouts, and with one blank for several.
fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(" //").next().unwrap_or(line));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

#[test]
fn real_programs_are_written_as_they_were_read() {
    let Some(shared) = std::env::var_os("TILEWRIGHT_SHARED") else { return };
    let mut dialects = Dialects::neutral();
    for file in ["ttng.toml", "amdg.toml", "rocdl.toml"] {
        let text = std::fs::read_to_string(Path::new("../plugins/dialects").join(file)).expect("a dialect");
        dialects.add(file, &text).expect("a right dialect");
    }
    let mut failed = 0;
    for folder in ["cases", "ttgir"] {
        for (path, text) in programs(&PathBuf::from(&shared).join("kernels").join(folder)) {
            let module = match parse(&text, &dialects) {
                Ok(module) => module,
                Err(error) => {
                    println!("{}:{error}", path.display());
                    failed += 1;
                    continue;
                }
            };
            if let Err(violation) = tilewright::tile::verify(&module) {
                println!("{}:{}", path.display(), violation.in_text(&text));
                failed += 1;
            }
            let printed = print(&module);
            match parse(&printed, &dialects) {
                Ok(again) => assert_eq!(print(&again), printed),
                Err(error) => { println!("again {}:{error}", path.display()); failed += 1; continue }
            }
            if folder == "cases" && plain(&printed) != plain(&text) {
                failed += 1;
                for (a, b) in text.lines().zip(printed.lines()).filter(|(a, b)| plain(a) != plain(b)).take(2) {
                    println!("{}\n  {a}\n  {b}", path.display());
                }
            }
        }
    }
    let _ = &mut dialects;
    assert_eq!(failed, 0);
}
