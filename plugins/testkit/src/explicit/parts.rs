//! Programs that name parts of tensors in shared memory: the suite's dot with halves of its tiles along K.

use std::sync::Arc;

use super::{EmulatedDerivation, case, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::SynthesisOptions;

/// Executes the examples that load halves of tiles, in a loop with stages and with buffers that the program orders, and
/// a program that fills the halves of a tile one by one. Checks their results, and that no loop has bank conflicts.
pub fn check_tile_slice_programs(target: &dyn Target) -> [Arc<EmulatedDerivation>; 3] {
    let (case, _) = case("explicit_gemm");
    let fragments = example("fragment_gemm");
    [fill_parts(&fragments), fragments, example("buffered_gemm")].map(|text| {
        let solved = synthesize_and_emulate(target, &case, &text, SynthesisOptions::default());
        assert_eq!(solved.derivation.conflict_wavefronts_in_loops(), 0, "{}", solved.derivation);
        solved
    })
}

/// Returns the text of an example, as an implementation of the suite's dot.
pub(super) fn example(name: &str) -> String {
    read_example(name).replace("@gemm", "@explicit_gemm")
}

/// Reads the text of an example.
pub(super) fn read_example(name: &str) -> String {
    let file = shared_data::workspace().join(format!("docs/examples/{name}.ttir"));
    std::fs::read_to_string(file).expect("the example")
}

/// Returns a program whose copies fill the halves of the tiles of A one by one.
fn fill_parts(text: &str) -> String {
    let view = "    %gh = tw.global_view %pa, \"(64,16,?):(?,1,16)\" [%k] : !tt.ptr<f16> -> !tw.view<64x16x?xf16>\n";
    let indices = "      %c2 = arith.constant 2 : i32
      %i0 = arith.muli %i, %c2 : i32
      %i1 = arith.addi %i0, %c1 : i32\n";
    let fill = "      %aK = tw.slice %gh[%iK] : !tw.view<64x16x?xf16> -> !tw.view<64x16xf16>
      tw.copy %aK to %paK : (!tw.view<64x16xf16>, !pa) -> ()\n";
    let fills = ["0", "1"].map(|half| fill.replace('K', half)).concat();
    let filled = text.replace("    %sa = tw.shared_tensor", &format!("{view}    %sa = tw.shared_tensor"));
    let full = "      tw.copy %ai to %sa : (!tw.view<64x32xf16>, !a) -> ()\n";
    let filled = filled.replace(full, &(indices.to_owned() + &fills));
    assert!(filled.contains("to %pa1") && filled.contains("%gh["), "{filled}");
    filled
}
