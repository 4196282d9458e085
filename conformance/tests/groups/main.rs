//! The groups, shown by an invented GPU: its cases hold as long as it tells the truth, and each lie
//! is found by the laws that it breaks, and by no others.

mod invented;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use conformance::groups::conversions::{self, Conversions};
use conformance::groups::layouts::Layouts;
use conformance::{Case, Context, Group, Level, Status, Verdict, list};

use invented::{Flaw, Invented};

fn context(flaw: Flaw) -> Context {
    Context::new(Arc::new(Invented::new(flaw)))
}

/// The cases of group `layouts` in which `wanted` is found, with their verdicts.
fn verdicts(flaw: Flaw) -> BTreeMap<String, Verdict> {
    let context = context(flaw);
    let cases = list(&[Box::new(Layouts)], &context).expect("names are right");
    cases.iter().map(|case| (case.name().to_owned(), case.run(&context))).collect()
}

/// The laws (second word) that fail for the target's own samples and rows, the third word or more
/// being the sample.
fn failing(flaw: Flaw) -> BTreeSet<String> {
    let failed = verdicts(flaw).into_iter().filter(|(_, verdict)| verdict.status != Status::Pass);
    failed
        .map(|(name, verdict)| {
            assert_eq!(verdict.status, Status::Fail, "{name}: {}", verdict.detail);
            assert!(!verdict.detail.is_empty(), "{name} says why");
            let words: Vec<_> = name.split('/').collect();
            match words[1] {
                "instructions" | "operands" => words[1..4.min(words.len())].join("/"),
                _ => words[1..3].join("/"),
            }
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
        assert_eq!((verdict.status, verdict.level), (Status::Pass, Some(Level::Layout)), "{name}: {}", verdict.detail);
    }
    assert!(verdicts.len() >= 300, "{} cases", verdicts.len());
    for law in
        ["definition", "notation", "inverse", "division", "growth", "slices", "witness", "instructions", "operands"]
    {
        let of_law = |name: &&String| name.starts_with(&format!("layouts/{law}/"));
        assert!(verdicts.keys().any(|name| of_law(&name)), "{law} has cases");
    }
}

#[test]
fn elements_that_nobody_holds_are_found() {
    let expected = ["definition/tile-d", "inverse/tile-d", "operands/multiply.8x8x4/d", "slices/tile-d"];
    let failing = failing(Flaw::LosesRows);
    assert!(set(expected).is_subset(&failing), "{failing:?}");
    // Nothing leads from a whole tensor to a layout that lacks elements.
    assert!(failing.contains("witness/tile-d"), "{failing:?}");
}

#[test]
fn columns_of_two_bits_are_found() {
    assert_eq!(failing(Flaw::MixesLanes), set(["definition/tile-d", "operands/multiply.8x8x4/d", "slices/tile-d"]));
}

#[test]
fn wrong_numbers_of_lanes_are_found() {
    assert_eq!(failing(Flaw::HalfWarp), set(["definition/tile-d", "operands/multiply.8x8x4/d"]));
}

#[test]
fn layouts_that_change_with_the_shape_are_found() {
    assert_eq!(failing(Flaw::ChangesWithShape), set(["growth/tile-d"]));
}

#[test]
fn wrong_padding_is_found() {
    assert_eq!(failing(Flaw::OverlapsInMemory), set(["definition/gapped"]));
}

#[test]
fn parameters_that_nobody_reads_are_found() {
    let failing = failing(Flaw::ForgetsParameter);
    for part in ["a", "b", "d"] {
        assert!(failing.contains(&format!("definition/tile-{part}")), "{failing:?}");
        assert!(failing.contains(&format!("notation/tile-{part}")), "{failing:?}");
    }
    assert!(!failing.iter().any(|law| law.contains("blocked") || law.contains("gapped")), "{failing:?}");
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
    assert_eq!(failing(Flaw::RowLosesFactor), set(expected));
}

#[test]
fn products_that_do_not_fit_are_found() {
    let failing = failing(Flaw::RowHasOtherK);
    assert!(failing.contains("instructions/products/multiply.8x8x4"), "{failing:?}");
    assert!(!failing.contains("instructions/operand/multiply.8x8x4"), "each operand alone is whole: {failing:?}");
}

#[test]
fn products_that_are_added_twice_are_found() {
    let expected = ["instructions/products/multiply.8x8x4", "operands/multiply.8x8x4/d"];
    assert_eq!(failing(Flaw::RowResultTwice), set(expected));
}

#[test]
fn families_that_are_not_their_instructions_operands_are_found() {
    assert_eq!(failing(Flaw::OperandDiffers), set(["operands/multiply.8x8x4/a", "operands/multiply.8x8x4/k"]));
}

#[test]
fn k_may_be_reordered_for_both_factors_together_only() {
    assert_eq!(failing(Flaw::OneFactorReordersK), set(["operands/multiply.8x8x4/k"]));
    assert_eq!(failing(Flaw::BothFactorsReorderK), set([]));
}

#[test]
fn impossible_alignments_are_found() {
    assert_eq!(failing(Flaw::AlignedTooFar), set(["instructions/operand/load.8x16"]));
}

#[test]
fn a_plugin_that_breaks_is_a_crash_of_its_own_cases() {
    for (name, verdict) in verdicts(Flaw::Breaks) {
        let asks = name.contains("tile-") || name.contains("gapped");
        let expected = if asks { Status::Crash } else { Status::Pass };
        assert_eq!(verdict.status, expected, "{name}: {}", verdict.detail);
        assert!(!asks || verdict.detail.contains("signal 11"), "{name}: {}", verdict.detail);
    }
}

#[test]
fn a_shape_that_a_family_refuses_is_unsupported_with_its_reason() {
    let verdicts = verdicts(Flaw::RefusesSmall);
    let definition = |shape: &str| {
        let name = format!("layouts/definition/tile-d/{shape}");
        verdicts.iter().find(|(case, _)| case.starts_with(&name)).map(|(_, verdict)| verdict)
    };
    let refused = definition("16x16").expect("there is a small one");
    assert_eq!((refused.status, refused.level), (Status::Unsupported, None));
    assert!(refused.detail.contains("tiles have 32 rows or more"), "{}", refused.detail);
    assert_eq!(definition("128x64").map(|verdict| verdict.status), Some(Status::Pass));
}

#[test]
fn conversions_cover_settings_shapes_and_families() {
    let context = context(Flaw::None);
    let all = conversions::all(&context);
    let names: BTreeSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), all.len(), "names are unique");
    for name in [
        "blocked-rows-to-blocked-cols/f16/128x128/w4",
        "blocked-rows-to-tile-b/i8/16x16/w1",
        "tile-d-to-blocked-rows/f64/128x128/w1",
        "blocked-row-to-slice1-of-tile-d/f32/128/w1",
        "slice0-of-blocked-rows-to-blocked-row/i8/16/w1/l16",
    ] {
        assert!(names.contains(name), "{name} is missing");
    }
    assert!(names.iter().any(|name| name.starts_with("random-0/i8/") && name.ends_with("/w1")));
    for conversion in &all {
        let (source, target) = conversion.layouts(&context).expect("every layout can be built");
        assert_eq!(source.outs(), target.outs(), "{conversion}");
        assert!(source.is_distributed() && target.is_distributed(), "{conversion}");
    }
    for bits in [8, 16, 32, 64] {
        let shapes = all.iter().filter(|c| c.setting.element.bits() == bits && c.shape.len() == 2);
        let shapes: BTreeSet<_> = shapes.map(|conversion| conversion.shape.clone()).collect();
        for shape in [[16, 16], [32, 64], [64, 128], [128, 128]] {
            assert!(shapes.contains(shape.as_slice()), "{bits} bits at {shape:?}");
        }
    }
    assert_eq!(all, conversions::all(&context), "two lists are the same");
}

#[test]
fn random_layouts_differ_and_replicate_now_and_then() {
    let context = context(Flaw::None);
    let all = conversions::all(&context);
    let random = all.iter().filter(|conversion| conversion.to_string().starts_with("random-"));
    let layouts: Vec<_> = random.map(|c| c.layouts(&context).expect("it can be built")).collect();
    assert!(layouts.len() >= 24);
    let replicated = |l: &&tilewright::layout::LinearLayout| !l.is_injective();
    let sources: Vec<_> = layouts.iter().map(|(source, _)| source).collect();
    let count = sources.iter().copied().filter(replicated).count();
    assert!(count > 0 && count < sources.len(), "{count} of {}", sources.len());
    let different: BTreeSet<_> = sources.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), sources.len());
}

#[test]
fn a_group_of_conversions_runs_the_given_check_on_the_chosen_ones() {
    let context = context(Flaw::None);
    let check = |context: &Context, conversion: &conversions::Conversion| match conversion.layouts(context) {
        Ok((source, target)) if source == target => Verdict::fail(Level::Layout, "nothing to do"),
        Ok(_) => Verdict::pass(Level::Layout),
        Err(error) => Verdict::fail(Level::Layout, error.to_string()),
    };
    let group = Conversions::new("moves", |conversion| conversion.setting.warps == 4, check);
    let cases = group.cases(&context);
    assert!(!cases.is_empty());
    assert!(cases.iter().map(Case::name).all(|name| name.starts_with("moves/") && name.contains("/w4")));
    assert!(cases.iter().any(|case| case.run(&context).status == Status::Pass));
    let fewer = conversions::all(&context).iter().filter(|c| c.setting.warps == 4).count();
    assert_eq!(cases.len(), fewer);
}
