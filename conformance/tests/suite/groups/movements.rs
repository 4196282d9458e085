//! Tests of the groups about data movement: their coverage, and that they pass on a correct target.

use std::collections::BTreeSet;

use conformance::groups::conversions::{self, ConversionCase};
use conformance::groups::gather::{self, GatherAlong, Gathers};
use conformance::groups::memory::{GlobalCopyCase, LocalAccess, MemoryGroup};
use conformance::groups::reduce::{self, Reductions};
use conformance::groups::scan::{self, Scans};
use conformance::groups::{AxisOperationCase, CaseTensorSpec, KernelConfig};
use conformance::{CaseGroup, Context, EvidenceLevel, Status, Thoroughness, Verdict};

use super::context;
use super::invented::Flaw;

/// Tensors, each with the name of the layout used for it.
type Shown = Vec<(CaseTensorSpec, String)>;

fn converted(context: &Context) -> Shown {
    let label = |c: &ConversionCase| format!("{} {}", c.source.name, c.target.name);
    conversions::all(context).iter().map(|c| (c.tensor.clone(), label(c))).collect()
}

fn accessed(context: &Context) -> Shown {
    let label = |a: &LocalAccess| format!("{:?} {} {}", a.access, a.registers.name, a.memory.name);
    LocalAccess::all(context).iter().map(|access| (access.tensor.clone(), label(access))).collect()
}

fn copied(context: &Context) -> Shown {
    let label =
        |c: &GlobalCopyCase| format!("{:?} {:?}", c.known, c.registers.as_ref().map(|registers| &registers.name));
    GlobalCopyCase::all(context).iter().map(|copy| (copy.tensor.clone(), label(copy))).collect()
}

fn reduced(context: &Context) -> Shown {
    let label = |along: &AxisOperationCase| format!("{} {} {}", along.source.name, along.axis, along.others.len());
    reduce::all(context).iter().map(|along| (along.tensor.clone(), label(along))).collect()
}

fn scanned(context: &Context) -> Shown {
    let label = |along: &AxisOperationCase| format!("{} {} {}", along.source.name, along.axis, along.others.len());
    scan::all(context).iter().map(|scan| (scan.along.tensor.clone(), label(&scan.along))).collect()
}

fn gathered(context: &Context) -> Shown {
    let label = |g: &GatherAlong| format!("{} {}", g.along.source.name, g.along.axis);
    gather::all(context).iter().map(|gather| (gather.along.tensor.clone(), label(gather))).collect()
}

#[test]
fn every_group_shows_every_width_number_of_warps_and_shape() {
    let context = context(Flaw::None);
    for (name, shown) in [
        ("conversions", converted(&context)),
        ("local", accessed(&context)),
        ("global", copied(&context)),
        ("reduce", reduced(&context)),
        ("scan", scanned(&context)),
        ("gather", gathered(&context)),
    ] {
        let settings: BTreeSet<_> = shown.iter().map(|(tensor, _)| tensor.setting.to_string()).collect();
        let expected: BTreeSet<_> = KernelConfig::all(&context).iter().map(ToString::to_string).collect();
        assert_eq!(settings, expected, "{name}: every width with every number of warps and of lanes");
        for bits in [8, 16, 32, 64] {
            let shapes: BTreeSet<_> = shown
                .iter()
                .filter(|(tensor, _)| tensor.setting.element.bits() == bits)
                .map(|(tensor, _)| tensor.shape.clone())
                .collect();
            for shape in [&[1, 1][..], &[1, 64], &[256, 1], &[16, 16], &[64, 128], &[4, 64, 32]] {
                assert!(shapes.contains(shape), "{name}: {bits} bits {shape:?}");
            }
        }
        let shapes: BTreeSet<_> = shown.iter().map(|(tensor, _)| tensor.shape.as_slice()).collect();
        assert!(shapes.contains(&[256, 256][..]), "{name}");
        // Samples of memory have two axes.
        assert!(shapes.contains(&[1][..]) && shapes.contains(&[2048][..]) || name == "local", "{name}: {shapes:?}");
        let warps = |shape: &[u64]| -> BTreeSet<u32> {
            shown.iter().filter(|(tensor, _)| tensor.shape == shape).map(|(tensor, _)| tensor.setting.warps).collect()
        };
        assert_eq!(warps(&[16, 16]), [1, 2, 4, 8, 16].into(), "{name}");
        assert_eq!(warps(&[4, 64, 32]), [1, 2, 4, 8, 16].into(), "{name}");
    }
}

#[test]
fn every_pair_of_layouts_is_converted_in_every_width() {
    let context = context(Flaw::None);
    let pairs: BTreeSet<_> = converted(&context)
        .into_iter()
        .map(|(tensor, label)| format!("{label} {}", tensor.setting.element.name()))
        .collect();
    let matrices =
        ["blocked-rows", "blocked-cols", "blocked-square", "blocked-a", "blocked-b", "tile-a", "tile-b", "tile-d"];
    let lines = ["blocked-row", "slice0-of-blocked-rows", "slice1-of-tile-d"];
    for names in [&matrices[..], &lines] {
        for (source, target) in names.iter().flat_map(|source| names.iter().map(move |target| (source, target))) {
            for element in ["i8", "f16", "f32", "f64"] {
                let pair = format!("{source} {target} {element}");
                assert!(source == target || pairs.contains(&pair), "{pair}");
            }
        }
    }
    let stores: BTreeSet<_> = accessed(&context).into_iter().map(|(_, label)| label).collect();
    for registers in matrices {
        for memory in ["gapped", "shared-plain", "shared-rows", "shared-cols", "shared-padded"] {
            for access in ["Store", "Load"] {
                assert!(stores.contains(&format!("{access} {registers} {memory}")), "{access} {registers} {memory}");
            }
        }
    }
    let axes: BTreeSet<_> = reduced(&context).into_iter().map(|(_, label)| label).collect();
    for registers in matrices {
        for (axis, others) in (0..3).flat_map(|axis| (0..3).map(move |others| (axis, others))) {
            assert!(axes.contains(&format!("{registers} {axis} {others}")), "{registers} {axis} {others}");
        }
    }
}

#[test]
fn lists_are_stable_and_thorough_ones_have_more() {
    let usual = context(Flaw::None);
    let names =
        |context: &Context| -> Vec<String> { conversions::all(context).iter().map(ToString::to_string).collect() };
    let few = names(&usual);
    assert_eq!(few, names(&usual));
    let unique: BTreeSet<_> = few.iter().collect();
    assert_eq!(unique.len(), few.len(), "names are unique");
    let all: BTreeSet<_> = names(&usual.clone().with_thoroughness(Thoroughness::Thorough)).into_iter().collect();
    assert!(all.len() > 10 * few.len(), "{} and {}", few.len(), all.len());
    assert!(few.iter().all(|name| all.contains(name)));
    for name in ["blocked-rows-to-tile-d/f16/256x256/w16", "blocked-cols-to-blocked-planes-3d/i8/16x1x8/w2/l16"] {
        assert!(all.contains(name), "{name}");
    }
}

#[test]
fn sampling_is_even() {
    let context = context(Flaw::None);
    let mut counts = [0; 11];
    for subject in 0..110 {
        let some = context.select_variants(subject, 3, (0..11).collect(), |_| true);
        assert_eq!(some.len(), 3);
        some.into_iter().for_each(|index: usize| counts[index] += 1);
    }
    assert!(counts.iter().all(|&count| (25..=35).contains(&count)), "{counts:?}");
    let even =
        |subject| context.select_variants(subject, 2, (0..11).collect(), |index: &usize| index.is_multiple_of(2));
    assert!(
        (0..20).all(
            |subject| even(subject).len() == 2 && even(subject).iter().all(|index: &usize| index.is_multiple_of(2))
        )
    );
    // If no variant is good, one is returned that shows the reason.
    assert_eq!(context.select_variants(7, 2, (0..11).collect(), |_: &usize| false).len(), 1);
    let thorough = context.with_thoroughness(Thoroughness::Thorough);
    assert_eq!(
        thorough.select_variants(7, 2, (0..11).collect(), |index: &usize| index.is_multiple_of(2)),
        [0, 2, 4, 6, 8, 10]
    );
}

/// Runs some of a group's cases on a correct target. Returns each case's name with its verdict.
fn verdicts(group: &dyn CaseGroup, context: &Context, of: usize) -> Vec<(String, Verdict)> {
    let cases = group.cases(context);
    cases.iter().step_by(of).map(|case| (case.name().to_owned(), case.run(context))).collect()
}

#[test]
fn an_honest_target_moves_data_rightly() {
    let context = context(Flaw::None);
    for (group, of) in [(&MemoryGroup as &dyn CaseGroup, 17), (&Reductions, 13), (&Scans, 13), (&Gathers, 9)] {
        let verdicts = verdicts(group, &context, of);
        assert!(verdicts.len() >= 40, "{}: {}", group.name(), verdicts.len());
        for (name, verdict) in &verdicts {
            let good = match verdict.status {
                Status::Pass => verdict.level == Some(EvidenceLevel::Emulated),
                Status::Quality | Status::Unsupported => !verdict.detail.is_empty(),
                _ => false,
            };
            assert!(good, "{name}: {verdict:?}");
        }
        let passed = verdicts.iter().filter(|(_, verdict)| verdict.status == Status::Pass).count();
        assert!(passed > verdicts.len() / 8, "{}: {passed} of {}", group.name(), verdicts.len());
    }
}
