//! The text syntax of layout attributes in Intel's Triton backend, for this vendor's layout families. Scales have no
//! attribute there, hence no syntax.

use tilewright_layout::{AttributeSyntax, ParameterSyntax};

pub(super) fn all() -> Vec<AttributeSyntax> {
    vec![dpas(), subgroup_2d_block()]
}

/// Returns the syntax of `dpas`. The attribute's shapes `A`, `B` and `C` are derived from the other parameters; if
/// given, they are kept.
fn dpas() -> AttributeSyntax {
    let size = [
        ("repeat_count", "repeatCount"),
        ("systolic_depth", "systolicDepth"),
        ("execution_size", "executionSize"),
        ("ops_per_channel", "opsPerChan"),
    ];
    let spread =
        [("threads_per_warp", "threadsPerWarp"), ("warps_per_cta", "warpsPerCTA"), ("rep_cluster", "repCluster")];
    AttributeSyntax::new("dpas", "ttig", "dpas")
        .with_keywords(&size)
        .with_parameter(ParameterSyntax::new("fp4_k_pack", &["fp4KPack"]).with_omitted_value(1))
        .with_keywords(&spread)
        .with_parameter(ParameterSyntax::cga_layout())
        .with_keywords(&[("a", "A"), ("b", "B"), ("c", "C")])
}

fn subgroup_2d_block() -> AttributeSyntax {
    let keywords = [
        ("instr_shape", "instrShape"),
        ("num_blocks", "numBlocks"),
        ("order", "order"),
        ("k_width", "kWidth"),
        ("threads_per_warp", "threadsPerWarp"),
    ];
    AttributeSyntax::new("subgroup_2d_block", "ttig", "subgroup_2d_block")
        .with_keywords(&[("warps_per_cta", "warpsPerCTA")])
        .with_parameter(ParameterSyntax::cga_layout())
        .with_keywords(&keywords)
}
