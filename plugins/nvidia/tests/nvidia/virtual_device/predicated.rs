//! Loads, stores and atomic operations under a predicate: one predicated instruction each, without a branch. Memory
//! after a run on the virtual device, and on the emulator, is compared with bytes computed by hand.

use super::bench::{Given, Shape, device, run_on};
use crate::prelude::*;
use tilewright_kernel::{Atomic, Builder};
use tilewright_vendor_testkit::emulated;
use tilewright_vendor_testkit::kernels::GLOBAL_POINTER;

const LANES: usize = 32;
const SLOT: usize = 16;

/// The types of the accessed values, with the suffix of their instruction.
const TYPES: [(Type, &str); 9] = [
    (Type::Scalar(Element::I8), ".b8"),
    (Type::Vector(Element::I8, 2), ".b16"),
    (Type::Scalar(Element::F16), ".b16"),
    (Type::Vector(Element::Bf16, 2), ".b32"),
    (Type::Scalar(Element::I64), ".b64"),
    (Type::Vector(Element::F32, 2), ".v2.b32"),
    (Type::Vector(Element::I8, 16), ".v4.b32"),
    (Type::Vector(Element::F16, 8), ".v4.b32"),
    (Type::Vector(Element::F64, 2), ".v2.b64"),
];

/// How a kernel accesses memory.
#[derive(Debug, Clone, Copy)]
struct Form {
    ty: Type,
    shared: bool,
    has_other: bool,
    offset: i32,
}

/// Returns a kernel whose lane `l` reads its slot of the first buffer if `l` is odd, and then writes the value that it
/// has to its slot of the second buffer if bit 1 of `l` is set. Odd bytes of the value `other` differ from even ones.
fn kernel(form: Form) -> Kernel {
    let mut k = Builder::new(
        "k",
        StaticLaunchConfig::new(LANES as u32, 1),
        &[("from", GLOBAL_POINTER), ("to", GLOBAL_POINTER)],
    );
    let buffer = k.shared_buffer((LANES * SLOT) as u32, SLOT as u32);
    let lane = k.special(SpecialRegister::Lane);
    let bytes = k.binary_const(Binary::Mul, lane, SLOT as u32);
    let [from, to] = [0, 1].map(|index| {
        let at = k.parameter(index);
        k.ptr_add(at, bytes)
    });
    let mut address = from;
    if form.shared {
        let all_words = k.load(Type::Vector(Element::I32, 4), from, 0, None);
        address = k.ptr_add(buffer, bytes);
        k.store(address, 0, all_words, None);
        k.barrier(CollectiveScope::Block);
    }
    let [first, second] = [1, 2].map(|bit| {
        let own = k.binary_const(Binary::And, lane, bit);
        let bit = k.i32(bit);
        k.compare(Compare::Eq, own, bit)
    });
    let back = k.i32((-form.offset).cast_unsigned());
    let moved = k.ptr_add(address, back);
    let other = form.has_other.then(|| {
        let element = Type::Scalar(form.ty.element().unwrap());
        let all: Vec<_> = (0..form.ty.element_count()).map(|at| k.constant(element, other_bits(form.ty, at))).collect();
        k.pack(&all)
    });
    let (offset, alignment) = (form.offset, form.ty.bits() / 8);
    let value = k.value(form.ty, Op::Load { pointer: moved, predicate: Some(first), offset, alignment, other });
    k.store(to, 0, value, Some(second));
    k.finish()
}

/// Returns the bits of element `at` of the value `other`, which lanes without a load get: bytes 0xA0 and up.
fn other_bits(ty: Type, at: u32) -> u64 {
    let width = ty.bits() / ty.element_count() / 8;
    (0..width).map(|byte| u64::from(0xA0 + at * width + byte) << (8 * byte)).sum()
}

/// Returns the expected second buffer after the kernel, computed byte by byte.
fn expected(form: Form, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut left = to.to_vec();
    for lane in (0..LANES).filter(|lane| lane & 2 != 0) {
        for byte in 0..(form.ty.bits() / 8) as usize {
            let other = if form.has_other { 0xA0 + byte as u8 } else { 0 };
            left[lane * SLOT + byte] = if lane & 1 != 0 { from[lane * SLOT + byte] } else { other };
        }
    }
    left
}

#[test]
fn predicated_accesses_are_single_instructions() {
    let from: Vec<u8> = (0..LANES * SLOT).map(|at| (at * 7 + 3) as u8).collect();
    let to = vec![0xEE; LANES * SLOT];
    let target = target("a100");
    for (ty, suffix) in TYPES {
        for (shared, has_other, offset) in [(false, false, 0), (false, true, 0), (true, true, 0), (false, true, 4096)] {
            let form = Form { ty, shared, has_other, offset };
            let kernel = kernel(form);
            let options =
                CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
            let artifact = target.compile(&Module { kernels: vec![kernel.clone()] }, &options).unwrap();
            let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
            let space = if shared { "shared" } else { "global" };
            for instruction in [format!("ld.{space}{suffix} "), format!("st.global{suffix} ")] {
                let is_predicated = |line: &&str| line.starts_with("@%p") && line.contains(&instruction);
                assert_eq!(ptx.lines().map(str::trim).filter(is_predicated).count(), 1, "{form:?}: {ptx}");
            }
            assert!(!ptx.contains("bra"), "{form:?}: {ptx}");
            let expected = expected(form, &from, &to);
            let given = [&from, &to].map(|bytes| Given::Buffer(bytes.clone()));
            let (left, _) = run_on(&mut device(), ptx, "k", Shape::warps(1), &given).unwrap();
            assert_eq!(left[1], expected, "{form:?} on the virtual device");
            let given = [&from, &to].map(|bytes| emulated::InitialBuffer::Bytes(bytes.clone()));
            let (left, _) = emulated::run_block(&target, &kernel, &given, &[]).unwrap();
            assert_eq!(left[1], expected, "{form:?} on the emulator");
        }
    }
}

#[test]
fn lanes_without_the_predicate_do_not_update_atomically() {
    let mut k = Builder::new(
        "k",
        StaticLaunchConfig::new(LANES as u32, 1),
        &[("sum", GLOBAL_POINTER), ("old", GLOBAL_POINTER)],
    );
    let lane = k.special(SpecialRegister::Lane);
    let odd = k.binary_const(Binary::And, lane, 1);
    let odd = k.cast(Cast::Truncate, odd, Type::Scalar(Element::I1));
    let [sum, old] = [0, 1].map(|index| k.parameter(index));
    let bytes = k.binary_const(Binary::Mul, lane, 4);
    let old = k.ptr_add(old, bytes);
    let before = k.atomic_rmw(Atomic::Or, sum, lane, Some(odd));
    k.store(old, 0, before, None);
    let kernel = k.finish();
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
    let artifact = target("a100").compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    assert!(ptx.lines().any(|line| line.trim().starts_with("@%p") && line.contains("atom.")), "{ptx}");
    assert!(!ptx.contains("bra"), "{ptx}");
    let given = [Given::Buffer(vec![0; 4]), Given::Buffer(vec![0xEE; 4 * LANES])];
    let (left, _) = run_on(&mut device(), ptx, "k", Shape::warps(1), &given).unwrap();
    assert_eq!(left[0], 31u32.to_le_bytes(), "all odd lane indices");
    for (lane, old) in left[1].chunks_exact(4).enumerate() {
        let old = u32::from_le_bytes(old.try_into().unwrap());
        assert!(lane % 2 == 1 || old == 0, "lane {lane} has {old}");
    }
}
