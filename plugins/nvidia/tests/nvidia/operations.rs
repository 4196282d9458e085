//! Operations of whole programs as PTX: the code calls only functions that the driver provides, and `ptxas`, if
//! installed, accepts it.

use crate::prelude::*;
use tilewright_vendor_testkit::{exponentials, operations};

const LAUNCH: Launch = Launch::new(32, 4);

fn compiled(name: &str, kernels: Vec<Kernel>, emit: &[Emit]) -> String {
    let options = CompileOptions { emit: emit.to_vec(), optimisation: 2 };
    let artifact =
        target(name).compile(&Module { kernels }, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    artifact.text(Emit::Assembly).unwrap().to_owned()
}

/// Returns the PTX of the kernels, which `ptxas` must accept if it is installed.
fn assembled(name: &str, kernels: Vec<Kernel>) -> String {
    let emit = if object::assembler().is_ok() { vec![Emit::Assembly, Emit::Object] } else { vec![Emit::Assembly] };
    compiled(name, kernels, &emit)
}

/// Returns the instructions of one kernel.
fn body<'a>(ptx: &'a str, kernel: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("no {kernel} in {ptx}"));
    ptx[start..].split("\n}").next().unwrap()
}

#[test]
fn arithmetic_of_every_element_is_assembled() {
    for name in ["a100", "h100"] {
        let ptx = assembled(name, operations::arithmetic(LAUNCH));
        assert!(!ptx.contains("call"), "{name}: {}", ptx.lines().find(|line| line.contains("call")).unwrap());
    }
}

#[test]
fn exponentials_have_the_error_of_their_product() {
    exponentials::errors_are_those_of_the_product(&target("h100"));
}

#[test]
fn quotients_and_roots_are_rounded_to_nearest() {
    let ptx = compiled("h100", operations::arithmetic(LAUNCH), &[Emit::Assembly]);
    for (kernel, instruction) in [
        ("k_f_div_f32", "div.rn.f32"),
        ("k_f_div_f64", "div.rn.f64"),
        ("k_f_sqrt_f32", "sqrt.rn.f32"),
        ("k_f_sqrt_f64", "sqrt.rn.f64"),
        ("k_f_sqrt_bf16", "sqrt.rn.f32"),
        ("k_f_div_f16", "div.rn.f32"),
        ("k_f_nearest_f32", "cvt.rni.f32.f32"),
        ("k_f_min_number_f32", "min.f32"),
        ("k_f_minimum_f32", "min.NaN.f32"),
        ("k_mul_high_u_i64", "mul.hi.u64"),
        ("k_mul_high_s_i32", "mul.hi.s32"),
        ("k_leading_zeros_i32", "clz.b32"),
        ("k_pop_count_i64", "popc.b64"),
        ("k_int_s_i32_f32", "cvt.rzi.s32.f32"),
    ] {
        assert!(body(&ptx, kernel).contains(instruction), "{kernel}: {}", body(&ptx, kernel));
    }
}

#[test]
fn atomics_of_every_element_are_assembled() {
    for name in ["a100", "h100"] {
        let ptx = assembled(name, operations::atomics(LAUNCH));
        assert!(!ptx.contains("call"), "{name}");
        assert!(
            body(&ptx, "atomic_f_add_f32").contains("atom.relaxed.gpu.global.add.f32"),
            "{}",
            body(&ptx, "atomic_f_add_f32")
        );
        assert!(body(&ptx, "atomic_max_u_i32").contains(".max.u32"), "{}", body(&ptx, "atomic_max_u_i32"));
    }
}

#[test]
fn orders_and_scopes_are_those_of_the_operation() {
    let ptx = compiled("h100", operations::atomics(LAUNCH), &[Emit::Assembly]);
    for (scope, word) in [("block", "cta"), ("device", "gpu"), ("system", "sys")] {
        let relaxed = body(&ptx, &format!("ordered_relaxed_{scope}"));
        assert!(relaxed.contains(&format!("fence.acq_rel.{word}")), "{relaxed}");
        assert!(relaxed.contains(&format!("atom.relaxed.{word}.global.add")), "{relaxed}");
        let ordered = body(&ptx, &format!("ordered_acquire_release_{scope}"));
        assert!(ordered.contains(&format!("atom.acq_rel.{word}.global.add")), "{ordered}");
    }
}

#[test]
fn programs_are_assembled_and_print_by_the_driver() {
    for name in ["a100", "h100", "rtx4090"] {
        let ptx = assembled(name, operations::programs(LAUNCH));
        assert!(body(&ptx, "said").contains("vprintf") && body(&ptx, "said").contains("trap"), "{ptx}");
        assert!(body(&ptx, "grid").contains("%nctaid.z"), "{ptx}");
        let waits = body(&ptx, "overlapped").contains("griddepcontrol.wait");
        assert_eq!(waits, name == "h100", "{name}: {ptx}");
    }
}

#[test]
fn functions_that_the_hardware_has_are_instructions_and_others_are_refused() {
    let ptx = assembled(
        "h100",
        vec![
            operations::function(LAUNCH, MathFunction::Exp2, Element::F32),
            operations::function(LAUNCH, MathFunction::Rsqrt, Element::F32),
        ],
    );
    assert!(ptx.contains("ex2.approx.ftz.f32") && ptx.contains("rsqrt.approx.ftz.f32"), "{ptx}");
    let module = Module { kernels: vec![operations::function(LAUNCH, MathFunction::Sin, Element::F32)] };
    let error = target("h100").compile(&module, &CompileOptions::default()).unwrap_err();
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("`sin` of f32")), "{error}");
    let listed = target("h100");
    for native in &listed.description().functions {
        assembled("h100", vec![operations::listed(LAUNCH, &native.function, &native.element)]);
    }
}

#[test]
fn assembly_stands_in_the_code_as_it_is() {
    let of = |constraints: &str| {
        let word = Type::Scalar(Element::I32);
        let mut k = Builder::new("k", LAUNCH, &[("at", Type::Pointer(MemorySpace::Global)), ("n", word)]);
        let (at, n) = (k.parameter(0), k.parameter(1));
        let sum = k.assembly("add.u32 $0, $1, $2;", constraints, &[n, n], &[word]);
        k.store(at, 0, sum[0], None);
        k.finish()
    };
    assert!(assembled("h100", vec![of("=r,r,r")]).contains("add.u32"));
    for wrong in ["=r,r", "=r,=r,r,r", "r,r,=r", "=r,r,r,$", ""] {
        let module = Module { kernels: vec![of(wrong)] };
        let error = target("h100").compile(&module, &CompileOptions::default()).unwrap_err();
        assert!(matches!(&error, CompileError::Invalid(message) if message.contains("constraint")), "{wrong}: {error}");
    }
}
