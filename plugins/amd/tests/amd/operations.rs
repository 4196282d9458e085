//! Operations of whole kernels as AMDGCN: every element type compiles to a code object without external calls.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::{exponentials, operations};

/// Returns the assembly of the kernels after LLVM's assembler and linker have accepted it.
fn assembled(name: &str, kernels: Vec<Kernel>) -> String {
    let options = CompileOptions {
        emit: vec![CodeFormat::Assembly, CodeFormat::Object],
        optimisation: 2,
        ..CompileOptions::default()
    };
    let artifact =
        target(name).compile(&Module { kernels }, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = artifact.payload_text(CodeFormat::Assembly).unwrap().to_owned();
    let calls = text.lines().find(|line| line.contains("s_swappc") || line.contains("@gotpcrel"));
    assert!(calls.is_none(), "{name}: {calls:?}");
    text
}

/// Returns the instructions of one kernel.
fn body<'a>(text: &'a str, kernel: &str) -> &'a str {
    let start = text.find(&format!("\n{kernel}:")).unwrap_or_else(|| panic!("no {kernel} in {text}"));
    text[start..].split(".end_amdhsa_kernel").next().unwrap()
}

const TARGETS: [(&str, StaticLaunchConfig); 3] = [
    ("mi250", StaticLaunchConfig::new(64, 4)),
    ("mi300x", StaticLaunchConfig::new(64, 4)),
    ("rx9070xt", StaticLaunchConfig::new(32, 4)),
];

#[test]
fn arithmetic_of_every_element_is_assembled() {
    for (name, launch) in TARGETS {
        let text = assembled(name, operations::arithmetic(launch));
        // A quotient that is rounded to nearest needs the hardware's scaling and fix-up instructions.
        assert!(body(&text, "k_f_div_f32").contains("v_div_fixup_f32"), "{}", body(&text, "k_f_div_f32"));
        assert!(body(&text, "k_f_div_f64").contains("v_div_fixup_f64"), "{}", body(&text, "k_f_div_f64"));
        assert!(body(&text, "k_f_div_f16").contains("v_div_fixup_f16"), "{}", body(&text, "k_f_div_f16"));
        assert!(body(&text, "k_f_nearest_f32").contains("v_rndne_f32"), "{}", body(&text, "k_f_nearest_f32"));
    }
}

#[test]
fn exponentials_have_the_error_of_their_product() {
    exponentials::errors_are_those_of_the_product(&target("mi300x"));
}

#[test]
fn atomics_of_every_element_are_assembled() {
    for (name, launch) in TARGETS {
        let text = assembled(name, operations::atomics(launch));
        let one = body(&text, "atomic_f_add_f32");
        assert!(one.contains("global_atomic_add_f32") && one.contains("ds_add_rtn_f32"), "{name}: {one}");
    }
}

#[test]
fn pairs_are_added_by_one_instruction() {
    for (name, launch) in TARGETS {
        let kernels = operations::vector_additions(launch, target(name).description());
        assert_eq!(kernels.len(), if name == "mi250" { 2 } else { 4 }, "{name}");
        let text = assembled(name, kernels);
        for kernel in text.split(".amdhsa_kernel ").skip(1).map(|rest| rest.lines().next().unwrap()) {
            let element = kernel.split('_').nth(1).unwrap();
            let one = body(&text, kernel);
            assert!(one.contains(&format!("global_atomic_pk_add_{element}")), "{name}: {one}");
            assert!(!one.contains("cmpswap"), "{name}: {one}");
        }
    }
}

#[test]
fn programs_are_assembled_and_print_nothing() {
    for (name, launch) in TARGETS {
        let text = assembled(name, operations::programs(launch));
        assert!(body(&text, "said").contains("s_trap"), "{}", body(&text, "said"));
        assert!(text.contains("hidden_block_count_z"), "{text}");
    }
}

#[test]
fn functions_that_the_hardware_has_are_instructions_and_others_are_refused() {
    for (name, launch) in TARGETS {
        let target = target(name);
        assert!(!target.description().functions.is_empty());
        for native in &target.description().functions {
            let text =
                assembled(name, vec![operations::native_function_kernel(launch, &native.function, &native.element)]);
            let instruction = match native.function.as_str() {
                "exp2" => "v_exp_f32",
                "log2" => "v_log_f32",
                "rsqrt" => "v_rsq_f32",
                "round_z" if text.contains("v_cvt_pkrtz_") => "v_cvt_pkrtz_f16_f32",
                "round_z" => "v_cvt_pk_rtz_f16_f32",
                _ => "v_cvt_pk_f32_",
            };
            assert!(text.contains(instruction), "{text}");
        }
        let module =
            Module { kernels: vec![operations::math_function_kernel(launch, MathFunction::Sin, Element::F32)] };
        let error = target.compile(&module, &CompileOptions::default()).unwrap_err();
        assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("`sin` of f32")), "{error}");
    }
}

#[test]
fn assembly_of_another_vendor_is_unsupported() {
    let of = |text: &str, constraints: &str| {
        let word = Type::Scalar(Element::I32);
        let mut k = Builder::new(
            "k",
            StaticLaunchConfig::new(64, 1),
            &[("at", Type::Pointer(MemorySpace::Global)), ("n", word)],
        );
        let (at, n) = (k.parameter(0), k.parameter(1));
        let sum = k.assembly(text, constraints, &[n, n], &[word]);
        k.store(at, 0, sum[0], None);
        k.finish()
    };
    assert!(assembled("mi250", vec![of("v_add_u32 $0, $1, $2", "=v,v,v")]).contains("v_add_u32"));
    for emit in [CodeFormat::Intermediate, CodeFormat::Assembly, CodeFormat::Object] {
        let module = Module { kernels: vec![of("add.u32 $0, $1, $2;", "=r,r,r")] };
        let options = CompileOptions { emit: vec![emit], optimisation: 2, ..CompileOptions::default() };
        let error = target("mi250").compile(&module, &options).unwrap_err();
        assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("assembly")), "{error}");
    }
}

/// Checks that thousands of stores are not scheduled together: at intervals an operation that the scheduler does not
/// cross separates them.
#[test]
fn many_stores_are_parted() {
    let launch = StaticLaunchConfig::new(64, 1);
    let split_count = |stores: u32| {
        let parameters = [("to", Type::Pointer(MemorySpace::Global)), ("x", Type::Scalar(Element::I32))];
        let mut builder = Builder::new("stores", launch, &parameters);
        let (to, value) = (builder.parameter(0), builder.parameter(1));
        for index in 0..stores {
            builder.store(to, 8 * index as i32, value, None);
        }
        assembled("mi300x", vec![builder.finish()]).matches("#ASMSTART").count()
    };
    assert_eq!([split_count(100), split_count(255), split_count(1024)], [0, 0, 4]);
}

#[test]
fn bytes_are_extended_two_at_a_time() {
    const CASES: [(&str, Cast, &str); 6] = [
        ("mi300x", Cast::ExtendFp8Fnuz, "v_cvt_pk_f32_fp8"),
        ("mi300x", Cast::ExtendBf8Fnuz, "v_cvt_pk_f32_bf8"),
        ("mi355x", Cast::ExtendE4m3, "v_cvt_pk_f32_fp8"),
        ("mi355x", Cast::ExtendE5m2, "v_cvt_pk_f32_bf8"),
        ("rx9070xt", Cast::ExtendE4m3, "v_cvt_pk_f32_fp8"),
        ("rx9070xt", Cast::ExtendE5m2, "v_cvt_pk_f32_bf8"),
    ];
    for (name, cast, instruction) in CASES {
        let lanes = target(name).description().lanes.default;
        for (count, times) in [(1, 1..=2), (4, 2..=2), (8, 4..=4)] {
            let from = Type::vector_or_scalar(Element::I8, count);
            let mut k =
                Builder::new("k", StaticLaunchConfig::new(lanes, 1), &[("at", Type::Pointer(MemorySpace::Global))]);
            let at = k.parameter(0);
            let bytes = k.load(from, at, 0, None);
            let numbers = k.cast(cast, bytes, Type::vector_or_scalar(Element::F32, count));
            k.store(at, 64, numbers, None);
            let text = assembled(name, vec![k.finish()]);
            let found = text.matches(instruction).count();
            assert!(times.contains(&found), "{name}, {count} elements: {found} of {instruction}: {text}");
        }
    }
}
