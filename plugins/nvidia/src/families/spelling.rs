//! How Triton's attribute text spells these families.

use tilewright_layout::{AttributeSyntax, ParameterSyntax};

pub(super) fn all() -> Vec<AttributeSyntax> {
    vec![nvidia_mma(), nvmma_shared(), tensor_memory(), tensor_memory_scales()]
}

fn nvidia_mma() -> AttributeSyntax {
    AttributeSyntax::new("nvidia_mma", "ttg", "nvidia_mma")
        .with(ParameterSyntax::new("version", &["versionMajor", "versionMinor"]))
        .with_words(&[("warps_per_cta", "warpsPerCTA")])
        .with(ParameterSyntax::cluster())
        .with_words(&[("instr_shape", "instrShape")])
}

/// The bases of a cluster have as many coordinates as the tensor has axes.
fn nvmma_shared() -> AttributeSyntax {
    let words = [
        ("swizzle_byte_width", "swizzlingByteWidth"),
        ("transposed", "transposed"),
        ("element_bitwidth", "elementBitWidth"),
    ];
    AttributeSyntax::new("nvmma_shared", "ttg", "nvmma_shared")
        .with_words(&words)
        .with(ParameterSyntax::new("fp4_padded", &["fp4Padded"]).omitted_at(false))
        .with(ParameterSyntax::cluster())
        .with(ParameterSyntax::new("rank", &["rank"]).omitted_at(2).implied_by("cga_layout"))
}

fn tensor_memory() -> AttributeSyntax {
    AttributeSyntax::new("tensor_memory", "ttng", "tensor_memory_encoding")
        .bare()
        .with(ParameterSyntax::new("block", &["blockM", "blockN"]))
        .with_words(&[("col_stride", "colStride")])
        .with(ParameterSyntax::cluster())
        .with(ParameterSyntax::new("two_ctas", &["twoCTAs"]).omitted_at(false))
        .with(ParameterSyntax::new("fp4_padded", &["fp4Padded"]).omitted_at(false))
}

fn tensor_memory_scales() -> AttributeSyntax {
    AttributeSyntax::new("tensor_memory_scales", "ttng", "tensor_memory_scales_encoding")
        .bare()
        .with(ParameterSyntax::cluster())
}
