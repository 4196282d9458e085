//! Kernels that tests of this crate and of the vendors' crates compile.

use crate::prelude::*;
use tilewright_kernel::ClockCounter;

pub const GLOBAL_POINTER: Type = Type::Pointer(MemorySpace::Global);
pub const WORD: Type = Type::Scalar(Element::I32);
pub const BIT: Type = Type::Scalar(Element::I1);
pub const QUAD: Type = Type::Vector(Element::I32, 4);

pub const INTEGER_OPERATIONS: [Binary; 11] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::ShrU,
    Binary::ShrS,
    Binary::DivU,
    Binary::RemU,
];
pub const FLOAT_OPERATIONS: [Binary; 3] = [Binary::FAdd, Binary::FSub, Binary::FMul];
pub const INTEGER_COMPARISONS: [Compare; 6] =
    [Compare::Eq, Compare::Ne, Compare::LtU, Compare::LeU, Compare::LtS, Compare::LeS];

pub fn module(kernels: Vec<Kernel>) -> Module {
    Module { kernels }
}

/// Emits `bytes` times the index of the executing lane in its block.
pub fn own_offset(k: &mut Builder, bytes: u32) -> Value {
    let lanes = k.launch().lanes;
    let lane = k.special(SpecialRegister::Lane);
    let warp = k.special(SpecialRegister::Warp);
    let first = k.binary_const(Binary::Mul, warp, lanes);
    let index = k.binary(Binary::Add, first, lane);
    k.binary_const(Binary::Mul, index, bytes)
}

/// Emits the address `base` plus [`own_offset`], which is different in each lane of the block.
pub fn own_address(k: &mut Builder, base: Value, bytes: u32) -> Value {
    let offset = own_offset(k, bytes);
    k.ptr_add(base, offset)
}

/// Returns a kernel whose lanes each copy 32 bytes by two accesses of 16 bytes.
pub fn copy(launch: StaticLaunchConfig) -> Kernel {
    let mut k = Builder::new("copy", launch, &[("from", GLOBAL_POINTER), ("to", GLOBAL_POINTER)]);
    let (from, to) = (k.parameter(0), k.parameter(1));
    let from = own_address(&mut k, from, 32);
    let to = own_address(&mut k, to, 32);
    for offset in [0, 16] {
        let value = k.load(QUAD, from, offset, None);
        k.store(to, offset, value, None);
    }
    k.finish()
}

/// Returns a kernel whose lanes each store two values of 16 bytes to shared memory and, after a barrier of the given
/// scope, load the values of the lane with the mirrored index.
pub fn through_shared(launch: StaticLaunchConfig, scope: CollectiveScope) -> Kernel {
    let mut k = Builder::new("through_shared", launch, &[("from", GLOBAL_POINTER), ("to", GLOBAL_POINTER)]);
    let lanes = launch.lanes * launch.warps;
    let shared = k.shared_buffer(lanes * 32, 16);
    let (from, to) = (k.parameter(0), k.parameter(1));
    let from = own_address(&mut k, from, 32);
    let to = own_address(&mut k, to, 32);
    let address_of_thread = own_address(&mut k, shared, 16);
    let lane = k.special(SpecialRegister::Lane);
    let mirror = k.binary_const(Binary::Xor, lane, launch.lanes - 1);
    let mirror = k.binary_const(Binary::Mul, mirror, 16);
    let other = k.ptr_add(shared, mirror);
    let half = (lanes * 16) as i32;
    for (half_index, offset) in [0, 16].into_iter().enumerate() {
        let value = k.load(QUAD, from, offset, None);
        k.store(address_of_thread, half_index as i32 * half, value, None);
    }
    k.barrier(scope);
    for (half_index, offset) in [0, 16].into_iter().enumerate() {
        let value = k.load(QUAD, other, half_index as i32 * half, None);
        k.store(to, offset, value, None);
    }
    k.finish()
}

/// Returns a kernel, `clocks`, that stores the cycles twice and the time once, each read by its own operation.
pub fn read_clocks(launch: StaticLaunchConfig) -> Kernel {
    let mut k = Builder::new("clocks", launch, &[("to", GLOBAL_POINTER)]);
    let to = k.parameter(0);
    let counters = [ClockCounter::Cycles, ClockCounter::Time, ClockCounter::Cycles];
    for (counter, offset) in counters.into_iter().zip([0, 8, 16]) {
        let now = k.clock(counter);
        k.store(to, offset, now, None);
    }
    k.finish()
}

/// Returns a kernel whose lanes each get an integer and a float from lane i xor `mask`, by an indexed shuffle.
pub fn shuffle(launch: StaticLaunchConfig, mask: u32) -> Kernel {
    let mut k = Builder::new("exchange", launch, &[("at", GLOBAL_POINTER)]);
    let at = k.parameter(0);
    let at = own_address(&mut k, at, 8);
    let lane = k.special(SpecialRegister::Lane);
    let partner = k.binary_const(Binary::Xor, lane, mask);
    for (offset, element) in [(0, Element::I32), (4, Element::F32)] {
        let value = k.load(Type::Scalar(element), at, offset, None);
        let value = k.shuffle(value, partner);
        k.store(at, offset, value, None);
    }
    k.finish()
}

/// Returns a kernel like [`shuffle`], but with a shuffle that has the xor mask as an immediate.
pub fn shuffle_xor(launch: StaticLaunchConfig, mask: u32) -> Kernel {
    let mut k = Builder::new("exchange_xor", launch, &[("at", GLOBAL_POINTER)]);
    let at = k.parameter(0);
    let at = own_address(&mut k, at, 8);
    for (offset, element) in [(0, Element::I32), (4, Element::F32)] {
        let value = k.load(Type::Scalar(element), at, offset, None);
        let value = k.shuffle_xor(value, mask);
        k.store(at, offset, value, None);
    }
    k.finish()
}

/// Returns a kernel whose lanes with an index below `bound` each add one to a 32-bit word in memory.
pub fn predicated(launch: StaticLaunchConfig) -> Kernel {
    let mut k = Builder::new("predicated", launch, &[("at", GLOBAL_POINTER), ("bound", WORD)]);
    let (at, bound) = (k.parameter(0), k.parameter(1));
    let at = own_address(&mut k, at, 4);
    let lane = k.special(SpecialRegister::Lane);
    let inside = k.compare(Compare::LtU, lane, bound);
    let value = k.load(WORD, at, 0, Some(inside));
    let value = k.binary_const(Binary::Add, value, 1);
    k.store(at, 0, value, Some(inside));
    k.finish()
}

/// Returns a kernel that permutes bytes: bytes 0 to 3 of the result are bytes 1 and 2 of the first word and bytes 0 and
/// 3 of the second.
pub fn permute(launch: StaticLaunchConfig) -> Kernel {
    let mut k = Builder::new("permute", launch, &[("at", GLOBAL_POINTER)]);
    let at = k.parameter(0);
    let at = own_address(&mut k, at, 8);
    let a = k.load(WORD, at, 0, None);
    let b = k.load(WORD, at, 4, None);
    let mixed = k.value(WORD, Op::PermuteBytes { a, b, selector: 0x7421, alternative: None });
    k.store(at, 0, mixed, None);
    k.finish()
}

/// Returns a kernel that sums `count` words in a loop, and stores the sum if it is even, otherwise its negative.
pub fn loop_and_branch(launch: StaticLaunchConfig) -> Kernel {
    let mut k = Builder::new("loop_and_branch", launch, &[("at", GLOBAL_POINTER), ("count", WORD)]);
    let (at, count) = (k.parameter(0), k.parameter(1));
    let (zero, one) = (k.i32(0), k.i32(1));
    let arguments = k.begin_region(&[WORD, WORD]);
    let offset = k.binary_const(Binary::Mul, arguments[0], 4);
    let word = k.ptr_add(at, offset);
    let word = k.load(WORD, word, 0, None);
    let sum = k.binary(Binary::Add, arguments[1], word);
    let body = k.end_region(&[sum]);
    let sum = k.for_loop(zero, count, one, &[zero], body)[0];
    let odd = k.binary_const(Binary::And, sum, 1);
    let even = k.compare(Compare::Eq, odd, zero);
    k.begin_region(&[]);
    let then = k.end_region(&[sum]);
    k.begin_region(&[]);
    let negative = k.binary(Binary::Sub, zero, sum);
    let otherwise = k.end_region(&[negative]);
    let result = k.if_else(even, then, otherwise, &[WORD])[0];
    let address_of_thread = own_address(&mut k, at, 4);
    k.store(address_of_thread, 0, result, None);
    k.finish()
}

/// Returns a kernel with arithmetic on scalars and vectors of every element type, and with comparisons, selects, casts,
/// packs and unpacks. It stores each result.
pub fn elementwise_ops(launch: StaticLaunchConfig) -> Kernel {
    let mut k = Builder::new(
        "everything",
        launch,
        &[("from", GLOBAL_POINTER), ("to", GLOBAL_POINTER), ("scale", Type::Scalar(Element::F16))],
    );
    let (from, to) = (k.parameter(0), k.parameter(1));
    let axes: Vec<Value> = (0..3).map(|axis| k.special(SpecialRegister::Program(axis))).collect();
    let mut byte_offset = 0;
    let mut keep = |k: &mut Builder, value: Value| {
        k.store(to, byte_offset, value, None);
        byte_offset += 32;
    };
    for axis in axes {
        keep(&mut k, axis);
    }
    for element in Element::ALL {
        for count in [1, 2, 4] {
            if element == Element::I1 && count > 1 {
                continue;
            }
            let ty = Type::vector_or_scalar(element, count);
            let a = k.load(ty, from, 0, None);
            let b = k.load(ty, from, 32, None);
            let operations: &[Binary] = if element.is_float() { &FLOAT_OPERATIONS } else { &INTEGER_OPERATIONS };
            for &op in operations {
                let value = k.binary(op, a, b);
                keep(&mut k, value);
            }
            if element.is_float() && element != Element::Bf16 {
                let value = k.fma(a, b, a);
                keep(&mut k, value);
            }
            if element.is_float() {
                let value = k.value(ty, Op::Unary { op: Unary::FNeg, a });
                keep(&mut k, value);
                let bits = Type::vector_or_scalar(Element::integer_of_width(element.bits()).unwrap(), count);
                let value = k.cast(Cast::Bits, a, bits);
                keep(&mut k, value);
            } else if count == 1 {
                for op in INTEGER_COMPARISONS {
                    let holds = k.compare(op, a, b);
                    let value = k.select(holds, a, b);
                    keep(&mut k, value);
                }
                widths(&mut k, a, element, &mut keep);
            } else {
                let holds = k.compare(Compare::LtU, a, b);
                let holds = k.extract(holds, 1);
                let value = k.select(holds, a, b);
                keep(&mut k, value);
                let elements: Vec<Value> = (0..count).rev().map(|index| k.extract(value, index)).collect();
                let value = k.pack(&elements);
                keep(&mut k, value);
            }
        }
    }
    let scale = k.parameter(2);
    keep(&mut k, scale);
    k.finish()
}

fn widths(k: &mut Builder, a: Value, element: Element, keep: &mut impl FnMut(&mut Builder, Value)) {
    for other in Element::ALL.into_iter().filter(|other| !other.is_float()) {
        let ty = Type::Scalar(other);
        if other.bits() < element.bits() {
            let value = k.cast(Cast::Truncate, a, ty);
            keep(k, value);
        } else if other.bits() > element.bits() {
            for op in [Cast::ExtendU, Cast::ExtendS] {
                let value = k.cast(op, a, ty);
                keep(k, value);
            }
        }
    }
}

/// Returns a module with one kernel of each of the functions above.
pub fn all(launch: StaticLaunchConfig) -> Module {
    module(vec![
        copy(launch),
        through_shared(launch, CollectiveScope::Block),
        shuffle(launch, launch.lanes - 1),
        shuffle_xor(launch, launch.lanes - 1),
        predicated(launch),
        permute(launch),
        loop_and_branch(launch),
        elementwise_ops(launch),
    ])
}

/// Returns the description of an invented target with this architecture and these choices of lanes per warp.
pub fn build_fake_target(architecture: &str, lanes: &[u32]) -> TargetDescription {
    let mut target = TargetDescription::from_toml("target.toml", include_str!("target.toml")).unwrap();
    target.architecture = architecture.to_owned();
    target.lanes.default = lanes[0];
    target.lanes.choices = lanes.to_vec();
    target
}

/// Returns the lines of assembly from the label `begin` up to the text `end`, without comments.
pub fn extract_lines_between<'a>(assembly: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    let start = assembly.find(begin).unwrap_or_else(|| panic!("no `{begin}` in:\n{assembly}"));
    let rest = &assembly[start..];
    let length = rest.find(end).unwrap_or(rest.len());
    rest[..length].lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with(';')).collect()
}

/// Returns the number of lines that begin with a mnemonic.
pub fn count(lines: &[&str], mnemonic: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(mnemonic)).count()
}
