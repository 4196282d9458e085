//! The conformance command: tests targets with the suite's groups of cases; see `docs/conformance.md`.

use std::process::ExitCode;

use conformance::groups::algebra::Algebra;
use conformance::groups::asynchronous::Asynchronous;
use conformance::groups::conversions::{self, ConversionCase, Conversions};
use conformance::groups::cute::Cute;
use conformance::groups::dot::{Dots, ScaledDots};
use conformance::groups::facts::FactsGroup;
use conformance::groups::families::FamiliesGroup;
use conformance::groups::figures::FiguresGroup;
use conformance::groups::gather::Gathers;
use conformance::groups::instructions::Instructions;
use conformance::groups::kernels::Kernels;
use conformance::groups::layouts::LayoutsGroup;
use conformance::groups::memory::MemoryGroup;
use conformance::groups::reduce::Reductions;
use conformance::groups::scan::Scans;
use conformance::{CaseGroup, CatalogueTargets, ExitStatus, MandatoryCases, OpenError, Suite, TestableTargets};

/// Returns the groups of cases of this package's suite.
fn groups() -> Vec<Box<dyn CaseGroup>> {
    vec![
        Box::new(Algebra),
        Box::new(FactsGroup),
        Box::new(FamiliesGroup),
        Box::new(Cute),
        Box::new(LayoutsGroup),
        Box::new(Instructions),
        Box::new(Dots),
        Box::new(ScaledDots),
        Box::new(
            Conversions::new("conversions", |_| true, conversions::check_emulated_plans).on_device(worth_compiling),
        ),
        Box::new(MemoryGroup),
        Box::new(Asynchronous),
        Box::new(Reductions),
        Box::new(Scans),
        Box::new(Gathers),
        Box::new(Kernels),
        Box::new(FiguresGroup),
        Box::new(Conversions::new("codegen", worth_compiling, conversions::check_reproducible_compilation)),
    ]
}

/// Whether a layout conversion is also compiled. Code generators are slow compared with the emulator, and their work
/// depends on the kind of kernel, not on the pair of layouts, so two warps and tensors of 256 to 4096 elements
/// represent all others.
fn worth_compiling(conversion: &ConversionCase) -> bool {
    conversion.tensor.setting.warps == 2 && (256..=4096).contains(&conversion.tensor.elements())
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(exit) = CatalogueTargets::serve_plugin(arguments.get(1..).unwrap_or_default()) {
        return exit;
    }
    let open = |plugins: &[_], isolation| -> Result<Box<dyn TestableTargets>, OpenError> {
        let catalogue =
            tilewright_targets::read_default_catalogue().map_err(|error| OpenError::Unknown(error.to_string()))?;
        Ok(Box::new(CatalogueTargets::open(catalogue, plugins, isolation)?))
    };
    let mandatory = match MandatoryCases::standard() {
        Ok(mandatory) => mandatory,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitStatus::Harness.into();
        }
    };
    let program = Suite { targets: Box::new(open), groups: groups(), mandatory, prefix: Vec::new() };
    program.run(arguments).into()
}
