//! Fragments whose registers come from several vector loads, in another order than the MMA's: `lop3` copies them once if
//! several MMAs read them. The virtual device and the emulator agree on the sums.

use super::byte_casts::converted;
use crate::prelude::*;
use tilewright_kernel::{Builder, Value};
use tilewright_vendor_testkit::kernels::GLOBAL_POINTER;

const WARPS: u32 = 8;
const LANES: usize = 32 * WARPS as usize;
const MMA: &str = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

/// Returns a kernel that loads two fragments of A by two vector loads, with the registers of both fragments in each, and
/// multiplies each by the first `count` of two fragments of B.
fn kernel(count: usize) -> Kernel {
    let mut k =
        Builder::new("k", StaticLaunchConfig::new(32, WARPS), &[("from", GLOBAL_POINTER), ("to", GLOBAL_POINTER)]);
    let [warp, lane] = [SpecialRegister::Warp, SpecialRegister::Lane].map(|register| k.special(register));
    let first = k.binary_const(Binary::Mul, warp, 32);
    let thread = k.binary(Binary::Add, first, lane);
    let bytes = k.binary_const(Binary::Mul, thread, 64);
    let [from, to] = [0, 1].map(|index| {
        let base = k.parameter(index);
        k.ptr_add(base, bytes)
    });
    let words = Type::Vector(Element::I32, 4);
    let [even, odd, b] = [0, 16, 32].map(|offset| {
        let loaded = k.load(words, from, offset, None);
        [0, 1, 2, 3].map(|index| k.extract(loaded, index))
    });
    let zero = k.constant(Type::Scalar(Element::F32), 0);
    let zeros = k.pack(&[zero; 4]);
    let mut results: Vec<Value> = Vec::new();
    for at in [0, 2] {
        let a = k.pack(&[even[at], odd[at], even[at + 1], odd[at + 1]]);
        for pair in b.chunks(2).take(count) {
            let operands = vec![a, k.pack(pair), zeros];
            results.push(k.value(Type::Vector(Element::F32, 4), Op::Instruction { name: MMA.to_owned(), operands }));
        }
    }
    for (index, &result) in (0..).zip(&results) {
        k.store(to, 16 * index, result, None);
    }
    k.finish()
}

#[test]
fn fragments_that_several_mmas_read_are_copied_once() {
    // Small integers as `f16`, so that sums are exact.
    let integers = [0u16, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700];
    let from: Vec<u8> = (0..LANES * 32).flat_map(|at| integers[(at * at % 8) ^ (at / 5 % 8)].to_le_bytes()).collect();
    for (count, copies) in [(1, 0), (2, 8)] {
        let [device, emulator] =
            converted("a100", |_| kernel(count), &from, LANES * 64, 1, ("lop3.b32 \t%copy", copies));
        assert_eq!(device, emulator);
        assert!(device.chunks(4).any(|sum| sum != [0; 4]));
    }
}
