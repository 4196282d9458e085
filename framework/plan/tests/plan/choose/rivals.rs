//! Tests that random linear layouts ("rivals") never beat the chosen layout, and that nothing is below the bound:
//! random pairs and triples of accessors of real targets, with replicas and weights. For a store and a load, the
//! conversion between the two layouts is a rival too.

use tilewright_layout::MemoryLayout;
use tilewright_plan::movement::{
    PlanContext, SharedLayoutSearchOptions, SharedMemoryAccessor, choose_shared_layout, plan_conversion,
    plan_shared_access, price_counts_in_wavefronts,
};
use tilewright_target::{Direction, TargetDescription};
use tilewright_testkit::seeded_rng::SeededRng;

use super::copies::check;
use super::gpu_models::{A100, MI300X, MI355X, description};
use super::layouts::{layout, random, random_memory};

/// Random accessors of one tensor.
struct Case {
    accessors: Vec<SharedMemoryAccessor>,
    bits: u32,
    element_bits: u32,
}

fn case(source: &mut SeededRng, count: usize, target: &TargetDescription) -> Case {
    let lane_bits = target.lanes.default.trailing_zeros() as usize;
    let (warp_bits, element_bits) = (source.below(3), [8, 16, 32][source.below(3)]);
    let bits = (lane_bits + warp_bits + 1 + source.below(3)) as u32;
    let accessor = |at: usize, source: &mut SeededRng| {
        let direction = if at == 0 { Direction::Store } else { Direction::Load };
        let (spare, mixes) = (source.below(4), source.below(6));
        let layout = random(source, lane_bits, warp_bits, bits, spare, mixes);
        let weight = if count > 2 { 1 + source.below(3) as u64 } else { 1 };
        SharedMemoryAccessor { direction, weight, ..SharedMemoryAccessor::store(layout) }
    };
    Case { accessors: (0..count).map(|at| accessor(at, source)).collect(), bits, element_bits }
}

/// Returns the weighted wavefronts of all accessors in a memory layout, and the price, which includes the selects of
/// shared stores.
fn taken(case: &Case, memory: &MemoryLayout, context: PlanContext<'_>) -> (u64, f64) {
    let of = |one: &SharedMemoryAccessor| {
        let plan = plan_shared_access(&one.layout, memory, case.element_bits, one.direction, context).expect("a plan");
        (one.weight * plan.wavefronts(), one.weight as f64 * price_counts_in_wavefronts(&plan.stats.counts))
    };
    case.accessors.iter().map(of).fold((0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
}

fn compare(case: &Case, rivals: usize, source: &mut SeededRng, context: PlanContext<'_>) {
    let shown = || format!("{} bits on {}: {:?}", case.element_bits, context.target.name, case.accessors);
    let choice =
        choose_shared_layout(&case.accessors, case.element_bits, &SharedLayoutSearchOptions::default(), context)
            .expect("a choice");
    let chosen = choice.chosen();
    let (wavefronts, own) = taken(case, &chosen.memory, context);
    assert_eq!(wavefronts, chosen.weighted_wavefronts(), "{}", shown());
    assert!(choice.lower_bound <= wavefronts, "{} of {wavefronts}: {}", choice.lower_bound, shown());
    for _ in 0..rivals {
        let (wavefronts, price) = taken(case, &random_memory(source, case.bits), context);
        assert!(choice.lower_bound <= wavefronts, "{} of {wavefronts}: {}", choice.lower_bound, shown());
        assert!(own <= price, "{own} against {price}: {}", shown());
    }
    let [store, load] = &case.accessors[..] else { return };
    let plan = plan_conversion(&store.layout, &load.layout, case.element_bits, context).expect("a plan");
    let counts = plan.stats.counts;
    if counts.shuffles == 0 && counts.wavefronts_stored > 0 {
        let converted = counts.wavefronts_stored + counts.wavefronts_loaded;
        assert!(choice.lower_bound <= converted, "{} of {converted}: {}", choice.lower_bound, shown());
        let moved = converted as f64 + (counts.selects + counts.permutes) as f64 / 4.0;
        assert!(own <= moved, "{own} against a conversion's {moved}: {}", shown());
    }
}

#[test]
fn random_layouts_and_conversions_never_win() {
    let (cases, rivals) = match std::env::var("RIVALS").ok().and_then(|rivals| rivals.parse().ok()) {
        Some(rivals) => (60, rivals),
        None => (3, 40),
    };
    for file in [A100, MI300X, MI355X] {
        let target = description(file);
        let mut source = SeededRng::new(35);
        for at in 0..cases {
            let case = case(&mut source, 2 + at % 2, &target);
            compare(&case, rivals, &mut source, PlanContext::new(&target));
        }
    }
}

/// Checks that two lanes that hold the same words each store half of them: eight wavefronts instead of 16, at the cost
/// of eight selects.
#[test]
fn lanes_with_replicas_share_a_store() {
    let target = description(A100);
    let context = PlanContext::new(&target);
    let stored = layout(&[1, 2, 4, 8, 0, 16, 32, 64, 128], 5, 0, 8);
    let loaded = layout(&[1, 2, 4, 8, 16, 32, 64, 128], 5, 0, 8);
    let accessors = [SharedMemoryAccessor::store(stored), SharedMemoryAccessor::load(loaded)];
    let choice =
        choose_shared_layout(&accessors, 32, &SharedLayoutSearchOptions::default(), context).expect("a choice");
    choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 32, context));
    // 1024 bytes are eight wavefronts in each direction.
    let stats = &choice.chosen().accessors;
    assert_eq!((choice.lower_bound, stats[0].wavefronts, stats[0].selects, stats[1].wavefronts), (16, 8, 8, 8));
}
