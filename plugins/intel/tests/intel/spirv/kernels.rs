//! Kernels that together use every operation and type, and a target to compile them for.

use crate::validated_target::{self, ValidatedTarget};
pub use tilewright_vendor_testkit::kernels::GLOBAL_POINTER;
use tilewright_vendor_testkit::kernels::{self, FLOAT_OPERATIONS, INTEGER_OPERATIONS, own_address, own_offset};
use tilewright_vendor_testkit::prelude::*;

/// Returns a target of an architecture, for tests; its costs are arbitrary.
pub fn description(architecture: &str) -> TargetDescription {
    // The narrowest vector engine has the narrowest sub-groups.
    let lanes: &[u32] = if architecture == "dg2" { &[8, 16, 32] } else { &[16, 32] };
    let mut description = kernels::build_fake_target(architecture, lanes);
    description.lanes.default = 16;
    description.shared.banks[0].phase = vec![1, 2, 4, 8];
    (description.shared.bytes, description.shared.static_bytes) = (131_072, 131_072);
    description
}

pub fn target(architecture: &str) -> ValidatedTarget {
    ValidatedTarget::new(description(architecture)).expect("the architecture is served")
}

pub fn module(kernel: Kernel) -> Module {
    Module { kernels: vec![kernel] }
}

pub fn compile(module: &Module) -> Result<Artifact, CompileError> {
    target("pvc").compile(module, &CompileOptions::default())
}

pub fn words(artifact: &Artifact) -> Vec<u32> {
    validated_target::words(&artifact.payload(CodeFormat::Object).expect("the object was asked for").bytes)
}

pub const I1: Type = Type::Scalar(Element::I1);
pub const I32: Type = Type::Scalar(Element::I32);
pub const I64: Type = Type::Scalar(Element::I64);

/// Begins a kernel of two warps with a pointer to an input and one to an output.
pub fn begin(name: &str, lanes: u32) -> Builder {
    Builder::new(name, StaticLaunchConfig::new(lanes, 2), &[("in", GLOBAL_POINTER), ("out", GLOBAL_POINTER)])
}

/// Returns the address of this lane's `bytes` bytes in the buffer of a pointer parameter.
pub fn address_of_thread(b: &mut Builder, parameter: u32, bytes: u32) -> Value {
    let base = b.parameter(parameter);
    own_address(b, base, bytes)
}

/// Returns a kernel: every lane copies four 32-bit words.
pub fn copy(lanes: u32) -> Module {
    let mut b = begin("copy", lanes);
    let (from, to) = (address_of_thread(&mut b, 0, 16), address_of_thread(&mut b, 1, 16));
    let value = b.load(Type::Vector(Element::I32, 4), from, 0, None);
    b.store(to, 0, value, None);
    module(b.finish())
}

/// Returns a kernel: every lane gets two words from the lane whose index differs in the lowest bit, by an indexed
/// shuffle.
pub fn shuffle(lanes: u32) -> Module {
    module(kernels::shuffle(StaticLaunchConfig::new(lanes, 2), 1))
}

/// Returns a kernel as [`shuffle`] does, but with a shuffle by an xor mask.
pub fn shuffle_xor(lanes: u32) -> Module {
    module(kernels::shuffle_xor(StaticLaunchConfig::new(lanes, 2), 1))
}

/// Returns a kernel: every lane gets, through shared memory, the word of the opposite lane of the block.
pub fn shared(lanes: u32) -> Module {
    let mut b = begin("shared", lanes);
    let from = address_of_thread(&mut b, 0, 4);
    let value = b.load(I32, from, 0, None);
    let first = b.shared_buffer(64, 16);
    let buffer = b.shared_buffer(2 * lanes * 4, 64);
    let own_offset = own_offset(&mut b, 4);
    let address = b.ptr_add(buffer, own_offset);
    b.store(address, 0, value, None);
    b.store(first, 4, value, None);
    b.barrier(CollectiveScope::Block);
    let last = b.i32(2 * lanes * 4 - 4);
    let opposite = b.binary(Binary::Sub, last, own_offset);
    let address = b.ptr_add(buffer, opposite);
    let value = b.load(I32, address, 0, None);
    b.barrier(CollectiveScope::Warp);
    let to = address_of_thread(&mut b, 1, 4);
    b.store(to, 0, value, None);
    module(b.finish())
}

/// Returns a kernel with predicates: the first `count` lanes of the block double their word, the next `count` write
/// zero, and the others write nothing.
pub fn predicated(lanes: u32) -> Module {
    let parameters = [("in", GLOBAL_POINTER), ("out", GLOBAL_POINTER), ("count", I32)];
    let mut b = Builder::new("predicated", StaticLaunchConfig::new(lanes, 2), &parameters);
    let index = own_offset(&mut b, 1);
    let count = b.parameter(2);
    let within = b.compare(Compare::LtU, index, count);
    let (from, to) = (address_of_thread(&mut b, 0, 4), address_of_thread(&mut b, 1, 4));
    let value = b.load(I32, from, 0, Some(within));
    let doubled = b.binary(Binary::Add, value, value);
    let twice = b.binary(Binary::Add, count, count);
    let stored = b.compare(Compare::LtU, index, twice);
    b.store(to, 0, doubled, Some(stored));
    module(b.finish())
}

/// Returns a kernel whose lanes load a vector or scalar and store it if their index is below `count`; the others neither
/// load nor store, and their value is unspecified.
pub fn unspecified(lanes: u32, element: Element, count: u32) -> Module {
    let parameters = [("in", GLOBAL_POINTER), ("out", GLOBAL_POINTER), ("count", I32)];
    let mut b = Builder::new("unspecified", StaticLaunchConfig::new(lanes, 2), &parameters);
    let ty = Type::vector_or_scalar(element, count);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (address_of_thread(&mut b, 0, bytes), address_of_thread(&mut b, 1, bytes));
    let (index, limit) = (own_offset(&mut b, 1), b.parameter(2));
    let within = b.compare(Compare::LtU, index, limit);
    b.begin_region(&[]);
    let loaded = b.load(ty, from, 0, None);
    let then = b.end_region(&[loaded]);
    b.begin_region(&[]);
    let other = b.unspecified(ty);
    let otherwise = b.end_region(&[other]);
    let value = b.if_else(within, then, otherwise, &[ty])[0];
    b.store(to, 0, value, Some(within));
    module(b.finish())
}

/// Returns a kernel that sums `in[i] + i` over `i` in 0, 3, ... below `bound`, multiplied by five in lanes with an odd
/// index. The loop also carries a vector that doubles in each iteration.
pub fn loops(lanes: u32) -> Module {
    let parameters = [("in", GLOBAL_POINTER), ("out", GLOBAL_POINTER), ("bound", I32), ("step", I32)];
    let mut b = Builder::new("loops", StaticLaunchConfig::new(lanes, 2), &parameters);
    let pair = Type::Vector(Element::I32, 2);
    let (zero, ones) = (b.i32(0), b.constant(pair, 1));
    let arguments = b.begin_region(&[I32, I32, pair]);
    let (index, sum, vector) = (arguments[0], arguments[1], arguments[2]);
    let bytes = b.binary_const(Binary::Mul, index, 4);
    let input = b.parameter(0);
    let from = b.ptr_add(input, bytes);
    let value = b.load(I32, from, 0, None);
    let value = b.binary(Binary::Add, value, index);
    let sum = b.binary(Binary::Add, sum, value);
    let vector = b.binary(Binary::Add, vector, vector);
    let body = b.end_region(&[sum, vector]);
    let (to, step) = (b.parameter(2), b.parameter(3));
    let results = b.for_loop(zero, to, step, &[zero, ones], body);
    let lane = b.special(SpecialRegister::Lane);
    let odd = b.binary_const(Binary::And, lane, 1);
    let odd = b.compare(Compare::Ne, odd, zero);
    b.begin_region(&[]);
    let product = b.binary_const(Binary::Mul, results[0], 5);
    let then = b.end_region(&[product]);
    b.begin_region(&[]);
    let otherwise = b.end_region(&[results[0]]);
    let sum = b.if_else(odd, then, otherwise, &[I32]);
    let to = address_of_thread(&mut b, 1, 16);
    b.store(to, 0, sum[0], None);
    b.store(to, 8, results[1], None);
    module(b.finish())
}

/// Returns a kernel with a loop with constant bounds around a conditional around a barrier.
pub fn nested(lanes: u32) -> Module {
    let mut b = begin("nested", lanes);
    let buffer = b.shared_buffer(2 * lanes * 4, 16);
    let offset = own_offset(&mut b, 4);
    let address = b.ptr_add(buffer, offset);
    let (from, to) = (address_of_thread(&mut b, 0, 4), address_of_thread(&mut b, 1, 4));
    let value = b.load(I32, from, 0, None);
    let (start, bound, step) = (b.i32(1), b.i32(7), b.i32(2));
    let arguments = b.begin_region(&[I32, I32]);
    b.store(address, 0, arguments[1], None);
    b.barrier(CollectiveScope::Block);
    let five = b.i32(5);
    let below = b.compare(Compare::LtU, arguments[0], five);
    b.begin_region(&[]);
    let loaded = b.load(I32, address, 0, None);
    let more = b.binary(Binary::Add, loaded, arguments[0]);
    b.barrier(CollectiveScope::Warp);
    let then = b.end_region(&[more]);
    b.begin_region(&[]);
    let otherwise = b.end_region(&[arguments[1]]);
    let next = b.if_else(below, then, otherwise, &[I32]);
    b.barrier(CollectiveScope::Block);
    let body = b.end_region(&[next[0]]);
    let result = b.for_loop(start, bound, step, &[value], body);
    b.store(to, 0, result[0], None);
    module(b.finish())
}

/// Selectors of the byte permutes that a kernel applies to the lane's two words.
pub const SELECTORS: [u16; 8] = [0x3210, 0x7654, 0x5410, 0x0123, 0x7531, 0x0000, 0x4567, 0x2637];

pub fn permutes(lanes: u32) -> Module {
    let mut b = begin("permutes", lanes);
    let bytes = 4 * SELECTORS.len() as u32;
    let (from, to) = (address_of_thread(&mut b, 0, 8), address_of_thread(&mut b, 1, bytes));
    let low = b.load(I32, from, 0, None);
    let high = b.load(I32, from, 4, None);
    for (index, selector) in (0..).zip(SELECTORS) {
        let permuted = b.value(I32, Op::PermuteBytes { a: low, b: high, selector, alternative: None });
        b.store(to, 4 * index, permuted, None);
    }
    module(b.finish())
}

/// Returns a kernel that applies one binary operation to the lane's two vectors of an element type.
pub fn binary(lanes: u32, op: Binary, element: Element, count: u32) -> Module {
    let mut b = begin("binary", lanes);
    let ty = Type::vector_or_scalar(element, count);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (address_of_thread(&mut b, 0, 2 * bytes), address_of_thread(&mut b, 1, bytes));
    let left = b.load(ty, from, 0, None);
    let right = b.load(ty, from, bytes as i32, None);
    let result = b.binary(op, left, right);
    b.store(to, 0, result, None);
    module(b.finish())
}

/// Returns a kernel that multiplies a value with itself and adds it, rounded once (`fma`).
pub fn multiply_add(lanes: u32, element: Element, count: u32) -> Module {
    let mut b = begin("multiply_add", lanes);
    let ty = Type::vector_or_scalar(element, count);
    let bytes = ty.bits() / 8;
    let (from, to) = (address_of_thread(&mut b, 0, bytes), address_of_thread(&mut b, 1, bytes));
    let a = b.load(ty, from, 0, None);
    let result = b.fma(a, a, a);
    b.store(to, 0, result, None);
    module(b.finish())
}

/// Returns a kernel that negates a vector.
pub fn negation(lanes: u32, element: Element, count: u32) -> Module {
    let mut b = begin("negation", lanes);
    let ty = Type::vector_or_scalar(element, count);
    let bytes = ty.bits() / 8;
    let (from, to) = (address_of_thread(&mut b, 0, bytes), address_of_thread(&mut b, 1, bytes));
    let a = b.load(ty, from, 0, None);
    let result = b.value(ty, Op::Unary { op: Unary::FNeg, a });
    b.store(to, 0, result, None);
    module(b.finish())
}

/// Returns a kernel with all comparisons of two integers, each stored as a byte, and a select of two vectors by "less".
pub fn compares(lanes: u32, element: Element) -> Module {
    let mut b = begin("compares", lanes);
    let ty = Type::Scalar(element);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (address_of_thread(&mut b, 0, 2 * bytes), address_of_thread(&mut b, 1, 16));
    let left = b.load(ty, from, 0, None);
    let right = b.load(ty, from, bytes as i32, None);
    for (index, op) in (0..).zip(kernels::INTEGER_COMPARISONS) {
        let condition = b.compare(op, left, right);
        let byte = b.cast(Cast::ExtendU, condition, Type::Scalar(Element::I8));
        b.store(to, index, byte, None);
    }
    let less = b.compare(Compare::LtU, left, right);
    let pair = Type::Vector(Element::I32, 2);
    let (a, c) = (b.constant(pair, 17), b.constant(pair, 23));
    let chosen = b.select(less, a, c);
    b.store(to, 8, chosen, None);
    module(b.finish())
}

/// Returns a kernel that casts one value in memory.
pub fn cast(lanes: u32, op: Cast, from: Type, to: Type) -> Module {
    let mut b = begin("cast", lanes);
    let bytes = |ty: Type| ty.bits().div_ceil(8);
    let (source, sink) = (address_of_thread(&mut b, 0, bytes(from)), address_of_thread(&mut b, 1, bytes(to)));
    let value = b.load(from, source, 0, None);
    let value = b.cast(op, value, to);
    b.store(sink, 0, value, None);
    module(b.finish())
}

/// Returns a kernel for each cast between scalars and small vectors.
pub fn casts(lanes: u32) -> Vec<Module> {
    let integers = [Element::I1, Element::I8, Element::I16, Element::I32, Element::I64];
    let mut modules = Vec::new();
    for from in integers {
        for to in integers {
            for count in [1, 4] {
                let ops: &[Cast] =
                    if from.bits() < to.bits() { &[Cast::ExtendU, Cast::ExtendS] } else { &[Cast::Truncate] };
                modules.extend(ops.iter().map(|&op| {
                    cast(lanes, op, Type::vector_or_scalar(from, count), Type::vector_or_scalar(to, count))
                }));
            }
        }
    }
    for from in Element::ALL {
        for to in Element::ALL {
            for bits in [64, 512] {
                let (from, to) =
                    (Type::vector_or_scalar(from, bits / from.bits()), Type::vector_or_scalar(to, bits / to.bits()));
                modules.push(cast(lanes, Cast::Bits, from, to));
            }
        }
    }
    modules
}

/// Returns a kernel that loads, unpacks, reverses, packs and stores a value, with accesses of this alignment.
pub fn reversal(lanes: u32, element: Element, count: u32, alignment: u32) -> Module {
    let mut b = begin("reversal", lanes);
    let ty = Type::vector_or_scalar(element, count);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (address_of_thread(&mut b, 0, bytes), address_of_thread(&mut b, 1, bytes));
    let value = b.value(ty, Op::Load { pointer: from, predicate: None, offset: 0, alignment, other: None });
    let elements: Vec<_> = (0..count).rev().map(|index| b.extract(value, index)).collect();
    let value = b.pack(&elements);
    b.effect(Op::Store { pointer: to, value, predicate: None, offset: 0, alignment });
    module(b.finish())
}

/// Returns a kernel that uses block indices, and 64-bit and negative pointer offsets.
pub fn blocks(lanes: u32) -> Module {
    let parameters = [("out", GLOBAL_POINTER), ("flag", I1), ("half", Type::Scalar(Element::F16)), ("wide", I64)];
    let mut b = Builder::new("blocks", StaticLaunchConfig::new(lanes, 1), &parameters);
    let axes = [0, 1, 2].map(|axis| b.special(SpecialRegister::Program(axis)));
    let block = b.cast(Cast::ExtendU, axes[0], I64);
    let bytes = b.constant(I64, 24);
    let bytes = b.binary(Binary::Mul, block, bytes);
    let out = b.parameter(0);
    let end = b.ptr_add(out, bytes);
    let back = b.i32(12u32.wrapping_neg());
    let end_bytes = b.i32(12);
    let there = b.ptr_add(end, end_bytes);
    let address = b.ptr_add(there, back);
    for (index, axis) in (0..).zip(axes) {
        b.store(address, 4 * index, axis, None);
    }
    let half = b.parameter(2);
    b.store(address, 12, half, None);
    let flag = b.parameter(1);
    b.store(address, 14, flag, None);
    b.store(there, 4, flag, None);
    let wide = b.parameter(3);
    let low = b.cast(Cast::Truncate, wide, I32);
    b.store(there, 8, low, Some(flag));
    module(b.finish())
}

/// Returns modules with at least one kernel of each kind above.
pub fn all(lanes: u32) -> Vec<Module> {
    let mut modules =
        vec![copy(lanes), shuffle(lanes), shuffle_xor(lanes), shared(lanes), predicated(lanes), loops(lanes)];
    modules.extend([nested(lanes), permutes(lanes), blocks(lanes)]);
    for element in Element::ALL {
        let operations = if element.is_float() { &FLOAT_OPERATIONS[..] } else { &INTEGER_OPERATIONS[..] };
        for &op in operations {
            modules.extend([1, 8, 32].map(|count| binary(lanes, op, element, count)));
        }
        if element.is_float() {
            modules.extend([1, 4].map(|count| negation(lanes, element, count)));
            if element != Element::Bf16 {
                modules.extend([1, 4].map(|count| multiply_add(lanes, element, count)));
            }
        } else {
            modules.push(compares(lanes, element));
        }
        modules.extend([1, 4, 32].map(|count| unspecified(lanes, element, count)));
        for count in [1, 2, 4, 8, 16, 32, 64] {
            modules.extend([1, 16].map(|alignment| reversal(lanes, element, count, alignment)));
        }
    }
    modules.extend(casts(lanes));
    modules
}

/// Joins the kernels of all modules in one module, under different names.
pub fn together(modules: &[Module]) -> Module {
    let mut kernels: Vec<Kernel> = modules.iter().flat_map(|module| module.kernels.iter().cloned()).collect();
    for (index, kernel) in kernels.iter_mut().enumerate() {
        kernel.name = format!("{}_{index}", kernel.name);
    }
    Module { kernels }
}
