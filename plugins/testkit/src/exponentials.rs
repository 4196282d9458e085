//! Checks the error of exponentials of `f32` in programs: `math.exp` is computed as `2^(x log2 e)` as in Triton,
//! `tw.math.exp` is as accurate as the C library's.

use crate::prelude::*;

/// Returns the arguments of the tests; their exponentials are finite and normal.
fn arguments() -> Vec<f32> {
    (0..1024).map(|index| (index as f32 - 511.5) * 0.17).collect()
}

/// Returns a kernel that applies the operation `name` to 1,024 numbers.
fn kernel(target: &dyn Target, name: &str) -> Kernel {
    let text = format!(
        "module {{ tt.func public @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {{
           %range = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
           %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
           %from = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
           %v = tt.load %from : tensor<1024x!tt.ptr<f32>>
           %e = {name} %v : tensor<1024xf32>
           %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
           %to = tt.addptr %ys, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
           tt.store %to, %e : tensor<1024x!tt.ptr<f32>>
           tt.return
         }} }}"
    );
    program_kernel(target, &text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Checks the errors of both operations against binary64, on the emulator. The permitted error of `math.exp` grows with
/// the argument, because the product with `log2 e` is rounded and `log2 e` in binary32 is inexact; the error of the
/// target's `exp2` is added.
pub fn errors_are_those_of_the_product(target: &dyn Target) {
    let exp2 =
        target.description().find_native_function("exp2", "f32").expect("the target has `exp2`").ulps * 2f64.powi(-23);
    let by_product = |x: f64| exp2 + x.abs() * (2f64.powi(-24) + 2f64.powi(-26)) * (1.0 + 2f64.powi(-10));
    let corrected = |_: f64| exp2 + 2.0 * 2f64.powi(-23);
    let allowed: [(&str, &dyn Fn(f64) -> f64); 2] = [("math.exp", &by_product), ("tw.math.exp", &corrected)];
    let bytes: Vec<u8> = arguments().iter().flat_map(|x| x.to_le_bytes()).collect();
    for (name, allowed) in allowed {
        let kernel = kernel(target, name);
        let given = [InitialBuffer::Bytes(bytes.clone()), InitialBuffer::Empty(bytes.len())];
        let (left, _) = run_block(target, &kernel, &given, &[]).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        for (x, found) in arguments().into_iter().zip(left[1].chunks(4)) {
            let found = f32::from_le_bytes(found.try_into().expect("four bytes"));
            let exact = f64::from(x).exp();
            let error = (f64::from(found) - exact).abs() / exact;
            assert!(error <= allowed(f64::from(x)), "{name} of {x} is {found}: relative error {error:e}");
        }
    }
}
