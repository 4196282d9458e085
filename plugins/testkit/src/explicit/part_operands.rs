//! Dots whose operands are parts of tensors in shared memory, with any majors, sizes and origins.

use std::fmt::Write;

use super::case_data::{build_case, input, output};
use super::paper_kernels::{multiply, others, quarters};
use tilewright_verify::case::ProgramCase;

/// A dot of one block, whose tiles in shared memory are divided into parts.
#[derive(Debug, Clone, Copy)]
pub struct DividedDot {
    /// The sizes of a tile: M, N and K.
    pub tile: [usize; 3],
    /// The number of parts of the tiles along M, N and K.
    pub parts: [usize; 3],
    /// Whether elements of A are contiguous along K in global memory, and those of B.
    pub is_k_contiguous: [bool; 2],
    /// Number of buffers that the program orders itself, by a dynamic index; 0 if it has one and the compiler adds stages.
    pub buffers: usize,
    /// Number of warps.
    pub warps: u32,
    /// Whether a copy fills each part of the tile of A along K.
    pub fills_parts: bool,
}

/// Number of tiles along K.
const ITERATIONS: usize = 5;

impl DividedDot {
    /// Returns the program of the dot, and its case.
    #[must_use]
    pub fn program(&self) -> (ProgramCase, String) {
        let [m, n, k] = self.tile;
        let depth = k * ITERATIONS;
        let [a_along_k, b_along_k] = self.is_k_contiguous;
        let a = match a_along_k {
            true => input("f16", [m, depth], quarters),
            false => input("f16", [depth, m], |row, column| quarters(column, row)),
        };
        let b = match b_along_k {
            true => input("f16", [n, depth], |row, column| others(column, row)),
            false => input("f16", [depth, n], others),
        };
        let product = multiply([m, n, depth], quarters, others);
        let c = output("f32", [m, n], product, [1.0 / 1024.0, 1.0 / 1024.0]);
        let arguments = vec![("a", a), ("b", b), ("c", c)];
        (build_case("divided_dot", [1, 1], self.warps, arguments), self.text(depth))
    }

    fn text(&self, depth: usize) -> String {
        let [m, n, k] = self.tile;
        let [pm, pn, pk] = [0, 1, 2].map(|axis| self.tile[axis] / self.parts[axis]);
        let mut text = String::new();
        let memory = |name: &str, shape: &str, of: &str| {
            format!("!{name} = !ttg.memdesc<{shape}xf16, #tw.auto, #ttg.shared_memory, mutable{of}>\n")
        };
        text += &memory("a", &format!("{m}x{k}"), "");
        text += &memory("b", &format!("{k}x{n}"), "");
        text += &memory("pa", &format!("{pm}x{pk}"), &format!(", {m}x{k}"));
        text += &memory("pb", &format!("{pk}x{pn}"), &format!(", {k}x{n}"));
        text += &memory("fa", &format!("{m}x{pk}"), &format!(", {m}x{k}"));
        text += &memory("as", &format!("{}x{m}x{k}", self.buffers.max(1)), "");
        text += &memory("bs", &format!("{}x{k}x{n}", self.buffers.max(1)), "");
        let pointer = "!tt.ptr<f16> {tt.divisibility = 16 : i32}";
        let _ = write!(
            text,
            "module {{
  tt.func public @divided_dot(%a: {pointer}, %b: {pointer}, %c: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %iterations = arith.constant {ITERATIONS} : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %parts = arith.constant {} : i32
    %buffers = arith.constant {} : i32
    %zero = arith.constant 0.000000e+00 : f32
    %ga = tw.global_view %a, \"{}\" : !tt.ptr<f16> -> !tw.view<{m}x{k}x?xf16>
    %gp = tw.global_view %a, \"{}\" : !tt.ptr<f16> -> !tw.view<{m}x{pk}x?xf16>
    %gb = tw.global_view %b, \"{}\" : !tt.ptr<f16> -> !tw.view<{k}x{n}x?xf16>
    %sa = tw.shared_tensor : {}
    %sb = tw.shared_tensor : {}
",
            self.parts[2],
            self.buffers.max(1),
            self.view_of_a(k, depth),
            self.view_of_a(pk, depth),
            if self.is_k_contiguous[1] {
                format!("({k},{n},?):(1,{depth},{k})")
            } else {
                format!("({k},{n},?):({n},1,{})", k * n)
            },
            if self.buffers > 0 { "!as" } else { "!a" },
            if self.buffers > 0 { "!bs" } else { "!b" },
        );
        text + &self.dots() + &self.stores() + "    tt.return\n  }\n}\n"
    }

    fn view_of_a(&self, k: usize, depth: usize) -> String {
        let m = self.tile[0];
        match self.is_k_contiguous[0] {
            true => format!("({m},{k},?):({depth},1,{k})"),
            false => format!("({m},{k},?):(1,{m},{})", k * m),
        }
    }

    /// Returns the rows and columns of parts of the result.
    fn results(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [rows, columns, _] = self.parts;
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    /// Returns the loop over K: it fills the tiles, and multiplies their parts.
    fn dots(&self) -> String {
        let [_, n, k] = self.tile;
        let [pm, pn] = [0, 1].map(|axis| self.tile[axis] / self.parts[axis]);
        let ty = format!("tensor<{pm}x{pn}xf32>");
        let list = |text: &dyn Fn(usize, usize) -> String| {
            self.results().map(|(row, column)| text(row, column)).collect::<Vec<_>>().join(", ")
        };
        let mut text = format!("    %empty = tw.register_tensor %zero : {ty}\n");
        let _ = writeln!(
            text,
            "    %all:{} = scf.for %i = %c0 to %iterations step %c1 iter_args({}) -> ({}) : i32 {{",
            self.results().count(),
            list(&|row, column| format!("%sum{row}_{column} = %empty")),
            list(&|_, _| ty.clone()),
        );
        let (a, b) = if self.buffers > 0 { ("%xa", "%xb") } else { ("%sa", "%sb") };
        if self.buffers > 0 {
            text += "      %at = arith.remui %i, %buffers : i32
      %xa = ttg.memdesc_index %sa[%at] : !as -> !a
      %xb = ttg.memdesc_index %sb[%at] : !bs -> !b\n";
        }
        text += &self.fill_a(a);
        let _ = writeln!(
            text,
            "      %bi = tw.slice %gb[%i] : !tw.view<{k}x{n}x?xf16> -> !tw.view<{k}x{n}xf16>
      tw.copy %bi to {b} : (!tw.view<{k}x{n}xf16>, !b) -> ()"
        );
        text += &self.part_dots([a, b]);
        let last = self.parts[2] - 1;
        let _ = writeln!(
            text,
            "      scf.yield {} : {}\n    }}",
            list(&|row, column| format!("%d{row}_{column}_{last}")),
            list(&|_, _| ty.clone()),
        );
        text
    }

    /// Returns the dots of all parts of the buffers `a` and `b`.
    fn part_dots(&self, [a, b]: [&str; 2]) -> String {
        let [pm, pn, pk] = [0, 1, 2].map(|axis| self.tile[axis] / self.parts[axis]);
        let ty = format!("tensor<{pm}x{pn}xf32>");
        let mut text = String::new();
        for (row, column, step) in
            self.results().flat_map(|(row, column)| (0..self.parts[2]).map(move |step| (row, column, step)))
        {
            let part = format!("{row}_{column}_{step}");
            let before =
                if step == 0 { format!("%sum{row}_{column}") } else { format!("%d{row}_{column}_{}", step - 1) };
            let _ = writeln!(
                text,
                "      %pa{part} = ttg.memdesc_subslice {a}[{}, {}] : !a -> !pa
      %pb{part} = ttg.memdesc_subslice {b}[{}, {}] : !b -> !pb
      %ra{part} = tw.copy %pa{part} : (!pa) -> tensor<{pm}x{pk}xf16>
      %rb{part} = tw.copy %pb{part} : (!pb) -> tensor<{pk}x{pn}xf16>
      %d{part} = tw.mma %ra{part}, %rb{part}, {before} : tensor<{pm}x{pk}xf16> * tensor<{pk}x{pn}xf16> -> {ty}",
                row * pm,
                step * pk,
                step * pk,
                column * pn,
            );
        }
        text
    }

    fn fill_a(&self, a: &str) -> String {
        let [m, _, k] = self.tile;
        let pk = k / self.parts[2];
        if !self.fills_parts {
            return format!(
                "      %ai = tw.slice %ga[%i] : !tw.view<{m}x{k}x?xf16> -> !tw.view<{m}x{k}xf16>
      tw.copy %ai to {a} : (!tw.view<{m}x{k}xf16>, !a) -> ()\n"
            );
        }
        let mut text = "      %i0 = arith.muli %i, %parts : i32\n".to_owned();
        for step in 0..self.parts[2] {
            let _ = writeln!(
                text,
                "      %part{step} = arith.constant {step} : i32
      %at{step} = arith.addi %i0, %part{step} : i32
      %f{step} = ttg.memdesc_subslice {a}[0, {}] : !a -> !fa
      %af{step} = tw.slice %gp[%at{step}] : !tw.view<{m}x{pk}x?xf16> -> !tw.view<{m}x{pk}xf16>
      tw.copy %af{step} to %f{step} : (!tw.view<{m}x{pk}xf16>, !fa) -> ()",
                step * pk
            );
        }
        text
    }

    fn stores(&self) -> String {
        let n = self.tile[1];
        let [pm, pn] = [0, 1].map(|axis| self.tile[axis] / self.parts[axis]);
        let store = |(at, (row, column)): (usize, (usize, usize))| {
            format!(
                "    %o{at} = arith.constant {} : i32
    %p{at} = tt.addptr %c, %o{at} : !tt.ptr<f32>, i32
    %g{at} = tw.global_view %p{at}, \"({pm},{pn}):({n},1)\" : !tt.ptr<f32> -> !tw.view<{pm}x{pn}xf32>
    tw.copy %all#{at} to %g{at} : (tensor<{pm}x{pn}xf32>, !tw.view<{pm}x{pn}xf32>) -> ()\n",
                row * pm * n + column * pn
            )
        };
        self.results().enumerate().map(store).collect()
    }
}
