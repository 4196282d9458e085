//! Invalid modules are errors with a location; nothing panics, nothing ends the process.
#![allow(clippy::unwrap_used)]

use crate::dialect;
use tilewright_kernel::{Issuers, Queue, SharedBuffer, ShuffleMode};
use tilewright_llvm::LlvmOutputKind;
use tilewright_testkit::seeded_rng::SeededRng;
use tilewright_vendor_testkit::damage::damage;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::{GLOBAL_POINTER, QUAD, WORD, module};
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::refused_walks;

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(64, 2);
const BYTE: Type = Type::Scalar(Element::I8);

/// Returns the error for a kernel whose body `make` emits. The kernel's parameters are a pointer and a 32-bit word.
fn error<T>(make: impl FnOnce(&mut Builder) -> T) -> CompileError {
    let mut k = Builder::new("bad", LAUNCH, &[("at", GLOBAL_POINTER), ("word", WORD)]);
    make(&mut k);
    dialect::code(&module(vec![k.finish()]), 2, &[LlvmOutputKind::Assembly]).unwrap_err()
}

#[track_caller]
fn invalid<T>(words: &str, make: impl FnOnce(&mut Builder) -> T) {
    let error = error(make);
    let CompileError::Invalid(message) = &error else { panic!("{error}") };
    assert!(message.contains("kernel `bad`") && message.contains(words), "{message}");
}

#[track_caller]
fn unsupported<T>(words: &str, make: impl FnOnce(&mut Builder) -> T) {
    let error = error(make);
    let CompileError::Unsupported(message) = &error else { panic!("{error}") };
    assert!(message.contains(words), "{message}");
}

const AT: Value = Value(0);
const A_WORD: Value = Value(1);

#[test]
fn what_breaks_a_rule_of_the_walk_is_refused() {
    refused_walks::are_refused(LAUNCH, |module| dialect::code(module, 0, &[]).map(drop));
}

#[test]
fn operands_must_be_of_the_right_type() {
    invalid("value %0 is a ptr.global; a i32 is needed", |k| {
        k.value(WORD, Op::Binary { op: Binary::Add, a: A_WORD, b: AT })
    });
    invalid("works on integers", |k| k.binary(Binary::Add, AT, AT));
    invalid("works on floating-point values", |k| k.binary(Binary::FAdd, A_WORD, A_WORD));
    invalid("compares integers", |k| k.compare(Compare::Eq, AT, AT));
    invalid("a i1 is needed", |k| k.select(A_WORD, A_WORD, A_WORD));
    invalid("a pointer is needed", |k| k.load(WORD, A_WORD, 0, None));
    invalid("a i1 is needed", |k| k.load(WORD, AT, 0, Some(A_WORD)));
    invalid("moved by an i32 or i64", |k| {
        let byte = k.constant(BYTE, 1);
        k.ptr_add(AT, byte);
    });
    invalid("shuffles words of lanes that differ by 64", |k| k.shuffle_xor(A_WORD, 64));
    invalid("shuffles 32-bit scalars", |k| k.shuffle(AT, A_WORD));
    invalid("a i32 is needed", |k| {
        k.value(WORD, Op::Shuffle { kind: ShuffleMode::Index, value: A_WORD, lane: AT, issuers: Issuers::All })
    });
    invalid("packs scalars", |k| k.value(QUAD, Op::Pack { elements: vec![AT, AT, AT, AT] }));
    invalid("packs at least two", |k| k.value(QUAD, Op::Pack { elements: Vec::new() }));
    invalid("has no element 4", |k| {
        let quad = k.constant(QUAD, 0);
        k.extract(quad, 4);
    });
    invalid("selector 0x8000 names byte 8", |k| {
        k.value(WORD, Op::PermuteBytes { a: A_WORD, b: A_WORD, selector: 0x8000, alternative: None })
    });
}

#[test]
fn types_must_exist_and_casts_fit_them() {
    for count in [0, 1, 3] {
        invalid("power of two", |k| k.value(Type::Vector(Element::I32, count), Op::Constant { bits: 0 }));
    }
    for count in [1 << 20, 1 << 31] {
        unsupported("vectors wider than", |k| {
            let load = Op::Load { pointer: AT, predicate: None, offset: 0, alignment: 8, other: None };
            k.value(Type::Vector(Element::I64, count), load);
        });
    }
    invalid("bits beyond the 8", |k| k.constant(BYTE, 256));
    invalid("a constant is a scalar or a vector", |k| k.constant(GLOBAL_POINTER, 0));
    invalid("Truncate does not convert i32 to i64", |k| k.cast(Cast::Truncate, A_WORD, Type::Scalar(Element::I64)));
    invalid("ExtendU does not convert ptr.global to i64", |k| k.cast(Cast::ExtendU, AT, Type::Scalar(Element::I64)));
    invalid("32 bits, a i64 64", |k| k.cast(Cast::Bits, A_WORD, Type::Scalar(Element::I64)));
    invalid("no axis 3", |k| k.special(SpecialRegister::Program(3)));
}

#[test]
fn memory_accesses_must_be_possible() {
    for alignment in [0, 3, 12] {
        invalid("is not a power of two", |k| {
            k.value(WORD, Op::Load { pointer: AT, predicate: None, offset: 0, alignment, other: None })
        });
    }
    invalid("no shared buffer 0", |k| k.value(Type::Pointer(MemorySpace::Shared), Op::SharedAddress { buffer: 0 }));
    unsupported("vectors of i1 in memory", |k| {
        k.value(
            Type::Vector(Element::I1, 4),
            Op::Load { pointer: AT, predicate: None, offset: 0, alignment: 1, other: None },
        )
    });
    unsupported("pointers in memory", |k| k.store(AT, 0, AT, None));
}

#[test]
fn mbarriers_are_the_targets_and_lie_in_shared_memory() {
    unsupported("there are no mbarriers", |k| k.mbarrier(1));
    invalid("value %0 points to global memory, not to shared", |k| k.mbarrier_arrive(AT, 0));
    invalid("value %0 points to global memory, not to shared", |k| k.mbarrier_wait(AT, A_WORD));
    invalid("a i32 is needed", |k| {
        let there = k.shared_buffer(8, 8);
        k.mbarrier_wait(there, AT);
    });
}

#[test]
fn tensor_memory_is_the_targets() {
    unsupported("there is no tensor memory", |k| {
        let there = k.shared_buffer(4, 4);
        k.tensor_allocate(there, 32);
    });
    unsupported("there is no tensor memory", |k| k.tensor_free(A_WORD, 32));
    unsupported("no instruction completes on the queue `products`", |k| {
        let there = k.shared_buffer(8, 8);
        k.mbarrier_commit(Queue::Mma, there);
    });
    unsupported("no instruction completes on the queue `tensor_loads`", |k| k.commit(Queue::TensorLoads));
    invalid("value %0 points to global memory, not to shared", |k| k.tensor_allocate(AT, 32));
    invalid("value %0 points to global memory, not to shared", |k| k.mbarrier_commit(Queue::Mma, AT));
}

#[test]
fn kernels_must_have_memory_that_exists() {
    let refused = |kernels: Vec<Kernel>| match dialect::code(&module(kernels), 2, &[LlvmOutputKind::Assembly]) {
        Err(CompileError::Invalid(message)) => message,
        other => panic!("{other:?}"),
    };
    let named = |name: &str| Builder::new(name, LAUNCH, &[]).finish();
    let mut kernel = named("bad");
    kernel.shared.push(SharedBuffer::new(16, 12));
    assert!(refused(vec![kernel]).contains("alignment 12"));
    let mut kernel = named("bad");
    kernel.shared = vec![SharedBuffer::new(u32::MAX, 1); 3];
    assert!(refused(vec![kernel]).contains("bytes of shared memory"));
}

#[test]
fn a_kernel_named_like_another_ones_memory_keeps_its_name() {
    let mut first = kernels::through_shared(LAUNCH, tilewright_kernel::CollectiveScope::Block);
    first.name = "k".to_owned();
    let second = Builder::new("k_shared", LAUNCH, &[]).finish();
    let code = dialect::code(&module(vec![first, second]), 2, &[LlvmOutputKind::Intermediate]).unwrap();
    assert!(code.intermediate.unwrap().contains("void @k_shared()"));
}

#[test]
fn levels_that_do_not_exist_are_errors_of_the_option() {
    let error = dialect::code(&Module::default(), 9, &[]).unwrap_err();
    assert!(matches!(error, CompileError::Option { .. }), "{error}");
    assert!(dialect::code(&Module::default(), 2, &[LlvmOutputKind::Assembly, LlvmOutputKind::Object]).is_ok());
}

#[test]
fn all_threads_get_the_same_code() {
    let everything = kernels::all(LAUNCH);
    let forms = [LlvmOutputKind::Intermediate, LlvmOutputKind::Assembly, LlvmOutputKind::Object];
    let expected = dialect::code(&everything, 2, &forms).unwrap();
    std::thread::scope(|scope| {
        let compile = || dialect::code(&everything, 2, &forms).unwrap();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(compile)).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == expected);
        }
    });
}

#[test]
fn damaged_modules_are_refused_or_compiled() {
    let mut numbers = SeededRng::new(1);
    let sound = kernels::all(LAUNCH);
    let (mut refused, mut compiled) = (0, 0);
    for _ in 0..3000 {
        let mut kernel = sound.kernels[numbers.below(sound.kernels.len())].clone();
        for _ in 0..=numbers.below(2) {
            damage(&mut kernel.body, &mut numbers);
        }
        match dialect::code(&module(vec![kernel]), 0, &[]) {
            Ok(_) => compiled += 1,
            // Another error would mean that LLVM's verifier found a violation that the translation accepted.
            Err(CompileError::Invalid(_) | CompileError::Unsupported(_)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 1000 && compiled > 100, "{refused} refused, {compiled} compiled");
}
