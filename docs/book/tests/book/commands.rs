//! Every command that the book shows is run, in a folder of its own for each page, and ends well; or another test runs it,
//! which is named here.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tilewright_book::{Page, commands, folder, pages, rewrite_transcripts};
use tilewright_testkit::golden;

/// Commands that another test runs: page, how the command begins, and that test.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("conformance.md", "conformance claim", "conformance/tests/runner"),
    ("conformance.md", "conformance --target mychip", "conformance/tests/suite/out_of_tree.rs"),
    ("conformance.md", "conformance merge", "conformance/tests/runner"),
    ("embedding.md", "cargo run --release --bin tilewright-install", "framework/install/tests/install/hosts.rs"),
    ("embedding.md", "cargo run --release -p tilewright-host", "framework/ffi/hosts/rust/tests/code.rs"),
    ("embedding.md", "TILEWRIGHT_PLUGIN_PATH=PREFIX", "framework/ffi/hosts/rust/tests/code.rs"),
    ("embedding.md", "cmake", "framework/install/tests/install/hosts.rs"),
    ("embedding.md", "cargo install --path framework/command", "framework/install/tests/install/hosts.rs"),
    ("first-ten-minutes.md", "cargo build --release", "conformance/tests/suite/product.rs"),
    ("first-ten-minutes.md", "cargo run --release --bin conformance", "conformance/tests/suite/product.rs"),
    ("how-we-know.md", "cargo test", "framework/properties/tests/short_runs.rs"),
    ("gpu-machines.md", "cargo build", "conformance/tests/suite/packs.rs"),
    ("gpu-machines.md", "conformance pack", "conformance/tests/suite/packs.rs"),
    ("gpu-machines.md", "conformance-run", "conformance/tests/suite/packs.rs"),
    ("new-target.md", "tilewright", "conformance/tests/suite/out_of_tree.rs"),
    ("new-target.md", "cd loom", "conformance/tests/suite/out_of_tree.rs"),
    ("new-target.md", "TILEWRIGHT_TARGET_PATH", "conformance/tests/suite/out_of_tree.rs"),
];

/// Commands that need what a machine with Rust's toolchain alone has not.
const WANTS: &[(&str, &str, &str)] = &[
    ("conformance.md", "conformance --target max1550 --device", "Intel's OpenCL runtime"),
    ("how-we-know.md", "cargo +nightly", "the nightly toolchain and cargo-fuzz"),
    ("how-we-know.md", "cargo install", "the nightly toolchain and cargo-fuzz"),
    ("how-we-know.md", "cargo run", "the nightly toolchain and cargo-fuzz"),
    ("how-we-know.md", "cd framework", "the nightly toolchain and cargo-fuzz"),
    ("gpu-machines.md", "scp", "a machine with a GPU"),
    ("gpu-machines.md", "ssh", "a machine with a GPU"),
    ("gpu-machines.md", "mkdir", "Slurm"),
    ("gpu-machines.md", "conformance --target h100 --device --thorough", "Slurm"),
    ("gpu-machines.md", "sbatch", "Slurm"),
    ("results.md", "cargo bench", "a quiet machine"),
    ("results.md", "python3", "Triton's wheel"),
    ("results.md", "triton-venv", "Triton's wheel"),
    ("results.md", "PATH=", "Triton's wheel"),
];

/// Whether this test leaves the command out.
fn elsewhere(page: &str, command: &str) -> bool {
    ELSEWHERE.iter().chain(WANTS).any(|(file, begin, _)| *file == page && command.starts_with(begin))
}

/// The executables that cargo built beside this one.
fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("this executable");
    let folder = own.parent().and_then(Path::parent).expect("the folder of executables");
    let file = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(file.is_file(), "{} is not built: run the tests of the whole workspace", file.display());
    file
}

/// A folder that looks like the repository's root to a command, and takes what it writes.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a folder");
    let root = folder().parent().expect("the repository").to_owned();
    std::fs::create_dir_all(place.path().join("docs/pictures")).expect("a folder");
    for shown in ["conformance", "targets", "docs/examples"] {
        std::os::unix::fs::symlink(root.join(shown), place.path().join(shown)).expect("a link");
    }
    place
}

/// Runs of the suite that would take minutes are shortened: a few cases of each group, and a part of these if all groups run.
fn shortened(command: &str) -> String {
    let plain = command.split('#').next().unwrap_or_default().trim_end();
    if plain == "conformance --target h100 --smoke" {
        return format!("{plain} --shard 1/16");
    }
    if plain.starts_with("conformance --target h100 --results") {
        return format!("{plain} --smoke --shard 1/16");
    }
    let whole = ["--smoke", "--list", "--case-list"].iter().any(|word| plain.contains(word));
    let kind = plain.split_whitespace().nth(1).unwrap_or_default();
    if !plain.starts_with("conformance ") || whole || ["merge", "claim", "pack", "run"].contains(&kind) {
        return command.to_owned();
    }
    format!("{plain} --smoke")
}

/// Runs a shell line in which `tilewright` and `conformance` are the programs that cargo built.
fn run(line: &str, folder: &Path) -> Output {
    let script =
        format!("tilewright() {{ \"$TILEWRIGHT\" \"$@\"; }}\nconformance() {{ \"$CONFORMANCE\" \"$@\"; }}\n{line}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-ec", &script]).env("TILEWRIGHT", built("tilewright")).env("CONFORMANCE", built("conformance"));
    shell.current_dir(folder).output().expect("a shell")
}

/// Pages and the README show the output of a command as the command prints it; `TILEWRIGHT_BLESS=1` writes it.
#[test]
fn shown_output_is_that_of_the_command() {
    let _guard = crate::PAGES.lock();
    let readme = folder().join("../README.md");
    let pages = pages().expect("the pages").into_iter().map(|page| folder().join(page.name));
    let mut ran = 0;
    for file in pages.chain([readme]) {
        let (text, place) = (std::fs::read_to_string(&file).expect("a page"), place());
        let actual = rewrite_transcripts(&text, |command| {
            let output = run(command, place.path());
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success() && err.is_empty(), "{}: {command}\n{out}\n{err}", file.display());
            ran += 1;
            out.into_owned()
        });
        golden::check(&file, &actual);
    }
    assert!(ran > 10, "{ran} commands ran");
}

#[test]
fn every_command_ends_well() {
    let mut ran = 0;
    for Page { name, text } in pages().expect("the pages") {
        let place = place();
        for command in commands(&text).iter().filter(|command| !elsewhere(&name, command)) {
            let said = run(&shortened(command), place.path());
            let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
            assert!(said.status.success(), "{name}: {command}\n{out}\n{err}");
            let silent = command.contains(" -o ") || command.starts_with("alias");
            assert!(silent || !out.is_empty(), "{name}: {command}: nothing is printed");
            ran += 1;
        }
    }
    assert!(ran > 40, "{ran} commands ran");
}

/// An exception that no page has any more is out of date.
#[test]
fn every_exception_is_of_a_command() {
    let pages = pages().expect("the pages");
    for (file, begin, runs) in ELSEWHERE {
        assert!(folder().join("..").join(runs).exists(), "{file}: `{begin}`: {runs} is not there");
    }
    for (file, begin, _) in ELSEWHERE.iter().chain(WANTS) {
        let page = pages.iter().find(|page| page.name == *file).unwrap_or_else(|| panic!("no page {file}"));
        assert!(commands(&page.text).iter().any(|command| command.starts_with(begin)), "{file} shows no `{begin}`");
    }
}
