//! Modules that violate a rule are rejected with the position, and never by a panic or as a failure of the code
//! generator.

use crate::spirv::kernels::{self, GLOBAL_POINTER, I1, I32, I64};
use tilewright_intel::IntelTarget;
use tilewright_kernel::{Issuers, Region, SharedBuffer, ShuffleMode, Statement};
use tilewright_testkit::seeded_rng::SeededRng;
use tilewright_vendor_testkit::damage::damage;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::refused_walks;

/// Returns a kernel with these statements and two parameters: %0, a global pointer, and %1, an `i32`.
fn kernel(statements: Vec<(Vec<(u32, Type)>, Op)>) -> Kernel {
    let parameters = [("p", GLOBAL_POINTER), ("n", I32)];
    let mut kernel = Builder::new("bad", StaticLaunchConfig::new(16, 1), &parameters).finish();
    kernel.body.statements = statements.into_iter().map(statement).collect();
    kernel
}

fn statement((results, op): (Vec<(u32, Type)>, Op)) -> Statement {
    Statement::new(results.into_iter().map(|(value, ty)| (Value(value), ty)).collect(), op)
}

fn region(statements: Vec<(Vec<(u32, Type)>, Op)>) -> Region {
    Region { arguments: Vec::new(), statements: statements.into_iter().map(statement).collect() }
}

/// Checks that a kernel is rejected as invalid, with a message that contains `words`.
fn invalid(kernel: Kernel, words: &str) {
    match kernels::compile(&kernels::module(kernel)) {
        Err(CompileError::Invalid(message)) => assert!(message.contains(words), "`{words}` is not in: {message}"),
        other => panic!("expected a refusal about `{words}`, got {other:?}"),
    }
}

/// Checks that one statement with one result, %2, is rejected as invalid, with a message that contains `words`.
fn invalid_op(ty: Type, op: Op, words: &str) {
    invalid(kernel(vec![(vec![(2, ty)], op)]), words);
}

const P: Value = Value(0);
const N: Value = Value(1);

#[test]
fn operands_have_the_types_that_operations_take() {
    let binary = |op, a, b| Op::Binary { op, a, b };
    invalid_op(GLOBAL_POINTER, binary(Binary::Add, P, P), "a scalar or vector was expected");
    invalid_op(I32, binary(Binary::Add, N, P), "i32 was expected");
    invalid_op(I32, binary(Binary::FAdd, N, N), "FAdd of i32");
    invalid_op(I32, Op::Unary { op: Unary::FNeg, a: N }, "`f_neg` of");
    invalid_op(I32, Op::Fma { a: N, b: N, c: N }, "a multiply-add of i32");
    invalid_op(I1, Op::Compare { op: Compare::Eq, a: P, b: P }, "a scalar or vector was expected");
    invalid_op(I32, Op::Select { condition: N, a: N, b: N }, "i1 was expected");
    invalid_op(I32, Op::PermuteBytes { a: P, b: N, selector: 0, alternative: None }, "i32 was expected");
    invalid_op(I32, Op::PermuteBytes { a: N, b: N, selector: 0x8000, alternative: None }, "nibbles");
    invalid_op(I32, Op::PtrAdd { pointer: N, bytes: N }, "i32 advanced");
    invalid_op(GLOBAL_POINTER, Op::PtrAdd { pointer: P, bytes: P }, "advanced by ptr.global");
    invalid_op(I32, Op::Extract { vector: N, index: 0 }, "element 0 of i32");
    invalid_op(
        I64,
        Op::Shuffle { kind: ShuffleMode::Index, value: P, lane: N, issuers: Issuers::All },
        "shuffle of ptr",
    );
    invalid_op(
        I32,
        Op::Shuffle { kind: ShuffleMode::Index, value: N, lane: P, issuers: Issuers::All },
        "i32 was expected",
    );
}

#[test]
fn casts_fit_their_types() {
    let cast = |op| Op::Cast { op, a: N };
    invalid_op(I64, cast(Cast::Truncate), "Truncate of i32 to i64");
    invalid_op(Type::Scalar(Element::I8), cast(Cast::ExtendU), "ExtendU of i32 to i8");
    invalid_op(Type::Scalar(Element::F64), cast(Cast::ExtendU), "ExtendU of i32 to f64");
    invalid_op(I64, cast(Cast::Bits), "not as wide");
    invalid_op(Type::Vector(Element::I64, 2), cast(Cast::ExtendS), "ExtendS of i32 to 2xi64");
}

#[test]
fn memory_is_accessed_by_pointers_at_alignments() {
    let load = |pointer, alignment| Op::Load { pointer, predicate: None, offset: 0, alignment, other: None };
    invalid_op(I32, load(N, 4), "i32 used as a pointer");
    invalid_op(I32, load(P, 3), "alignment 3");
    invalid_op(I32, load(P, 0), "alignment 0");
    invalid_op(GLOBAL_POINTER, load(P, 8), "in memory");
    let predicated = Op::Load { pointer: P, predicate: Some(N), offset: 0, alignment: 4, other: None };
    invalid_op(I32, predicated, "value %1 is a i32; a i1 is needed");
    invalid_op(Type::Pointer(MemorySpace::Shared), Op::SharedAddress { buffer: 0 }, "no shared buffer 0");
    // A pointer to shared memory can be a constant, but without shared memory it points to nothing.
    let shared = (vec![(2, Type::Pointer(MemorySpace::Shared))], Op::Constant { bits: 0 });
    invalid(kernel(vec![shared, (vec![(3, I32)], load(Value(2), 4))]), "no shared memory");
}

#[test]
fn types_and_constants_are_possible() {
    invalid_op(Type::Vector(Element::I32, 3), Op::Constant { bits: 0 }, "power of two");
    invalid_op(Type::Vector(Element::I32, 0), Op::Constant { bits: 0 }, "power of two");
    invalid_op(Type::Vector(Element::I32, 1), Op::Constant { bits: 0 }, "power of two");
    invalid_op(Type::Scalar(Element::I8), Op::Constant { bits: 256 }, "more than 8 bits");
    invalid_op(I32, Op::Special(SpecialRegister::Program(3)), "axis 3");
    invalid_op(Type::Vector(Element::I32, 2), Op::Pack { elements: vec![N] }, "packed of 1");
    let huge = kernel(vec![(vec![(2, Type::Vector(Element::I64, 1 << 31))], Op::Constant { bits: 0 })]);
    let refused = kernels::compile(&kernels::module(huge));
    assert!(matches!(refused, Err(CompileError::Unsupported(_))), "{refused:?}");
}

#[test]
fn instructions_have_the_operands_of_their_rows() {
    let instruction = Op::Instruction { name: "dpas.8x1.f32.f16.f16.f32".to_owned(), operands: vec![] };
    invalid(kernel(vec![(vec![], instruction.clone())]), "3 operands, 0 were passed");
    invalid(kernel(vec![(vec![(2, I32), (3, I32)], instruction)]), "3 operands, 0 were passed");
}

#[test]
fn an_instruction_of_no_table_is_unsupported() {
    let instruction = Op::Instruction { name: "nonsuch".to_owned(), operands: vec![] };
    let refused = kernels::compile(&kernels::module(kernel(vec![(vec![], instruction)])));
    let Err(CompileError::Unsupported(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("no instruction `nonsuch`"), "{message}");
}

#[test]
fn what_breaks_a_rule_of_the_walk_is_refused() {
    refused_walks::are_refused(StaticLaunchConfig::new(16, 1), |module| kernels::compile(module).map(drop));
}

#[test]
fn loops_take_and_yield_what_they_carry() {
    let yields = |values: Vec<Value>| region(vec![(vec![], Op::Yield { values })]);
    let for_loop = |body| Op::For { from: N, to: N, step: N, carried: vec![], body };
    invalid(kernel(vec![(vec![], for_loop(yields(vec![])))]), "must take arguments of types (i32)");
    let mut body = yields(vec![N]);
    body.arguments = vec![(Value(5), I32)];
    invalid(kernel(vec![(vec![], for_loop(body))]), "yields (i32); () are needed");
}

#[test]
fn launches_fit_the_target() {
    let with = |change: &dyn Fn(&mut Kernel)| {
        let mut kernel = kernel(vec![]);
        change(&mut kernel);
        kernel
    };
    invalid(with(&|k| k.launch.lanes = 8), "8 lanes");
    invalid(with(&|k| k.launch.lanes = 0), "0 lanes");
    invalid(with(&|k| k.launch.warps = 0), "0 warps");
    invalid(with(&|k| k.launch.warps = 65), "65 warps");
    invalid(with(&|k| k.launch.warps = u32::MAX), "warps");
    invalid(with(&|k| k.shared.push(SharedBuffer::new(131_073, 1))), "131073 bytes");
    invalid(with(&|k| k.shared.push(SharedBuffer::new(4, 3))), "alignment 3");
}

#[test]
fn parameter_names_that_would_not_print_are_left_out() {
    let mut odd = kernel(vec![]);
    odd.parameters[0].name = "a\0b".to_owned();
    odd.parameters[1].name = "x".repeat(1 << 20);
    kernels::compile(&kernels::module(odd)).expect("names of parameters are for people only");
}

#[test]
fn messages_show_the_location() {
    let bad = kernel(vec![(vec![(2, I32)], Op::Binary { op: Binary::FAdd, a: N, b: N })]);
    let refused = kernels::compile(&kernels::module(bad)).expect_err("it is invalid");
    assert_eq!(refused.to_string(), "invalid module: kernel `bad`: `%2: i32 = binary`: FAdd of i32");
}

#[test]
fn options_and_architectures_are_known_ones() {
    let options = CompileOptions { optimisation: 4, ..CompileOptions::default() };
    let refused = kernels::target("pvc").compile(&kernels::copy(16), &options);
    assert!(matches!(refused, Err(CompileError::Option { option, .. }) if option == "optimisation"));
    let error = IntelTarget::new(kernels::description("gen9")).expect_err("it is not served");
    assert!(error.to_string().contains("gen9") && error.to_string().contains("pvc"), "{error}");
}

/// Checks that valid modules with randomly exchanged numbers, types or operations give code or an error, and never a
/// panic.
#[test]
fn spoiled_modules_are_compiled_or_refused() {
    let mut random = SeededRng::new(1);
    let modules =
        [kernels::shared(16), kernels::predicated(16), kernels::loops(16), kernels::nested(16), kernels::permutes(16)];
    let mut refused = 0;
    for round in 0..3000 {
        let mut module = modules[round % modules.len()].clone();
        for _ in 0..=random.below(3) {
            damage(&mut module.kernels[0].body, &mut random);
        }
        match kernels::compile(&module) {
            Ok(_) => {}
            Err(CompileError::Invalid(_) | CompileError::Unsupported(_)) => refused += 1,
            Err(other) => panic!("{other}\n{module:?}"),
        }
    }
    assert!(refused > 1000, "most of them are invalid, {refused} were refused");
}
