//! Dots whose tiles are in rings of buffers that the program orders itself: it issues copies, and waits for groups of
//! them.

use std::fmt::Write;

use super::case_data::{build_case, input, output};
use super::paper_kernels::{multiply, others, quarters};
use tilewright_verify::case::ProgramCase;

/// Number of tiles along K.
const ITERATIONS: usize = 7;

/// A dot of one block with rings of buffers.
#[derive(Debug, Clone, Copy)]
pub struct RingDot {
    /// The sizes of a tile: M, N and K.
    pub tile: [usize; 3],
    /// Number of buffers of each ring.
    pub buffers: usize,
    /// Number of iterations by which copies precede the use of their tiles; less than the buffers.
    pub distance: usize,
    /// Number of copies along K that fill a tile of A.
    pub parts: usize,
    /// Number of tiles along N, which a loop around the loop over K computes.
    pub columns: usize,
}

impl RingDot {
    /// Returns the program of the dot, and its case. A is M x K, B is N x K, both contiguous along K.
    #[must_use]
    pub fn program(&self) -> (ProgramCase, String) {
        let [m, n, k] = self.tile;
        let (depth, columns) = (k * ITERATIONS, n * self.columns);
        let product = multiply([m, columns, depth], quarters, others);
        let arguments = vec![
            ("a", input("f16", [m, depth], quarters)),
            ("b", input("f16", [columns, depth], |row, column| others(column, row))),
            ("c", output("f32", [m, columns], product, [1.0 / 1024.0, 1.0 / 1024.0])),
        ];
        (build_case("ring_dot", [1, 1], 4, arguments), self.text(depth))
    }

    fn text(&self, depth: usize) -> String {
        let Self { tile: [m, n, k], buffers, parts, columns, .. } = *self;
        let pk = k / parts;
        let memory = |name: &str, shape: &str, of: &str| {
            format!("!{name} = !ttg.memdesc<{shape}xf16, #tw.auto, #ttg.shared_memory, mutable{of}>\n")
        };
        let mut text = memory("a", &format!("{m}x{k}"), "") + &memory("b", &format!("{k}x{n}"), "");
        text += &memory("pa", &format!("{m}x{pk}"), &format!(", {m}x{k}"));
        text += &memory("as", &format!("{buffers}x{m}x{k}"), "");
        text += &memory("bs", &format!("{buffers}x{k}x{n}"), "");
        let pointer = "!tt.ptr<f16> {tt.divisibility = 16 : i32}";
        let _ = write!(
            text,
            "module {{
  tt.func public @ring_dot(%a: {pointer}, %b: {pointer}, %c: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %iterations = arith.constant {ITERATIONS} : i32
    %last = arith.constant {} : i32
    %columns = arith.constant {columns} : i32
    %distance = arith.constant {} : i32
    %buffers = arith.constant {buffers} : i32
    %parts = arith.constant {parts} : i32
    %zero = arith.constant 0.000000e+00 : f32
    %ga = tw.global_view %a, \"({m},{pk},?):({depth},1,{pk})\" : !tt.ptr<f16> -> !tw.view<{m}x{pk}x?xf16>
    %gb = tw.global_view %b, \"({k},{n},?,?):(1,{depth},{},{k})\" : !tt.ptr<f16> -> !tw.view<{k}x{n}x?x?xf16>
    %gc = tw.global_view %c, \"({m},{n},?):({},1,{n})\" : !tt.ptr<f32> -> !tw.view<{m}x{n}x?xf32>
    %sa = tw.shared_tensor : !as
    %sb = tw.shared_tensor : !bs
    %empty = tw.register_tensor %zero : tensor<{m}x{n}xf32>
    scf.for %t = %c0 to %columns step %c1 : i32 {{\n",
            ITERATIONS - 1,
            self.distance,
            depth * n,
            n * columns,
        );
        for ahead in 0..self.distance {
            let _ = writeln!(text, "      %k{ahead} = arith.constant {ahead} : i32");
            text += &self.fills(&format!("k{ahead}"), [&format!("%k{ahead}"); 2]);
        }
        text += &self.iteration();
        let _ = write!(
            text,
            "      %rest = ttg.async_wait {{num = 0 : i32}}
      %gt = tw.slice %gc[%t] : !tw.view<{m}x{n}x?xf32> -> !tw.view<{m}x{n}xf32>
      tw.copy %all to %gt : (tensor<{m}x{n}xf32>, !tw.view<{m}x{n}xf32>) -> ()
    }}
    tt.return
  }}
}}\n"
        );
        text
    }

    /// Returns the loop over K.
    fn iteration(&self) -> String {
        let Self { tile: [m, n, k], distance, parts, .. } = *self;
        let in_flight = (distance - 1) * (parts + 1);
        format!(
            "      %all = scf.for %i = %c0 to %iterations step %c1 iter_args(%sum = %empty) -> (tensor<{m}x{n}xf32>) : i32 {{
      %filled = ttg.async_wait {{num = {in_flight} : i32}}
      %ahead = arith.addi %i, %distance : i32
      %fetched = arith.minsi %ahead, %last : i32
      %this = arith.remui %i, %buffers : i32
      %other = arith.remui %ahead, %buffers : i32
{}      %xa = ttg.memdesc_index %sa[%this] : !as -> !a
      %xb = ttg.memdesc_index %sb[%this] : !bs -> !b
      %ra = tw.copy %xa : (!a) -> tensor<{m}x{k}xf16>
      %rb = tw.copy %xb : (!b) -> tensor<{k}x{n}xf16>
      %next = tw.mma %ra, %rb, %sum : tensor<{m}x{k}xf16> * tensor<{k}x{n}xf16> -> tensor<{m}x{n}xf32>
      scf.yield %next : tensor<{m}x{n}xf32>
      }}\n",
            self.fills("i", ["%fetched", "%other"]),
        )
    }

    /// Returns the copies of the tiles with this index along K to the buffers with another index.
    fn fills(&self, name: &str, [index, buffer]: [&str; 2]) -> String {
        let Self { tile: [m, n, k], parts, .. } = *self;
        let pk = k / parts;
        let mut text = format!(
            "      %ya{name} = ttg.memdesc_index %sa[{buffer}] : !as -> !a
      %yb{name} = ttg.memdesc_index %sb[{buffer}] : !bs -> !b
      %first{name} = arith.muli {index}, %parts : i32\n"
        );
        for part in 0..parts {
            let _ = write!(
                text,
                "      %n{name}_{part} = arith.constant {part} : i32
      %at{name}_{part} = arith.addi %first{name}, %n{name}_{part} : i32
      %p{name}_{part} = ttg.memdesc_subslice %ya{name}[0, {}] : !a -> !pa
      %a{name}_{part} = tw.slice %ga[%at{name}_{part}] : !tw.view<{m}x{pk}x?xf16> -> !tw.view<{m}x{pk}xf16>
      tw.copy %a{name}_{part} to %p{name}_{part} {{tw.pending}} : (!tw.view<{m}x{pk}xf16>, !pa) -> ()\n",
                part * pk
            );
        }
        let _ = write!(
            text,
            "      %b{name} = tw.slice %gb[%t, {index}] : !tw.view<{k}x{n}x?x?xf16> -> !tw.view<{k}x{n}xf16>
      tw.copy %b{name} to %yb{name} {{tw.pending}} : (!tw.view<{k}x{n}xf16>, !b) -> ()\n"
        );
        text
    }
}
