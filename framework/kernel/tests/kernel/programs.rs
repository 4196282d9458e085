//! Verifier rules and result uniformity of operations that programs use.
#![allow(clippy::unwrap_used)]

use tilewright_kernel::{Module, Uniformity, Violation, analyze_uniformity, text, verify};

/// A module with two blocks in a cluster, so that all levels of uniformity differ.
fn module(body: &str) -> Module {
    let text = format!(
        "kernel tested(%0 a: ptr.global, %1 n: i32, %2 x: f32, %3 h: f16, %4 w: i64) lanes 8 warps 4 blocks 2 {{
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

#[test]
fn a_sound_program_passes() {
    let body = "%9: i32 = special programs 2
        %10: f16 = unary f_sqrt %3
        %11: i64 = unary leading_zeros %4
        %12: i32 = binary div_s %1, %5
        %13: f32 = binary f_min_number %2, %2
        %14: i1 = compare f_unordered %2, %2
        %15: 2xf32 = pack %2, %2
        %16: 2xi1 = compare f_lt %15, %15
        %17: 2xi8 = cast int_u %15
        %18: 2xf32 = math atan2 %15, %15
        %19: i64 = cast bits %0
        %20: ptr.global = cast bits %19
        %21: i64 = atomic_rmw max_u acquire system %20, %4 if %14
        %22: f16 = atomic_rmw f_add relaxed block %8, %10
        %23: i32 = atomic_compare_exchange acquire_release device %8, %1, %5
        fence device
        assert %14, \"message\" if %7
        print \"prefix\" hex %15, %0, %14
        %24: i32, %25: 2xf16 = assembly \"text\" \"=r,=r,l\" %0
        grid_dependency wait
        %26: i32, %27: f32 = while carry %5, %2 (%28: i32, %29: f32) {
          yield %7, %1, %29
        }
        while { yield %14 }";
    verify(&module(body)).unwrap();
}

#[test]
fn operands_and_results_are_those_of_the_operation() {
    for (body, message) in [
        ("%9: i32 = special programs 3", "axis 3"),
        ("%9: i64 = special programs 0", "expected i32"),
        ("%9: i32 = unary f_sqrt %1", "operand %1 is i32; expected a floating-point type"),
        ("%9: f32 = unary pop_count %2", "operand %2 is f32; expected an integer of 8 bits or more"),
        ("%9: i1 = unary leading_zeros %7", "operand %7 is i1"),
        ("%9: f32 = binary div_s %2, %2", "operand %2 is f32"),
        ("%9: i32 = binary f_div %1, %1", "operand %1 is i32"),
        ("%9: f32 = binary f_minimum %2, %3", "operand %3 is f16; expected f32"),
        ("%9: i1 = compare f_eq %1, %1", "operand %1 is i32; expected a floating-point type"),
        ("%9: i1 = compare f_lt %2, %3", "operand %3 is f16; expected f32"),
        ("%9: i32 = compare f_lt %2, %2", "expected i1"),
        ("%9: i1 = cast int_s %2", "expected 1 integer(s), not i1"),
        ("%9: f64 = cast int_s %2", "expected 1 integer(s), not i1"),
        ("%9: i32 = cast int_u %1", "operand %1 is i32; expected a floating-point type"),
        ("%9: f16 = math exp2 %3", "operand %3 is f16; expected f32, f64 or a vector of them"),
        ("%9: f32 = math pow %2", "1 operands; pow takes 2"),
        ("%9: f32 = math sin %2, %2", "2 operands; sin takes 1"),
        ("%9: f64 = math sin %2", "expected f32"),
        ("%9: i32 = atomic_rmw add relaxed device %5, %1", "operand %5 is i32; expected ptr.global or ptr.shared"),
        ("%9: f32 = atomic_rmw add relaxed device %0, %2", "operand %2 is f32; expected i32 or i64"),
        ("%9: i32 = atomic_rmw f_add relaxed device %0, %1", "operand %1 is i32; expected a floating-point type"),
        ("%9: i64 = atomic_rmw add relaxed device %0, %1", "expected i32"),
        ("%9: i32 = atomic_rmw add relaxed device %0, %1 if %5", "operand %5 is i32; expected i1"),
        ("%9: i32 = atomic_compare_exchange relaxed device %0, %4, %1", "operand %4 is i64; expected i32"),
        ("%9: f32 = atomic_compare_exchange relaxed device %0, %2, %2", "operand %2 is f32; expected i32 or i64"),
        ("%9: ptr.cluster = cluster_address %8, %1 %10: i32 = atomic_rmw add relaxed device %9, %1", "ptr.cluster"),
        ("atomic_rmw add relaxed device %0, %1", "0 results; expected 1"),
        ("%9: i32 = fence block", "1 results; expected 0"),
        ("assert %5, \"m\"", "operand %5 is i32; expected i1"),
        ("assert %7, \"m\" if %5", "operand %5 is i32; expected i1"),
        ("print \"p\" %8", "operand %8 is ptr.shared; expected a scalar, a vector or ptr.global"),
        ("%9: i32 = assembly \"t\" \"=r,r\" %10", "%10 is not defined here"),
        ("%9: i32 = while carry %2 (%10: f32) { yield %7, %10 }", "result %9 is i32; expected f32"),
        ("%9: f32 = while carry %2 (%10: i32) { yield %7, %2 }", "region 0 takes (i32); expected (f32)"),
        ("%9: f32 = while carry %2 (%10: f32) { yield %10, %7 }", "operand %10 is f32; expected i1"),
        ("%9: f32 = while carry %2 (%10: f32) { yield %7 }", "1 values yielded; expected 2"),
        ("while { }", "region 0 does not end in yield"),
        ("%9: f32 = while (%10: f32) { yield %7, %10 }", "1 results; expected 0"),
    ] {
        let error = verify(&module(body)).expect_err(body).to_string();
        assert!(error.contains(message), "{body}: {error}");
    }
}

#[test]
fn a_while_is_control_by_what_it_yields() {
    let within = |condition: &str, inner: &str| {
        verify(&module(&format!(
            "%9: i32 = constant 3
             %10: i1 = compare lt_u %1, %9
             %11: i1 = compare lt_u %6, %9
             while {{ {inner} yield {condition} }}"
        )))
    };
    within("%10", "barrier cluster all").unwrap();
    within("%11", "barrier warp all").unwrap();
    let of = |condition: &str, inner: &str| within(condition, inner).unwrap_err().violation;
    assert_eq!(of("%11", "barrier block all"), Violation::DivergentControl { scope: "warps of a block" });
    assert_eq!(of("%7", "barrier warp all"), Violation::DivergentControl { scope: "lanes of a warp" });
    // Operations of a single lane may stand under divergent control.
    for alone in ["fence device", "assert %7, \"m\"", "print \"p\"", "%12: i32 = atomic_rmw add relaxed device %0, %5"]
    {
        within("%7", alone).unwrap();
    }
}

#[test]
fn results_are_as_uniform_as_their_operands() {
    use Uniformity::{BlockUniform, ClusterUniform, Uniform, Varying};
    let kernel = module(
        "%9: i32 = special programs 0
         %10: f32 = math exp %2
         %11: i32 = atomic_rmw add relaxed device %0, %1
         %12: i32 = atomic_compare_exchange relaxed device %0, %1, %1
         %13: i32 = assembly \"text\" \"=r\"
         %14: i32 = constant 3
         %15: i1 = compare lt_u %1, %14
         %16: i1 = compare lt_u %6, %14
         %17: i32, %18: i32 = while carry %1, %1 (%19: i32, %20: i32) { yield %15, %20, %6 }
         %21: i32 = while carry %1 (%22: i32) { yield %16, %1 }
         %23: i32 = while carry %1 (%24: i32) { yield %7, %1 }
         %25: i32 = special program 0
         %26: i32 = while carry %25 (%27: i32) { yield %15, %27 }",
    );
    let levels = analyze_uniformity(&kernel.kernels[0]);
    let level = |value: usize| levels[value];
    assert_eq!([9, 10, 11, 12, 13].map(level), [ClusterUniform, ClusterUniform, Varying, Varying, Varying]);
    // The first loop passes the warp index to its second carried value, and that to the first.
    assert_eq!([17, 18, 19, 20].map(level), [Uniform, Uniform, Uniform, Uniform]);
    // All lanes yield the same value, but after different numbers of iterations.
    assert_eq!([21, 22, 23, 24].map(level), [Uniform, ClusterUniform, Varying, ClusterUniform]);
    assert_eq!([26, 27].map(level), [BlockUniform, BlockUniform]);
}
