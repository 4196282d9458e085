//! Tests of external tools: the search for them, and the messages about missing or failing ones.

use std::path::{Path, PathBuf};

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

/// A tool that runs the shell, which every test machine has.
const SHELL: ExternalTool =
    ExternalTool { program: "sh", variable: "TILEWRIGHT_NO_SUCH_VARIABLE", install: "install a shell" };

const MISSING: ExternalTool = ExternalTool { program: "no-such-program", ..SHELL };

#[test]
fn a_tool_is_found_along_the_path() {
    let found = SHELL.find().expect("the shell");
    assert!(found.is_absolute() && found.ends_with("sh"), "{}", found.display());
    assert_eq!(SHELL.find_by_variable(), None);
}

/// The environment variable has precedence, and a wrong path in it is an error only when the tool runs. Here cargo sets
/// the variable to a folder, which is no program.
#[test]
fn a_variable_wins_and_a_wrong_path_is_reported_when_run() {
    let tool = ExternalTool { variable: "CARGO_MANIFEST_DIR", ..SHELL };
    let named = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    assert_eq!((tool.find_by_variable(), tool.find().ok()), (Some(named.clone()), Some(named.clone())));
    assert_eq!(tool.find_among("elsewhere", []).ok(), Some(named.clone()));
    let error = tool.run(&named, "text", |command| command).expect_err("a folder does not run");
    assert!(matches!(error, ToolError::CannotRun { .. }), "{error}");
    let message = error.to_string();
    for phrase in [&*named.display().to_string(), "CARGO_MANIFEST_DIR", "`sh`", "install a shell"] {
        assert!(message.contains(phrase), "{phrase} is not in: {message}");
    }
}

#[test]
fn a_missing_tool_is_named_with_where_it_was_looked_for_and_what_to_do() {
    let message = MISSING.find().expect_err("there is none").to_string();
    for phrase in ["`no-such-program`", "TILEWRIGHT_NO_SUCH_VARIABLE", "on PATH", "install a shell"] {
        assert!(message.contains(phrase), "{phrase} is not in: {message}");
    }
    let message = MISSING.find_among("beside the program", [PathBuf::from("/nonexistent")]).expect_err("none");
    assert!(message.to_string().contains("it is not beside the program"), "{message}");
}

#[test]
fn candidates_are_taken_in_order_if_they_are_files() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let found = MISSING.find_among("elsewhere", [PathBuf::from("/nonexistent"), file.clone()]);
    assert_eq!(found.ok(), Some(file));
}

#[test]
fn a_tool_that_fails_is_refused_with_all_that_it_printed() {
    let shell = SHELL.find().expect("the shell");
    let error = SHELL.run(&shell, "script", |command| command.args(["-c", "echo one; echo two >&2; exit 3"]));
    let error = error.expect_err("it fails").into_compile_error();
    let CompileError::Backend(message) = &error else { panic!("{error:?}") };
    for phrase in ["rejected the script", "exit status: 3", "one\ntwo"] {
        assert!(message.contains(phrase), "{phrase} is not in: {message}");
    }
    let output = SHELL.run(&shell, "script", |command| command.args(["-c", "echo three"])).expect("it succeeds");
    assert_eq!(output.stdout, b"three\n");
}
