//! Programs with dots of both kinds: `tw.mma`, and Triton's `tt.dot`.

use std::sync::Arc;

use super::{EmulatedDerivation, case, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};

/// The end of the suite's dot along K, by Triton's operations: iterations 2 to `%end`, which add to `%half`.
const END: &str = "    %two = arith.constant 2 : i32
    %wide = arith.extsi %k : i32 to i64
    %one = arith.constant 1 : i64
    %da = tt.make_tensor_descriptor %pa, [%c64, %k], [%wide, %one] : !tt.ptr<f16>, !tt.tensordesc<64x32xf16>
    %db = tt.make_tensor_descriptor %pb, [%c64, %k], [%wide, %one] : !tt.ptr<f16>, !tt.tensordesc<64x32xf16>
    %total = scf.for %j = %two to %end step %c1 iter_args(%part = %half) -> (tensor<64x64xf32>) : i32 {
      %at = arith.muli %j, %c32 : i32
      %xa = tt.descriptor_load %da[%c0, %at] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %xb = tt.descriptor_load %db[%c0, %at] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %xt = tt.trans %xb {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
      %longer = tt.dot %xa, %xt, %part : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %longer : tensor<64x64xf32>
    }
";

/// Executes the suite's dot with `tt.dot` in place of `tw.mma`, and with a second loop of Triton's operations, and
/// checks the results. The search chooses the same for both kinds of dot. Returns the solution of the program with two
/// loops.
pub fn check_two_kinds(target: &dyn Target) -> Arc<EmulatedDerivation> {
    let (case, text) = case("explicit_gemm");
    let solve = |text: &str| synthesize_and_emulate(target, &case, text, SynthesisOptions::default());
    let (mma, dot) = (solve(&text), solve(&text.replace("tw.mma", "tt.dot")));
    let choices = |solved: &EmulatedDerivation| {
        let Derivation { dots, loops, memories, shared_bytes, .. } = &solved.derivation;
        format!("{dots:?} {loops:?} {memories:?} {shared_bytes}")
    };
    assert_eq!(choices(&mma), choices(&dot));
    let first = text.replace("%c0 to %turns", "%c0 to %two").replace("%sums = scf.for", "%half = scf.for");
    let end = first.find("    %rounded").expect("the end of the loop");
    let own_end = END.replace("%total", "%sums").replace("%end", "%turns");
    let (constant, rest) = own_end.split_once('\n').expect("a constant");
    let begin = first.find("    %half = ").expect("a loop");
    let both = format!("{}{constant}\n{}{rest}{}", &first[..begin], &first[begin..end], &first[end..]);
    solve(&both)
}
