//! How the attribute text of Intel's Triton backend spells these families; scales have no attribute
//! there.

use tilewright_layout::{AttributeSyntax, ParameterSyntax};

pub(super) fn all() -> Vec<AttributeSyntax> {
    vec![dpas(), subgroup_2d_block()]
}

/// The shapes `A`, `B` and `C`, which follow from the rest, are kept where they are given.
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
        .with_words(&size)
        .with(ParameterSyntax::new("fp4_k_pack", &["fp4KPack"]).omitted_at(1))
        .with_words(&spread)
        .with(ParameterSyntax::cluster())
        .with_words(&[("a", "A"), ("b", "B"), ("c", "C")])
}

fn subgroup_2d_block() -> AttributeSyntax {
    let words = [
        ("instr_shape", "instrShape"),
        ("num_blocks", "numBlocks"),
        ("order", "order"),
        ("k_width", "kWidth"),
        ("threads_per_warp", "threadsPerWarp"),
    ];
    AttributeSyntax::new("subgroup_2d_block", "ttig", "subgroup_2d_block")
        .with_words(&[("warps_per_cta", "warpsPerCTA")])
        .with(ParameterSyntax::cluster())
        .with_words(&words)
}
