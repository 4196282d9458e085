//! Decides whether results support a level of conformance for a target.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::arguments::{MessageFormat, Which};
use super::choose::chosen_targets;
use super::stop::Stop;
use super::suite::{OUTSIDE_OF_CASES, Suite};
use crate::{CaseResult, EarlierResults, EvidenceLevel, ExitStatus, Status, TestableTargets};

/// Max number of cases contradicting a claim that the output names.
const NAMED: usize = 20;

/// The result of evaluating whether a target may claim a level of conformance, from results of earlier runs.
#[derive(Debug, Serialize)]
struct Claim {
    target: String,
    level: EvidenceLevel,
    /// Whether the target may claim the level.
    holds: bool,
    suite: String,
    plugin: Option<crate::ServingPluginRecord>,
    /// Names of the devices on which cases ran.
    devices: BTreeSet<String>,
    levels: BTreeMap<EvidenceLevel, Count>,
    /// For each reason, the number of mandatory cases that are unsupported for this reason.
    unsupported: BTreeMap<String, usize>,
    /// For each case that contradicts the claim, the reason why.
    against: BTreeMap<String, String>,
}

/// Counts of the mandatory cases of one level by status.
#[derive(Debug, Default, Serialize)]
struct Count {
    mandatory: usize,
    right: usize,
    unsupported: usize,
}

impl Suite {
    /// Evaluates, for each requested target, whether the results in `files` support the level, and prints the
    /// evaluation. The exit status is a failure unless all claims hold.
    pub(super) fn claim(
        &self,
        files: &[PathBuf],
        level: EvidenceLevel,
        which: &Which,
        format: MessageFormat,
    ) -> Result<ExitStatus, Stop> {
        let targets = (self.targets)(&which.plugins, OUTSIDE_OF_CASES)?;
        let kept = EarlierResults::merge(files)?;
        let mut exit = ExitStatus::Ok;
        for target in chosen_targets(&*targets, &which.targets)? {
            let claim = self.evaluate(&*targets, &target, &kept, level, which)?;
            if !claim.holds {
                exit = ExitStatus::Failures;
            }
            let mut out = io::stdout().lock();
            match format {
                MessageFormat::Json => {
                    serde_json::to_writer(&mut out, &claim).map_err(io::Error::from)?;
                    writeln!(out)?;
                }
                MessageFormat::Human => write_claim(&mut out, &claim)?,
            }
        }
        Ok(exit)
    }

    fn evaluate(
        &self,
        targets: &dyn TestableTargets,
        target: &str,
        kept: &EarlierResults,
        level: EvidenceLevel,
        which: &Which,
    ) -> Result<Claim, Stop> {
        let plugin = targets.plugin(target);
        let tested = || kept.environments.iter().flat_map(|of| &of.targets).filter(|tested| tested.name == target);
        let devices = tested().filter_map(|tested| tested.device.clone()).collect();
        if let Some(other) = tested().map(|tested| &tested.plugin).find(|served| **served != plugin) {
            let plugin_text = |served: &Option<crate::ServingPluginRecord>| {
                served.as_ref().map_or("none".to_owned(), ToString::to_string)
            };
            let message = format!(
                "the results of {target} are from plugin {}, this program has {}",
                plugin_text(other),
                plugin_text(&plugin)
            );
            return Err(Stop::usage(message));
        }
        let names = self.names(targets, target, &which.answers()?, which)?;
        let suite = env!("CARGO_PKG_VERSION").to_owned();
        let (levels, unsupported, against) = Default::default();
        let target = target.to_owned();
        let mut claim = Claim { target, level, holds: false, suite, plugin, devices, levels, unsupported, against };
        for (of, mandatory) in self.mandatory.cases_up_to_level(level, &names) {
            claim.levels.insert(of, Count { mandatory: mandatory.len(), ..Count::default() });
            for name in mandatory {
                claim.count(of, name, kept.cases.get(&(claim.target.clone(), name.to_owned())));
            }
        }
        // A level without a passing case is not proven, even if all of its cases are unsupported.
        let shown = claim.levels.len() == usize::from(level as u8) + 1 && claim.levels.values().all(|of| of.right > 0);
        claim.holds = shown && claim.against.is_empty();
        Ok(claim)
    }
}

impl Claim {
    fn count(&mut self, level: EvidenceLevel, name: &str, result: Option<&CaseResult>) {
        let count = self.levels.entry(level).or_default();
        let Some(result) = result else {
            self.against.insert(name.to_owned(), "not run".to_owned());
            return;
        };
        let outcome = &result.outcome;
        match outcome.status {
            status if status.is_correct() && outcome.level >= Some(level) => count.right += 1,
            status if status.is_correct() => {
                let shown = outcome.level.map_or("no", EvidenceLevel::name);
                self.against.insert(name.to_owned(), format!("{status}, but at {shown} level instead of {level}"));
            }
            Status::Unsupported => {
                count.unsupported += 1;
                *self.unsupported.entry(outcome.detail.clone()).or_default() += 1;
            }
            status => {
                let first = outcome.detail.lines().next().unwrap_or_default();
                self.against.insert(name.to_owned(), format!("{status}: {first}"));
            }
        }
    }
}

fn write_claim(to: &mut impl Write, claim: &Claim) -> io::Result<()> {
    let (target, level) = (&claim.target, claim.level);
    let may = if claim.holds { "may claim" } else { "may not claim" };
    writeln!(to, "{target} {may} level {level} of conformance {}", claim.suite)?;
    if let Some(plugin) = &claim.plugin {
        writeln!(to, "plugin {plugin}, sha256 {}", plugin.sha256)?;
    }
    for device in &claim.devices {
        writeln!(to, "device {device}")?;
    }
    writeln!(to, "{:8}  {:>9}  {:>6}  {:>11}", "level", "mandatory", "right", "unsupported")?;
    for (of, count) in &claim.levels {
        writeln!(to, "{of:8}  {:>9}  {:>6}  {:>11}", count.mandatory, count.right, count.unsupported)?;
    }
    for (reason, count) in &claim.unsupported {
        writeln!(to, "unsupported ({count}): {reason}")?;
    }
    for (name, why) in claim.against.iter().take(NAMED) {
        writeln!(to, "against it: {name}: {why}")?;
    }
    if claim.against.len() > NAMED {
        writeln!(to, "and {} cases more", claim.against.len() - NAMED)?;
    }
    Ok(())
}
