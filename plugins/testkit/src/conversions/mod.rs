//! Layout conversions whose code the vendors' crates check: layouts as text, the plan, the kernel, and the data
//! movement that is expected from the layouts alone.

use crate::layouts::format_blocked_layout;
use crate::layouts::resolve_distributed;
use crate::movement::Movement;
use crate::movement::{Reader, check_no_loops};
use crate::prelude::*;
use tilewright_layout::f2::Subspace;
use tilewright_plan::movement::{ConversionKind, SharedMemoryBitsPerLane};

/// A test case: a layout conversion, the kind of plan to check (not always the cheapest), and mnemonics that the code
/// must contain.
pub struct Case {
    pub name: &'static str,
    pub path: ConversionKind,
    pub bits: u32,
    pub shape: Vec<u64>,
    pub src: String,
    pub dst: String,
    /// Whether the plan may use the target's instructions that move matrix tiles, such as `ldmatrix`.
    pub tiles: bool,
    /// Maximum bytes of shared memory for the plan; `None` for no limit except the target's.
    pub scratch: Option<u64>,
    /// Mnemonic prefixes that must occur in the code.
    pub shows: &'static [&'static str],
}

/// A planned conversion and its kernel.
pub struct Planned {
    pub plan: ConversionPlan,
    pub kernel: Kernel,
    /// Whether some threads of the source layout hold replicas of other threads' elements.
    pub replicated: bool,
    /// Number of bits of the distinct elements that one thread holds in the source layout.
    pub src_bits_per_thread: u64,
}

/// Returns the number of bits of the distinct elements that the registers of one thread hold.
fn bits_of_thread(layout: &LinearLayout, bits: u32) -> u64 {
    u64::from(bits) << Subspace::span(layout.columns_of(Dim::REGISTER).iter().copied()).dimension()
}

fn is_replicated(layout: &LinearLayout) -> bool {
    let dims = [Dim::REGISTER, Dim::LANE, Dim::WARP];
    let mut columns = dims.iter().flat_map(|&dim| layout.columns_of(dim));
    let mut span = Subspace::default();
    columns.any(|&column| !span.insert(column))
}

impl Case {
    /// Creates a test case: a plan of kind `path` converts a tensor with elements of `bits` bits from layout `src` to
    /// layout `dst`, without instructions that move matrix tiles.
    pub fn new(name: &'static str, path: ConversionKind, bits: u32, shape: &[u64], src: String, dst: String) -> Self {
        Self { name, path, bits, shape: shape.to_vec(), src, dst, tiles: false, scratch: None, shows: &[] }
    }

    /// Requires mnemonics with these prefixes in the code.
    pub fn showing(self, shows: &'static [&'static str]) -> Self {
        Self { shows, ..self }
    }

    /// Also permits instructions that move matrix tiles.
    pub fn by_tiles(self) -> Self {
        Self { tiles: true, ..self }
    }

    /// Limits the plan's shared memory to `bytes` bytes.
    pub fn within(self, bytes: u64) -> Self {
        Self { scratch: Some(bytes), ..self }
    }

    pub fn planned(&self, target: &dyn Target) -> Planned {
        let (src, dst) =
            (resolve_distributed(target, &self.src, &self.shape), resolve_distributed(target, &self.dst, &self.shape));
        let context = PlanContext::new(target.description());
        let context = if self.tiles { context.with_instructions(target.instructions()) } else { context };
        let context = self.scratch.map_or(context, |bytes| context.with_scratch_bytes(bytes));
        let (plans, rejected) = conversion_candidates(&src, &dst, self.bits, context).unwrap();
        let plan = plans.into_iter().find(|plan| plan.path == self.path);
        let plan = plan.unwrap_or_else(|| panic!("{}: {rejected:?}", self.name));
        assert_eq!(
            self.tiles,
            plan.stats.counts.matrix_stores + plan.stats.counts.matrix_loads > 0,
            "{}: {plan:?}",
            self.name
        );
        let kernel = build_conversion_kernel("convert", [&src, &dst], self.bits, &plan, context).unwrap();
        let replicated = is_replicated(&src);
        self.moves_what_the_layouts_say(&src, &dst, &plan, replicated);
        Planned { replicated, src_bits_per_thread: bits_of_thread(&src, self.bits), plan, kernel }
    }

    /// Checks the bits that a lane stores to and loads from shared memory by the plan against those that follow from
    /// the layouts.
    fn moves_what_the_layouts_say(
        &self,
        src: &LinearLayout,
        dst: &LinearLayout,
        plan: &ConversionPlan,
        replicated: bool,
    ) {
        let found = plan.stats.shared_bits;
        if plan.path != ConversionKind::Shared {
            return assert_eq!(found, SharedMemoryBitsPerLane::default(), "{}", self.name);
        }
        assert_eq!(found.loaded, bits_of_thread(dst, self.bits), "{}: a lane loads each required word once", self.name);
        let src_bits = bits_of_thread(src, self.bits);
        let tensor = u64::from(self.bits) * self.shape.iter().product::<u64>();
        let threads = 1u64 << (src.in_bits(Dim::LANE) + src.in_bits(Dim::WARP));
        // Threads that hold replicas may share the stores.
        let least = if replicated { tensor.div_ceil(threads) } else { src_bits };
        assert!(
            (least..=src_bits).contains(&found.stored),
            "{}: {} of {src_bits} bits stored",
            self.name,
            found.stored
        );
    }
}

impl Case {
    /// Checks that each required prefix begins a mnemonic of the code.
    pub fn is_shown(&self, mnemonics: &[&str]) {
        for shown in self.shows {
            assert!(mnemonics.iter().any(|one| one.starts_with(shown)), "{}: no {shown} in {mnemonics:?}", self.name);
        }
    }
}

impl Planned {
    /// Returns the data movement that the code must perform according to the plan.
    pub fn movement(&self) -> Movement {
        Movement::of_plan(&self.plan.stats.counts, self.plan.stats.shared_bits)
    }

    /// Whether the data movement found in the code is the planned one. If replicas share the stores, the text has the
    /// stores of each replica (also matrix stores), but a code generator may merge the stores of two branches. The text
    /// then has at least the stores that one thread executes, and at most the stores of all elements that a thread
    /// holds.
    pub fn is_done_by(&self, found: Movement) -> bool {
        let expected = self.movement();
        let Movement { stored_bits, tiles, .. } = expected;
        let most = if self.replicated { self.src_bits_per_thread.max(stored_bits) } else { stored_bits };
        let most_tiles = if self.replicated && self.plan.stats.counts.matrix_stores > 0 {
            tiles + self.plan.stats.counts.matrix_stores * (most / stored_bits - 1)
        } else {
            tiles
        };
        (stored_bits..=most).contains(&found.stored_bits)
            && (tiles..=most_tiles).contains(&found.tiles)
            && Movement { stored_bits, tiles, ..found } == expected
    }
}

/// Returns the test cases for warps of `lanes` lanes, 8 of them along each axis (fewer along the first if the warp is
/// smaller). `a` and `b` are the layouts, as text, of an MMA's operands with elements of 16 bits.
pub fn cases(lanes: u64, [a, b]: [String; 2]) -> Vec<Case> {
    let down = lanes / 8;
    let rows = |size: u64| format_blocked_layout(&[1, size], &[down, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| format_blocked_layout(&[size, 1], &[8, down], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| format_blocked_layout(&[1, 1], &[down, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| format_blocked_layout(&[1, 4], &[down, 8], &[1, 1], &order);
    let one = |order: [u64; 2]| format_blocked_layout(&[1, 1], &[lanes / 4, 4], &[1, 4], &order);
    let pairs = format_blocked_layout(&[1, 2], &[lanes / 4, 4], &[2, 2], &[1, 0]);
    let in_lane = |order: [u64; 3]| format_blocked_layout(&[1, 2, 4], &[lanes, 1, 1], &[4, 1, 1], &order);
    let long = |threads: [u64; 2], warps: [u64; 2]| format_blocked_layout(&[1, 4], &threads, &warps, &[1, 0]);
    let (by_rows, by_columns) = (long([4, lanes / 4], [16, 1]), long([8, down], [8, 2]));
    vec![
        Case::new("blocked to operand a", ConversionKind::Shared, 16, &[128, 64], rows(8), a),
        Case::new("blocked to operand b", ConversionKind::Shared, 16, &[128, 64], rows(8), b),
        Case::new("words across warps", ConversionKind::Shared, 32, &[64, 64], rows(4), columns(4)),
        Case::new("64-bit elements across warps", ConversionKind::Shared, 64, &[64, 64], rows(2), columns(2)),
        Case::new(
            "16 warps, with less scratch than one round needs",
            ConversionKind::Shared,
            32,
            &[256, 128],
            by_rows,
            by_columns,
        )
        .within(48 << 10),
        Case::new("a source that warps replicate", ConversionKind::Shared, 16, &[2 * down, 64], rows(8), columns(1)),
        Case::new(
            "replicas that cannot be divided",
            ConversionKind::Shared,
            32,
            &[2 * down, 8],
            wide([1, 0]),
            one([1, 0]),
        ),
        Case::new("lanes permuted", ConversionKind::Shuffle, 32, &[4 * down, 8], wide([1, 0]), wide([0, 1])),
        Case::new(
            "lanes permuted, bytes packed",
            ConversionKind::Shuffle,
            8,
            &[down, 32],
            single([1, 0]),
            single([0, 1]),
        ),
        Case::new(
            "lanes permuted, 64-bit elements",
            ConversionKind::Shuffle,
            64,
            &[4 * down, 8],
            wide([1, 0]),
            wide([0, 1]),
        ),
        Case::new(
            "registers renamed",
            ConversionKind::Register,
            16,
            &[4 * lanes, 4, 8],
            in_lane([2, 1, 0]),
            in_lane([1, 2, 0]),
        ),
        Case::new("nothing to do", ConversionKind::None, 16, &[128, 64], rows(8), rows(8)),
        Case::new("four rounds with little scratch", ConversionKind::Shared, 32, &[64, 64], rows(4), columns(4))
            .within(4096),
        Case::new("single bytes", ConversionKind::Shared, 8, &[4 * down, 8], wide([1, 0]), one([0, 1])),
        Case::new("single elements of 16 bits", ConversionKind::Shared, 16, &[4 * down, 8], wide([1, 0]), one([0, 1])),
        Case::new("pairs of words", ConversionKind::Shared, 32, &[4 * down, 16], rows(2), pairs),
    ]
}

/// Returns the test case with this name.
pub fn named<'a>(cases: &'a [Case], name: &str) -> &'a Case {
    cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case `{name}`"))
}

/// Checks that the code of each test case performs the planned data movement, contains the required mnemonics, and
/// spills no registers.
pub fn code_moves_what_the_plans_say(target: &dyn Target, cases: &[Case], reader: &Reader) {
    for case in cases {
        let planned = case.planned(target);
        let code = assembly(target, vec![planned.kernel.clone()]);
        let found = (reader.movement)(&code, "convert");
        assert!(planned.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", case.name, planned.movement());
        check_no_loops(&code, planned.replicated);
        case.is_shown(&(reader.instructions)(&code, "convert"));
        (reader.spills_nothing)(case.name, &code);
    }
}

/// Checks that the test cases cover every kind of plan and every element width, and that some cases have the property
/// that their name states, such as several rounds through shared memory.
pub fn are_what_they_are_for(target: &dyn Target, cases: &[Case]) {
    assert!(cases.len() >= 20);
    for path in [ConversionKind::None, ConversionKind::Register, ConversionKind::Shuffle, ConversionKind::Shared] {
        assert!(cases.iter().any(|case| case.path == path), "{path}");
    }
    for bits in [8, 16, 32, 64] {
        assert!(cases.iter().any(|case| case.bits == bits), "{bits}");
    }
    let of = |name: &str| named(cases, name).planned(target);
    assert!(of("16 warps, with less scratch than one round needs").plan.stats.counts.barriers > 1, "several rounds");
    assert!(of("a source that warps replicate").replicated);
    let left_out = of("replicas that cannot be divided");
    assert!(left_out.replicated);
    assert_eq!(left_out.kernel.to_string().matches(" if ").count(), 1, "a predicated store: {}", left_out.kernel);
    let packed = of("lanes permuted, bytes packed").plan.stats.counts.shuffles;
    let split = of("lanes permuted, 64-bit elements").plan.stats.counts.shuffles;
    assert_eq!((packed, split), (1, 2), "4 bytes a lane in one shuffle; 8 bytes a lane in two");
}

/// Checks the code for conversions of 128x64 elements of 16 bits from a blocked layout to the operands of an MMA, in
/// one round through shared memory. A lane must store `stored` bits, and load the bits in `loaded` (for operands A and
/// B).
pub fn check_operand_conversion_bits(
    target: &dyn Target,
    cases: &[Case],
    reader: &Reader,
    stored: u64,
    loaded: [u64; 2],
) {
    for (name, loaded) in ["blocked to operand a", "blocked to operand b"].into_iter().zip(loaded) {
        let planned = named(cases, name).planned(target);
        let found = (reader.movement)(&assembly(target, vec![planned.kernel.clone()]), "convert");
        assert_eq!((found.stored_bits, found.loaded_bits, found.shuffles), (stored, loaded, 0), "{name}");
        assert_eq!(planned.plan.stats.shared_bytes, 128 * 64 * 2);
    }
}

/// Plans a conversion, checks the plan on the emulator, and returns it.
#[track_caller]
pub fn proven([src, dst]: [&LinearLayout; 2], bits: u32, context: PlanContext<'_>) -> ConversionPlan {
    let plan = plan_conversion(src, dst, bits, context).unwrap_or_else(|error| panic!("{error}"));
    check_case(build_conversion_case([src, dst], bits, &plan, context), context, bits);
    plan
}
