//! Loops of programs with layouts as kernel IR: the pointers that a loop carries, and loads that some iterations omit.

use crate::prelude::*;
use tilewright_kernel::Region;

/// The layout of the programs' tensors: a lane has eight consecutive elements.
const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";

/// Returns the kernel of a program whose text has `#b` for the layout.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        "#b = {BLOCKED}
         module attributes {{\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = 1 : i32, ttg.target = \"cuda:90\",
                             \"ttg.threads-per-warp\" = 32 : i32}} {{
         tt.func public @f(%p: !tt.ptr<f16>, %out: !tt.ptr<f16>, %n: i32, %k: i32) {{
           %range = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32, #b>
           %bound = tt.splat %n : i32 -> tensor<1024xi32, #b>
           %mask = arith.cmpi slt, %range, %bound : tensor<1024xi32, #b>
           %base = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
           %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16, #b>
           %one = arith.constant dense<1.000000e+00> : tensor<1024xf16, #b>
           {body}
           %to = tt.splat %out : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
           %at = tt.addptr %to, %range : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
           tt.store %at, %result : tensor<1024x!tt.ptr<f16>, #b>
           tt.return
         }} }}"
    );
    let (target, dialects, imports) = (target("h100"), tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    compiler.kernel(&text, &ProgramOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns all operations of a kernel.
fn operations(kernel: &Kernel) -> Vec<&Op> {
    fn append<'k>(region: &'k Region, all: &mut Vec<&'k Op>) {
        for statement in &region.statements {
            all.push(&statement.op);
            statement.op.regions().into_iter().for_each(|inner| append(inner, all));
        }
    }
    let mut all = Vec::new();
    append(&kernel.body, &mut all);
    all
}

/// Returns the number of pointers that the kernel's only loop carries.
fn carried_pointers(kernel: &Kernel) -> usize {
    let loops: Vec<_> = operations(kernel)
        .into_iter()
        .filter_map(|op| if let Op::For { body, .. } = op { Some(body) } else { None })
        .collect();
    let &[body] = loops.as_slice() else { panic!("{} loops", loops.len()) };
    body.arguments.iter().filter(|(_, ty)| matches!(ty, Type::Pointer(_))).count()
}

/// Returns a loop that sums elements from pointers, which it moves by `step`.
fn sum(offsets: &str, step: &str) -> String {
    format!(
        "{offsets}
         %start = tt.addptr %base, %offsets : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
         %c0 = arith.constant 0 : i32
         %c1 = arith.constant 1 : i32
         {step}
         %result, %last = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero, %from = %start)
             -> (tensor<1024xf16, #b>, tensor<1024x!tt.ptr<f16>, #b>) : i32 {{
           %v = tt.load %from : tensor<1024x!tt.ptr<f16>, #b>
           %s = arith.addf %acc, %v : tensor<1024xf16, #b>
           %next = tt.addptr %from, %step : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
           scf.yield %s, %next : tensor<1024xf16, #b>, tensor<1024x!tt.ptr<f16>, #b>
         }}"
    )
}

#[test]
fn a_loop_carries_one_pointer_of_those_at_constant_distances() {
    const BY_1024: &str = "%step = arith.constant dense<1024> : tensor<1024xi32, #b>";
    const BY_ARGUMENT: &str = "%step = tt.splat %n : i32 -> tensor<1024xi32, #b>";
    const BY_RANGE: &str = "%step = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>";
    const OWN: &str = "%offsets = arith.addi %range, %bound : tensor<1024xi32, #b>";
    const SCALED: &str = "%offsets = arith.muli %range, %bound : tensor<1024xi32, #b>";
    // The distances: constant, constant, constant in an iteration but growing, and unknown.
    for (offsets, step, pointers) in
        [(OWN, BY_1024, 1), (OWN, BY_ARGUMENT, 1), (OWN, BY_RANGE, 8), (SCALED, BY_1024, 8)]
    {
        assert_eq!(carried_pointers(&kernel(&sum(offsets, step))), pointers, "{offsets}, {step}");
    }
}

/// Returns a conditional load, with a value for masked elements and one for the other branch.
fn conditional(load: &str, otherwise: &str) -> String {
    format!(
        "%c0 = arith.constant 0 : i32
         %taken = arith.cmpi sgt, %k, %c0 : i32
         %from = tt.addptr %base, %range : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
         %result = scf.if %taken -> (tensor<1024xf16, #b>) {{
           %v = {load} : tensor<1024x!tt.ptr<f16>, #b>
           scf.yield %v : tensor<1024xf16, #b>
         }} else {{
           scf.yield {otherwise} : tensor<1024xf16, #b>
         }}"
    )
}

#[test]
fn masked_loads_under_a_condition_need_no_branch() {
    for (load, otherwise, branches) in [
        ("tt.load %from, %mask, %zero", "%zero", 0),
        ("tt.load %from, %mask, %one", "%one", 0),
        ("tt.load %from, %mask", "%zero", 0),
        // Masked elements and the other branch differ.
        ("tt.load %from, %mask, %zero", "%one", 1),
        ("tt.load %from, %mask", "%one", 1),
        ("tt.load %from", "%zero", 1),
    ] {
        let kernel = kernel(&conditional(load, otherwise));
        let found = operations(&kernel).into_iter().filter(|op| matches!(op, Op::If { .. })).count();
        assert_eq!(found, branches, "{load}, {otherwise}");
    }
}
