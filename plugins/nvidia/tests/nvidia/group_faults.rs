//! Faults that the emulator finds in uses of warpgroup MMAs.

use crate::prelude::*;
use tilewright_kernel::Queue;

const ROW: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.ss.kk";

/// Matrix descriptors of operands with rows of 32 bytes; eight rows of `a` or `b` are 256 bytes apart.
const A: u64 = 3 << 62 | 16 << 32 | 1 << 16;
const B: u64 = A + 2048 / 16;

/// A kernel under construction, with zeros in shared memory for both operands of a warpgroup MMA.
struct Under {
    builder: Builder,
    buffer: Value,
    thread: Value,
}

impl Under {
    fn new() -> Self {
        let mut builder = Builder::new("group", StaticLaunchConfig::new(32, 4), &[]);
        let buffer = builder.shared_buffer(4096, 256);
        let (lane, warp) = (builder.special(SpecialRegister::Lane), builder.special(SpecialRegister::Warp));
        let before = builder.binary_const(Binary::Mul, warp, 32);
        let thread = builder.binary(Binary::Add, before, lane);
        let mut own = Self { builder, buffer, thread };
        own.store();
        own
    }

    /// Emits a store of 32 bytes of zeros by every thread.
    fn store(&mut self) {
        let zeros = self.builder.constant(Type::Vector(Element::I32, 4), 0);
        let bytes = self.builder.binary_const(Binary::Mul, self.thread, 32);
        let pointer = self.builder.ptr_add(self.buffer, bytes);
        self.builder.store(pointer, 0, zeros, None);
        self.builder.store(pointer, 16, zeros, None);
    }

    fn fence_and_barrier(&mut self) {
        self.builder.proxy_fence();
        self.builder.barrier(CollectiveScope::Block);
    }

    fn issue(&mut self) -> Value {
        let wide = Type::Scalar(Element::I64);
        let (a, b) = (self.builder.constant(wide, A), self.builder.constant(wide, B));
        self.issue_of(a, b)
    }

    fn issue_of(&mut self, a: Value, b: Value) -> Value {
        let ty = Type::Vector(Element::F32, 4);
        let accumulator = self.builder.constant(ty, 0);
        let operands = vec![a, b, accumulator];
        self.builder.value(ty.to_pending(), Op::Instruction { name: ROW.to_owned(), operands })
    }

    fn wait(&mut self, accumulator: Value) {
        self.builder.commit(Queue::Mma);
        self.builder.wait(Queue::Mma, 0, &[accumulator]);
    }

    fn fault(self) -> Option<FaultKind> {
        let kernel: Kernel = self.builder.finish();
        let target = target_description("h100");
        let semantics = SemanticsTable::from_instructions(&instructions_of("sm_90a"));
        let emulator = Emulator::new(&kernel, &target).unwrap().with_semantics(&semantics);
        let run = emulator.run([1, 1, 1], &[], &mut GlobalMemory::new(), &RunLimits::default());
        run.err().map(|fault| fault.kind)
    }
}

#[test]
fn four_warps_multiply_what_they_have_fenced() {
    let mut under = Under::new();
    under.fence_and_barrier();
    let accumulator = under.issue();
    under.wait(accumulator);
    assert_eq!(under.fault(), None);
}

#[test]
fn plain_stores_must_be_fenced() {
    let mut under = Under::new();
    under.builder.barrier(CollectiveScope::Block);
    let accumulator = under.issue();
    under.wait(accumulator);
    assert!(matches!(under.fault(), Some(FaultKind::Unfenced { .. })));
}

#[test]
fn stores_of_other_warps_need_a_barrier() {
    let mut under = Under::new();
    under.builder.proxy_fence();
    let accumulator = under.issue();
    under.wait(accumulator);
    let fault = under.fault();
    assert!(matches!(fault, Some(FaultKind::Race { .. } | FaultKind::Uninitialised { .. })), "{fault:?}");
}

#[test]
fn operands_may_not_be_overwritten_before_the_wait() {
    let mut under = Under::new();
    under.fence_and_barrier();
    let accumulator = under.issue();
    under.store();
    under.wait(accumulator);
    assert!(matches!(under.fault(), Some(FaultKind::InFlight { .. })));
}

#[test]
fn all_warps_of_a_group_must_issue() {
    let mut under = Under::new();
    under.fence_and_barrier();
    let warp = under.builder.special(SpecialRegister::Warp);
    let three = under.builder.i32(3);
    let is_below = under.builder.compare(Compare::LtU, warp, three);
    under.builder.begin_region(&[]);
    let accumulator = under.issue();
    under.wait(accumulator);
    let then = under.builder.end_region(&[]);
    under.builder.begin_region(&[]);
    let otherwise = under.builder.end_region(&[]);
    under.builder.if_else(is_below, then, otherwise, &[]);
    assert_eq!(under.fault(), Some(FaultKind::NotIssuedTogether { together: 4, missing: vec![3] }));
}

#[test]
fn a_descriptor_is_one_for_the_warp_and_leads_into_the_buffer() {
    let wide = Type::Scalar(Element::I64);
    let mut under = Under::new();
    under.fence_and_barrier();
    let b = under.builder.constant(wide, B);
    let lane = under.builder.special(SpecialRegister::Lane);
    let a = under.builder.cast(tilewright_kernel::Cast::ExtendU, lane, wide);
    let accumulator = under.issue_of(a, b);
    under.wait(accumulator);
    let fault = under.fault();
    assert!(
        matches!(&fault, Some(FaultKind::Instruction { message, .. }) if message.contains("lanes 0 and 1 have different words"))
    );

    let mut under = Under::new();
    under.fence_and_barrier();
    let (a, b) = (under.builder.constant(wide, A + 4096 / 16), under.builder.constant(wide, B));
    let accumulator = under.issue_of(a, b);
    under.wait(accumulator);
    assert!(matches!(under.fault(), Some(FaultKind::OutOfBounds { .. })));
}
