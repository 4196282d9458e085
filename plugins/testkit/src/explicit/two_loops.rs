//! Nests with two pipelined loops: the loop over tiles of a persistent kernel, with two loops over K in each tile.

use super::bulk_stores::{column_tiles_text, persistent_text};
use super::case_data::{Argument, build_case, input, output};
use super::paper_kernels::{multiply, others, quarters};
use tilewright_verify::case::ProgramCase;

/// Returns a persistent program with its case: `c = 2 a b + a b`, where each loop over K computes one of the products in
/// tensors of its own. The loops have the attributes `inner`, the loop over tiles `outer`.
pub fn two_loops_program(outer: &str, inner: [&str; 2]) -> (ProgramCase, String) {
    let [m, n, k] = [256, 128, 256];
    let (text, tiles) = (persistent_text(column_tiles_text(), m, outer), "    %sb = tw.shared_tensor : !s\n");
    let text = text.replace("@persistent_tiles", "@two_loops");
    let more = ["%sd", "%se"].map(|name| format!("    {name} = tw.shared_tensor : !s\n")).concat();
    let text = text.replace(tiles, &format!("{tiles}{more}"));
    let (before, rest) = text.split_once("    %results = scf.for").expect("the loop over K");
    let (first, after) = rest.split_once("\n    }").expect("the end of the loop over K");
    let renames = [("%acc = %empty", "%acc = %twice"), ("%sa", "%sd"), ("%sb", "%se")];
    let second = renames.into_iter().fold(first.to_owned(), |text, (from, to)| text.replace(from, to));
    let [of_first, of_second] = inner.map(|attributes| format!("\n    }} {{{attributes}}}\n"));
    let text = format!(
        "{before}    %products = scf.for{first}{of_first}    %twice = arith.addf %products, %products : tensor<64x64xf32>
    %results = scf.for{second}{of_second}{after}"
    );
    let product = multiply([m, n, k], quarters, others).into_iter().map(|sum| 3.0 * sum).collect();
    let arguments = vec![
        ("a", input("f16", [m, k], quarters)),
        ("b", input("f16", [k, n], others)),
        ("c", output("f16", [m, n], product, [1.0 / 1024.0, 0.0])),
        ("n", Argument::Integer(n)),
        ("k", Argument::Integer(k)),
    ];
    (build_case("two_loops", [2, n / 64], 4, arguments), text)
}
