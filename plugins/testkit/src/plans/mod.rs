//! Reductions, scans, gathers and shared-memory accesses whose code the vendors' crates check: a few of each, for warps
//! of any size.

use crate::layouts::{format_blocked_layout, resolve_distributed};
use crate::movement::Movement;
use crate::movement::{Reader, check_no_loops};
use crate::prelude::*;
use tilewright_plan::movement::{SharedMemoryBitsPerLane, plan_gather};
use tilewright_verify::kernels::{build_gather_kernel, build_reduction_kernel, build_scan_kernel, emit_tuple_add};

/// A kernel that executes a plan, and the data movement that its code must perform.
pub struct Planned {
    pub name: String,
    pub kernel: Kernel,
    pub movement: Movement,
    /// Maximum bits that the stores in the code's text may have. If replicas share the stores, a code generator may
    /// emit each replica's share in a separate branch.
    most_stored: u64,
    /// Minimum bits that the code may load. A code generator drops unused loads, such as the load of a scan's last
    /// total.
    loaded_lower_bound: u64,
}

impl Planned {
    fn new(name: &str, kernel: Kernel, counts: Counts, bits: SharedMemoryBitsPerLane) -> Self {
        let movement = Movement::of_plan(&counts, bits);
        Self { name: name.to_owned(), kernel, movement, most_stored: bits.stored, loaded_lower_bound: bits.loaded }
    }

    /// Sets the upper bound of stored bits for a layout with replicas, with `bits_per_lane` bits in a lane.
    fn of_copies(self, bits_per_lane: u64) -> Self {
        Self { most_stored: if self.movement.stored_bits > 0 { bits_per_lane } else { 0 }, ..self }
    }

    /// Whether the data movement found in the code is the planned one, within the limits for stored and loaded bits.
    pub fn is_done_by(&self, found: Movement) -> bool {
        let Movement { stored_bits, loaded_bits, .. } = self.movement;
        (stored_bits..=self.most_stored).contains(&found.stored_bits)
            && (self.loaded_lower_bound..=loaded_bits).contains(&found.loaded_bits)
            && Movement { stored_bits, loaded_bits, ..found } == self.movement
    }

    /// Compiles the kernel of the plan to assembly.
    pub fn assembly(&self, target: &dyn Target) -> String {
        verify(&Module { kernels: vec![self.kernel.clone()] }).expect("a sound kernel");
        assembly(target, vec![self.kernel.clone()])
    }
}

/// Returns the reductions, scans and gathers for warps of `2^lane_bits` lanes.
pub fn all(target: &dyn Target, lane_bits: u32) -> Vec<Planned> {
    let half = 1u64 << (lane_bits - 3);
    let in_lanes = format_blocked_layout(&[1, 4], &[8, half], &[4, 1], &[1, 0]);
    let in_warps = format_blocked_layout(&[1, 4], &[8, half], &[1, 4], &[1, 0]);
    let within = |axis: u64| {
        if axis == 0 { format_blocked_layout(&[8, 1], &[1, 8 * half], &[1, 4], &[1, 0]) } else { in_lanes.clone() }
    };
    let mut plans = Vec::new();
    for (name, layout, axis) in
        [("in lanes", &in_lanes, 1), ("across warps", &in_warps, 1), ("in a lane", &within(0), 0)]
    {
        for bits in [&[32][..], &[16], &[64, 32]] {
            plans.push(reduction(target, &format!("reduction {name} of {bits:?}"), layout, axis, bits));
            plans.push(scanned(target, &format!("scan {name} of {bits:?}"), layout, axis, bits));
        }
    }
    for (name, layout) in [("in lanes", &in_lanes), ("across warps", &in_warps)] {
        for bits in [16, 32] {
            plans.push(gathered(target, &format!("gather {name} of {bits} bits"), layout, bits));
        }
    }
    plans
}

/// Returns kernels that store to or load from shared memory in explicit layouts, each with the planned data movement of
/// that access. The number of each pair counts the bits of shared memory that a lane accesses in the rest of the
/// kernel, in the other direction.
pub fn accesses(target: &dyn Target, lane_bits: u32) -> Vec<(Planned, u64)> {
    let registers = format_blocked_layout(&[1, 8], &[1 << (lane_bits - 3), 8], &[4, 1], &[1, 0]);
    let mut plans = Vec::new();
    for (name, text) in [
        ("swizzled", "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
        ("in narrow groups", "#ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>"),
        ("in columns", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>"),
        ("padded", "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>"),
    ] {
        let (src, memory) = (resolve_distributed(target, &registers, &[64, 64]), memory(text, &[64, 64]));
        let store = plan_shared_access(&src, &memory, 16, Direction::Store, target.description()).expect("a plan");
        let load = plan_shared_access(&src, &memory, 16, Direction::Load, target.description()).expect("a plan");
        // The rest of the kernel moves each element of shared memory once, distributed evenly over the threads.
        let others = 16 * 64 * 64 / (4 << lane_bits);
        let kernel = build_shared_store_kernel(&src, &memory, 16, &store).expect("a kernel");
        plans.push((
            Planned::new(&format!("store {name}"), kernel, store.stats.counts, store.stats.shared_bits),
            others,
        ));
        let kernel = build_shared_load_kernel(&src, &memory, 16, &load).expect("a kernel");
        plans.push((Planned::new(&format!("load {name}"), kernel, load.stats.counts, load.stats.shared_bits), others));
    }
    plans
}

fn memory(text: &str, shape: &[u64]) -> MemoryLayout {
    match NeutralFamilies.resolve(&parse_family_spec(text).expect("a family"), shape, &NeutralFamilies) {
        Ok(Layout::Memory(memory)) => memory,
        other => panic!("{text}: {other:?}"),
    }
}

fn reduction(target: &dyn Target, name: &str, layout: &str, axis: usize, bits: &[u32]) -> Planned {
    let src = resolve_distributed(target, layout, &[32, 64]);
    let plan = plan_reduction(&src, Dim::tensor(axis), bits, target.description()).expect("a plan");
    let kernel =
        build_reduction_kernel((&src, Dim::tensor(axis)), bits, &plan, emit_tuple_add, target.description().into())
            .expect("a kernel");
    Planned::new(name, kernel, plan.stats.counts, plan.stats.shared_bits).of_copies(bits_per_lane(&src, bits))
}

fn scanned(target: &dyn Target, name: &str, layout: &str, axis: usize, bits: &[u32]) -> Planned {
    let src = resolve_distributed(target, layout, &[32, 64]);
    let (axis, direction) = (Dim::tensor(axis), ScanDirection::Forward);
    let plan = plan_scan(&src, axis, bits, direction, target.description()).expect("a plan");
    let kernel = build_scan_kernel((&src, axis), bits, (&plan, direction), emit_tuple_add, target.description().into());
    let kernel = kernel.expect("a kernel");
    let planned =
        Planned::new(name, kernel, plan.stats.counts, plan.stats.shared_bits).of_copies(bits_per_lane(&src, bits));
    Planned { loaded_lower_bound: planned.loaded_lower_bound / 2, ..planned }
}

/// Returns the number of bits in all registers of one lane, for elements of these widths.
fn bits_per_lane(layout: &LinearLayout, bits: &[u32]) -> u64 {
    bits.iter().map(|&bits| u64::from(bits) << layout.in_bits(Dim::REGISTER)).sum()
}

fn gathered(target: &dyn Target, name: &str, layout: &str, bits: u32) -> Planned {
    let src = resolve_distributed(target, layout, &[32, 64]);
    let axis = Dim::tensor(1);
    let plan = plan_gather(&src, &src, axis, bits, target.description()).expect("a plan");
    let kernel = build_gather_kernel(([&src, &src], axis), bits, &plan, target.description().into()).expect("a kernel");
    Planned::new(name, kernel, plan.stats.counts, plan.stats.shared_bits).of_copies(bits_per_lane(&src, &[bits]))
}

/// Checks that the code of all plans performs the planned data movement and spills no registers.
pub fn code_moves_what_the_plans_say(target: &dyn Target, lane_bits: u32, reader: &Reader) {
    for plan in all(target, lane_bits) {
        let code = plan.assembly(target);
        check_no_loops(&code, true);
        let found = (reader.movement)(&code, &plan.kernel.name);
        assert!(plan.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", plan.name, plan.movement);
        (reader.spills_nothing)(&plan.name, &code);
    }
}

/// Checks that the code of the kernels of [`accesses`] performs the planned data movement, without shuffles.
pub fn accesses_move_what_the_plans_say(target: &dyn Target, lane_bits: u32, reader: &Reader) {
    for (plan, others) in accesses(target, lane_bits) {
        let code = plan.assembly(target);
        let Movement { stored_bits, loaded_bits, shuffles, .. } = (reader.movement)(&code, &plan.kernel.name);
        let expected = match plan.movement {
            Movement { stored_bits: 0, loaded_bits, .. } => (others, loaded_bits, 0),
            Movement { stored_bits, .. } => (stored_bits, others, 0),
        };
        assert_eq!((stored_bits, loaded_bits, shuffles), expected, "{}: {code}", plan.name);
    }
}
