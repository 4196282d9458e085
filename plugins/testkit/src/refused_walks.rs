//! Invalid kernels that break a rule of the walk over kernel bodies, which all code generators use. Each plugin must
//! reject them with the same message.

use tilewright_kernel::{MAX_REGION_DEPTH, Region, Statement};

use crate::kernels::{BIT, GLOBAL_POINTER, WORD, module};
use crate::prelude::*;

const AT: Value = Value(0);
const A_WORD: Value = Value(1);

/// Builds a kernel with a pointer and a word as parameters; `make` emits its body.
fn kernel(launch: StaticLaunchConfig, make: impl FnOnce(&mut Builder)) -> Kernel {
    let mut builder = Builder::new("bad", launch, &[("at", GLOBAL_POINTER), ("word", WORD)]);
    make(&mut builder);
    builder.finish()
}

fn yields(values: &[Value]) -> Statement {
    Statement::new(Vec::new(), Op::Yield { values: values.to_vec() })
}

fn region(statements: &[Statement]) -> Region {
    Region { arguments: Vec::new(), statements: statements.to_vec() }
}

fn if_else(k: &mut Builder, then: Region, otherwise: Region, results: &[Type]) {
    let condition = k.constant(BIT, 1);
    k.if_else(condition, then, otherwise, results);
}

/// Builds a kernel with conditionals that are nested `depth` deep.
fn nested(launch: StaticLaunchConfig, depth: usize) -> Kernel {
    let empty = region(&[yields(&[])]);
    kernel(launch, |k| {
        let condition = k.constant(BIT, 1);
        let mut inner = empty.clone();
        for _ in 1..depth {
            let op = Op::If { condition, then: inner, otherwise: empty.clone() };
            inner = region(&[Statement::new(Vec::new(), op), yields(&[])]);
        }
        k.if_else(condition, inner, empty.clone(), &[]);
    })
}

/// A text of the expected error message, and a function that emits the invalid body.
type Rule = (&'static str, fn(&mut Builder));

const RULES: [Rule; 13] = [
    ("value %4000000000 is not defined here", |k| {
        k.binary(Binary::Add, A_WORD, Value(4_000_000_000));
    }),
    // A region's value is not visible outside.
    ("value %3 is not defined here", |k| {
        let one = Statement::new(vec![(Value(3), WORD)], Op::Constant { bits: 1 });
        if_else(k, region(&[one, yields(&[])]), region(&[yields(&[])]), &[]);
        k.binary(Binary::Add, A_WORD, Value(3));
    }),
    ("value %1 is defined twice", |k| {
        let redefinition = Statement::new(vec![(A_WORD, WORD)], Op::Constant { bits: 0 });
        if_else(k, region(&[redefinition, yields(&[])]), region(&[yields(&[])]), &[]);
    }),
    ("has 1 results, 0 are named", |k| k.effect(Op::Constant { bits: 0 })),
    ("has 0 results, 1 are named", |k| {
        k.value(WORD, Op::Store { pointer: AT, value: A_WORD, predicate: None, offset: 0, alignment: 4 });
    }),
    ("result %2 is declared a i8 but is a i32", |k| {
        k.value(Type::Scalar(Element::I8), Op::Binary { op: Binary::Add, a: A_WORD, b: A_WORD });
    }),
    ("is allowed only at the end of a region", |k| k.effect(Op::Yield { values: Vec::new() })),
    ("is allowed only at the end of a region", |k| {
        if_else(k, region(&[yields(&[]), yields(&[])]), region(&[yields(&[])]), &[]);
    }),
    ("a region ends with `yield`", |k| if_else(k, Region::default(), region(&[yields(&[])]), &[])),
    ("yields (); (i32) are needed", |k| if_else(k, region(&[yields(&[A_WORD])]), region(&[yields(&[])]), &[WORD])),
    ("yields (ptr.global); (i32) are needed", |k| {
        if_else(k, region(&[yields(&[A_WORD])]), region(&[yields(&[AT])]), &[WORD]);
    }),
    ("must take arguments of types (i32, i32)", |k| {
        k.for_loop(A_WORD, A_WORD, A_WORD, &[A_WORD], region(&[yields(&[A_WORD])]));
    }),
    ("value %0 is a ptr.global; a i32 is needed", |k| {
        k.for_loop(A_WORD, A_WORD, AT, &[], region(&[yields(&[])]));
    }),
];

/// Checks that a code generator rejects every invalid kernel, and compiles regions of the maximum permitted nesting.
pub fn are_refused(launch: StaticLaunchConfig, compile: impl Fn(&Module) -> Result<(), CompileError>) {
    let refused = |kernels: Vec<Kernel>, words: &str| match compile(&module(kernels)) {
        Err(CompileError::Invalid(message)) => {
            assert!(message.starts_with("kernel `") && message.contains(words), "`{words}` is not in: {message}");
        }
        other => panic!("expected a refusal about `{words}`, got {other:?}"),
    };
    for (words, make) in RULES {
        refused(vec![kernel(launch, make)], words);
    }
    assert_eq!(compile(&module(vec![nested(launch, MAX_REGION_DEPTH)])), Ok(()));
    for depth in [MAX_REGION_DEPTH + 1, 1000] {
        refused(vec![nested(launch, depth)], "regions nest deeper than 64");
    }
    let named = |name: &str| Builder::new(name, launch, &[]).finish();
    for name in ["", "7up", "llvm.trap", "a b", "naïve", "a\0b"] {
        refused(vec![named(name)], "letters, digits and underscores");
    }
    refused(vec![named("twice"), named("twice")], "kernel `twice`: another kernel of the module has the same name");
    for ty in [Type::Vector(Element::I32, 4), Type::Pointer(MemorySpace::Shared)] {
        refused(vec![Builder::new("bad", launch, &[("p", ty)]).finish()], "parameter `p` cannot be");
    }
}
