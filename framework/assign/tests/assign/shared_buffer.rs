//! Tests of the layouts of buffers in shared memory against brute force: on a target of 4 lanes and 4 banks, a buffer of
//! 16 elements has 20,160 linear layouts. The test prices every access in each of them from the addresses of its lanes.

use proptest::prelude::*;
use tilewright_assign::LaunchConfig;
use tilewright_assign::shared_buffer::SharedBuffer;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, DimBases, LinearLayout, Space};
use tilewright_plan::memory_synthesis::{MemorySynthesisError, SharedTensor, TensorAccess};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{
    Completion, Direction, Instruction, InstructionKind, InstructionOperand, Queue, Semantics, TargetDescription,
    count_access_wavefronts,
};

/// Log2 of the elements of the buffer.
const BITS: usize = 4;
/// Log2 of the lanes of a warp.
const LANE_BITS: usize = 2;
/// The price of issuing one access, in wavefronts, as the documentation of shared-memory synthesis states.
const ISSUE: f64 = 0.25;

/// Returns the small test target with 4 lanes and 4 banks: a wavefront has 16 bytes.
fn tiny() -> TargetDescription {
    let text = include_str!("../../../testkit/src/test_targets/small.toml")
        .replace("default = 8\nchoices = [8]", "default = 4\nchoices = [4]")
        .replace("banks = 8", "banks = 4")
        .replace("phase = [1, 2, 4]", "phase = [1, 2]")
        .replace(
            "access_bits = [64]\nbanks = 4\nbank_bytes = 4\nphase = [1, 2]",
            "access_bits = [64]\nbanks = 4\nbank_bytes = 4\nphase = [1]",
        )
        .replace("phase = [5]", "phase = []");
    TargetDescription::from_toml("tiny.toml", &text).expect("the target is sound")
}

/// Returns an asynchronous copy of `bytes` bytes of each lane, with one address of each lane.
fn copy(bytes: u64) -> Instruction {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let bytes_of: DimBases = (0..bytes.ilog2()).map(|bit| vec![0, 1 << bit]).collect();
    let lanes: DimBases = (0..LANE_BITS).map(|bit| vec![1 << bit, 0]).collect();
    let data = LinearLayout::from_bases(&[(Dim::LANE, lanes), (byte, bytes_of)], &[(segment, 4), (byte, bytes)]);
    let data = data.expect("sizes fit");
    let address = LinearLayout::identity(4, Dim::LANE, segment).expect("sizes fit");
    let alignment = bytes as u32;
    let from = InstructionOperand::Global { data: data.clone(), address: address.clone(), alignment };
    Instruction {
        name: format!("copy{bytes}"),
        kind: InstructionKind::AsyncCopy,
        operands: vec![from, InstructionOperand::Access { data, address, alignment }],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Copies),
        numerics: None,
        source: "invented".to_owned(),
    }
}

/// Returns the register layout of a tile of 4 x 4 elements; `order` has the coordinate bit of each bit of the register,
/// then of the lane.
fn distributed(order: &[u32]) -> LinearLayout {
    let mut ins = Space::default();
    for (dim, size) in [(Dim::REGISTER, BITS - LANE_BITS), (Dim::LANE, LANE_BITS), (Dim::WARP, 0)] {
        ins.push(dim, size as u32).expect("small");
    }
    let outs = Space::from_sizes(&[(Dim::tensor(0), 4), (Dim::tensor(1), 4)]).expect("small");
    let columns: Vec<u64> = order.iter().map(|bit| 1 << bit).collect();
    LinearLayout::from_columns(ins, outs, &columns).expect("small")
}

/// Returns all invertible 4 x 4 matrices over F2 as tables: the element at each offset.
fn all_memories() -> Vec<[u64; 1 << BITS]> {
    let mut found = Vec::new();
    for columns in 0..1u64 << (BITS * BITS) {
        let mut elements = [0u64; 1 << BITS];
        for (offset, element) in elements.iter_mut().enumerate() {
            for bit in (0..BITS).filter(|bit| offset >> bit & 1 == 1) {
                *element ^= columns >> (BITS * bit) & 0xf;
            }
        }
        let different = elements.iter().fold(0u32, |seen, element| seen | 1 << element);
        if different == 0xffff {
            found.push(elements);
        }
    }
    found
}

/// An access of the test: its register layout, and the alternatives to execute it.
struct Access {
    order: Vec<u32>,
    direction: Direction,
    /// Bytes of a lane in one access, and whether an asynchronous copy makes it.
    alternatives: Vec<(u64, bool)>,
    weight: u64,
    from_global: bool,
}

impl Access {
    /// Returns the elements of each lane, by register.
    fn elements(&self) -> Vec<Vec<u64>> {
        let at = |position: u64| {
            self.order.iter().enumerate().map(|(bit, to)| (position >> bit & 1) << to).fold(0, |sum, one| sum | one)
        };
        let registers = 1u64 << (BITS - LANE_BITS);
        (0..1 << LANE_BITS)
            .map(|lane| (0..registers).map(|register| at(register + lane * registers)).collect())
            .collect()
    }

    /// Returns the price of the access in a memory layout; `None` if lanes would access elements of other lanes.
    /// `offsets` has the offset of each element.
    fn price(
        &self,
        (bytes, is_copy): (u64, bool),
        offsets: &[u64],
        element_bytes: u64,
        target: &TargetDescription,
    ) -> Option<f64> {
        let together = bytes / element_bytes;
        let places: Vec<Vec<u64>> =
            self.elements().iter().map(|lane| lane.iter().map(|&at| offsets[at as usize]).collect()).collect();
        let slot = |place: u64| place - place % together;
        for lane in &places {
            let is_in_lane = |&place: &u64| (0..together).all(|at| lane.contains(&(slot(place) + at)));
            // Copies do not rename registers, and no access renames them in one lane but not in another.
            let in_order = |(register, &place): (usize, &u64)| {
                let first = register - register % together as usize;
                place % together == register as u64 % together && slot(lane[first]) == slot(place)
            };
            let as_in_first = lane.iter().zip(&places[0]).all(|(own, first)| own % together == first % together);
            if !lane.iter().all(is_in_lane) || !as_in_first || is_copy && !lane.iter().enumerate().all(in_order) {
                return None;
            }
        }
        let firsts: Vec<usize> =
            (0..places[0].len()).filter(|&register| places[0][register].is_multiple_of(together)).collect();
        let row = target.find_bank_row(self.direction, 8 * bytes as u32)?;
        let wavefronts: u64 = firsts
            .iter()
            .map(|&register| {
                let addresses: Vec<_> = places.iter().map(|lane| Some(lane[register] * element_bytes)).collect();
                count_access_wavefronts(row, &addresses, bytes as u32)
            })
            .sum();
        let times = if self.from_global && !is_copy { 2.0 } else { 1.0 };
        Some(self.weight as f64 * (wavefronts as f64 + times * ISSUE * firsts.len() as f64))
    }
}

/// Returns the least price of all accesses over all memory layouts, each with the alternatives that `allows` keeps; `None` if no
/// layout serves them all.
fn least(
    accesses: &[Access],
    allows: impl Fn(&Access, (u64, bool)) -> bool,
    memories: &[[u64; 1 << BITS]],
    element_bytes: u64,
    target: &TargetDescription,
) -> Option<f64> {
    let price = |memory: &[u64; 1 << BITS]| {
        let mut offsets = [0u64; 1 << BITS];
        memory.iter().enumerate().for_each(|(offset, element)| offsets[*element as usize] = offset as u64);
        accesses.iter().try_fold(0.0, |sum, access| {
            let alternatives = access.alternatives.iter().filter(|alternative| allows(access, **alternative));
            let prices =
                alternatives.filter_map(|alternative| access.price(*alternative, &offsets, element_bytes, target));
            Some(sum + prices.min_by(f64::total_cmp)?)
        })
    };
    memories.iter().filter_map(price).min_by(f64::total_cmp)
}

fn order() -> impl Strategy<Value = Vec<u32>> {
    Just((0..BITS as u32).collect::<Vec<_>>()).prop_shuffle()
}

/// Returns the accesses of a buffer as the solver takes them, each with the alternatives of the test's access.
fn posed<'a>(accesses: &[Access], context: &PlanContext<'a>) -> Vec<TensorAccess<'a>> {
    let pose = |(index, access): (usize, &Access)| {
        let (name, layout) = (format!("access {index}"), distributed(&access.order));
        let posed = match (access.from_global, access.direction) {
            (true, _) => TensorAccess::global_to_shared_copy(&name, layout, context),
            (false, Direction::Store) => TensorAccess::store(&name, layout, context),
            (false, Direction::Load) => TensorAccess::load(&name, layout, context),
        };
        let allowed = |alternative: (u64, bool)| access.alternatives.contains(&alternative);
        posed
            .with_weight(access.weight)
            .with_retained_alternatives(|one| allowed((one.bytes(), one.instruction().is_some())))
    };
    accesses.iter().enumerate().map(pose).collect()
}

/// Alternatives of plain accesses of these widths, in bytes.
fn plain(widths: &[u64]) -> Vec<(u64, bool)> {
    widths.iter().map(|&bytes| (bytes, false)).collect()
}

/// Solves the buffer of the accesses, and returns the price.
fn solve(
    accesses: &[Access],
    element_bytes: u64,
    target: &TargetDescription,
) -> Result<f64, Box<MemorySynthesisError>> {
    let rows: Vec<Instruction> = [16, 8, 4].map(copy).to_vec();
    let context = PlanContext::new(target).with_instructions(&rows);
    let config = LaunchConfig { context, families: &NeutralFamilies, lanes: 4, warps: 1 };
    let tensor = SharedTensor::new(&[4, 4], 8 * element_bytes as u32);
    Ok(SharedBuffer::new(tensor, posed(accesses, &context), Vec::new()).solve(&config)?.price)
}

/// Non-empty sets of access widths of 1, 2 and 4 elements.
fn widths() -> impl Strategy<Value = Vec<u64>> {
    prop::sample::subsequence(vec![4u64, 8, 16], 1..=3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A layout serves all stores and loads exactly if one of all layouts does, and no layout is cheaper.
    #[test]
    fn plain_buffers_have_the_cheapest_of_all_layouts(
        orders in prop::collection::vec((order(), any::<bool>(), widths(), 1..4u64), 2..4),
    ) {
        let (target, memories) = (tiny(), all_memories());
        let access = |(order, is_store, widths, weight): (Vec<u32>, bool, Vec<u64>, u64)| {
            let direction = if is_store { Direction::Store } else { Direction::Load };
            Access { order, direction, alternatives: plain(&widths), weight, from_global: false }
        };
        let accesses: Vec<Access> = orders.into_iter().map(access).collect();
        let expected = least(&accesses, |_, _| true, &memories, 4, &target);
        match (solve(&accesses, 4, &target), expected) {
            (Ok(price), Some(expected)) => prop_assert_eq!(price, expected),
            (Err(_), None) => {}
            (found, expected) => prop_assert!(false, "{:?}, but by brute force {:?}", found.map_err(|e| e.to_string()), expected),
        }
    }

    /// Asynchronous copies fill the buffer as wide as any layout allows; if they or the loads have bank conflicts then,
    /// the cheapest layout of all accesses that are at least as wide is taken.
    #[test]
    fn filled_buffers_have_the_widest_copies_or_the_cheapest_layout(
        (filled, copies, stores) in (order(), widths(), widths()),
        (loaded, loads, weight) in (order(), widths(), 1..4u64),
    ) {
        let (target, memories) = (tiny(), all_memories());
        let fills = copies.iter().map(|&bytes| (bytes, true)).chain(plain(&stores)).collect();
        let accesses = [
            Access { order: filled, direction: Direction::Store, alternatives: fills, weight: 1, from_global: true },
            Access { order: loaded, direction: Direction::Load, alternatives: plain(&loads), weight, from_global: false },
        ];
        let by = |allows: &dyn Fn((u64, bool)) -> bool| {
            least(&accesses, |access, alternative| !access.from_global || allows(alternative), &memories, 4, &target)
        };
        let widest = copies.iter().rev().find_map(|&width| Some((width, by(&|alternative| alternative == (width, true))?)));
        let expected = match widest {
            Some((width, price)) => {
                let other = by(&|(bytes, is_copy)| !is_copy || bytes >= width).unwrap_or(price);
                vec![price, price.min(other)]
            }
            None => by(&|_| true).into_iter().collect(),
        };
        match solve(&accesses, 4, &target) {
            Ok(price) => prop_assert!(expected.contains(&price), "{} of {:?}", price, expected),
            Err(error) => prop_assert!(expected.is_empty(), "{}, but by brute force {:?}", error, expected),
        }
    }
}
/// Checks a buffer in which a swizzle of the bit within an 8-byte copy would save bank conflicts of the loads: it would
/// also reverse the words of some copies, which no copy can do.
#[test]
fn copies_keep_the_order_of_registers() {
    let (target, memories) = (tiny(), all_memories());
    let fills = vec![(8, true), (16, false)];
    let accesses = [
        Access {
            order: vec![1, 0, 2, 3],
            direction: Direction::Store,
            alternatives: fills,
            weight: 1,
            from_global: true,
        },
        Access {
            order: vec![2, 1, 0, 3],
            direction: Direction::Load,
            alternatives: plain(&[4]),
            weight: 1,
            from_global: false,
        },
    ];
    let expected = least(&accesses, |_, _| true, &memories, 4, &target);
    assert_eq!(solve(&accesses, 4, &target).ok(), expected);
}
