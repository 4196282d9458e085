//! Loops whose accumulators are in tensor memory: they stay there while the loop only carries them, and MMAs may be in
//! flight.

use crate::overlap::async_mma::PIPELINED;
use crate::overlap::program::Matrices;
use crate::prelude::*;
use tilewright_kernel::{Region, Statement};

/// The statements of a dot of the tiles with index `%k` along K, which adds to `sum`.
fn dot(result: &str, sum: &str) -> String {
    format!(
        "%step_a_{result} = arith.muli %k, %c32 : i32
      %steps_a_{result} = tt.splat %step_a_{result} : i32 -> tensor<64x32xi32, #pa>
      %at_a_{result} = tt.addptr %from_a, %steps_a_{result} : tensor<64x32x!tt.ptr<f16>, #pa>, tensor<64x32xi32, #pa>
      %step_b_{result} = arith.muli %k, %c2048 : i32
      %steps_b_{result} = tt.splat %step_b_{result} : i32 -> tensor<32x64xi32, #pb>
      %at_b_{result} = tt.addptr %from_b, %steps_b_{result} : tensor<32x64x!tt.ptr<f16>, #pb>, tensor<32x64xi32, #pb>
      %a_{result} = tt.load %at_a_{result} : tensor<64x32x!tt.ptr<f16>, #pa>
      %b_{result} = tt.load %at_b_{result} : tensor<32x64x!tt.ptr<f16>, #pb>
      %x_{result} = ttg.convert_layout %a_{result} : tensor<64x32xf16, #pa> -> tensor<64x32xf16, #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 2}}>>
      %y_{result} = ttg.local_alloc %b_{result} : (tensor<32x64xf16, #pb>) -> !ttg.memdesc<32x64xf16, #sb, #smem>
      %{result} = ttng.warp_group_dot %x_{result}, %y_{result}, %{sum} {{inputPrecision = 0 : i32}} : tensor<64x32xf16, #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 2}}>> * !ttg.memdesc<32x64xf16, #sb, #smem> -> tensor<64x64xf32, #mma>
"
    )
}

/// A loop over all tiles along K, which carries tensors.
fn tiles_loop(result: &str, carried: &[(&str, &str)], body: &str, yields: &str) -> String {
    let given: Vec<String> = carried.iter().map(|(name, initial)| format!("%{name} = %{initial}")).collect();
    let types = vec!["tensor<64x64xf32, #mma>"; carried.len()].join(", ");
    let given = given.join(", ");
    format!(
        "%{result} = scf.for %k = %c0 to %iterations step %c1 iter_args({given}) -> ({types}) : i32 {{
      {body}
      scf.yield {yields} : {types}
    }}\n"
    )
}

const ZERO: &str = "%zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>\n";

/// A program, and its numbers of instructions.
struct Expected {
    name: &'static str,
    text: String,
    /// Loads from tensor memory inside and outside of loops.
    loads: [bool; 2],
    /// The number of mbarriers.
    mbarriers: usize,
}

fn programs() -> Vec<Expected> {
    let program = |name, body: String, loads, mbarriers| Expected {
        name,
        text: Matrices::text(4, &format!("{ZERO}{body}")),
        loads,
        mbarriers,
    };
    let single = tiles_loop("all", &[("sum", "zero")], &dot("d", "sum"), "%d");
    let outer = |inner: &str, carried: &str| {
        format!(
            "%all = scf.for %o = %c0 to %c2 step %c1 iter_args(%before = %zero) -> (tensor<64x64xf32, #mma>) : i32 {{
               {inner}
               scf.yield %{carried} : tensor<64x64xf32, #mma>
             }}"
        )
    };
    let nested = outer(&tiles_loop("done", &[("sum", "zero")], &dot("d", "sum"), "%d"), "done");
    let both = format!("{}{}", dot("d", "sum"), dot("e", "other"));
    let two = tiles_loop("both:2", &[("sum", "zero"), ("other", "zero")], &both, "%d, %e")
        + "%added = arith.addf %both#0, %both#1 : tensor<64x64xf32, #mma>
           %all = arith.subf %added, %both#1 : tensor<64x64xf32, #mma>\n";
    let chained = format!("{}{}", dot("d", "sum"), "%e = arith.addf %d, %zero : tensor<64x64xf32, #mma>\n");
    let used = tiles_loop("all", &[("sum", "zero")], &chained, "%e");
    let branch = format!(
        "%has = arith.cmpi sge, %k, %c0 : i32
         %e = scf.if %has -> (tensor<64x64xf32, #mma>) {{
           {}
           scf.yield %d : tensor<64x64xf32, #mma>
         }} else {{ scf.yield %sum : tensor<64x64xf32, #mma> }}",
        dot("d", "sum")
    );
    let conditional = tiles_loop("all", &[("sum", "zero")], &branch, "%e");
    let started = format!("{}%e = arith.addf %d, %sum : tensor<64x64xf32, #mma>\n", dot("d", "zero"));
    let zeros = tiles_loop("all", &[("sum", "zero")], &started, "%e");
    let waits_at_once = PIPELINED.with_outstanding(0).text();
    let never_waits: String =
        PIPELINED.text().lines().filter(|line| !line.contains("%done = ")).collect::<Vec<_>>().join("\n");
    let never_waits = never_waits.replace("scf.yield %done", "scf.yield %issued");
    vec![
        program("carried", single, [false, true], 1),
        program("carried in each iteration of another loop", nested, [true, false], 1),
        program("two accumulators", two, [false, true], 1),
        program("used in each iteration", used, [true, false], 1),
        program("zeros in each iteration", zeros, [true, false], 1),
        program("in a branch", conditional, [true, false], 2),
        Expected { name: "in flight", text: PIPELINED.text(), loads: [false, true], mbarriers: 2 },
        Expected { name: "no wait in an iteration", text: never_waits, loads: [false, true], mbarriers: 1 },
        Expected { name: "complete in each iteration", text: waits_at_once, loads: [true, false], mbarriers: 1 },
    ]
}

/// Counts the operations that `is_it` selects, inside and outside of loops.
fn count(kernel: &Kernel, is_it: impl Fn(&Op) -> bool) -> [usize; 2] {
    fn walk(region: &Region, outside: usize, is_it: &dyn Fn(&Op) -> bool, counts: &mut [usize; 2]) {
        for Statement { op, .. } in &region.statements {
            counts[outside] += usize::from(is_it(op));
            let inside = if matches!(op, Op::For { .. }) { 0 } else { outside };
            op.regions().into_iter().for_each(|region| walk(region, inside, is_it, counts));
        }
    }
    let mut counts = [0; 2];
    walk(&kernel.body, 1, &is_it, &mut counts);
    counts
}

#[test]
fn accumulators_stay_while_loops_only_carry_them() {
    let is_load = |op: &Op| matches!(op, Op::Instruction { name, .. } if name.starts_with("tcgen05.ld"));
    for Expected { name, text, loads, mbarriers } in programs() {
        let kernel = Matrices::kernel("b200", &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for iterations in [0, 1, 2, 5] {
            Matrices::is_right("b200", &kernel, iterations).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        }
        assert_eq!(count(&kernel, is_load).map(|loads| loads > 0), loads, "{name}");
        assert_eq!(count(&kernel, |op| matches!(op, Op::TensorAllocate { .. })), [0, 1], "{name}");
        let [inside, outside] = count(&kernel, |op| matches!(op, Op::MbarrierInit { .. }));
        assert_eq!(inside + outside, mbarriers, "{name}");
        assert_eq!(count(&kernel, |op| matches!(op, Op::MbarrierInvalidate { .. })), [inside, outside], "{name}");
    }
}

/// Checks that an iteration waits for the MMAs of the iteration before and leaves its own in flight: without the later
/// wait, copies would overwrite tiles that are read.
#[test]
fn tiles_are_not_copied_over_those_that_are_read() {
    let kernel = Matrices::kernel("b200", &PIPELINED.with_outstanding(2).text()).unwrap();
    let fault = Matrices::is_right("b200", &kernel, 5).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InFlight { .. }), "{fault}");
}
