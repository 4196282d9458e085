//! Modules that break a rule are errors that say where; nothing panics, nothing ends the process.
#![allow(clippy::unwrap_used)]

use crate::dialect;
use tilewright_kernel::{Exchange, Issuers, Queue, Region, SharedBuffer, Statement};
use tilewright_llvm::LlvmForm;
use tilewright_testkit::split_mix::SplitMix64;
use tilewright_vendor_testkit::damage::damage;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::{BIT, GLOBAL, QUAD, WORD, module};
use tilewright_vendor_testkit::prelude::*;

const LAUNCH: Launch = Launch::new(64, 2);
const NOWHERE: Value = Value(4_000_000_000);
const BYTE: Type = Type::Scalar(Element::I8);

/// The error for a kernel whose body is made by `make`. Parameters: a pointer and a word.
fn error<T>(make: impl FnOnce(&mut Builder) -> T) -> CompileError {
    let mut k = Builder::new("bad", LAUNCH, &[("at", GLOBAL), ("word", WORD)]);
    make(&mut k);
    dialect::code(&module(vec![k.finish()]), 2, &[LlvmForm::Assembly]).unwrap_err()
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
fn operands_must_be_defined_and_of_the_right_type() {
    invalid("value 4000000000 is not defined here", |k| {
        k.value(WORD, Op::Binary { op: Binary::Add, a: A_WORD, b: NOWHERE })
    });
    invalid("value 0 is a ptr.global; a i32 is needed", |k| {
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
        k.advance(AT, byte);
    });
    invalid("exchanges words of lanes that differ by 64", |k| k.exchange_xor(A_WORD, 64));
    invalid("exchanges 32-bit scalars", |k| k.exchange(AT, A_WORD));
    invalid("a i32 is needed", |k| {
        k.value(WORD, Op::Exchange { kind: Exchange::Index, value: A_WORD, lane: AT, issuers: Issuers::All })
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
fn types_must_exist_and_results_be_what_they_are_declared() {
    for count in [0, 1, 3] {
        invalid("power of two", |k| k.value(Type::Vector(Element::I32, count), Op::Constant { bits: 0 }));
    }
    for count in [1 << 20, 1 << 31] {
        unsupported("vectors wider than", |k| {
            let load = Op::Load { pointer: AT, predicate: None, offset: 0, alignment: 8 };
            k.value(Type::Vector(Element::I64, count), load);
        });
    }
    invalid("bits beyond the 8", |k| k.constant(BYTE, 256));
    invalid("a constant is a scalar or a vector", |k| k.constant(GLOBAL, 0));
    invalid("is declared a i8 but is a i32", |k| k.value(BYTE, Op::Binary { op: Binary::Add, a: A_WORD, b: A_WORD }));
    invalid("gives 1 results, 0 are named", |k| k.effect(Op::Special(SpecialRegister::Lane)));
    invalid("names no result", |k| k.effect(Op::Constant { bits: 0 }));
    invalid("gives 0 results, 1 are named", |k| {
        let barrier = Op::Barrier { scope: tilewright_kernel::Scope::Block, issuers: Issuers::All };
        k.value(WORD, barrier);
    });
    invalid("Truncate does not go from i32 to i64", |k| k.cast(Cast::Truncate, A_WORD, Type::Scalar(Element::I64)));
    invalid("ExtendU does not go from ptr.global to i64", |k| k.cast(Cast::ExtendU, AT, Type::Scalar(Element::I64)));
    invalid("32 bits, a i64 64", |k| k.cast(Cast::Bits, A_WORD, Type::Scalar(Element::I64)));
    invalid("no axis 3", |k| k.special(SpecialRegister::Program(3)));
}

#[test]
fn memory_accesses_must_be_possible() {
    for alignment in [0, 3, 12] {
        invalid("is no power of two", |k| {
            k.value(WORD, Op::Load { pointer: AT, predicate: None, offset: 0, alignment })
        });
    }
    invalid("no shared buffer 0", |k| k.value(Type::Pointer(MemorySpace::Shared), Op::SharedAddress { buffer: 0 }));
    unsupported("vectors of i1 in memory", |k| {
        k.value(Type::Vector(Element::I1, 4), Op::Load { pointer: AT, predicate: None, offset: 0, alignment: 1 })
    });
    unsupported("pointers in memory", |k| k.store(AT, 0, AT, None));
}

#[test]
fn mbarriers_are_the_targets_and_lie_in_shared_memory() {
    unsupported("there are no mbarriers", |k| k.mbarrier(1));
    invalid("value 0 points to global memory, not to shared", |k| k.mbarrier_arrive(AT, 0));
    invalid("value 0 points to global memory, not to shared", |k| k.mbarrier_wait(AT, A_WORD));
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
    unsupported("nothing completes on the queue `products`", |k| {
        let there = k.shared_buffer(8, 8);
        k.mbarrier_commit(Queue::Products, there);
    });
    unsupported("nothing completes on the queue `tensor_loads`", |k| k.commit(Queue::TensorLoads));
    invalid("value 0 points to global memory, not to shared", |k| k.tensor_allocate(AT, 32));
    invalid("value 0 points to global memory, not to shared", |k| k.mbarrier_commit(Queue::Products, AT));
}

#[test]
fn values_live_in_their_region_only() {
    invalid("value 3 is not defined here", |k| {
        let condition = k.constant(BIT, 1);
        k.begin_region(&[]);
        let inner = k.i32(1);
        assert_eq!(inner, Value(3));
        let then = k.end_region(&[]);
        k.begin_region(&[]);
        let otherwise = k.end_region(&[]);
        k.if_else(condition, then, otherwise, &[]);
        k.binary(Binary::Add, A_WORD, inner);
    });
    invalid("defined twice", |k| {
        let condition = k.constant(BIT, 1);
        let again = Statement { results: vec![(A_WORD, WORD)], op: Op::Constant { bits: 0 } };
        let end = Statement { results: Vec::new(), op: Op::Yield { values: Vec::new() } };
        let then = Region { arguments: Vec::new(), statements: vec![again, end.clone()] };
        let otherwise = Region { arguments: Vec::new(), statements: vec![end] };
        k.if_else(condition, then, otherwise, &[]);
    });
}

#[test]
fn regions_must_end_and_yield_what_is_needed() {
    let end = |values: Vec<Value>| Statement { results: Vec::new(), op: Op::Yield { values } };
    let region = |statements: Vec<Statement>| Region { arguments: Vec::new(), statements };
    invalid("ends with `yield`", |k| {
        let condition = k.constant(BIT, 1);
        k.if_else(condition, Region::default(), region(vec![end(Vec::new())]), &[]);
    });
    invalid("yields (); (i32) are needed", |k| {
        let condition = k.constant(BIT, 1);
        k.if_else(condition, region(vec![end(vec![A_WORD])]), region(vec![end(Vec::new())]), &[WORD]);
    });
    invalid("must take arguments of types (i32, i32)", |k| {
        k.for_loop(A_WORD, A_WORD, A_WORD, &[A_WORD], region(vec![end(vec![A_WORD])]))
    });
    invalid("only at the end of a region", |k| k.effect(Op::Yield { values: Vec::new() }));
    invalid("only at the end of a region", |k| {
        let condition = k.constant(BIT, 1);
        let twice = vec![end(Vec::new()), end(Vec::new())];
        k.if_else(condition, region(twice), region(vec![end(Vec::new())]), &[]);
    });
}

#[test]
fn regions_nest_to_a_bounded_depth() {
    let nested = |depth: usize| {
        let mut k = Builder::new("bad", LAUNCH, &[("at", GLOBAL), ("word", WORD)]);
        let condition = k.constant(BIT, 1);
        let end = Statement { results: Vec::new(), op: Op::Yield { values: Vec::new() } };
        let empty = Region { arguments: Vec::new(), statements: vec![end.clone()] };
        let mut region = empty.clone();
        for _ in 1..depth {
            let inner = Op::If { condition, then: region, otherwise: empty.clone() };
            let inner = Statement { results: Vec::new(), op: inner };
            region = Region { arguments: Vec::new(), statements: vec![inner, end.clone()] };
        }
        k.if_else(condition, region, empty, &[]);
        dialect::code(&module(vec![k.finish()]), 0, &[])
    };
    assert!(nested(64).is_ok());
    assert!(matches!(nested(65), Err(CompileError::Invalid(message)) if message.contains("nest deeper than 64")));
}

#[test]
fn kernels_must_have_names_parameters_and_memory_that_exist() {
    let refused = |kernels: Vec<Kernel>| match dialect::code(&module(kernels), 2, &[LlvmForm::Assembly]) {
        Err(CompileError::Invalid(message)) => message,
        other => panic!("{other:?}"),
    };
    let named = |name: &str| Builder::new(name, LAUNCH, &[]).finish();
    for name in ["", "7up", "llvm.trap", "a b", "naïve", "a\0b"] {
        assert!(refused(vec![named(name)]).contains("letters, digits and underscores"), "{name:?}");
    }
    assert!(refused(vec![named("twice"), named("twice")]).contains("same name"));
    for ty in [QUAD, Type::Pointer(MemorySpace::Shared)] {
        let kernel = Builder::new("bad", LAUNCH, &[("p", ty)]).finish();
        assert!(refused(vec![kernel]).contains("parameter `p` cannot be"));
    }
    let mut kernel = named("bad");
    kernel.shared.push(SharedBuffer::new(16, 12));
    assert!(refused(vec![kernel]).contains("alignment 12"));
    let mut kernel = named("bad");
    kernel.shared = vec![SharedBuffer::new(u32::MAX, 1); 3];
    assert!(refused(vec![kernel]).contains("bytes of shared memory"));
}

#[test]
fn a_kernel_named_like_another_ones_memory_keeps_its_name() {
    let mut first = kernels::through_shared(LAUNCH, tilewright_kernel::Scope::Block);
    first.name = "k".to_owned();
    let second = Builder::new("k_shared", LAUNCH, &[]).finish();
    let code = dialect::code(&module(vec![first, second]), 2, &[LlvmForm::Intermediate]).unwrap();
    assert!(code.intermediate.unwrap().contains("void @k_shared()"));
}

#[test]
fn levels_that_do_not_exist_are_errors_of_the_option() {
    let error = dialect::code(&Module::default(), 9, &[]).unwrap_err();
    assert!(matches!(error, CompileError::Option { .. }), "{error}");
    assert!(dialect::code(&Module::default(), 2, &[LlvmForm::Assembly, LlvmForm::Object]).is_ok());
}

#[test]
fn all_threads_get_the_same_code() {
    let everything = kernels::all(LAUNCH);
    let forms = [LlvmForm::Intermediate, LlvmForm::Assembly, LlvmForm::Object];
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
    let mut numbers = SplitMix64::new(1);
    let sound = kernels::all(LAUNCH);
    let (mut refused, mut compiled) = (0, 0);
    for _ in 0..3000 {
        let mut kernel = sound.kernels[numbers.below(sound.kernels.len())].clone();
        for _ in 0..=numbers.below(2) {
            damage(&mut kernel.body, &mut numbers);
        }
        match dialect::code(&module(vec![kernel]), 0, &[]) {
            Ok(_) => compiled += 1,
            // The verifier must find nothing that the translation did not.
            Err(CompileError::Invalid(_) | CompileError::Unsupported(_)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 1000 && compiled > 100, "{refused} refused, {compiled} compiled");
}
