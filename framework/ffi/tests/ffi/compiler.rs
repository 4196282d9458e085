//! Compiles a file that includes the headers.

use std::path::Path;
use std::process::Command;

/// Compiles the headers in the given standard; fails with the compiler's output if it rejects them.
pub fn accept(compiler: &str, standard: &str, name: &str) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, "#include \"tilewright_loader.h\"\nint main(void) { return 0; }\n").expect("the source");
    let mut command = Command::new(compiler);
    command.args([standard, "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg(file);
    let output = command.output().expect(compiler);
    assert!(output.status.success(), "{standard}: {}", String::from_utf8_lossy(&output.stderr));
}
