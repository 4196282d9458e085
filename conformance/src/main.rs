//! The conformance command; see `docs/conformance.md`.

use std::process::ExitCode;

use conformance::groups::algebra::Algebra;
use conformance::groups::conversions::{self, Conversions};
use conformance::groups::cute::Cute;
use conformance::groups::dot::Dots;
use conformance::groups::families::Families;
use conformance::groups::instructions::Instructions;
use conformance::groups::layouts::Layouts;
use conformance::{Group, OpenError, Products, Program, Targets};

/// The suite.
fn groups() -> Vec<Box<dyn Group>> {
    // Code generators are slow beside the emulator, and care for the kind of kernel rather than for
    // each pair of layouts: two warps stand for all numbers of them.
    vec![
        Box::new(Algebra),
        Box::new(Families),
        Box::new(Cute),
        Box::new(Layouts),
        Box::new(Instructions),
        Box::new(Dots),
        Box::new(Conversions::new("conversions", |_| true, conversions::emulated)),
        Box::new(Conversions::new("codegen", |conversion| conversion.setting.warps == 2, conversions::compiled)),
    ]
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(exit) = Products::serve_plugin(arguments.get(1..).unwrap_or_default()) {
        return exit;
    }
    let open = |plugins: &[_]| -> Result<Box<dyn Targets>, OpenError> {
        let catalogue = tilewright_targets::catalogue().map_err(|error| OpenError::Unknown(error.to_string()))?;
        Ok(Box::new(Products::open(catalogue, plugins)?))
    };
    let program = Program { targets: Box::new(open), groups: groups(), prefix: Vec::new() };
    program.run(arguments).into()
}
