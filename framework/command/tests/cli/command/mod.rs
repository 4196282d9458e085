//! Helpers that run the command `tilewright` and read its output.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

/// Environment variables that the command reads, which tests clear.
pub const VARIABLES: [&str; 4] =
    ["TILEWRIGHT_PLUGIN_PATH", "TILEWRIGHT_PLUGIN_DEBUG", "TILEWRIGHT_PLUGIN_TIMEOUT", "TILEWRIGHT_TARGET_PATH"];

/// A layout of a tensor of two axes for one warp of 32 lanes.
pub const BLOCKED: &str =
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>";

/// Returns the root folder of the repository.
pub fn root() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").is_file()).expect("the workspace").to_owned()
}

/// Returns a program to run with a clean environment and empty standard input.
pub fn program(path: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(path);
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.env("RUST_BACKTRACE", "1").stdin(Stdio::null());
    command
}

/// Returns the command `tilewright` that cargo built, to run with arguments.
pub fn tilewright() -> Command {
    program(assert_cmd::cargo::cargo_bin!("tilewright"))
}

/// Returns a shell command to run in a folder; `tilewright` in it is the command that cargo built.
pub fn shell(line: &str, folder: &Path) -> Command {
    let script = format!("tilewright() {{ \"$BUILT\" \"$@\"; }}\n{line}");
    let mut shell = program("/bin/sh");
    shell.args(["-c", &script]).env("BUILT", assert_cmd::cargo::cargo_bin!("tilewright")).current_dir(folder);
    shell
}

/// The output streams of a finished program, as text.
pub struct Printed {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn printed(output: &Output) -> Printed {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Printed { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Printed {
    printed(&command.output().expect("a program that starts"))
}

/// Returns the answers of `tilewright batch` to these lines on standard input.
pub fn batch(lines: impl Into<String>) -> Vec<Json> {
    let mut command = tilewright();
    let command = command.arg("batch").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("batch");
    let (mut input, lines) = (process.stdin.take().expect("standard input"), lines.into());
    // Written by another thread, since the command answers while it reads.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let printed = printed(&process.wait_with_output().expect("batch"));
    writer.join().expect("no panic").expect("all was read");
    json_lines(printed.ok())
}

/// Returns requests as lines of JSON, the input of `tilewright batch`.
pub fn lines(requests: &[Json]) -> String {
    requests.iter().map(|request| format!("{request}\n")).collect()
}

/// Parses lines of JSON.
pub fn json_lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

impl Printed {
    /// Returns the standard output, after a check that the command succeeded with empty standard error.
    #[track_caller]
    pub fn ok(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        &self.out
    }

    /// Returns the standard output of a successful command, parsed as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Json {
        serde_json::from_str(self.ok()).expect("JSON")
    }

    /// Checks that the command failed: the exit code, one message, no partial output, no panic. Returns the message.
    pub fn failed(&self, code: i32) -> &str {
        let Self { out, err, .. } = self;
        assert_eq!(self.code, Some(code), "{out}{err}");
        assert_eq!(out, "", "nothing on standard output; standard error: {err}");
        let messages = err.lines().filter(|line| line.to_lowercase().starts_with("error")).count();
        assert_eq!(messages, 1, "one message: {err}");
        for word in ["backtrace", "RUST_BACKTRACE", "thread 'main'", "unwrap", ".rs:"] {
            assert!(!err.contains(word), "`{word}` in: {err}");
        }
        err
    }
}
