//! Runs every command of the book, in one temporary folder per page, and checks its exit status. Commands that another
//! test runs are listed here with that test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tilewright_book::{Page, commands, folder, pages, rewrite_transcripts};
use tilewright_testkit::golden;

/// Commands that another test runs: the page, the beginning of the command, and the test.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("conformance.md", "conformance claim", "conformance/tests/runner"),
    ("conformance.md", "conformance --target mychip", "conformance/tests/suite/out_of_tree.rs"),
    ("conformance.md", "conformance merge", "conformance/tests/runner"),
    ("embedding.md", "cargo run --release --bin tilewright-install", "framework/install/tests/install/hosts.rs"),
    ("embedding.md", "cargo run --release -p tilewright-host", "framework/ffi/hosts/rust/tests/code.rs"),
    ("embedding.md", "TILEWRIGHT_PLUGIN_PATH=PREFIX", "framework/ffi/hosts/rust/tests/code.rs"),
    ("embedding.md", "cmake", "framework/install/tests/install/hosts.rs"),
    ("embedding.md", "cargo install --path framework/command", "framework/install/tests/install/hosts.rs"),
    ("first-ten-minutes.md", "cargo build --release", "conformance/tests/suite/repository.rs"),
    ("first-ten-minutes.md", "cargo run --release --bin conformance", "conformance/tests/suite/repository.rs"),
    ("how-we-know.md", "cargo test", "framework/properties/tests/short_runs.rs"),
    ("devices.md", "cargo build", "conformance/tests/suite/packs.rs"),
    ("devices.md", "conformance pack", "conformance/tests/suite/packs.rs"),
    ("devices.md", "conformance-run", "conformance/tests/suite/packs.rs"),
    ("new-target.md", "tilewright", "conformance/tests/suite/out_of_tree.rs"),
    ("new-target.md", "cd loom", "conformance/tests/suite/out_of_tree.rs"),
    ("new-target.md", "TILEWRIGHT_TARGET_PATH", "conformance/tests/suite/out_of_tree.rs"),
];

/// Commands that need more than Rust's toolchain, so that no test runs them: the page, the beginning of the command,
/// and the need.
const WANTS: &[(&str, &str, &str)] = &[
    ("devices.md", "conformance --target max1550 --device", "Intel's OpenCL runtime"),
    ("how-we-know.md", "cargo +nightly", "the nightly toolchain and cargo-fuzz"),
    ("how-we-know.md", "cargo install", "the nightly toolchain and cargo-fuzz"),
    ("how-we-know.md", "cargo run", "the nightly toolchain and cargo-fuzz"),
    ("how-we-know.md", "cd framework", "the nightly toolchain and cargo-fuzz"),
    ("devices.md", "PYTHONPATH=", "Triton's wheel"),
    ("devices.md", "scp", "a machine with a GPU"),
    ("devices.md", "ssh", "a machine with a GPU"),
    ("devices.md", "mkdir", "Slurm"),
    ("devices.md", "conformance --target h100 --device --thorough", "Slurm"),
    ("devices.md", "sbatch", "Slurm"),
    ("results.md", "cargo bench", "a quiet machine"),
    ("results.md", "python3", "Triton's wheel"),
    ("results.md", "triton-venv", "Triton's wheel"),
    ("results.md", "PATH=", "Triton's wheel"),
];

/// Whether the command of this page is in `ELSEWHERE` or `WANTS`, so that this test does not run it.
fn elsewhere(page: &str, command: &str) -> bool {
    ELSEWHERE.iter().chain(WANTS).any(|(file, begin, _)| *file == page && command.starts_with(begin))
}

/// Returns the path of the workspace's executable `name`, which cargo built in the same profile.
fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("this executable");
    let folder = own.parent().and_then(Path::parent).expect("the folder of executables");
    let file = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(file.is_file(), "{} is not built: run the tests of the whole workspace", file.display());
    file
}

/// Creates a temporary folder with links to those parts of the repository that commands read; commands write into the
/// folder.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a folder");
    let root = folder().parent().expect("the repository").to_owned();
    std::fs::create_dir_all(directory.path().join("docs/pictures")).expect("a folder");
    for shown in ["conformance", "targets", "docs/examples"] {
        std::os::unix::fs::symlink(root.join(shown), directory.path().join(shown)).expect("a link");
    }
    directory
}

/// Adds `--smoke` or `--shard` to a command that would run the conformance suite for minutes.
fn shortened(command: &str) -> String {
    let plain = command.split('#').next().unwrap_or_default().trim_end();
    if plain.starts_with("conformance ") && plain.ends_with("--smoke") {
        return format!("{plain} --shard 1/16");
    }
    if plain.starts_with("conformance --target h100 --results") {
        return format!("{plain} --smoke --shard 1/16");
    }
    let is_short = ["--smoke", "--list", "--case-list"].iter().any(|word| plain.contains(word));
    let kind = plain.split_whitespace().nth(1).unwrap_or_default();
    if !plain.starts_with("conformance ") || is_short || ["merge", "claim", "pack", "run"].contains(&kind) {
        return command.to_owned();
    }
    if plain.contains("--shard") { format!("{plain} --smoke") } else { format!("{plain} --smoke --shard 1/8") }
}

/// Runs a shell line; `tilewright` and `conformance` are the executables of the workspace.
fn run(line: &str, folder: &Path) -> Output {
    let script =
        format!("tilewright() {{ \"$TILEWRIGHT\" \"$@\"; }}\nconformance() {{ \"$CONFORMANCE\" \"$@\"; }}\n{line}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-ec", &script]).env("TILEWRIGHT", built("tilewright")).env("CONFORMANCE", built("conformance"));
    shell.current_dir(folder).output().expect("a shell")
}

/// The transcripts of the pages and the README equal the output of their commands; `TILEWRIGHT_BLESS=1` writes them.
#[test]
fn shown_output_is_that_of_the_command() {
    let _guard = crate::PAGES.lock();
    let readme = folder().join("../README.md");
    let pages = pages().expect("the pages").into_iter().map(|page| folder().join(page.name));
    let mut ran = 0;
    for file in pages.chain([readme]) {
        let (text, directory) = (std::fs::read_to_string(&file).expect("a page"), directory());
        let actual = rewrite_transcripts(&text, |command| {
            let output = run(command, directory.path());
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
        let directory = directory();
        for command in commands(&text).iter().filter(|command| !elsewhere(&name, command)) {
            let output = run(&shortened(command), directory.path());
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{name}: {command}\n{out}\n{err}");
            let silent = command.contains(" -o ") || command.starts_with("alias");
            assert!(silent || !out.is_empty(), "{name}: {command}: nothing is printed");
            ran += 1;
        }
    }
    assert!(ran > 40, "{ran} commands ran");
}

/// Each entry of `ELSEWHERE` and `WANTS` belongs to a command of its page; others are out of date.
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
