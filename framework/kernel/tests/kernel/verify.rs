//! The verifier: a valid kernel passes, every violation is found with its location.
#![allow(clippy::unwrap_used)]

use tilewright_kernel::{
    Builder, Element, Kernel, MAX_REGION_DEPTH, MAX_VALUES, Module, Op, Region, Statement, StaticLaunchConfig, Type,
    Uniformity, Value, VerifyError, Violation, analyze_uniformity, text, verify,
};

const I32: Type = Type::Scalar(Element::I32);

fn module(body: &str) -> Module {
    let text = format!(
        "kernel tested(%0 a: ptr.global, %1 n: i32, %2 x: f32, %3 h: f16, %4 w: i64) lanes 8 warps 4 {{
           shared 0: 64 bytes align 16
           %5: i32 = special lane
           %6: i32 = special warp
           %7: i1 = compare lt_u %5, %6
           %8: ptr.shared = shared_address 0
           {body}
         }}"
    );
    text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn broken(body: &str) -> VerifyError {
    verify(&module(body)).expect_err(body)
}

fn operand(value: u32, found: Type, expected: &str) -> Violation {
    Violation::Operand { value: Value(value), found, expected: expected.to_owned() }
}

#[test]
fn a_sound_module_passes() {
    let body = "%9: i1 = constant 1
        %10: 4xi8 = constant 255
        %11: f32 = unary f_neg %2
        %12: f32 = binary f_mul %11, %2
        %30: f32 = fma %11, %12, %2
        %13: i1 = binary and %7, %9
        %14: i64 = cast extend_u %13
        %15: i8 = cast truncate %14
        %16: i32 = cast bits %10
        %17: 2xi32 = pack %16, %5
        %18: 2xi1 = compare eq %17, %17
        %19: i1 = extract %18, 1
        %20: ptr.global = select %19, %0, %0
        %21: ptr.global = ptr_add %20, %4
        %22: 2xf16 = load %21 - 8 align 4 if %7
        store %8 + 4, %22 align 4
        %23: f32 = shuffle index all %12, %5
        barrier block all
        %24: i32, %25: 2xf16 = instruction \"vendor.thing\" %8, %22
        if %7 { yield } else { yield }
        %26: i32 = for %1 to %6 step %1 carry %5 (%27: i32, %28: i32) {
          barrier warp all
          %29: i32 = if %7 { yield %27 } else { yield %28 }
          yield %29
        }";
    verify(&module(body)).unwrap();
    verify(&Module::default()).unwrap();
}

#[test]
fn operands_and_results_have_the_types_that_operations_take_and_give() {
    use Element::{F16, F32, I1, I8, I64};
    let scalar = Type::Scalar;
    let wide = "an integer of 8 bits or more";
    let table: &[(&str, Violation)] = &[
        ("%9: f32 = binary f_add %2, %3", operand(3, scalar(F16), "f32")),
        ("%9: f32 = binary add %2, %2", operand(2, scalar(F32), wide)),
        ("%9: i1 = binary add %7, %7", operand(7, scalar(I1), wide)),
        ("%9: i32 = binary f_add %1, %1", operand(1, I32, "a floating-point type")),
        ("%9: f32 = binary xor %2, %2", operand(2, scalar(F32), "an integer")),
        ("%9: i32 = unary f_neg %1", operand(1, I32, "a floating-point type")),
        ("%9: f32 = fma %2, %2, %3", operand(3, scalar(F16), "f32")),
        ("%9: f32 = fma %2, %3, %2", operand(3, scalar(F16), "f32")),
        ("%9: i32 = fma %1, %1, %1", operand(1, I32, "a floating-point type but bf16")),
        ("%9: i1 = compare eq %2, %2", operand(2, scalar(F32), wide)),
        ("%9: i1 = compare eq %1, %4", operand(4, scalar(I64), "i32")),
        ("%9: i32 = select %1, %5, %6", operand(1, I32, "i1")),
        ("%9: i32 = select %7, %5, %4", operand(4, scalar(I64), "i32")),
        ("%9: i64 = cast extend_u %2", operand(2, scalar(F32), "an integer")),
        ("%9: f64 = cast extend_f %5", operand(5, I32, "a floating-point type")),
        ("%9: f32 = cast float_s %2", operand(2, scalar(F32), "an integer, not i1")),
        ("%9: f32 = cast float_u %7", operand(7, scalar(I1), "an integer, not i1")),
        ("%9: i8 = cast bits %7", operand(7, scalar(I1), "a scalar or vector, not of i1, ptr.shared or ptr.global")),
        ("%9: 2xi32 = pack %5, %4", operand(4, scalar(I64), "i32")),
        ("%9: 2xi32 = pack %10, %10", Violation::NotVisible { value: Value(10) }),
        ("%9: i32 = extract %5, 0", operand(5, I32, "a vector")),
        ("%9: i32 = permute_bytes %5, %2, 0x0000", operand(2, scalar(F32), "i32")),
        ("%9: i32 = permute_bytes %5, %5, 0x0000 or 0x1111 if %5", operand(5, I32, "i1")),
        ("%9: i64, %10: i64 = swap 1 all %4, %4", operand(4, scalar(I64), "a scalar of 32 bits")),
        ("%9: i32, %10: i32 = swap 1 all %5, %2", operand(2, scalar(F32), "i32")),
        ("%9: i32 = ptr_add %5, %5", operand(5, I32, "a pointer")),
        ("%9: ptr.global = ptr_add %0, %2", operand(2, scalar(F32), "i32 or i64")),
        ("%9: i32 = load %5 align 4", operand(5, I32, "a pointer")),
        ("%9: i32 = load %0 align 4 if %5", operand(5, I32, "i1")),
        ("store %0, %7 align 4", operand(7, scalar(I1), "a scalar or vector of elements of 8 bits or more")),
        ("%9: i64 = shuffle index all %4, %5", operand(4, scalar(I64), "a scalar of 32 bits")),
        ("%9: i32 = shuffle index all %5, %2", operand(2, scalar(F32), "i32")),
        ("%9: i64 = shuffle_xor 1 all %4", operand(4, scalar(I64), "a scalar of 32 bits")),
        ("if %5 { yield } else { yield }", operand(5, I32, "i1")),
        ("for %1 to %4 step %1 (%9: i32) { yield }", operand(4, scalar(I64), "i32")),
        ("%9: i32 = if %7 { yield %5 } else { yield %2 }", operand(2, scalar(F32), "i32")),
    ];
    for (body, violation) in table {
        assert_eq!(&broken(body).violation, violation, "{body}");
    }
    let results = [
        ("%9: i64 = binary add %5, %5", "i32"),
        ("%9: i32 = compare eq %5, %5", "i1"),
        ("%9: ptr.global = constant 0", "a scalar or vector"),
        ("%9: i64 = special lane", "i32"),
        ("%9: ptr.global = shared_address 0", "ptr.shared"),
        ("%9: i64 = select %7, %5, %5", "i32"),
        ("%9: i32 = cast extend_s %4", "1 integer(s) wider than i64"),
        ("%9: i32 = cast extend_u %5", "1 integer(s) wider than i32"),
        ("%9: 2xi8 = cast truncate %5", "1 integer(s) narrower than i32"),
        ("%9: i64 = cast float_s %5", "1 float(s)"),
        ("%9: f32 = cast extend_f %2", "1 float(s) wider than f32"),
        ("%9: f64 = cast round_f %2", "1 float(s) narrower than f32"),
        ("%9: 2xf16 = cast round_f %2", "1 float(s) narrower than f32"),
        ("%9: 4xf16 = cast bits %5", "a scalar or vector of 32 bits, not of i1"),
        ("%9: 32xi1 = cast bits %5", "a scalar or vector of 32 bits, not of i1"),
        ("%9: 2xi32 = cast bits %0", "i64"),
        ("%9: ptr.shared = cast bits %4", "a scalar or vector of 64 bits, not of i1 or ptr.global"),
        ("%9: 4xi32 = pack %5, %5", "2xi32"),
        ("%9: i64 = permute_bytes %5, %5, 0x0000", "i32"),
        ("%9: ptr.global = ptr_add %8, %5", "ptr.shared"),
        ("%9: ptr.global = load %0 align 8", "a scalar or vector of elements of 8 bits or more"),
        ("%9: 8xi1 = load %0 align 8", "a scalar or vector of elements of 8 bits or more"),
        ("%9: i32 = shuffle index all %2, %5", "f32"),
        ("%9: i32 = shuffle_xor 1 all %2", "f32"),
        ("%9: i64 = for %1 to %1 step %1 carry %5 (%10: i32, %11: i32) { yield %11 }", "i32"),
    ];
    for (body, expected) in results {
        let violation = broken(body).violation;
        assert!(
            matches!(&violation, Violation::Result { expected: found, .. } if found == expected),
            "{body}: {violation}"
        );
    }
    assert_eq!(broken("%9: i8 = constant 256").violation, Violation::Constant { bits: 256, ty: scalar(I8) });
    assert_eq!(broken("%9: 2xi1 = constant 2").violation, Violation::Constant { bits: 2, ty: Type::Vector(I1, 2) });
}

#[test]
fn numbers_within_operations_have_bounds() {
    let table = [
        ("%9: i32 = special program 3", Violation::Axis { found: 3 }),
        ("%9: ptr.shared = shared_address 1", Violation::SharedBuffer { found: 1, count: 1 }),
        (
            "%9: 2xi32 = pack %5, %5\n %10: i32 = extract %9, 2",
            Violation::ElementIndex { found: 2, ty: Type::Vector(Element::I32, 2) },
        ),
        ("%9: i32 = permute_bytes %5, %5, 0x0080", Violation::Selector { found: 0x80 }),
        ("%9: i32 = permute_bytes %5, %5, 0x0000 or 0x0008 if %7", Violation::Selector { found: 8 }),
        ("%9: i32, %10: i32 = swap 3 all %5, %5", Violation::Lane { found: 3, lanes: 8 }),
        ("%9: i32, %10: i32 = swap 8 all %5, %5", Violation::Lane { found: 8, lanes: 8 }),
        ("%9: i32 = shuffle_xor 0 all %5", Violation::LaneXor { found: 0, lanes: 8 }),
        ("%9: i32 = shuffle_xor 8 all %5", Violation::LaneXor { found: 8, lanes: 8 }),
        ("set_max_registers release 24", Violation::Registers { found: 24, launch: 0 }),
        ("set_max_registers acquire 0", Violation::Registers { found: 0, launch: 0 }),
        ("%9: i32 = swap 1 all %5, %5", Violation::ResultCount { found: 1, expected: 2 }),
        ("%9: i32 = load %0 align 0", Violation::Alignment { found: 0 }),
        ("store %0, %5 align 12", Violation::Alignment { found: 12 }),
        ("%9: 3xi32 = pack %5, %5, %5", Violation::PackCount { found: 3 }),
        ("%9: i32 = pack %5", Violation::PackCount { found: 1 }),
        ("%9: i32 = pack", Violation::PackCount { found: 0 }),
        ("%9: 3xi32 = constant 0", Violation::VectorCount { value: Value(9), found: 3 }),
        ("%9: 1xi32 = constant 0", Violation::VectorCount { value: Value(9), found: 1 }),
        ("%9: 256xi32 = load %0 align 4", Violation::VectorCount { value: Value(9), found: 256 }),
        ("%9: i32 = constant 0\n %10: i32, %11: i32 = constant 0", Violation::ResultCount { found: 2, expected: 1 }),
        ("constant 0", Violation::ResultCount { found: 0, expected: 1 }),
        ("%9: i32 = barrier warp all", Violation::ResultCount { found: 1, expected: 0 }),
        ("%9: i32 = store %0, %5 align 4", Violation::ResultCount { found: 1, expected: 0 }),
        ("instruction \"\"", Violation::InstructionName),
    ];
    for (body, violation) in table {
        assert_eq!(broken(body).violation, violation, "{body}");
    }
}

#[test]
fn values_are_defined_once_and_before_their_use() {
    let not_visible = |value| Violation::NotVisible { value: Value(value) };
    let table = [
        ("%9: i32 = binary add %9, %5", not_visible(9)),
        ("%9: i32 = binary add %10, %5\n %10: i32 = constant 0", not_visible(10)),
        ("%5: i32 = constant 0", Violation::DefinedTwice { value: Value(5) }),
        ("%0: i32 = constant 0", Violation::DefinedTwice { value: Value(0) }),
        // Values of a region are not visible after it, including arguments and results of inner operations.
        ("if %7 { %9: i32 = constant 0\n yield } else { yield }\n %10: i32 = binary add %9, %9", not_visible(9)),
        ("if %7 { %9: i32 = constant 0\n yield } else { %10: i32 = binary add %9, %9\n yield }", not_visible(9)),
        ("for %1 to %1 step %1 (%9: i32) { yield }\n %10: i32 = binary add %9, %9", not_visible(9)),
        ("%9: i32 = if %7 { yield %9 } else { yield %5 }", not_visible(9)),
        // Their numbers may not be defined again either.
        (
            "if %7 { %9: i32 = constant 0\n yield } else { %9: i32 = constant 0\n yield }",
            Violation::DefinedTwice { value: Value(9) },
        ),
        ("%16777216: i32 = constant 0", Violation::ValueNumber { value: Value(MAX_VALUES) }),
    ];
    for (body, violation) in table {
        assert_eq!(broken(body).violation, violation, "{body}");
    }
}

#[test]
fn regions_take_and_yield_the_values_of_their_operation() {
    let table = [
        ("yield", Violation::YieldMisplaced),
        ("if %7 { yield\n yield } else { yield }", Violation::YieldMisplaced),
        ("if %7 { } else { yield }", Violation::YieldMissing { region: 0 }),
        ("if %7 { yield } else { %9: i32 = constant 0 }", Violation::YieldMissing { region: 1 }),
        ("if %7 { yield %5 } else { yield }", Violation::YieldCount { found: 1, expected: 0 }),
        ("%9: i32 = if %7 { yield %5 } else { yield }", Violation::YieldCount { found: 0, expected: 1 }),
        (
            "if %7 (%9: i32) { yield } else { yield }",
            Violation::RegionArguments { region: 0, found: "i32".to_owned(), expected: String::new() },
        ),
        (
            "for %1 to %1 step %1 { yield }",
            Violation::RegionArguments { region: 0, found: String::new(), expected: "i32".to_owned() },
        ),
        (
            "%9: f32 = for %1 to %1 step %1 carry %2 (%10: i32, %11: i32) { yield %2 }",
            Violation::RegionArguments { region: 0, found: "i32, i32".to_owned(), expected: "i32, f32".to_owned() },
        ),
        (
            "for %1 to %1 step %1 carry %2 (%10: i32, %11: f32) { yield %2 }",
            Violation::ResultCount { found: 0, expected: 1 },
        ),
    ];
    for (body, violation) in table {
        assert_eq!(broken(body).violation, violation, "{body}");
    }
}

#[test]
fn an_error_names_kernel_and_operation() {
    let error = broken("if %7 {\n %9: i32 = binary add %5, %2\n yield\n } else {\n yield\n }");
    assert_eq!((error.kernel.as_str(), error.operation, error.name), ("tested", Some(5), "binary"));
    assert_eq!(error.to_string(), "kernel `tested`, operation 5 (binary): operand %2 is f32; expected i32");
    // A violation of an entire region is reported at its operation.
    let missing = broken("%9: i32 = constant 0\n if %7 { } else { yield }");
    assert_eq!((missing.operation, missing.name), (Some(5), "if"));
}

#[test]
fn heads_of_kernels_are_sane() {
    let head = |text: &str| {
        let module = text::parse_module(text).unwrap_or_else(|error| panic!("{error}"));
        let error = verify(&module).expect_err(text);
        assert_eq!(error.operation, None);
        error.violation
    };
    assert_eq!(head("kernel \"a-b\"() lanes 8 warps 1 {}"), Violation::KernelName);
    assert_eq!(head("kernel \"\"() lanes 8 warps 1 {}"), Violation::KernelName);
    assert_eq!(head("kernel \"8a\"() lanes 8 warps 1 {}"), Violation::KernelName);
    assert_eq!(head("kernel a() lanes 8 warps 1 {}\n kernel a() lanes 8 warps 1 {}"), Violation::DuplicateKernel);
    for lanes in [0, 3, 128] {
        assert_eq!(head(&format!("kernel a() lanes {lanes} warps 1 {{}}")), Violation::Lanes { found: lanes });
    }
    for warps in [0, 1025] {
        assert_eq!(head(&format!("kernel a() lanes 8 warps {warps} {{}}")), Violation::Warps { found: warps });
    }
    for (ty, found) in [
        ("i1", Type::Scalar(Element::I1)),
        ("2xi32", Type::Vector(Element::I32, 2)),
        ("ptr.shared", Type::Pointer(tilewright_kernel::MemorySpace::Shared)),
    ] {
        let text = format!("kernel a(%0 x: i32, %1 y: {ty}) lanes 8 warps 1 {{}}");
        assert_eq!(head(&text), Violation::ParameterType { parameter: 1, found });
    }
    assert_eq!(
        head("kernel a() lanes 8 warps 1 { shared 0: 4 bytes align 4\n shared 1: 4 bytes align 6 }"),
        Violation::SharedAlignment { buffer: 1, found: 6 }
    );
    assert_eq!(
        head("kernel a() lanes 8 warps 1 { shared 0: 0x7fffffff bytes align 1\n shared 1: 1 bytes align 1 }"),
        Violation::SharedBytes { found: 0x8000_0000 }
    );
    let mut module = text::parse_module("kernel a() lanes 8 warps 1 {}").unwrap();
    module.kernels[0].body.arguments.push((Value(0), I32));
    assert_eq!(verify(&module).unwrap_err().violation, Violation::BodyArguments);
}

/// A kernel with `depth` nested ifs.
pub fn nested(depth: usize) -> Module {
    let mut builder = Builder::new("nested", StaticLaunchConfig::new(8, 1), &[]);
    let condition = builder.constant(Type::Scalar(Element::I1), 1);
    let end = || Region { arguments: vec![], statements: vec![Statement::new(vec![], Op::Yield { values: vec![] })] };
    let mut inner = end();
    for _ in 1..depth {
        let statement = Statement::new(vec![], Op::If { condition, then: inner, otherwise: end() });
        inner = end();
        inner.statements.insert(0, statement);
    }
    builder.effect(Op::If { condition, then: inner, otherwise: end() });
    Module { kernels: vec![builder.finish()] }
}

#[test]
fn regions_nest_up_to_a_limit() {
    verify(&nested(MAX_REGION_DEPTH)).unwrap();
    assert_eq!(verify(&nested(MAX_REGION_DEPTH + 1)).unwrap_err().violation, Violation::TooDeep);
}

#[test]
fn collectives_stand_under_uniform_control_only() {
    let collectives = [
        ("%9: i32 = shuffle index all %5, %5", true),
        ("%9: i32 = shuffle_xor 1 all %5", true),
        ("barrier warp all", true),
        ("%9: i32 = assume_uniform warp %1", true),
        ("instruction \"vendor.thing\"", true),
        ("barrier block all", false),
    ];
    // The condition, whether it is uniform in a warp, whether it is uniform in the block.
    let conditions = [
        ("%10: i1 = compare eq %1, %1", true, true),
        ("%10: i1 = constant 1", true, true),
        ("%10: i1 = compare eq %6, %1", true, false),
        ("%10: i1 = compare eq %5, %1", false, false),
    ];
    for (collective, by_warp) in collectives {
        for (condition, in_warp, in_block) in conditions {
            let allowed = if by_warp { in_warp } else { in_block };
            let then = format!("{condition}\n if %10 {{ {collective}\n yield }} else {{ yield }}");
            let otherwise = format!("{condition}\n if %10 {{ yield }} else {{ {collective}\n yield }}");
            let inside = format!(
                "{condition}\n if %10 {{ for %1 to %1 step %1 (%11: i32) {{ {collective}\n yield }}\n yield }} else {{ yield }}"
            );
            for body in [then, otherwise, inside] {
                let verified = verify(&module(&body));
                assert_eq!(verified.is_ok(), allowed, "{body}: {verified:?}");
                if let Err(error) = verified {
                    assert!(matches!(error.violation, Violation::DivergentControl { .. }), "{error}");
                }
            }
        }
        for (bound, in_warp, in_block) in [("%1", true, true), ("%6", true, false), ("%5", false, false)] {
            let allowed = if by_warp { in_warp } else { in_block };
            for bounds in
                [format!("{bound} to %1 step %1"), format!("%1 to {bound} step %1"), format!("%1 to %1 step {bound}")]
            {
                let body = format!("for {bounds} (%11: i32) {{ {collective}\n yield }}");
                assert_eq!(verify(&module(&body)).is_ok(), allowed, "{body}");
            }
        }
    }
    // An assumption about the block shuffles nothing.
    for (scope, allowed) in [("warp", false), ("block", true)] {
        let body = format!("if %7 {{ %9: i32 = assume_uniform {scope} %1\n yield }} else {{ yield }}");
        assert_eq!(verify(&module(&body)).is_ok(), allowed, "{body}");
    }
    let scope = |body: &str| broken(body).to_string();
    assert!(scope("if %7 { barrier warp all\n yield } else { yield }").contains("lanes of a warp"));
    assert!(scope("for %1 to %6 step %1 (%9: i32) { barrier block all\n yield }").contains("warps of a block"));
}

fn levels(body: &str) -> impl Fn(u32) -> Uniformity {
    let module = module(body);
    let levels = analyze_uniformity(&module.kernels[0]);
    move |value| levels[value as usize]
}

#[test]
fn uniformity_follows_operands() {
    use Uniformity::{ClusterUniform, Uniform, Varying};
    let level = levels(
        "%9: i32 = constant 3
         %10: i32 = special program 0
         %11: i32 = binary add %9, %10
         %12: i32 = binary add %11, %6
         %13: i32 = binary add %12, %5
         %14: i32 = load %0 align 4
         %15: i1 = compare eq %5, %9
         %16: i32 = load %0 align 4 if %15
         %17: ptr.global = ptr_add %0, %5
         %18: i32 = load %17 align 4
         %19: i32 = shuffle index all %5, %9
         %20: i32 = shuffle index all %5, %5
         %21: i32 = shuffle index all %9, %5
         %25: i32 = shuffle_xor 1 all %5
         %26: i32 = shuffle_xor 1 all %6
         %22: i32 = instruction \"vendor.thing\" %9
         %23: 2xi32 = pack %9, %12
         %24: i32 = extract %23, 0",
    );
    let expected = [
        (0, ClusterUniform),
        (5, Varying),
        (6, Uniform),
        (25, Varying),
        (26, Uniform),
        (8, ClusterUniform),
        (9, ClusterUniform),
        (10, ClusterUniform),
        (11, ClusterUniform),
        (12, Uniform),
        (13, Varying),
        // Uniform in a warp only: other warps may load at another time.
        (14, Uniform),
        (16, Varying),
        (18, Varying),
        (19, Uniform),
        (20, Varying),
        (21, ClusterUniform),
        (22, Varying),
        (23, Uniform),
        (24, Uniform),
    ];
    for (value, expected) in expected {
        assert_eq!(level(value), expected, "%{value}");
    }
}

#[test]
fn uniformity_follows_control() {
    use Uniformity::{ClusterUniform, Uniform, Varying};
    let level = levels(
        "%9: i32 = constant 3
         %10: i32 = if %7 { yield %9 } else { yield %1 }
         %11: i1 = compare eq %6, %9
         %12: i32 = if %11 { yield %9 } else { yield %1 }
         %13: i32 = if %11 { yield %9 } else { yield %5 }
         %14: i32 = for %9 to %1 step %9 carry %9 (%15: i32, %16: i32) { yield %16 }
         %17: i32 = for %9 to %5 step %9 carry %9 (%18: i32, %19: i32) { yield %18 }
         %20: i32 = for %9 to %1 step %9 carry %9 (%21: i32, %22: i32) { yield %6 }
         %23: i32, %24: i32, %25: i32 = for %9 to %1 step %9 carry %9, %9, %9 (%26: i32, %27: i32, %28: i32, %29: i32) {
           yield %28, %29, %5
         }",
    );
    let expected = [
        (10, Varying),
        (12, Uniform),
        (13, Varying),
        (14, ClusterUniform),
        (15, ClusterUniform),
        // Lanes leave in different iterations, though all have the same value within an iteration.
        (17, Varying),
        (18, ClusterUniform),
        (19, ClusterUniform),
        (20, Uniform),
        (22, Uniform),
        // The lane index reaches the first carried value after two iterations.
        (23, Varying),
        (24, Varying),
        (25, Varying),
        (27, Varying),
    ];
    for (value, expected) in expected {
        assert_eq!(level(value), expected, "%{value}");
    }
}

#[test]
fn one_block_is_the_cluster_one_warp_the_block_and_one_lane_the_warp() {
    let levels = |lanes: u32, warps: u32| {
        let kernel: Kernel = {
            let mut builder = Builder::new("k", StaticLaunchConfig::new(lanes, warps), &[]);
            builder.special(tilewright_kernel::SpecialRegister::Lane);
            builder.special(tilewright_kernel::SpecialRegister::Warp);
            builder.finish()
        };
        analyze_uniformity(&kernel)
    };
    use Uniformity::{ClusterUniform, Uniform, Varying};
    assert_eq!(levels(8, 2), [Varying, Uniform]);
    assert_eq!(levels(8, 1), [Varying, ClusterUniform]);
    assert_eq!(levels(1, 2), [Uniform, Uniform]);
    assert_eq!(levels(1, 1), [ClusterUniform, ClusterUniform]);
}
