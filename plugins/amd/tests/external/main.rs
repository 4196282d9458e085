//! Tests of `amd` that need the external data.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::{all_answers, external_test};

mod assigned_programs;
#[path = "../amd/families.rs"]
mod families;
#[path = "../amd/instructions.rs"]
mod instructions;
#[path = "../amd/lines.rs"]
mod lines;
#[path = "../amd/listing/mod.rs"]
mod listing;
#[path = "../amd/listings.rs"]
mod listings;
#[path = "../amd/notation.rs"]
mod notation;
#[path = "../amd/shared_counts.rs"]
mod shared_counts;
mod sparse;
#[path = "../amd/targets.rs"]
mod targets;
#[path = "../amd/thread_values.rs"]
mod thread_values;
mod tile_types;
#[path = "../amd/tv_layouts.rs"]
mod tv_layouts;

/// Path of the full table of layouts, from which the committed samples are excerpts.
const LAYOUTS: &str = "oracle/layouts.jsonl";
const MMA_LAYOUTS: &str = "reference/matrix_instruction_tv_layouts.json";
const CALCULATED: &str = "reference/amd_matrix_instructions.json";

fn main() -> ExitCode {
    let programs = || Need::shared("kernels/ttgir");
    let tests = vec![
        external_test!(assigned_programs::every_real_program_has_layouts, [Need::shared("kernels/cases")]),
        external_test!(assigned_programs::layouts_that_real_programs_say_stay, [programs()]),
        external_test!(shared_counts::real_programs_take_no_more_than_triton, [programs()]),
        external_test!(tile_types::every_type_of_a_real_program_has_a_layout, [programs()]),
        all_answers!(families::check_families_agree, [LAYOUTS]),
        all_answers!(notation::check_every_layout_comes_back_from_its_text, [LAYOUTS]),
        all_answers!(instructions::check_operands_are_as_calculated, [CALCULATED]),
        all_answers!(
            instructions::check_operands_of_gfx950_are_as_calculated,
            ["reference/amd_gfx950_instructions.json"]
        ),
        all_answers!(listings::check_listings_wait_and_keep_their_order, ["kernels/cases"]),
        external_test!(lines::objects_have_line_tables, [Need::program("llvm-dwarfdump")]),
        external_test!(listings::listings_of_modules_with_layouts_wait_and_keep_their_order, [programs()]),
        external_test!(sparse::sparse_instructions_are_those_of_the_calculator, [Need::shared(CALCULATED)]),
        all_answers!(thread_values::check_operands_are_as_published, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_every_published_mma_converts_to_linear_and_back, [MMA_LAYOUTS]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
