//! Tests that the groups about data movement detect plans that move elements wrongly, count operations wrongly or store
//! elements twice.

use std::fmt::Display;

use conformance::groups::gather::{self, Gathers};
use conformance::groups::memory::{GlobalCopyCase, KnownTensorProperties, LocalAccess};
use conformance::groups::reduce::{self, Reductions};
use conformance::groups::scan::{self, ScanAlong, Scans};
use conformance::{CaseGroup, EvidenceLevel, Status, Thoroughness, Verdict};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::{ConversionKind, ScanDirection};
use tilewright_target::Direction;

use super::context;
use super::invented::Flaw;

#[test]
fn a_reduction_whose_results_memory_hands_out_is_not_below_its_bound() {
    let context = context(Flaw::None).with_thoroughness(Thoroughness::Thorough);
    let (problem, (layout, plan)) = found(
        reduce::all(&context),
        |problem| reduce::plan(&context, problem),
        |problem, (_, plan)| {
            let one_warp = problem.to_string().contains("/w1");
            one_warp && plan.stats.counts.shuffles > 0 && plan.stats.counts.shared_loads > 0
        },
    );
    assert_ne!(reduce::check(&context, &problem, &layout, &plan).map(|verdict| verdict.status), Ok(Status::Fail));
    assert!(reduce::check(&context, &problem, &layout, &plan).is_ok());
}

/// Returns the first problem whose plan passes `requested`, with the plan.
fn found<Q: Display, P>(
    all: Vec<Q>,
    plan: impl Fn(&Q) -> Result<P, Verdict>,
    requested: impl Fn(&Q, &P) -> bool,
) -> (Q, P) {
    let planned = all.into_iter().filter_map(|problem| plan(&problem).ok().map(|plan| (problem, plan)));
    planned.into_iter().find(|(problem, plan)| requested(problem, plan)).expect("a problem has such a plan")
}

/// Asserts a failing verdict whose detail contains `words`.
fn fails(verdict: Result<Verdict, Verdict>, words: &str) {
    let verdict = verdict.unwrap_or_else(|verdict| verdict);
    assert_eq!((verdict.status, verdict.level), (Status::Fail, Some(EvidenceLevel::Emulated)), "{}", verdict.detail);
    assert!(verdict.detail.contains(words), "expected `{words}`: {}", verdict.detail);
}

const COUNTS: &str = "the plan counts";
const ELEMENT: &str = "expected element";

/// Returns the layout with two lane bits swapped.
fn lanes_swapped(layout: &LinearLayout) -> LinearLayout {
    let first = layout.in_bits(Dim::REGISTER) as usize;
    let mut columns = layout.columns().to_vec();
    columns.swap(first, first + 3);
    LinearLayout::from_columns(layout.ins().clone(), layout.outs().clone(), &columns).expect("as before")
}

/// Whether swapping these lane bits changes the elements that lanes hold.
fn lanes_differ(layout: &LinearLayout) -> bool {
    let lanes = layout.columns_of(Dim::LANE);
    lanes[0] != lanes[3]
}

#[test]
fn local_accesses_that_do_or_count_something_else_are_found() {
    let context = context(Flaw::None);
    let target = context.target().description();
    for direction in [Direction::Store, Direction::Load] {
        let requested = |problem: &LocalAccess| problem.access == direction && problem.tensor.shape == [64, 128];
        let (problem, (layouts, plan)) = found(
            LocalAccess::all(&context),
            |problem| problem.plan(&context),
            |problem, ((registers, _), _)| requested(problem) && lanes_differ(registers),
        );
        assert_ne!(problem.check(&context, &layouts, &plan).map(|verdict| verdict.status), Ok(Status::Fail));
        let mut miscounted = plan.clone();
        miscounted.stats.counts.wavefronts_stored += 1;
        fails(problem.check(&context, &layouts, &miscounted), COUNTS);
        let (registers, memory) = &layouts;
        let bits = problem.tensor.setting.element.bits();
        let elsewhere = movement::plan_shared_access(&lanes_swapped(registers), memory, bits, direction, target);
        fails(problem.check(&context, &layouts, &elsewhere.expect("it can be planned")), ELEMENT);
    }
}

#[test]
fn elements_that_are_stored_twice_are_found() {
    let context = context(Flaw::None);
    let target = context.target().description();
    // A tensor of one element, which every lane of one warp holds.
    let (problem, (layouts, plan)) = found(
        LocalAccess::all(&context),
        |problem| problem.plan(&context),
        |problem, _| {
            let tensor = &problem.tensor;
            problem.access == Direction::Store && tensor.shape == [1, 1] && tensor.setting.warps == 1
        },
    );
    assert_eq!(problem.check(&context, &layouts, &plan).map(|verdict| verdict.status), Ok(Status::Pass));
    let bits = problem.tensor.setting.element.bits();
    let mut by_all =
        movement::plan_shared_access(&layouts.0, &layouts.1, bits, Direction::Load, target).expect("it can be planned");
    (by_all.stats.counts, by_all.stats.bound) = (plan.stats.counts, plan.stats.bound);
    fails(problem.check(&context, &layouts, &by_all), "differ");
}

#[test]
fn copies_that_do_or_count_something_else_are_found() {
    let context = context(Flaw::None);
    let known = |word: &'static str| {
        move |copy: &GlobalCopyCase| copy.to_string().contains(word) && copy.tensor.shape == [64, 128]
    };
    for word in ["/row-major/", "/odd-pitch/", "/column-major/"] {
        let (problem, (layout, accesses)) =
            found(GlobalCopyCase::all(&context), |copy| copy.plan(&context), |copy, _| known(word)(copy));
        assert_eq!(problem.check(&context, &layout, &accesses).map(|verdict| verdict.status), Ok(Status::Pass));
        let mut miscounted = accesses.clone();
        miscounted[0].transactions += 1;
        fails(problem.check(&context, &layout, &miscounted), "sectors of global memory");
    }
    let requested = |copy: &GlobalCopyCase| copy.registers.is_some() && known("/row-major/")(copy);
    let (problem, (layout, wide)) = found(
        GlobalCopyCase::all(&context),
        |copy| copy.plan(&context),
        |copy, (_, plans)| requested(copy) && plans[0].vector_elements > 1,
    );
    // A plan for full vectors is run on rows that are not aligned to vectors.
    let pitched = GlobalCopyCase { known: KnownTensorProperties::OddPitch, ..problem.clone() };
    fails(pitched.check(&context, &layout, &wide), "is not a multiple of");
    // A plan for contiguous rows is run on contiguous columns.
    let turned = GlobalCopyCase { known: KnownTensorProperties::ColumnMajor, ..problem.clone() };
    let (_, columns) = turned.plan(&context).expect("it can be planned");
    fails(problem.check(&context, &layout, &columns), "");
}

#[test]
fn reductions_that_do_or_count_something_else_are_found() {
    let context = context(Flaw::None);
    let target = context.target().description();
    let (problem, (layout, plan)) = found(
        reduce::all(&context),
        |along| reduce::plan(&context, along),
        |along, (layout, plan)| {
            along.tensor.shape == [64, 128]
                && lanes_differ(layout)
                && plan.stats.counts.shuffles > 0
                && plan.stats.counts.shared_stores > 0
        },
    );
    assert_ne!(reduce::check(&context, &problem, &layout, &plan).map(|verdict| verdict.status), Ok(Status::Fail));
    for wrong in [Counts { shuffles: 1, ..Counts::default() }, Counts { barriers: 1, ..Counts::default() }] {
        let mut miscounted = plan.clone();
        miscounted.stats.counts = miscounted.stats.counts.add_counts(wrong);
        fails(reduce::check(&context, &problem, &layout, &miscounted), COUNTS);
    }
    let mut impossible = plan.clone();
    impossible.stats.bound.shuffles = plan.stats.counts.shuffles + 1;
    fails(reduce::check(&context, &problem, &layout, &impossible), "below the bound");
    let other = lanes_swapped(&layout);
    let elsewhere =
        movement::plan_reduction(&other, problem.dim(), &problem.element_bits(), target).expect("it is planned");
    let judged = reduce::check(&context, &problem, &layout, &elsewhere);
    if elsewhere.result != plan.result {
        fails(judged, "");
    }
}

#[test]
fn scans_that_do_or_count_something_else_are_found() {
    let context = context(Flaw::None);
    let (problem, (layout, plan)) = found(
        scan::all(&context),
        |problem| scan::plan(&context, problem),
        |problem, (_, plan)| problem.along.tensor.elements() >= 1024 && plan.stats.counts.shuffles > 0,
    );
    assert_ne!(scan::check(&context, &problem, &layout, &plan).map(|verdict| verdict.status), Ok(Status::Fail));
    let mut miscounted = plan.clone();
    miscounted.stats.counts.selects += 1;
    fails(scan::check(&context, &problem, &layout, &miscounted), COUNTS);
    let other = match problem.direction {
        ScanDirection::Forward => ScanDirection::Reverse,
        ScanDirection::Reverse => ScanDirection::Forward,
    };
    let turned = ScanAlong { direction: other, ..problem.clone() };
    let (_, wrong) = scan::plan(&context, &turned).expect("it can be planned");
    fails(scan::check(&context, &problem, &layout, &wrong), ELEMENT);
}

#[test]
fn wrong_results_and_counts_of_gathers_on_both_paths_are_found() {
    let context = context(Flaw::None);
    let target = context.target().description();
    for path in [ConversionKind::Shuffle, ConversionKind::Shared] {
        let (problem, (layouts, plans)) = found(
            gather::all(&context),
            |problem| gather::list_gather_case_plans(&context, problem),
            |problem, ((source, _), plans)| {
                problem.along.tensor.elements() >= 1024 && plans[0].path == path && lanes_differ(source)
            },
        );
        let judged = gather::check(&context, &problem, &layouts, &plans);
        assert_eq!(judged.map(|verdict| verdict.status), Ok(Status::Pass));
        let mut miscounted = plans.clone();
        miscounted[0].stats.counts.selects += 1;
        fails(gather::check(&context, &problem, &layouts, &miscounted), COUNTS);
        let bits = problem.along.tensor.setting.element.bits();
        let other = lanes_swapped(&layouts.0);
        let (wrong, _) =
            movement::gather_candidates(&other, &layouts.1, problem.along.dim(), bits, target).expect("planned");
        let same_path: Vec<_> = wrong.into_iter().filter(|plan| plan.path == path).collect();
        if let [_] = same_path[..] {
            fails(gather::check(&context, &problem, &layouts, &same_path), ELEMENT);
        }
    }
}

#[test]
fn layouts_that_lie_are_found_by_every_group() {
    for flaw in [Flaw::LosesRows, Flaw::HalfWarp] {
        let context = context(flaw);
        for group in [&Reductions as &dyn CaseGroup, &Scans, &Gathers] {
            let cases = group.cases(&context);
            let of_tile =
                cases.iter().filter(|case| case.name().contains("/tile-d/") || case.name().contains("/tile-d-by-"));
            let failed = of_tile.step_by(3).filter(|case| case.run(&context).status == Status::Fail).count();
            assert!(failed > 0, "{flaw:?} in {}", group.name());
        }
    }
    let context = context(Flaw::OverlapsInMemory);
    let of_gapped = LocalAccess::all(&context).into_iter().filter(|access| access.memory.name == "gapped");
    let judged = of_gapped
        .map(|access| access.plan(&context).and_then(|(layouts, plan)| access.check(&context, &layouts, &plan)));
    assert!(judged.filter_map(Result::err).any(|verdict| verdict.status == Status::Fail));
}
