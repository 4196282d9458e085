//! Reductions, scans, gathers and accesses of shared memory whose code the vendors' crates look at: a
//! handful of each, for warps of any number of lanes.

use crate::layouts::{blocked, distributed};
use crate::movement::Movement;
use crate::movement::{Reader, goes_straight};
use crate::prelude::*;
use tilewright_plan::movement::{SharedBits, gather};
use tilewright_verify::kernels::{add, gather_kernel, reduction_kernel, scan_kernel};

/// A plan as a kernel, and what its code must do.
pub struct Planned {
    pub name: String,
    pub kernel: Kernel,
    pub movement: Movement,
    /// The most bits that the code stores as written: where lanes that hold the same share the stores, a code
    /// generator may write each share in a branch of its own.
    most_stored: u64,
    /// The least bits that it loads: it leaves out what nobody wants, of a scan's totals the last.
    least_loaded: u64,
}

impl Planned {
    fn new(name: &str, kernel: Kernel, counts: Counts, bits: SharedBits) -> Self {
        let movement = Movement::of_plan(&counts, bits);
        Self { name: name.to_owned(), kernel, movement, most_stored: bits.stored, least_loaded: bits.loaded }
    }

    /// The same for lanes that hold so many bits, and copies of what others hold.
    fn of_copies(self, held_bits: u64) -> Self {
        Self { most_stored: if self.movement.stored_bits > 0 { held_bits } else { 0 }, ..self }
    }

    /// Whether code does what the plan says.
    pub fn is_done_by(&self, found: Movement) -> bool {
        let Movement { stored_bits, loaded_bits, .. } = self.movement;
        (stored_bits..=self.most_stored).contains(&found.stored_bits)
            && (self.least_loaded..=loaded_bits).contains(&found.loaded_bits)
            && Movement { stored_bits, loaded_bits, ..found } == self.movement
    }

    /// The assembly of the kernel.
    pub fn assembly(&self, target: &dyn Target) -> String {
        verify(&Module { kernels: vec![self.kernel.clone()] }).expect("a sound kernel");
        assembly(target, vec![self.kernel.clone()])
    }
}

/// All plans for warps of `2^lane_bits` lanes.
pub fn all(target: &dyn Target, lane_bits: u32) -> Vec<Planned> {
    let half = 1u64 << (lane_bits - 3);
    let in_lanes = blocked(&[1, 4], &[8, half], &[4, 1], &[1, 0]);
    let in_warps = blocked(&[1, 4], &[8, half], &[1, 4], &[1, 0]);
    let within = |axis: u64| {
        if axis == 0 { blocked(&[8, 1], &[1, 8 * half], &[1, 4], &[1, 0]) } else { in_lanes.clone() }
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

/// Stores to shared memory of explicit layouts and loads from them, each kernel with what its own accesses
/// move; the kernel has others around them, `others` bits a lane each way.
pub fn accesses(target: &dyn Target, lane_bits: u32) -> Vec<(Planned, u64)> {
    let registers = blocked(&[1, 8], &[1 << (lane_bits - 3), 8], &[4, 1], &[1, 0]);
    let mut plans = Vec::new();
    for (name, text) in [
        ("swizzled", "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
        ("in narrow groups", "#ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>"),
        ("in columns", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>"),
        ("padded", "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>"),
    ] {
        let (src, memory) = (distributed(target, &registers, &[64, 64]), memory(text, &[64, 64]));
        let store = access_shared(&src, &memory, 16, Direction::Store, target.description()).expect("a plan");
        let load = access_shared(&src, &memory, 16, Direction::Load, target.description()).expect("a plan");
        // The rest of the kernel moves each element of memory once, by the threads in turn.
        let others = 16 * 64 * 64 / (4 << lane_bits);
        let kernel = store_kernel(&src, &memory, 16, &store).expect("a kernel");
        plans.push((
            Planned::new(&format!("store {name}"), kernel, store.stats.counts, store.stats.shared_bits),
            others,
        ));
        let kernel = load_kernel(&src, &memory, 16, &load).expect("a kernel");
        plans.push((Planned::new(&format!("load {name}"), kernel, load.stats.counts, load.stats.shared_bits), others));
    }
    plans
}

fn memory(text: &str, shape: &[u64]) -> MemoryLayout {
    match Neutral.resolve(&parse_spec(text).expect("a family"), shape, &Neutral) {
        Ok(Layout::Memory(memory)) => memory,
        other => panic!("{text}: {other:?}"),
    }
}

fn reduction(target: &dyn Target, name: &str, layout: &str, axis: usize, bits: &[u32]) -> Planned {
    let src = distributed(target, layout, &[32, 64]);
    let plan = reduce(&src, Dim::tensor(axis), bits, target.description()).expect("a plan");
    let kernel =
        reduction_kernel((&src, Dim::tensor(axis)), bits, &plan, target.description().into()).expect("a kernel");
    Planned::new(name, kernel, plan.stats.counts, plan.stats.shared_bits).of_copies(held_bits(&src, bits))
}

fn scanned(target: &dyn Target, name: &str, layout: &str, axis: usize, bits: &[u32]) -> Planned {
    let src = distributed(target, layout, &[32, 64]);
    let (axis, direction) = (Dim::tensor(axis), ScanDirection::Up);
    let plan = scan(&src, axis, bits, direction, target.description()).expect("a plan");
    let kernel = scan_kernel((&src, axis), bits, (&plan, direction), add, target.description().into());
    let kernel = kernel.expect("a kernel");
    let planned =
        Planned::new(name, kernel, plan.stats.counts, plan.stats.shared_bits).of_copies(held_bits(&src, bits));
    Planned { least_loaded: planned.least_loaded / 2, ..planned }
}

/// Bits of all registers of a lane.
fn held_bits(layout: &LinearLayout, bits: &[u32]) -> u64 {
    bits.iter().map(|&bits| u64::from(bits) << layout.in_bits(Dim::REGISTER)).sum()
}

fn gathered(target: &dyn Target, name: &str, layout: &str, bits: u32) -> Planned {
    let src = distributed(target, layout, &[32, 64]);
    let axis = Dim::tensor(1);
    let plan = gather(&src, &src, axis, bits, target.description()).expect("a plan");
    let kernel = gather_kernel(([&src, &src], axis), bits, &plan, target.description().into()).expect("a kernel");
    Planned::new(name, kernel, plan.stats.counts, plan.stats.shared_bits).of_copies(held_bits(&src, &[bits]))
}

/// The code of all plans moves what they say, and needs no memory for registers.
pub fn code_moves_what_the_plans_say(target: &dyn Target, lane_bits: u32, reader: &Reader) {
    for plan in all(target, lane_bits) {
        let code = plan.assembly(target);
        goes_straight(&code, true);
        let found = (reader.movement)(&code, &plan.kernel.name);
        assert!(plan.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", plan.name, plan.movement);
        (reader.spills_nothing)(&plan.name, &code);
    }
}

/// The same of accesses of explicit layouts.
pub fn accesses_move_what_the_plans_say(target: &dyn Target, lane_bits: u32, reader: &Reader) {
    for (plan, others) in accesses(target, lane_bits) {
        let code = plan.assembly(target);
        let Movement { stored_bits, loaded_bits, exchanges, .. } = (reader.movement)(&code, &plan.kernel.name);
        let expected = match plan.movement {
            Movement { stored_bits: 0, loaded_bits, .. } => (others, loaded_bits, 0),
            Movement { stored_bits, .. } => (stored_bits, others, 0),
        };
        assert_eq!((stored_bits, loaded_bits, exchanges), expected, "{}: {code}", plan.name);
    }
}
