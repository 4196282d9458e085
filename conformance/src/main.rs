//! The conformance command; see `docs/conformance.md`.

use std::process::ExitCode;

use conformance::groups::layouts::Layouts;
use conformance::{OpenError, Products, Program, Targets};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(exit) = Products::serve_plugin(arguments.get(1..).unwrap_or_default()) {
        return exit;
    }
    let open = |plugins: &[_]| -> Result<Box<dyn Targets>, OpenError> {
        let catalogue = tilewright_targets::catalogue().map_err(|error| OpenError::Unknown(error.to_string()))?;
        Ok(Box::new(Products::open(catalogue, plugins)?))
    };
    let program = Program { targets: Box::new(open), groups: vec![Box::new(Layouts)], prefix: Vec::new() };
    program.run(arguments).into()
}
