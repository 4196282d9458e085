//! Kernels that together use every operation and type, and a product to compile them for.

use crate::validated_target::{self, ValidatedTarget};
pub use tilewright_vendor_testkit::kernels::GLOBAL;
use tilewright_vendor_testkit::kernels::{self, FLOAT_OPERATIONS, INTEGER_OPERATIONS, own_address, own_offset};
use tilewright_vendor_testkit::prelude::*;

/// A product of an architecture; its costs play no part here.
pub fn product(architecture: &str) -> TargetDescription {
    // The narrowest vector engine has the narrowest sub-groups.
    let lanes: &[u32] = if architecture == "dg2" { &[8, 16, 32] } else { &[16, 32] };
    let mut product = kernels::target(architecture, lanes);
    product.lanes.default = 16;
    product.shared.banks[0].phase = vec![1, 2, 4, 8];
    (product.shared.bytes, product.shared.static_bytes) = (131_072, 131_072);
    product
}

pub fn target(architecture: &str) -> ValidatedTarget {
    ValidatedTarget::new(product(architecture)).expect("the architecture is served")
}

pub fn module(kernel: Kernel) -> Module {
    Module { kernels: vec![kernel] }
}

pub fn compile(module: &Module) -> Result<Artifact, CompileError> {
    target("pvc").compile(module, &CompileOptions::default())
}

pub fn words(artifact: &Artifact) -> Vec<u32> {
    validated_target::words(&artifact.payload(Emit::Object).expect("the object was asked for").bytes)
}

pub const I1: Type = Type::Scalar(Element::I1);
pub const I32: Type = Type::Scalar(Element::I32);
pub const I64: Type = Type::Scalar(Element::I64);

/// Two warps of a kernel with an input and an output.
pub fn begin(name: &str, lanes: u32) -> Builder {
    Builder::new(name, Launch::new(lanes, 2), &[("in", GLOBAL), ("out", GLOBAL)])
}

/// Where this lane's own `bytes` bytes begin, from a parameter's address.
pub fn own(b: &mut Builder, parameter: u32, bytes: u32) -> Value {
    let base = b.parameter(parameter);
    own_address(b, base, bytes)
}

/// Every lane copies four 32-bit words.
pub fn copy(lanes: u32) -> Module {
    let mut b = begin("copy", lanes);
    let (from, to) = (own(&mut b, 0, 16), own(&mut b, 1, 16));
    let value = b.load(Type::Vector(Element::I32, 4), from, 0, None);
    b.store(to, 0, value, None);
    module(b.finish())
}

/// Every lane gets two words of the lane whose number differs in the lowest bit.
pub fn exchange(lanes: u32) -> Module {
    module(kernels::exchange(Launch::new(lanes, 2), 1))
}

/// The same by an exchange that names the difference.
pub fn exchange_xor(lanes: u32) -> Module {
    module(kernels::exchange_xor(Launch::new(lanes, 2), 1))
}

/// Every lane writes the word of the lane opposite it in the block, through shared memory.
pub fn shared(lanes: u32) -> Module {
    let mut b = begin("shared", lanes);
    let from = own(&mut b, 0, 4);
    let value = b.load(I32, from, 0, None);
    let first = b.shared_buffer(64, 16);
    let buffer = b.shared_buffer(2 * lanes * 4, 64);
    let own_offset = own_offset(&mut b, 4);
    let place = b.advance(buffer, own_offset);
    b.store(place, 0, value, None);
    b.store(first, 4, value, None);
    b.barrier(Scope::Block);
    let last = b.i32(2 * lanes * 4 - 4);
    let opposite = b.binary(Binary::Sub, last, own_offset);
    let place = b.advance(buffer, opposite);
    let value = b.load(I32, place, 0, None);
    b.barrier(Scope::Warp);
    let to = own(&mut b, 1, 4);
    b.store(to, 0, value, None);
    module(b.finish())
}

/// The first `count` lanes of the block double their word, the others write zero; those beyond twice
/// `count` write nothing.
pub fn predicated(lanes: u32) -> Module {
    let parameters = [("in", GLOBAL), ("out", GLOBAL), ("count", I32)];
    let mut b = Builder::new("predicated", Launch::new(lanes, 2), &parameters);
    let index = own_offset(&mut b, 1);
    let count = b.parameter(2);
    let within = b.compare(Compare::LtU, index, count);
    let (from, to) = (own(&mut b, 0, 4), own(&mut b, 1, 4));
    let value = b.load(I32, from, 0, Some(within));
    let doubled = b.binary(Binary::Add, value, value);
    let twice = b.binary(Binary::Add, count, count);
    let stored = b.compare(Compare::LtU, index, twice);
    b.store(to, 0, doubled, Some(stored));
    module(b.finish())
}

/// Sums `in[i] + i` over `i` in 0, 3, ... below `bound`, and in lanes with an odd number its product
/// with five; carries a vector round that doubles in each step.
pub fn loops(lanes: u32) -> Module {
    let parameters = [("in", GLOBAL), ("out", GLOBAL), ("bound", I32), ("step", I32)];
    let mut b = Builder::new("loops", Launch::new(lanes, 2), &parameters);
    let pair = Type::Vector(Element::I32, 2);
    let (zero, ones) = (b.i32(0), b.constant(pair, 1));
    let arguments = b.begin_region(&[I32, I32, pair]);
    let (index, sum, vector) = (arguments[0], arguments[1], arguments[2]);
    let bytes = b.binary_const(Binary::Mul, index, 4);
    let input = b.parameter(0);
    let from = b.advance(input, bytes);
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
    let to = own(&mut b, 1, 16);
    b.store(to, 0, sum[0], None);
    b.store(to, 8, results[1], None);
    module(b.finish())
}

/// A loop with constant bounds around a conditional around a barrier.
pub fn nested(lanes: u32) -> Module {
    let mut b = begin("nested", lanes);
    let buffer = b.shared_buffer(2 * lanes * 4, 16);
    let offset = own_offset(&mut b, 4);
    let place = b.advance(buffer, offset);
    let (from, to) = (own(&mut b, 0, 4), own(&mut b, 1, 4));
    let value = b.load(I32, from, 0, None);
    let (start, bound, step) = (b.i32(1), b.i32(7), b.i32(2));
    let arguments = b.begin_region(&[I32, I32]);
    b.store(place, 0, arguments[1], None);
    b.barrier(Scope::Block);
    let five = b.i32(5);
    let below = b.compare(Compare::LtU, arguments[0], five);
    b.begin_region(&[]);
    let loaded = b.load(I32, place, 0, None);
    let more = b.binary(Binary::Add, loaded, arguments[0]);
    b.barrier(Scope::Warp);
    let then = b.end_region(&[more]);
    b.begin_region(&[]);
    let otherwise = b.end_region(&[arguments[1]]);
    let next = b.if_else(below, then, otherwise, &[I32]);
    b.barrier(Scope::Block);
    let body = b.end_region(&[next[0]]);
    let result = b.for_loop(start, bound, step, &[value], body);
    b.store(to, 0, result[0], None);
    module(b.finish())
}

/// Byte permutes of the lane's two words.
pub const SELECTORS: [u16; 8] = [0x3210, 0x7654, 0x5410, 0x0123, 0x7531, 0x0000, 0x4567, 0x2637];

pub fn permutes(lanes: u32) -> Module {
    let mut b = begin("permutes", lanes);
    let bytes = 4 * SELECTORS.len() as u32;
    let (from, to) = (own(&mut b, 0, 8), own(&mut b, 1, bytes));
    let low = b.load(I32, from, 0, None);
    let high = b.load(I32, from, 4, None);
    for (index, selector) in (0..).zip(SELECTORS) {
        let permuted = b.value(I32, Op::PermuteBytes { a: low, b: high, selector, alternative: None });
        b.store(to, 4 * index, permuted, None);
    }
    module(b.finish())
}

/// One binary operation on the lane's two vectors of an element.
pub fn binary(lanes: u32, op: Binary, element: Element, count: u32) -> Module {
    let mut b = begin("binary", lanes);
    let ty = Type::of(element, count);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (own(&mut b, 0, 2 * bytes), own(&mut b, 1, bytes));
    let left = b.load(ty, from, 0, None);
    let right = b.load(ty, from, bytes as i32, None);
    let result = b.binary(op, left, right);
    b.store(to, 0, result, None);
    module(b.finish())
}

/// Products of a value with itself added to it, rounded once.
pub fn multiply_add(lanes: u32, element: Element, count: u32) -> Module {
    let mut b = begin("multiply_add", lanes);
    let ty = Type::of(element, count);
    let bytes = ty.bits() / 8;
    let (from, to) = (own(&mut b, 0, bytes), own(&mut b, 1, bytes));
    let a = b.load(ty, from, 0, None);
    let result = b.f_mul_add(a, a, a);
    b.store(to, 0, result, None);
    module(b.finish())
}

/// Negation of a vector.
pub fn negation(lanes: u32, element: Element, count: u32) -> Module {
    let mut b = begin("negation", lanes);
    let ty = Type::of(element, count);
    let bytes = ty.bits() / 8;
    let (from, to) = (own(&mut b, 0, bytes), own(&mut b, 1, bytes));
    let a = b.load(ty, from, 0, None);
    let result = b.value(ty, Op::Unary { op: Unary::FNeg, a });
    b.store(to, 0, result, None);
    module(b.finish())
}

/// All comparisons of two integers, each as a byte; and the selection by "less" of two vectors.
pub fn compares(lanes: u32, element: Element) -> Module {
    let mut b = begin("compares", lanes);
    let ty = Type::Scalar(element);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (own(&mut b, 0, 2 * bytes), own(&mut b, 1, 16));
    let left = b.load(ty, from, 0, None);
    let right = b.load(ty, from, bytes as i32, None);
    for (index, op) in (0..).zip(kernels::COMPARISONS) {
        let truth = b.compare(op, left, right);
        let byte = b.cast(Cast::ExtendU, truth, Type::Scalar(Element::I8));
        b.store(to, index, byte, None);
    }
    let less = b.compare(Compare::LtU, left, right);
    let pair = Type::Vector(Element::I32, 2);
    let (a, c) = (b.constant(pair, 17), b.constant(pair, 23));
    let chosen = b.select(less, a, c);
    b.store(to, 8, chosen, None);
    module(b.finish())
}

/// One cast of a value in memory.
pub fn cast(lanes: u32, op: Cast, from: Type, to: Type) -> Module {
    let mut b = begin("cast", lanes);
    let bytes = |ty: Type| ty.bits().div_ceil(8);
    let (source, sink) = (own(&mut b, 0, bytes(from)), own(&mut b, 1, bytes(to)));
    let value = b.load(from, source, 0, None);
    let value = b.cast(op, value, to);
    b.store(sink, 0, value, None);
    module(b.finish())
}

/// All casts that a kernel can do between scalars and small vectors.
pub fn casts(lanes: u32) -> Vec<Module> {
    let integers = [Element::I1, Element::I8, Element::I16, Element::I32, Element::I64];
    let mut modules = Vec::new();
    for from in integers {
        for to in integers {
            for count in [1, 4] {
                let ops: &[Cast] =
                    if from.bits() < to.bits() { &[Cast::ExtendU, Cast::ExtendS] } else { &[Cast::Truncate] };
                modules.extend(ops.iter().map(|&op| cast(lanes, op, Type::of(from, count), Type::of(to, count))));
            }
        }
    }
    for from in Element::ALL {
        for to in Element::ALL {
            for bits in [64, 512] {
                let (from, to) = (Type::of(from, bits / from.bits()), Type::of(to, bits / to.bits()));
                modules.push(cast(lanes, Cast::Bits, from, to));
            }
        }
    }
    modules
}

/// A value loaded, taken apart, turned round, packed and stored, at an alignment.
pub fn reversal(lanes: u32, element: Element, count: u32, alignment: u32) -> Module {
    let mut b = begin("reversal", lanes);
    let ty = Type::of(element, count);
    let bytes = ty.bits().div_ceil(8);
    let (from, to) = (own(&mut b, 0, bytes), own(&mut b, 1, bytes));
    let value = b.value(ty, Op::Load { pointer: from, predicate: None, offset: 0, alignment });
    let elements: Vec<_> = (0..count).rev().map(|index| b.extract(value, index)).collect();
    let value = b.pack(&elements);
    b.effect(Op::Store { pointer: to, value, predicate: None, offset: 0, alignment });
    module(b.finish())
}

/// Numbers of the block, and 64-bit and negative advances.
pub fn blocks(lanes: u32) -> Module {
    let parameters = [("out", GLOBAL), ("flag", I1), ("half", Type::Scalar(Element::F16)), ("wide", I64)];
    let mut b = Builder::new("blocks", Launch::new(lanes, 1), &parameters);
    let axes = [0, 1, 2].map(|axis| b.special(SpecialRegister::Program(axis)));
    let block = b.cast(Cast::ExtendU, axes[0], I64);
    let bytes = b.constant(I64, 24);
    let bytes = b.binary(Binary::Mul, block, bytes);
    let out = b.parameter(0);
    let end = b.advance(out, bytes);
    let back = b.i32(12u32.wrapping_neg());
    let end_bytes = b.i32(12);
    let there = b.advance(end, end_bytes);
    let place = b.advance(there, back);
    for (index, axis) in (0..).zip(axes) {
        b.store(place, 4 * index, axis, None);
    }
    let half = b.parameter(2);
    b.store(place, 12, half, None);
    let flag = b.parameter(1);
    b.store(place, 14, flag, None);
    b.store(there, 4, flag, None);
    let wide = b.parameter(3);
    let low = b.cast(Cast::Truncate, wide, I32);
    b.store(there, 8, low, Some(flag));
    module(b.finish())
}

/// One kernel or more for everything above.
pub fn all(lanes: u32) -> Vec<Module> {
    let mut modules =
        vec![copy(lanes), exchange(lanes), exchange_xor(lanes), shared(lanes), predicated(lanes), loops(lanes)];
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
        for count in [1, 2, 4, 8, 16, 32, 64] {
            modules.extend([1, 16].map(|alignment| reversal(lanes, element, count, alignment)));
        }
    }
    modules.extend(casts(lanes));
    modules
}

/// All of these as one module, under different names.
pub fn together(modules: &[Module]) -> Module {
    let mut kernels: Vec<Kernel> = modules.iter().flat_map(|module| module.kernels.iter().cloned()).collect();
    for (index, kernel) in kernels.iter_mut().enumerate() {
        kernel.name = format!("{}_{index}", kernel.name);
    }
    Module { kernels }
}
