//! Programs compiled without an optimization: their code changes, and their results stay right, on the emulator and on
//! the virtual device.

use crate::prelude::*;
use tilewright_target::{Optimization, OptimizationSet};
use tilewright_verify::case::ProgramCase;
use tilewright_verify::run_and_check_launch;

use crate::virtual_device::bench::device_of;

/// For each optimization a target, and a case of `conformance/kernels` whose code changes without it; `None` if there is
/// none: `ablation_beside_triton.py` executes larger kernels.
fn case_of(optimization: Optimization) -> Option<(&'static str, &'static str)> {
    use Optimization as O;
    Some(match optimization {
        O::FusedMultiplyAdd | O::NativeFunctions => ("a100", "attention"),
        O::NativeCasts => ("a100", "casts"),
        O::PredicatedAccesses => ("a100", "add_masked"),
        O::ConstantOffsets => ("a100", "reductions"),
        O::PointerInduction | O::AsyncCopies | O::Prefetch | O::LoopUnrolling => ("a100", "dot_loop"),
        O::SharedOperands | O::OverlappedMma => ("h100", "dot_masked"),
        O::DotAlternatives => ("a100", "dot_masked"),
        O::VectorAccesses => ("a100", "dot_batches"),
        O::ReplicaStores => ("a100", "reductions"),
        O::MergedBarriers => ("a100", "copies_once"),
        O::ResidentBlocks => ("a100", "explicit_gemv"),
        O::MemorySynthesis | O::TaskMapping => ("a100", "explicit_gemm"),
        _ => return None,
    })
}

/// Compiles a case without `disabled` and checks its results on the emulator and on the virtual device; returns its PTX.
fn check_without(name: &str, case: &ProgramCase, disabled: OptimizationSet) -> String {
    let (target, mut device) = device_of(name);
    let text = std::fs::read_to_string(&case.program).unwrap();
    let compiler = compiler(&target);
    let options = ProgramOptions::default().with_disabled(disabled);
    let (kernel, result) =
        case.compile_and_run_variant(&compiler, &text, &options, &RunLimits::default()).unwrap_or_else(|error| {
            panic!("{} on {name} without {disabled:?}: {error}", case.name);
        });
    assert!(result.differences.is_empty(), "{} on {name} without {disabled:?}: {:?}", case.name, result.differences);
    let test = case.to_test_case(kernel).unwrap();
    let module = Module { kernels: vec![test.kernel] };
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, disabled };
    let artifact = target.compile(&module, &options).unwrap();
    let checked = run_and_check_launch(&test.launch, &artifact, &mut device);
    assert!(checked.is_ok(), "{} on {name} without {disabled:?}: {checked:?}", case.name);
    artifact.payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

#[test]
fn programs_are_right_without_each_optimization() {
    let folder = shared_data::workspace().join("conformance/kernels");
    let mut with: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for optimization in Optimization::ALL {
        let Some((target, name)) = case_of(optimization) else { continue };
        let case = ProgramCase::read(&folder.join(format!("{name}.json"))).unwrap();
        let with =
            with.entry((target, name)).or_insert_with(|| check_without(target, &case, OptimizationSet::default()));
        let without = check_without(target, &case, [optimization].into_iter().collect());
        assert_ne!(*with, without, "the code of {name} does not change without {optimization:?}");
    }
}
