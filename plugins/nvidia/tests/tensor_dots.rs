//! Dots whose sums are in tensor memory: where they are chosen, what they give, and what the vendor's assembler says of
//! their code.
#![allow(clippy::unwrap_used)]

#[path = "../../../framework/tests/dots/mod.rs"]
mod dots;

use dots::{described, means, planned, proven};
use tilewright::contract::{self, Contraction, Question};
use tilewright::kernel::Module;
use tilewright::lower::contraction_kernel;
use tilewright::target::Number;
use tilewright::vendor::{CompileOptions, Emit, Target};
use tilewright_nvidia::{NvidiaTarget, object};

fn target() -> NvidiaTarget {
    NvidiaTarget::new(described("b200", include_str!("../../../targets/b200.toml"))).unwrap()
}

fn ptx(target: &NvidiaTarget, plan: &Contraction) -> String {
    let kernel = contraction_kernel("dot", plan, true, means(target)).unwrap();
    let options = CompileOptions { emit: vec![Emit::Assembly], optimisation: 2 };
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    artifact.text(Emit::Assembly).unwrap().to_owned()
}

fn question(shape: [u64; 3], types: [&str; 3], warps: u32) -> Question {
    Question::new(shape, types.map(|name| Number::named(name).unwrap()), 32, warps)
}

#[test]
fn results_are_right() {
    let target = target();
    for (shape, types, warps) in [
        ([64, 16, 64], ["f16", "f16", "f32"], 4),
        ([128, 16, 64], ["f16", "f16", "f32"], 4),
        ([128, 64, 64], ["bf16", "bf16", "f32"], 4),
        ([128, 32, 64], ["f16", "f16", "f16"], 4),
        ([64, 32, 64], ["i8", "u8", "i32"], 4),
        ([128, 32, 64], ["e4m3", "e5m2", "f32"], 4),
        ([128, 32, 256], ["i8", "f16", "f32"], 4),
        ([256, 64, 64], ["f16", "f16", "f32"], 8),
        ([128, 128, 512], ["f16", "f16", "f32"], 8),
    ] {
        let plan = proven(&target, &question(shape, types, warps));
        assert!(plan.unit_name().starts_with("tcgen05.mma"), "{shape:?} {types:?}: {}", plan.unit_name());
    }
}

#[test]
fn the_assembler_takes_the_code() {
    let Some(ptxas) = object::assembler() else {
        return eprintln!("SKIPPED: no ptxas here (TILEWRIGHT_PTXAS or PATH): nothing says whether code is taken");
    };
    let target = target();
    for (types, shape, warps) in [
        (["f16", "f16", "f32"], [64, 64, 64], 4),
        (["f16", "f16", "f32"], [128, 128, 64], 4),
        (["f16", "f16", "f16"], [256, 64, 64], 8),
        (["bf16", "bf16", "f32"], [64, 32, 512], 4),
        (["e4m3", "e5m2", "f32"], [128, 32, 64], 4),
        (["i8", "u8", "i32"], [64, 64, 64], 4),
        (["i8", "f16", "f32"], [64, 64, 64], 4),
    ] {
        let plan = planned(&target, &question(shape, types, warps));
        assert!(plan.unit_name().starts_with("tcgen05.mma"));
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("kernel.ptx");
        let ptx = ptx(&target, &plan);
        std::fs::write(&file, &ptx).unwrap();
        let mut command = std::process::Command::new(&ptxas);
        let output =
            command.args(["-v", "-arch=sm_100a", "-o"]).arg(directory.path().join("cubin")).arg(&file).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{types:?} {shape:?}: {said}\n{ptx}");
        assert!(said.contains("0 bytes spill stores, 0 bytes spill loads"), "{types:?} {shape:?}: {said}");
    }
}
