//! Tests of `nvidia` that need the vendor's assembler or the shared data.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

mod assembler;
mod assigned_programs;
#[path = "../nvidia/atom_types/mod.rs"]
mod atom_types;
#[path = "../nvidia/conversions.rs"]
mod conversions;
#[path = "../nvidia/families.rs"]
mod families;
#[path = "../nvidia/group_instructions.rs"]
mod group_instructions;
#[path = "../nvidia/instructions.rs"]
mod instructions;
#[path = "../nvidia/issue.rs"]
mod issue;
#[path = "../nvidia/layouts.rs"]
mod layouts;
#[path = "../nvidia/lines.rs"]
mod lines;
#[path = "../nvidia/notation.rs"]
mod notation;
#[path = "../nvidia/overlap"]
mod overlap {
    pub mod program;
}
#[path = "../nvidia/prelude.rs"]
mod prelude;
#[path = "../nvidia/prices.rs"]
mod prices;
#[path = "../nvidia/ptx/mod.rs"]
mod ptx;
mod real_programs;
#[path = "../nvidia/shared_counts.rs"]
mod shared_counts;
#[path = "../nvidia/tensor_atoms/mod.rs"]
mod tensor_atoms;
#[path = "../nvidia/tensor_forms.rs"]
mod tensor_forms;
#[path = "../nvidia/tensor_instructions.rs"]
mod tensor_instructions;
mod tile_types;
#[path = "../nvidia/tv_layouts.rs"]
mod tv_layouts;
#[path = "../nvidia/virtual_device"]
mod virtual_device {
    pub mod bench;
    pub mod emitted;
    pub mod programs;
}

use crate::prelude::*;
use std::process::ExitCode;

use tilewright_testkit::external::{self, ExternalTest, Need};
use tilewright_testkit::{all_answers, external_test};

/// Path of the full table of layouts, from which the committed samples are excerpts.
const LAYOUTS: &str = "oracle/layouts.jsonl";
const CONVERSIONS: &str = "oracle/conversions.jsonl";
const MMA_LAYOUTS: &str = "reference/matrix_instruction_tv_layouts.json";
const MOVES: &str = "reference/copy_instruction_tv_layouts.json";
const HEXCUTE: &str = "reference/hexcute_instructions.json";

fn main() -> ExitCode {
    let mut tests = code();
    tests.extend(programs());
    tests.extend(tables());
    external::run(env!("CARGO_PKG_NAME"), tests)
}

/// Returns the tests of generated code, which need `ptxas`.
fn code() -> Vec<ExternalTest> {
    let ptxas = || Need::tool("ptxas", object::find_assembler());
    vec![
        external_test!(assembler::dots::tensor_memory_accumulators_are_assembled, [ptxas()]),
        external_test!(assembler::dots::warpgroup_mmas_stay_in_flight, [ptxas()]),
        external_test!(assembler::explicit::mma_operands_in_shared_memory_are_assembled, [ptxas()]),
        external_test!(assembler::messages::bad_ptx_is_refused_with_its_line, [ptxas()]),
        external_test!(assembler::rows::objects_of_every_architecture_are_cubins, [ptxas()]),
        external_test!(assembler::rows::every_row_is_assembled, [ptxas()]),
        external_test!(assembler::rows::rows_of_tensor_memory_are_assembled, [ptxas()]),
        external_test!(assembler::spills::conversions_spill_nothing, [ptxas()]),
        external_test!(assembler::spills::plans_spill_nothing, [ptxas()]),
        external_test!(
            assembler::recorded::machine_code_does_not_grow,
            [ptxas(), assembler::recorded::same_assembler()]
        ),
        external_test!(lines::a_cubin_has_the_lines, [ptxas()]),
        external_test!(assembler::syntax::the_virtual_device_reads_ptx, [ptxas()]),
    ]
}

/// Returns the tests of real programs, which need the shared data.
fn programs() -> Vec<ExternalTest> {
    let with_layouts = || Need::shared("kernels/ttgir");
    vec![
        external_test!(shared_counts::real_programs_take_no_more_than_triton, [with_layouts()]),
        external_test!(assigned_programs::every_real_program_has_layouts, [Need::shared("kernels/cases")]),
        external_test!(assigned_programs::layouts_that_real_programs_say_stay, [with_layouts()]),
        external_test!(real_programs::modules_with_layouts_give_what_they_must, [with_layouts()]),
        external_test!(tile_types::every_type_of_a_real_program_has_a_layout, [with_layouts()]),
        all_answers!(virtual_device::programs::check_programs_leave_what_they_must, ["kernels/cases"]),
    ]
}

/// Returns the tests of full tables, which need the shared data.
fn tables() -> Vec<ExternalTest> {
    vec![
        all_answers!(families::check_families_agree, [LAYOUTS]),
        all_answers!(notation::check_every_layout_comes_back_from_its_text, [LAYOUTS]),
        all_answers!(virtual_device::emitted::check_conversions_are_right_and_as_planned, [CONVERSIONS]),
        all_answers!(prices::check_no_plan_is_slower_than_what_triton_emits, [CONVERSIONS]),
        all_answers!(prices::check_matrix_accesses_become_code, [CONVERSIONS]),
        all_answers!(group_instructions::check_operands_are_as_published, [MMA_LAYOUTS]),
        all_answers!(instructions::check_operands_of_scaled_mmas_are_as_published, [MMA_LAYOUTS]),
        all_answers!(instructions::check_matrix_operands_are_as_published, [MMA_LAYOUTS]),
        all_answers!(instructions::check_sparse_mmas_are_known_and_unused, [MMA_LAYOUTS]),
        all_answers!(instructions::check_matrix_moves_are_as_published, [MOVES]),
        all_answers!(tensor_instructions::check_registers_of_moves_are_as_published, [MOVES]),
        all_answers!(tensor_instructions::check_mmas_have_the_published_shapes, [MMA_LAYOUTS]),
        all_answers!(tensor_forms::check_published_shapes_have_rows, [MMA_LAYOUTS]),
        all_answers!(tensor_forms::check_the_copy_of_scales_is_as_published, [MOVES]),
        all_answers!(tv_layouts::check_accumulators_of_other_widths_are_the_first_of_wider_ones, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_warpgroup_mmas_match_their_family, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_accumulators_in_tensor_memory, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_every_published_mma_converts_to_linear_and_back, [MMA_LAYOUTS]),
        all_answers!(tv_layouts::check_every_published_move_crosses_the_bridge, [MOVES]),
        all_answers!(tv_layouts::check_loads_of_tensor_memory, [MOVES]),
        all_answers!(tv_layouts::check_tables_of_another_compiler, [HEXCUTE]),
    ]
}
