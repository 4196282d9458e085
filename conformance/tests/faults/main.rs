//! Tests that the suite finds planted faults: a plugin, a description, a kernel or a text that is wrong in one place.
//!
//! The suite runs as for a user, on the emulator or on the virtual device. A case about the fault must fail, in the
//! group for the faulty component; without the fault all of these cases pass.
//!
//! The tests also compare the tables of faults in `docs/how-we-know.md` with the results, or write them with
//! `TILEWRIGHT_BLESS=1`.

mod edit;
mod liar;
mod list;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use conformance::groups::conversions::{self, ConversionCase, Conversions};
use conformance::groups::dot::Dots;
use conformance::groups::facts::FactsGroup;
use conformance::groups::families::FamiliesGroup;
use conformance::groups::gather::Gathers;
use conformance::groups::instructions::Instructions;
use conformance::groups::kernels::Kernels;
use conformance::groups::layouts::LayoutsGroup;
use conformance::groups::memory::MemoryGroup;
use conformance::groups::reduce::Reductions;
use conformance::groups::scan::Scans;
use conformance::{CaseFilter, CaseGroup, Context, KnownAnswers, Status, Verdict, list_cases as cases_of};
use tilewright::Session;
use tilewright_plugin::Target;
use tilewright_testkit::{golden, shared_data};

use liar::{Liar, Lie};
use list::{Fault, all};

fn groups() -> Vec<Box<dyn CaseGroup>> {
    let usual = |conversion: &ConversionCase| {
        conversion.tensor.setting.warps == 2 && (256..=4096).contains(&conversion.tensor.elements())
    };
    vec![
        Box::new(FactsGroup),
        Box::new(FamiliesGroup),
        Box::new(LayoutsGroup),
        Box::new(Instructions),
        Box::new(Dots),
        Box::new(Conversions::new("conversions", |_| true, conversions::check_emulated_plans).on_device(usual)),
        Box::new(MemoryGroup),
        Box::new(Reductions),
        Box::new(Scans),
        Box::new(Gathers),
        Box::new(Kernels),
    ]
}

fn targets() -> BTreeMap<String, Arc<dyn Target>> {
    let catalogue = tilewright_targets::read_default_catalogue().expect("the targets are read");
    let session = Session::builder(catalogue).open().expect("plugins are found");
    let open = |name: &str| session.target(name).expect("served");
    all().iter().map(|fault| (fault.target.to_owned(), open(fault.target))).collect()
}

/// Returns the known answers of the suite and of the plugins.
fn answers() -> Arc<KnownAnswers> {
    static ANSWERS: OnceLock<Arc<KnownAnswers>> = OnceLock::new();
    let read = || {
        let mut answers = KnownAnswers::builtin();
        let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
        for file in ["nvidia/tests/data/facts.jsonl", "amd/tests/data/facts.jsonl", "intel/tests/data/layouts.jsonl"] {
            answers.add_files(&plugins.join(file)).expect("the plugins' answers are read");
        }
        Arc::new(answers)
    };
    Arc::clone(ANSWERS.get_or_init(read))
}

/// Runs the cases of `fault` on the target with the planted fault `lie`; returns their verdicts, and whether `lie`
/// changed anything.
fn verdicts(real: &Arc<dyn Target>, fault: &Fault, lie: Lie) -> (Vec<(String, Verdict)>, bool) {
    let liar = Arc::new(Liar::new(real, lie));
    let context = Context::with_answers(Arc::clone(&liar) as Arc<dyn Target>, answers()).with_device_named("virtual");
    let filter =
        CaseFilter::new(&fault.cases.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>()).expect("globs");
    // Groups without a chosen case are not listed at all.
    let word = |glob: &&str| glob.split('/').next().map(str::to_owned);
    let words: Vec<_> = fault.cases.iter().filter_map(word).collect();
    let mut groups = groups();
    groups.retain(|group| words.iter().any(|word| word == group.name()));
    let cases = cases_of(&groups, &context).expect("names are right");
    let cases = cases.iter().filter(|case| filter.matches(case.name()));
    let verdicts = cases.map(|case| (case.name().to_owned(), case.run(&context))).collect();
    (verdicts, liar.has_lied())
}

/// The cases of the suite that detected a fault.
struct Found {
    failed: Vec<(String, Verdict)>,
    of: usize,
}

/// Runs the cases of a fault; returns those that detected it, or an error if it was not detected as required.
fn found(real: &Arc<dyn Target>, fault: &Fault) -> Result<Found, String> {
    let (right, _) = verdicts(real, fault, Lie::None);
    if let Some((name, verdict)) =
        right.iter().find(|(_, verdict)| !matches!(verdict.status, Status::Pass | Status::Quality))
    {
        return Err(format!("without it {name} is {}: {}", verdict.status, verdict.detail));
    }
    let (wrong, took_effect) = verdicts(real, fault, fault.lie);
    if !took_effect {
        return Err("it changes nothing: no case reaches it".to_owned());
    }
    let of = wrong.len();
    let failed: Vec<_> = wrong.into_iter().filter(|(_, verdict)| verdict.status == Status::Fail).collect();
    if failed.is_empty() {
        return Err(format!("none of {of} cases fails"));
    }
    match failed
        .iter()
        .any(|(name, verdict)| name.starts_with(fault.case_prefix) && verdict.detail.contains(fault.expected_detail))
    {
        true => Ok(Found { failed, of }),
        false => Err(format!(
            "no case of `{}` says `{}`; {}: {}",
            fault.case_prefix, fault.expected_detail, failed[0].0, failed[0].1.detail
        )),
    }
}

#[test]
fn every_fault_is_found_in_its_case() {
    let (faults, targets) = (all(), targets());
    assert!(faults.len() >= 30, "{}", faults.len());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((fault_index, fault)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, faults.get(at)?)))
        {
            let result = found(&targets[fault.target], fault);
            if let Err(why) = &result {
                eprintln!("{}: {why}", fault.name);
            }
            results.lock().expect("no test panics here").insert(fault_index, result);
        }
    };
    std::thread::scope(|scope| {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        (0..jobs).for_each(|_| drop(scope.spawn(work)));
    });
    let results = results.into_inner().expect("no test panics here");
    assert_eq!(results.len(), faults.len());
    let lost: Vec<_> = results
        .iter()
        .filter_map(|(fault_index, result)| Some(format!("{}: {}", faults[*fault_index].name, result.as_ref().err()?)))
        .collect();
    assert!(lost.is_empty(), "{} faults are not found:\n{}", lost.len(), lost.join("\n"));
    let found: Vec<_> = results.into_values().filter_map(Result::ok).collect();
    golden::check_section(&shared_data::workspace().join("docs/how-we-know.md"), "faults", &tables(&faults, &found));
}

fn tables(faults: &[Fault], found: &[Found]) -> String {
    let (mut text, mut component) = (String::new(), "");
    for (fault, found) in faults.iter().zip(found) {
        if fault.component() != component {
            component = fault.component();
            let _ = write!(
                text,
                "\n### {component}\n\n| fault | target | failed cases | first failure |\n|---|---|---|---|\n"
            );
        }
        let (first, verdict) = &found.failed[0];
        let detail = verdict.detail.lines().next().unwrap_or_default().replace('|', "\\|");
        let short: String = detail.chars().take(140).collect();
        let dots = if short.len() < detail.len() { " ..." } else { "" };
        let (name, target, failed, of) = (fault.name, fault.target, found.failed.len(), found.of);
        let _ = writeln!(text, "| {name} | {target} | {failed} of {of} | `{first}`: {short}{dots} |");
    }
    text.trim_start().to_owned()
}
