//! The `tilewright` command.

fn main() -> std::process::ExitCode {
    tilewright_command::main()
}
