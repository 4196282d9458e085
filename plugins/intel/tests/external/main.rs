//! Tests of `intel` that need the tools of others, a runtime or the data beside the repository.
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

/// The full tables that the committed samples are excerpts of.
const PRODUCTS: &str = "reference/matrix_instruction_tv_layouts.json";
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
        external_test!(tools::what_the_validator_says_of_bad_words_is_shown, [spirv_val()]),
        external_test!(tools::the_vendor_compiler_finishes_kernels, [ocloc()]),
        external_test!(tools::what_the_compiler_says_of_bad_words_is_shown, [ocloc()]),
        external_test!(machine_code::dpas_is_behind_loads_of_blocks, [disassembler()]),
        external_test!(machine_code::dpas_is_issued_as_often_as_planned, [disassembler()]),
        external_test!(device::each_product_of_matrices_is_what_its_row_says, [device()]),
        external_test!(device::loads_of_blocks_give_what_their_rows_say, [device()]),
        external_test!(device::dots_are_products, [device()]),
        external_test!(device::grids_scalars_and_parts_of_buffers_arrive, [device()]),
        external_test!(device::misuse_is_an_error_that_says_what_is_wrong, [device()]),
        external_test!(level_zero::every_call_works_on_a_simulated_gpu, [simulation()]),
        external_test!(assigned_programs::every_real_program_has_layouts, [Need::shared("kernels/cases")]),
        all_answers!(families::check_families_agree, [DPAS]),
        all_answers!(instructions::check_operands_are_as_published, [PRODUCTS]),
        all_answers!(tv_layouts::check_vectors_of_elements_are_the_same_bits, [PRODUCTS]),
        all_answers!(tv_layouts::check_every_published_product_crosses_the_bridge, [PRODUCTS]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
