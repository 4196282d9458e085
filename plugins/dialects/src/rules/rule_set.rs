//! Lists all rules of this crate, in one set for each subject.

use tilewright_tile::rules::{DialectVerifyRules, LayoutFamilyRules, OpaqueTextVerifyRule, VerifyRule};

use super::{
    buffers, cache_policies, launch_control, matrix_dots, matrix_layouts, mbarriers, packed_arithmetic, packed_loads,
    partitions, register_parts, scaled_casts, shared_layouts, tensor_copies, tensor_data_mover, tensor_memory,
    tensor_memory_layouts,
};

/// All rules of the verifier for vendors' operations and layouts. They must be registered before the dialect files,
/// which refer to them by name, are read.
pub const VERIFY_RULE_SETS: &[DialectVerifyRules] = &[
    of_rules(&buffers::RULES),
    of_rules(&launch_control::RULES),
    of_rules(&matrix_dots::RULES),
    of_rules(&mbarriers::RULES),
    of_rules(&packed_arithmetic::RULES),
    of_rules(&packed_loads::RULES),
    of_rules(&partitions::RULES),
    of_rules(&register_parts::RULES),
    of_rules(&scaled_casts::RULES),
    of_rules(&tensor_copies::RULES),
    of_rules(&tensor_data_mover::RULES),
    of_rules(&tensor_memory::RULES),
    LAYOUTS,
];

const fn of_rules(rules: &'static [VerifyRule]) -> DialectVerifyRules {
    DialectVerifyRules { rules, layouts: &[], texts: &[], complete: &[] }
}

/// Rules of vendors' layouts, types and attributes. All vendors' layouts are in Triton's dialects `ttg` and `ttng`;
/// with this set, a layout attribute of these dialects without rules is an error.
const LAYOUTS: DialectVerifyRules = DialectVerifyRules {
    rules: &[],
    layouts: &[
        &matrix_layouts::NvidiaMma as &dyn LayoutFamilyRules,
        &matrix_layouts::Mfma,
        &matrix_layouts::Wmma,
        &shared_layouts::Nvmma,
        &shared_layouts::Rotating,
        &tensor_memory_layouts::Matrix,
        &tensor_memory_layouts::Scales,
    ],
    texts: &[
        OpaqueTextVerifyRule { name: "!ttng.tensordesc_im2col", check: tensor_copies::check_image_descriptor },
        OpaqueTextVerifyRule { name: cache_policies::NAME, check: cache_policies::check_policy },
    ],
    complete: &["ttg", "ttng"],
};
