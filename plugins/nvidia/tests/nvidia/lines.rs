//! Line tables of PTX: `.loc` names the lines of the program, and the code is the same without them.
#![allow(dead_code, reason = "the test of cubins needs an assembler")]

use crate::prelude::*;
use tilewright_kernel::SourceLocation;
use tilewright_vendor_testkit::lines::check_programs;
use tilewright_vendor_testkit::programs::compiler;

#[test]
fn accesses_of_programs_have_their_lines() {
    for (phase, name) in ["h100", "rtx4090"].into_iter().enumerate() {
        let accesses =
            ["ld.global", "st.global", "atom.", "red.", "cp.async.ca", "cp.async.cg", "cp.async.bulk.tensor"];
        let checked = check_programs(&target(name), &accesses, phase);
        assert!(checked.programs > 20 && checked.accesses > 125, "{name}: {checked:?}");
        assert!(checked.without_line * 20 < checked.accesses, "{name}: {checked:?}");
        assert!(checked.elsewhere.len() * 20 < checked.accesses, "{name}: {checked:?}");
    }
}

/// A program with a function in another file, which is inlined at two calls.
const CALLS: &str = r#"
tt.func public @calls(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32> loc("/source/kernel.py":3:1)
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc("/source/kernel.py":3:5)
  %from = tt.addptr %ps, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc("/source/kernel.py":3:5)
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc("/source/kernel.py":3:5)
  %to = tt.addptr %qs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc("/source/kernel.py":3:5)
  %x = tt.call @read(%from) : (tensor<128x!tt.ptr<f32>>) -> tensor<128xf32> loc("x"("/source/kernel.py":4:9))
  tt.store %to, %x : tensor<128x!tt.ptr<f32>> loc("/source/kernel.py":5:3)
  tt.return loc("/source/kernel.py":6:1)
} loc("/source/kernel.py":2:1)
tt.func private @read(%p: tensor<128x!tt.ptr<f32>>) -> tensor<128xf32> {
  %x = tt.load %p : tensor<128x!tt.ptr<f32>> loc("/library/reads.py":70:11)
  tt.return %x : tensor<128xf32> loc("/library/reads.py":71:3)
} loc("/library/reads.py":69:1)
"#;

fn calls() -> (Kernel, String) {
    let target = target("h100");
    let kernel = compiler(&target).compile_kernel(CALLS, &ProgramOptions::default(), &mut |_| {}).unwrap();
    let ptx = assembly(&target, vec![kernel.clone()]);
    (kernel, ptx)
}

#[test]
fn inlined_lines_have_their_file_and_their_call() {
    let (kernel, ptx) = calls();
    let load = kernel.statements().into_iter().find(|statement| matches!(statement.op, Op::Load { .. })).unwrap();
    let location = SourceLocation::parse(&kernel.locations[load.location.unwrap() as usize]).unwrap();
    let frames: Vec<_> =
        location.inlined_frames().map(|frame| (frame.file.as_str(), frame.line, frame.column)).collect();
    assert_eq!(frames, [("/library/reads.py", 70, 11), ("/source/kernel.py", 4, 9)]);
    let line_of = |access: &str| {
        let lines = ptx.lines().take_while(|line| !line.trim().starts_with(access));
        lines.filter(|line| line.starts_with("\t.loc")).last().unwrap().split_whitespace().collect::<Vec<_>>()
    };
    assert!(ptx.contains("\t.file\t1 \"/source/kernel.py\"\n\t.file\t2 \"/library/reads.py\"\n"), "{ptx}");
    assert_eq!(line_of("ld.global")[..4], [".loc", "2", "70", "11"], "{ptx}");
    assert_eq!(line_of("st.global")[..4], [".loc", "1", "5", "3"], "{ptx}");
}

#[test]
fn lines_do_not_ask_for_code_to_debug() {
    let (_, ptx) = calls();
    let target = ptx.lines().find(|line| line.starts_with(".target")).unwrap();
    assert_eq!(target, ".target sm_90a");
    assert!(!ptx.contains(".debug_info") && !ptx.contains(".debug_abbrev"), "{ptx}");
}

/// `ptxas` takes the lines, and puts them into a table of the cubin.
pub fn a_cubin_has_the_lines() {
    let (_, ptx) = calls();
    let assembler = object::find_assembler().unwrap();
    let cubin = object::assemble_ptx(&assembler, "sm_90a", ptx.as_bytes()).unwrap();
    let has = |text: &str| cubin.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has(".debug_line") && has("kernel.py") && has("reads.py"));
    let without: String = ptx.split_inclusive('\n').filter(|line| !line.starts_with("\t.loc\t")).collect();
    let cubin = object::assemble_ptx(&assembler, "sm_90a", without.as_bytes()).unwrap();
    assert!(!cubin.windows(9).any(|window| window == b"kernel.py"));
}
