//! Checks that the framework names no vendor's dialect and no vendor's layout family.

use std::path::PathBuf;

use regex::Regex;
use tilewright_book::folder;
use tilewright_dialects::{DIALECT_FILES, VERIFY_RULE_SETS};

/// Returns the names of the vendors' dialects, and of the layout families that the rules of these dialects verify.
fn names() -> Vec<String> {
    let dialects = DIALECT_FILES.iter().map(|(file, _)| file.trim_end_matches(".toml").to_owned());
    let families = VERIFY_RULE_SETS.iter().flat_map(|set| set.layouts).map(|layout| layout.family().to_owned());
    dialects.chain(families).collect()
}

/// Returns all files below a folder.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// Differences between GPUs are data of `plugins` and `targets`: code of the framework that names a vendor's operation
/// or layout would have to change for the next vendor. A dialect crate supplies such rules (`tilewright_tile::rules`).
#[test]
fn the_framework_names_no_dialect_or_layout_of_a_vendor() {
    let names = names();
    assert!(names.len() > 10, "{names:?}");
    let pattern = Regex::new(&format!(r"\b({})\b", names.join("|"))).expect("words");
    let framework = folder().join("../framework");
    let crates = std::fs::read_dir(&framework).expect("the framework").map(|entry| entry.expect("an entry").path());
    let folders =
        crates.map(|path| if path.ends_with("src") { path } else { path.join("src") }).filter(|src| src.is_dir());
    let (mut read, mut wrong) = (0, Vec::new());
    for file in folders.flat_map(files) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        read += 1;
        let name = file.strip_prefix(&framework).unwrap_or(&file).display();
        let lines = text.lines().enumerate().filter(|(_, line)| pattern.is_match(line));
        wrong.extend(lines.map(|(index, line)| format!("framework/{name}:{}: {}", index + 1, line.trim())));
    }
    assert!(read > 500, "{read} files");
    assert!(wrong.is_empty(), "{} lines name a vendor's dialect or layout:\n{}", wrong.len(), wrong.join("\n"));
}
