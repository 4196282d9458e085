//! Subcommands that write a pack (a folder of compiled cases) and that run one.

use std::path::{Path, PathBuf};

use conformance_pack::{CaseToPack, OpenDevices, PACK_VERSION, PackIndex, PackPlugin, PackWriter};
use tilewright_kernel::Module;
use tilewright_plugin::{CompileError, CompileOptions};

use super::arguments::{Choice, Which};
use super::choose::{Chosen, chosen_targets, context, narrow_choice};
use super::stop::Stop;
use super::suite::{OUTSIDE_OF_CASES, Suite};
use crate::{Case, Context, ExitStatus, ServingPluginRecord, Status, TestableTargets, Verdict, list_cases};

impl Suite {
    /// Compiles the chosen cases of a target that have kernels for a device, and writes them to a folder.
    pub(super) fn pack(
        &self,
        folder: &Path,
        which: &Which,
        choice: &Choice,
        date: Option<&str>,
    ) -> Result<ExitStatus, Stop> {
        let targets = (self.targets)(&which.plugins, OUTSIDE_OF_CASES)?;
        let names = chosen_targets(&*targets, &which.targets)?;
        let [target] = &names[..] else { return Err(Stop::usage("a pack is of one target".to_owned())) };
        // Only cases that run on devices can be packed.
        let context = context(&*targets, target, &which.answers()?, which)?.with_devices();
        let mut cases = list_cases(&self.groups, &context).map_err(|error| Stop::harness(error.to_string()))?;
        cases.retain(Case::has_test_cases);
        let all = Chosen::from([(target.clone(), cases.iter().map(|case| case.name().to_owned()).collect())]);
        let chosen = narrow_choice(all, choice, &self.groups)?.0.remove(target).unwrap_or_default();
        cases.retain(|case| chosen.binary_search_by(|name| name.as_str().cmp(case.name())).is_ok());
        let cannot = |error| Stop::harness(format!("cannot write the pack {}: {error}", folder.display()));
        let mut writer = PackWriter::new(folder, index(&*targets, &context, date))
            .map_err(|error| Stop::usage(format!("cannot begin a pack: {error}")))?;
        let mut failed = 0;
        for case in &cases {
            match packed(&context, case) {
                Ok(packed) => writer.add_case(packed).map_err(cannot)?,
                Err(verdict) => {
                    if !matches!(verdict.status, Status::Unsupported | Status::Skip) {
                        failed += 1;
                        eprintln!("{} {}\n    {}", verdict.status, case.name(), verdict.detail);
                    }
                    writer.record_omitted_case(case.name(), format!("{}: {}", verdict.status, verdict.detail));
                }
            }
        }
        let index = writer.finish().map_err(cannot)?;
        let (packed, codes, left_out) = (index.cases.len(), index.codes.len(), index.left_out.len());
        println!(
            "{target}: {packed} cases, {codes} compiled kernels, {left_out} cases left out, in {}",
            folder.display()
        );
        Ok(if failed == 0 { ExitStatus::Ok } else { ExitStatus::Failures })
    }

    /// Runs a pack on a device of its target, through the plugin that serves the target on this machine.
    pub(super) fn play(&self, command: &conformance_pack::PlayCommand, plugins: &[PathBuf]) -> ExitStatus {
        let status = command.run(|index: &PackIndex| -> Result<OpenDevices, String> {
            let targets = (self.targets)(plugins, OUTSIDE_OF_CASES).map_err(|error| error.to_string())?;
            let target = targets.open(&index.target.name).map_err(|error| error.to_string())?;
            Ok(Box::new(move || target.devices()))
        });
        match status {
            0 => ExitStatus::Ok,
            1 => ExitStatus::Failures,
            2 => ExitStatus::Usage,
            _ => ExitStatus::Harness,
        }
    }
}

fn index(targets: &dyn TestableTargets, context: &Context, date: Option<&str>) -> PackIndex {
    let target = context.target().description().clone();
    let pack_plugin =
        |ServingPluginRecord { name, version, built_with, sha256 }| PackPlugin { name, version, built_with, sha256 };
    PackIndex {
        version: PACK_VERSION,
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        date: date.map(str::to_owned),
        plugin: targets.plugin(&target.name).map(pack_plugin),
        target,
        codes: Vec::new(),
        cases: Vec::new(),
        left_out: Vec::new(),
    }
}

/// Compiles the kernels of a case for a pack.
fn packed(context: &Context, case: &Case) -> Result<CaseToPack, Verdict> {
    let case_tests = case.test_cases(context).unwrap_or_else(|| Err(Verdict::skip("it has no kernels")))?;
    let compiled = |test_case: tilewright_verify::TestCase| {
        let module = Module { kernels: vec![test_case.kernel.clone()] };
        match context.target().compile(&module, &CompileOptions::default()) {
            Ok(artifact) => Ok((test_case, artifact)),
            Err(CompileError::Unsupported(reason)) => Err(Verdict::unsupported(reason)),
            Err(CompileError::Plugin(message)) => Err(Verdict::crash(message)),
            Err(error) => Err(Verdict::fail(crate::EvidenceLevel::Codegen, error.to_string())),
        }
    };
    let test_cases = case_tests.test_cases.into_iter().map(compiled).collect::<Result<_, _>>()?;
    Ok(CaseToPack { name: case.name().to_owned(), test_cases, figure: case_tests.figure })
}
