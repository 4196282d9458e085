//! Operations of whole programs as SPIR-V, accepted by our validator, and by the Khronos validator if installed.

use crate::spirv::programs;
use crate::validated_target::target;
use tilewright_vendor_testkit::prelude::*;

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(16, 4);

fn compiled(name: &str, kernel: Kernel) -> Result<String, CompileError> {
    let options = CompileOptions {
        emit: vec![CodeFormat::Assembly, CodeFormat::Object],
        optimisation: 2,
        ..CompileOptions::default()
    };
    let artifact = target(name).compile(&Module { kernels: vec![kernel] }, &options)?;
    Ok(artifact.payload_text(CodeFormat::Assembly).expect("assembly is text").to_owned())
}

/// Returns the name and the SPIR-V text of every kernel. Kernels that need binary64 are left out on targets without it,
/// after a check that their error names binary64.
fn all(name: &str, kernels: Vec<Kernel>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for kernel in kernels {
        let label = kernel.name.clone();
        match compiled(name, kernel) {
            Ok(text) => texts.push((label, text)),
            Err(CompileError::Unsupported(message)) if name == "a770" && label.contains("f64") => {
                assert!(message.contains("does not compute with f64"), "{label}: {message}");
            }
            Err(error) => panic!("{name} {label}: {error}"),
        }
    }
    texts
}

fn one<'a>(texts: &'a [(String, String)], name: &str) -> &'a str {
    &texts.iter().find(|(label, _)| label == name).unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn arithmetic_of_every_element_is_valid() {
    for name in ["max1550", "a770"] {
        let texts = all(name, programs::arithmetic(LAUNCH));
        for (kernel, word) in [
            ("k_f_floor_f32", " floor "),
            ("k_f_nearest_f16", " rint "),
            ("k_f_min_number_f32", " fmin "),
            ("k_leading_zeros_i32", " clz "),
            ("k_pop_count_i64", " popcount "),
            ("k_mul_high_u_i32", " u_mul_hi "),
            ("k_int_s_i32_f32", "OpConvertFToS"),
            ("k_f_unordered_f32", "OpUnordered"),
        ] {
            assert!(one(&texts, kernel).contains(word), "{name} {kernel}: {}", one(&texts, kernel));
        }
        // With binary64, quotients and square roots of narrower numbers are computed in it.
        for kernel in ["k_f_div_f32", "k_f_sqrt_f32", "k_f_div_f16", "k_f_sqrt_bf16"] {
            assert_eq!(one(&texts, kernel).contains("OpTypeFloat 64"), name == "max1550", "{name} {kernel}");
        }
    }
}

#[test]
fn atomics_of_every_element_are_valid() {
    for name in ["max1550", "a770"] {
        let texts = all(name, programs::atomics(LAUNCH));
        assert!(one(&texts, "atomic_max_u_i64").contains("Int64Atomics"));
        assert!(one(&texts, "atomic_f_add_f32").contains("OpAtomicCompareExchange"));
    }
}

#[test]
fn programs_are_valid() {
    // Two f64 are among the printed values.
    let kernels = || programs::programs(LAUNCH);
    let texts = all("max1550", kernels());
    assert!(one(&texts, "grid").contains("NumWorkgroups"));
    assert!(one(&texts, "collatz").contains("OpLoopMerge"));
}

#[test]
fn functions_that_the_target_lists_are_extended_instructions() {
    for name in ["max1550", "a770"] {
        let target = target(name);
        assert!(!target.description().functions.is_empty());
        for native in &target.description().functions {
            let function = MathFunction::ALL.iter().copied().find(|one| one.name() == native.function).expect("known");
            let text =
                compiled(name, programs::math_function_kernel(LAUNCH, function, Element::F32)).expect("it compiles");
            assert!(text.contains(&format!(" {} ", function.name())), "{text}");
        }
        for function in [MathFunction::Sin, MathFunction::Pow] {
            let error =
                compiled(name, programs::math_function_kernel(LAUNCH, function, Element::F32)).expect_err("not listed");
            assert!(matches!(error, CompileError::Unsupported(_)), "{error}");
        }
    }
}

#[test]
fn assembly_is_unsupported() {
    let mut k = Builder::new("k", LAUNCH, &[("at", Type::Pointer(MemorySpace::Global))]);
    k.assembly("mov.u32 $0, 1;", "=r", &[], &[Type::Scalar(Element::I32)]);
    let error = compiled("max1550", k.finish()).expect_err("it is not SPIR-V");
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("assembly")), "{error}");
}
