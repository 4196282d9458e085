//! Tests of the groups of cases on an invented GPU: all cases pass while it is correct, and each flaw is detected by
//! the laws (properties of layouts) that it violates, and by no others.

mod answers;
mod devices;
mod dots;
mod invented;
mod movements;
mod plans;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use conformance::groups::algebra::Algebra;
use conformance::groups::conversions::{self, Conversions};
use conformance::groups::cute::Cute;
use conformance::groups::families::FamiliesGroup;
use conformance::groups::instructions::Instructions;
use conformance::groups::layouts::LayoutsGroup;
use conformance::{Case, CaseGroup, Context, EvidenceLevel, Status, Verdict, list_cases};

use invented::{Flaw, Invented};

fn context(flaw: Flaw) -> Context {
    Context::new(Arc::new(Invented::new(flaw)))
}

fn groups() -> Vec<Box<dyn CaseGroup>> {
    vec![Box::new(Algebra), Box::new(FamiliesGroup), Box::new(Cute), Box::new(LayoutsGroup)]
}

/// Runs the cases of all groups that check laws (properties of layouts). Returns their verdicts; for a panic, the
/// verdict that the runner would report.
fn verdicts_in(context: &Context) -> BTreeMap<String, Verdict> {
    let cases = list_cases(&groups(), context).expect("names are right");
    let run = |case: &Case| {
        let result = catch_unwind(AssertUnwindSafe(|| case.run(context)));
        result.unwrap_or_else(|_| Verdict::crash("panicked"))
    };
    cases.iter().map(|case| (case.name().to_owned(), run(case))).collect()
}

fn verdicts(flaw: Flaw) -> BTreeMap<String, Verdict> {
    verdicts_in(&context(flaw))
}

/// Returns the part of a case's name with group, law and subject, without element type, warps and lanes.
fn law_of(name: &str) -> String {
    let words: Vec<_> = name.split('/').collect();
    let words = match words[..] {
        ["layouts", ..] => &words[1..4.min(words.len())],
        ["families", "refusals", ..] => &words[..4],
        _ => &words[..3.min(words.len())],
    };
    words.join("/")
}

/// Returns the laws that do not pass on the target with this flaw; each must fail with a reason.
fn failing(flaw: Flaw) -> BTreeSet<String> {
    let failed = verdicts(flaw).into_iter().filter(|(_, verdict)| verdict.status != Status::Pass);
    failed
        .map(|(name, verdict)| {
            assert_eq!(verdict.status, Status::Fail, "{name}: {}", verdict.detail);
            assert!(!verdict.detail.is_empty(), "{name} says why");
            law_of(&name)
        })
        .collect()
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn an_honest_target_passes_everything_by_algebra() {
    let verdicts = verdicts(Flaw::None);
    for (name, verdict) in &verdicts {
        assert_eq!(
            (verdict.status, verdict.level),
            (Status::Pass, Some(EvidenceLevel::Layout)),
            "{name}: {}",
            verdict.detail
        );
    }
    assert!(verdicts.len() >= 600, "{} cases", verdicts.len());
    let laws = [
        "algebra/answers/compose",
        "algebra/composition/gapped",
        "algebra/division/tile-d",
        "algebra/identity/tile-d",
        "algebra/inverse/tile-d",
        "algebra/parts/tile-d",
        "algebra/queries/tile-d",
        "algebra/sum/gapped",
        "algebra/witness/tile-d",
        "cute/answers/composition",
        "cute/bridge/tile-d",
        "cute/composition/tile-d",
        "cute/division/gapped",
        "cute/inverse/tile-d",
        "families/answers/blocked",
        "families/answers/slice-of-blocked",
        "families/bases/gapped",
        "families/definition/tile-d",
        "families/growth/tile-d",
        "families/notation/gapped",
        "families/refusals/missing/tile-d",
        "families/refusals/shapes/gapped",
        "families/refusals/types/tile-d",
        "families/refusals/unknown/gapped",
        "families/shown/gapped",
        "families/slices/tile-d",
        "instructions/names",
        "operands/multiply.8x8x4/a",
    ];
    let shown: BTreeSet<_> = verdicts.keys().map(|name| law_of(name)).collect();
    for law in laws {
        assert!(shown.contains(law), "{law} has cases");
    }
}

#[test]
fn missing_elements_are_detected() {
    let expected = [
        "algebra/inverse/tile-d",
        "families/definition/tile-d",
        "families/slices/tile-d",
        "operands/multiply.8x8x4/d",
        // A layout that lacks elements cannot be reached by a map from a layout of the whole tensor.
        "algebra/witness/tile-d",
    ];
    let failing = failing(Flaw::LosesRows);
    assert!(set(expected).is_subset(&failing), "{failing:?}");
}

#[test]
fn columns_of_two_bits_are_found() {
    let failing = failing(Flaw::MixesLanes);
    let expected = ["families/definition/tile-d", "families/slices/tile-d", "operands/multiply.8x8x4/d"];
    assert!(set(expected).is_subset(&failing), "{failing:?}");
    assert!(!failing.iter().any(|law| law.starts_with("algebra/")), "as a map it is sound: {failing:?}");
}

#[test]
fn replicated_elements_without_a_zero_column_are_found() {
    let failing = failing(Flaw::HoldsTwice);
    let expected = ["cute/bridge/tile-d", "families/definition/tile-d", "operands/multiply.8x8x4/d"];
    assert!(set(expected).is_subset(&failing), "{failing:?}");
    assert!(!failing.iter().any(|law| law.starts_with("algebra/")), "as a map it is sound: {failing:?}");
}

#[test]
fn wrong_numbers_of_lanes_are_found() {
    assert_eq!(failing(Flaw::HalfWarp), set(["families/definition/tile-d", "operands/multiply.8x8x4/d"]));
}

#[test]
fn layouts_that_change_with_the_shape_are_found() {
    assert_eq!(failing(Flaw::ChangesWithShape), set(["families/growth/tile-d"]));
}

#[test]
fn layouts_of_another_shape_are_found() {
    let failing = failing(Flaw::OtherShape);
    for sample in ["tile-a", "tile-b", "tile-d", "gapped"] {
        assert!(failing.contains(&format!("families/definition/{sample}")), "{sample}: {failing:?}");
    }
    assert!(failing.contains("algebra/witness/gapped"), "nothing leads from half a tensor to a whole one: {failing:?}");
}

#[test]
fn families_that_resolve_differently_the_second_time_are_found() {
    let failing = failing(Flaw::Forgetful);
    assert!(failing.contains("families/definition/tile-d"), "{failing:?}");
    assert!(!failing.contains("families/definition/tile-a"), "{failing:?}");
}

#[test]
fn wrong_padding_is_found() {
    let failing = failing(Flaw::OverlapsInMemory);
    assert!(failing.contains("families/definition/gapped"), "{failing:?}");
    assert!(failing.iter().all(|law| law.starts_with("families/") && law.ends_with("/gapped")), "{failing:?}");
}

#[test]
fn samples_that_their_family_refuses_are_found() {
    let failing = failing(Flaw::ForgetsParameter);
    for role in ["a", "b", "d"] {
        for group in ["algebra/inverse", "cute/bridge", "families/definition", "families/notation"] {
            assert!(failing.contains(&format!("{group}/tile-{role}")), "{failing:?}");
        }
    }
    assert!(!failing.iter().any(|law| law.contains("blocked") || law.contains("gapped")), "{failing:?}");
}

#[test]
fn nonsense_that_is_accepted_is_found() {
    let of_tiles = |law: &str| -> BTreeSet<String> {
        ["tile-a", "tile-b", "tile-d"].map(|sample| format!("families/refusals/{law}/{sample}")).into()
    };
    assert_eq!(failing(Flaw::AcceptsParameters), of_tiles("unknown"));
    assert_eq!(failing(Flaw::AcceptsText), of_tiles("types"));
    let mut shapes = of_tiles("shapes");
    shapes.insert("families/refusals/shapes/gapped".to_owned());
    assert_eq!(failing(Flaw::AcceptsShapes), shapes);
}

#[test]
fn errors_that_blame_another_family_are_found() {
    let failing = failing(Flaw::BlamesAnother);
    for law in ["unknown", "shapes"] {
        for sample in ["tile-d", "gapped"] {
            assert!(failing.contains(&format!("families/refusals/{law}/{sample}")), "{failing:?}");
        }
    }
}

#[test]
fn a_family_that_panics_at_nonsense_is_a_crash() {
    let crashed: BTreeSet<_> = verdicts(Flaw::PanicsAtShapes)
        .into_iter()
        .filter(|(_, verdict)| verdict.status != Status::Pass)
        .inspect(|(name, verdict)| assert_eq!(verdict.status, Status::Crash, "{name}: {}", verdict.detail))
        .map(|(name, _)| law_of(&name))
        .collect();
    let expected = ["gapped", "tile-a", "tile-b", "tile-d"].map(|sample| format!("families/refusals/shapes/{sample}"));
    assert_eq!(crashed, expected.into());
}

#[test]
fn a_family_that_nothing_shows_is_skipped_visibly() {
    let skipped: Vec<_> =
        verdicts(Flaw::HidesGapped).into_iter().filter(|(_, verdict)| verdict.status != Status::Pass).collect();
    let [(name, verdict)] = &skipped[..] else { panic!("{skipped:?}") };
    assert_eq!((name.as_str(), verdict.status), ("families/shown/gapped", Status::Skip));
    assert!(verdict.detail.contains("no sample and no known answer"), "{}", verdict.detail);
}

#[test]
fn two_rows_of_one_name_are_found() {
    assert_eq!(failing(Flaw::TwoRowsOneName), set(["instructions/names"]));
}

#[test]
fn operands_that_lack_elements_are_found() {
    let expected = [
        "instructions/operand/multiply.8x8x4",
        "instructions/products/multiply.8x8x4",
        "operands/multiply.8x8x4/a",
        "operands/multiply.8x8x4/k",
    ];
    assert_eq!(failing(Flaw::RowLosesOperandElements), set(expected));
}

#[test]
fn mma_tiles_of_different_k_are_detected() {
    let failing = failing(Flaw::RowHasOtherK);
    assert!(failing.contains("instructions/products/multiply.8x8x4"), "{failing:?}");
    assert!(!failing.contains("instructions/operand/multiply.8x8x4"), "each operand alone is whole: {failing:?}");
}

#[test]
fn replicated_mma_results_are_detected() {
    let expected = ["instructions/products/multiply.8x8x4", "operands/multiply.8x8x4/d"];
    assert_eq!(failing(Flaw::RowResultTwice), set(expected));
}

#[test]
fn families_that_are_not_their_instructions_operands_are_found() {
    assert_eq!(failing(Flaw::OperandDiffers), set(["operands/multiply.8x8x4/a", "operands/multiply.8x8x4/k"]));
}

#[test]
fn k_may_be_permuted_for_both_operands_together_only() {
    assert_eq!(failing(Flaw::OneOperandPermutesK), set(["operands/multiply.8x8x4/k"]));
    assert_eq!(failing(Flaw::BothOperandsPermuteK), set([]));
}

#[test]
fn impossible_alignments_are_found() {
    assert_eq!(failing(Flaw::AlignedTooFar), set(["instructions/operand/load.8x16"]));
}

#[test]
fn a_plugin_that_breaks_is_a_crash_of_its_own_cases() {
    for (name, verdict) in verdicts(Flaw::Breaks) {
        // A family without parameters has none of the wrong type.
        let crashes = name.contains("/tile-") || name.contains("/gapped/") && !name.contains("/types/");
        let expected = if crashes { Status::Crash } else { Status::Pass };
        assert_eq!(verdict.status, expected, "{name}: {}", verdict.detail);
        assert!(!crashes || verdict.detail.contains("signal 11"), "{name}: {}", verdict.detail);
    }
}

#[test]
fn a_shape_that_a_family_refuses_is_unsupported_with_its_reason() {
    let verdicts = verdicts(Flaw::RefusesSmall);
    let definition = |shape: &str| {
        let name = format!("families/definition/tile-d/{shape}");
        verdicts.iter().find(|(case, _)| case.starts_with(&name)).map(|(_, verdict)| verdict)
    };
    let refused = definition("16x16").expect("there is a small one");
    assert_eq!((refused.status, refused.level), (Status::Unsupported, None));
    assert!(refused.detail.contains("tiles have 32 rows or more"), "{}", refused.detail);
    assert_eq!(definition("128x64").map(|verdict| verdict.status), Some(Status::Pass));
    // Growth is still checked, from larger tensors.
    assert_eq!(verdicts["families/growth/tile-d/f16/w4"].status, Status::Pass);
}

#[test]
fn random_layouts_differ_and_replicate_now_and_then() {
    let context = context(Flaw::None);
    let all = conversions::all(&context);
    let random = all.iter().filter(|conversion| conversion.to_string().starts_with("random-"));
    let layouts: Vec<_> = random.map(|c| c.layouts(&context).expect("it can be built")).collect();
    assert!(layouts.len() >= 24);
    let replicated = |l: &&tilewright_layout::LinearLayout| !l.is_injective();
    let sources: Vec<_> = layouts.iter().map(|(source, _)| source).collect();
    let count = sources.iter().copied().filter(replicated).count();
    assert!(count > 0 && count < sources.len(), "{count} of {}", sources.len());
    let different: BTreeSet<_> = sources.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), sources.len());
}

#[test]
fn conversions_across_blocks_run_on_the_emulator() {
    let context = context(Flaw::None);
    let all = conversions::all(&context);
    let across = |conversion: &&conversions::ConversionCase| conversion.to_string().starts_with("blocks-");
    let across: Vec<_> = all.iter().filter(across).filter(|one| one.tensor.setting.element.bits() == 16).collect();
    assert!(across.iter().any(|conversion| conversion.to_string() == "blocks-rows-to-both-of-4/f16/64x128/w4"));
    for conversion in across {
        let verdict = conversions::check_emulated_plans(&context, conversion);
        let shown = [Status::Pass, Status::Quality].contains(&verdict.status);
        assert!(shown && verdict.level == Some(EvidenceLevel::Emulated), "{conversion}: {}", verdict.detail);
    }
}

#[test]
fn a_group_of_conversions_runs_the_given_check_on_the_chosen_ones() {
    let context = context(Flaw::None);
    let check = |context: &Context, conversion: &conversions::ConversionCase| match conversion.layouts(context) {
        Ok((source, target)) if source == target => Verdict::fail(EvidenceLevel::Layout, "nothing to do"),
        Ok(_) => Verdict::pass(EvidenceLevel::Layout),
        Err(verdict) => verdict,
    };
    let group = Conversions::new("moves", |conversion| conversion.tensor.setting.warps == 4, check);
    let cases = group.cases(&context);
    assert!(!cases.is_empty());
    assert!(cases.iter().map(Case::name).all(|name| name.starts_with("moves/") && name.contains("/w4")));
    assert!(cases.iter().any(|case| case.run(&context).status == Status::Pass));
    let fewer = conversions::all(&context).iter().filter(|c| c.tensor.setting.warps == 4).count();
    assert_eq!(cases.len(), fewer);
}

/// Runs the cases of the group `instructions`; returns their verdicts by name, without the group's name.
fn issued(flaw: Flaw) -> BTreeMap<String, Verdict> {
    let context = context(flaw);
    let cases = list_cases(&[Box::new(Instructions)], &context).expect("names are right");
    let name = |case: &Case| case.name().split_once('/').expect("group and case").1.to_owned();
    cases.iter().map(|case| (name(case), case.run(&context))).collect()
}

#[test]
fn instructions_compute_mmas_and_moves_on_the_emulator() {
    let verdicts = issued(Flaw::None);
    for name in ["meaning/multiply.8x8x4", "meaning/load.8x16"] {
        assert_eq!(verdicts[name], Verdict::pass(EvidenceLevel::Emulated), "{name}");
    }
    // This target generates no code for any instruction, but it knows the names of its table, unlike the last name
    // here.
    for name in ["code/multiply.8x8x4", "code/load.8x16"] {
        assert_eq!(verdicts[name].status, Status::Unsupported, "{name}");
    }
    assert_eq!(verdicts["code/no-such-row"].status, Status::Fail);
}

#[test]
fn rows_that_mean_nothing_are_found() {
    for (flaw, name, words) in [
        (Flaw::RowLosesOperandElements, "meaning/multiply.8x8x4", "an element of an operand is in no lane"),
        (Flaw::RowHasOtherK, "meaning/multiply.8x8x4", "do not fit each other"),
        (Flaw::AlignedTooFar, "meaning/load.8x16", "not a multiple of 32"),
    ] {
        let verdict = &issued(flaw)[name];
        assert_eq!(
            (verdict.status, verdict.level),
            (Status::Fail, Some(EvidenceLevel::Emulated)),
            "{name}: {}",
            verdict.detail
        );
        assert!(verdict.detail.contains(words), "{name}: {}", verdict.detail);
    }
    assert!(issued(Flaw::TwoRowsOneName).contains_key("meaning/multiply.8x8x4"), "names stay unique");
}
