//! Tests of `intel` that need external tools, a runtime, or the data folder outside of the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_intel::compile::outside::SPIRV_VAL;
use tilewright_testkit::external::{self, Need};
use tilewright_testkit::{all_answers, external_test};

mod assigned_programs;
mod device;
#[path = "../intel/dots.rs"]
mod dots;
#[path = "../intel/families.rs"]
mod families;
#[path = "../intel/instructions.rs"]
mod instructions;
#[path = "../intel/spirv/kernels.rs"]
mod kernels;
mod level_zero;
mod machine_code;
mod tools;
#[path = "../intel/tv_layouts.rs"]
mod tv_layouts;
#[path = "../intel/validate/mod.rs"]
mod validate;
#[path = "../intel/validated_target.rs"]
mod validated_target;

/// Path of the full table of MMA layouts, from which the committed table is an excerpt.
const MMA_LAYOUTS: &str = "reference/matrix_instruction_tv_layouts.json";
const DPAS: &str = "reference/intel_dpas_cases.json";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == level_zero::PROBE) {
        return level_zero::probe();
    }
    let spirv_val = || Need::tool("spirv-val", SPIRV_VAL.find());
    let ocloc = || Need::tool("ocloc", tools::offline_compiler());
    let disassembler = || Need::of("ocloc and its disassembler", machine_code::missing_disassembler());
    let device = || Need::of("an OpenCL device", device::missing());
    let simulation = || Need::of("Level Zero's simulated GPU", level_zero::missing());
    let tests = vec![
        external_test!(tools::the_validator_of_the_standard_accepts_all_kernels, [spirv_val()]),
        external_test!(tools::the_own_validator_is_as_strict_as_the_standards, [spirv_val()]),
        external_test!(tools::validator_errors_are_reported, [spirv_val()]),
        external_test!(tools::the_vendor_compiler_finishes_kernels, [ocloc()]),
        external_test!(tools::compiler_errors_are_reported, [ocloc()]),
        external_test!(machine_code::dpas_is_behind_loads_of_blocks, [disassembler()]),
        external_test!(machine_code::dpas_count_matches_the_plan, [disassembler()]),
        external_test!(device::each_mma_instruction_matches_its_semantics, [device()]),
        external_test!(device::loads_of_blocks_give_what_their_rows_say, [device()]),
        external_test!(device::dots_are_correct, [device()]),
        external_test!(device::grids_scalars_and_subbuffers_arrive, [device()]),
        external_test!(device::misuse_is_an_error_with_a_reason, [device()]),
        external_test!(level_zero::every_call_works_on_a_simulated_gpu, [simulation()]),
        external_test!(assigned_programs::every_real_program_has_layouts, [Need::shared("kernels/cases")]),
        all_answers!(families::check_families_agree, [DPAS]),
        all_answers!(instructions::check_operands_are_as_published, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_vectors_of_elements_are_the_same_bits, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_every_published_mma_converts_to_linear_and_back, [MMA_LAYOUTS]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
