//! Tests with plugins that are built outside of this workspace against the framework's crates alone, as third parties
//! build them: the example of the tutorial, and the template of `tilewright new-plugin`. Both must pass the suite
//! unchanged.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the root of the source tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the source tree")
}

/// Returns the folder of a plugin that is built outside of the workspace for a test.
fn outside(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.parent().expect("a folder above")).expect("the tests' folder");
    folder
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Builds the plugin in a folder, with the dependencies of this workspace; returns the path of its library.
fn built(folder: &Path, name: &str) -> PathBuf {
    std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside/target");
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder).args(["build", "--quiet", "--offline", "--target-dir"]).arg(&target);
    // Nothing reads debug information here, and without it the build takes a quarter less time.
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    let output = run(command.env_remove("CARGO_ENCODED_RUSTFLAGS"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug").join(format!("lib{name}_plugin.so"))
}

/// Runs the suite on a plugin's target; returns its output and whether it passed.
fn suite(folder: &Path, library: &Path, arguments: &[&str]) -> (String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.env("TILEWRIGHT_TARGET_PATH", folder.join("targets")).arg("--plugin").arg(library).args(arguments);
    let output = run(&mut command);
    (
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        output.status.success(),
    )
}

/// Returns the numbers of passing cases (columns `pass` and `quality`) and of failing cases of a group.
fn outcomes(printed: &str, group: &str) -> (u32, u32) {
    let row = printed.lines().find(|line| line.split_whitespace().next() == Some(group));
    let row = row.unwrap_or_else(|| panic!("no row of `{group}` in\n{printed}"));
    let numbers: Vec<u32> = row.split_whitespace().skip(1).map(|word| word.parse().expect("a count")).collect();
    (numbers[0] + numbers[2], numbers[1])
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the example") {
        let path = entry.expect("the example").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copied(&path, &to);
        } else {
            std::fs::copy(&path, &to).expect("the file");
        }
    }
}

#[test]
fn the_example_of_the_tutorial_is_proved_by_the_suite() {
    let example = root().join("docs/examples/loom");
    let folder = outside("loom");
    copied(&example, &folder);
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("the manifest");
    let framework = root().join("framework");
    let moved = manifest.replace("../../../framework", framework.to_str().expect("UTF-8"));
    assert_ne!(moved, manifest);
    std::fs::write(folder.join("Cargo.toml"), moved).expect("the manifest");
    let lines: usize = std::fs::read_dir(folder.join("src"))
        .expect("the sources")
        .map(|entry| std::fs::read_to_string(entry.expect("a source").path()).expect("UTF-8").lines().count())
        .sum();
    assert!(lines < 300, "{lines} lines");
    let library = built(&folder, "loom");
    let (printed, passed) = suite(
        &folder,
        &library,
        &["--target", "loom16", "--smoke", "--exclude", "dot-scaled/*", "--exclude", "dot/*/table-5/*"],
    );
    assert!(passed, "{printed}");
    for (group, least) in
        [("families", 150), ("conversions", 80), ("memory", 80), ("instructions", 3), ("dot", 80), ("kernels", 20)]
    {
        let (shown, failed) = outcomes(&printed, group);
        assert!(failed == 0 && shown >= least, "{group}: {shown} of {least}, {failed} failed\n{printed}");
    }
    // The dot uses the plugin's own instruction.
    let (printed, _) = suite(
        &folder,
        &library,
        &["--target", "loom16", "--message-format", "json", "dot/emulated/plain/f16-f16-f32/*"],
    );
    assert!(printed.contains("loom.mma.8x8x4.f32.f16"), "{printed}");
    let shown = commands_of_the_tutorial(&folder, &library);
    assert_eq!(shown.len(), 2, "one draws the instruction, one multiplies with it");
    for printed in shown {
        assert!(printed.contains("loom.mma.8x8x4.f32.f16"), "{printed}");
    }
}

/// Builds a plugin in C to the path `library`.
fn built_in_c(source: &Path, library: &Path) {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(library);
    let output = run(compiler.arg("-I").arg(root().join("framework/plugin/include")).arg(source));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// If a code generator aborts or hangs, this determines the outcome of each case that compiles, and of no other case.
#[test]
fn a_plugin_that_breaks_while_it_compiles_is_the_outcome_of_the_case() {
    let folder = outside("loom-breaks");
    copied(&root().join("docs/examples/loom"), &folder);
    let refusal = "    return failed(TILEWRIGHT_ERROR_UNSUPPORTED, \"code:";
    let source = std::fs::read_to_string(root().join("docs/examples/loom-c/loom.c")).expect("the example");
    assert_eq!(source.matches(refusal).count(), 1);
    let abort = "fputs(\"LLVM ERROR: cannot select\\n\", stderr); abort();";
    let expected = [
        ("aborts", abort, "crash", ["SIGABRT", "LLVM ERROR: cannot select"]),
        ("hangs", "while (source_of_time) {}", "timeout", ["no end within 2", ""]),
    ];
    for (name, statement, status, words) in expected {
        let (file, library) = (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
        let broken = source.replace(refusal, &format!("    {statement}\n{refusal}"));
        let head = "#include <stdio.h>\nextern volatile int source_of_time;\nvolatile int source_of_time = 1;\n";
        std::fs::write(&file, head.to_owned() + &broken).expect("the source");
        built_in_c(&file, &library);
        let cases = ["families/bases/blocked-a/*", "codegen/blocked-a-*", "--message-format", "json", "--timeout", "2"];
        let (printed, passed) = suite(&folder, &library, &[&["--target", "loom16"], &cases[..]].concat());
        assert!(!passed, "{printed}");
        let events = printed.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut compiled = 0;
        for case in events.filter(|event| event["event"] == "case") {
            let (name, detail) = (&case["name"], case["detail"].as_str().unwrap_or_default());
            match case["status"].as_str() {
                Some("pass" | "skip") => {}
                found => {
                    compiled += 1;
                    assert_eq!(found, Some(status), "{name}: {detail}");
                    assert!(words.iter().all(|word| detail.contains(word)), "{name}: {detail}");
                }
            }
        }
        assert!(compiled > 0, "{printed}");
    }
}

/// The tutorial's target, defined in plain C, does not differ for hosts: they see the same instruction and the same
/// layout, and use them in dots.
#[test]
fn the_target_defined_in_c_is_the_same() {
    let (c, rust) = (outside("loom-c"), outside("loom-beside"));
    std::fs::create_dir_all(&c).expect("a folder");
    copied(&root().join("docs/examples/loom"), &rust);
    let library = c.join("libloom_c.so");
    built_in_c(&root().join("docs/examples/loom-c/loom.c"), &library);
    let command = Path::new(env!("CARGO_BIN_EXE_conformance")).with_file_name("tilewright");
    let requested = |arguments: &[&str]| {
        let mut command = Command::new(&command);
        command.arg("--plugin").arg(&library).env("TILEWRIGHT_TARGET_PATH", rust.join("targets"));
        let output = run(command.args(arguments));
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // By hand: registers go along four columns, a lane's low bit to the other four, the rest down.
    let layout = ["layout", "--target", "loom16", "--shape", "8x8", "--as", "cute", "#loom.loom_mma<{}>"];
    let (printed, error) = requested(&layout);
    assert!(printed.contains("((2,8),4):((32,1),8)"), "{printed}{error}");
    let larger = ["layout", "--target", "loom16", "--shape", "16x8", "#loom.loom_mma<{}>"];
    assert!(requested(&larger).1.contains("it is described for 8x8 alone"));
    let cases = ["--target", "loom16", "layouts/instructions", "dot/emulated/plain/f16-f16-f32/*", "--message-format"];
    let (printed, passed) = suite(&rust, &library, &[&cases[..], &["json"]].concat());
    assert!(passed && printed.contains("loom.mma.8x8x4.f32.f16"), "{printed}");
    let code = requested(&[
        "dot", "--target", "loom16", "--m", "16", "--n", "16", "--k", "16", "--a", "f16", "--b", "f16", "--acc", "f32",
        "--emit", "asm",
    ]);
    assert!(code.1.contains("describes a machine and compiles nothing"), "{code:?}");
}

/// Returns the output of the commands in `docs/new-target.md` that query the built plugin.
fn commands_of_the_tutorial(folder: &Path, library: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/new-target.md")).expect("the tutorial");
    let page = page.replace("\\\n", " ");
    let lines = page.lines().map(str::trim).filter(|line| line.starts_with("tilewright --plugin"));
    let printed = lines.map(|line| {
        let line = line.replace("target/release/libloom_plugin.so", library.to_str().expect("UTF-8"));
        let command = Path::new(env!("CARGO_BIN_EXE_conformance")).with_file_name("tilewright");
        let script = format!("tilewright() {{ \"$TILEWRIGHT\" \"$@\"; }}\n{line}");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-ec", &script]).env("TILEWRIGHT", command).env("TILEWRIGHT_TARGET_PATH", folder.join("targets"));
        let output = run(&mut shell);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    printed.collect()
}

#[test]
fn what_new_plugin_begins_with_is_proved_as_it_is() {
    let folder = outside("acme");
    let command = Path::new(env!("CARGO_BIN_EXE_conformance")).with_file_name("tilewright");
    assert!(command.is_file(), "{} is missing: build or test the whole workspace", command.display());
    let framework = root().join("framework");
    let mut begin = Command::new(&command);
    let generated = run(begin.args(["new-plugin", "acme", "--to"]).arg(&folder).arg("--framework").arg(&framework));
    assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
    let library = built(&folder, "acme");
    let (printed, passed) = suite(&folder, &library, &["--target", "acme1", "--smoke"]);
    assert!(passed, "{printed}");
    assert!(outcomes(&printed, "conversions").0 > 0 && outcomes(&printed, "kernels").0 > 0, "{printed}");
    let second = run(Command::new(&command).args(["new-plugin", "acme", "--to"]).arg(&folder));
    assert!(
        !second.status.success() && String::from_utf8_lossy(&second.stderr).contains("is there already"),
        "{second:?}"
    );
    let named = run(Command::new(&command).args(["new-plugin", "Acme 2"]));
    assert!(String::from_utf8_lossy(&named.stderr).contains("not a plugin's name"), "{named:?}");
}
