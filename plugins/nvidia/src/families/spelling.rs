//! How Triton's attribute text spells these families.

use tilewright_layout::{ParameterSpelling, Spelling};

pub(super) fn all() -> Vec<Spelling> {
    vec![nvidia_mma(), nvmma_shared(), tensor_memory(), tensor_memory_scales()]
}

fn nvidia_mma() -> Spelling {
    Spelling::new("nvidia_mma", "ttg", "nvidia_mma")
        .with(ParameterSpelling::new("version", &["versionMajor", "versionMinor"]))
        .with_words(&[("warps_per_cta", "warpsPerCTA")])
        .with(ParameterSpelling::cluster())
        .with_words(&[("instr_shape", "instrShape")])
}

/// The bases of a cluster have as many coordinates as the tensor has axes.
fn nvmma_shared() -> Spelling {
    let words = [
        ("swizzle_byte_width", "swizzlingByteWidth"),
        ("transposed", "transposed"),
        ("element_bitwidth", "elementBitWidth"),
    ];
    Spelling::new("nvmma_shared", "ttg", "nvmma_shared")
        .with_words(&words)
        .with(ParameterSpelling::new("fp4_padded", &["fp4Padded"]).omitted_at(false))
        .with(ParameterSpelling::cluster())
        .with(ParameterSpelling::new("rank", &["rank"]).omitted_at(2).implied_by("cga_layout"))
}

fn tensor_memory() -> Spelling {
    Spelling::new("tensor_memory", "ttng", "tensor_memory_encoding")
        .bare()
        .with(ParameterSpelling::new("block", &["blockM", "blockN"]))
        .with_words(&[("col_stride", "colStride")])
        .with(ParameterSpelling::cluster())
        .with(ParameterSpelling::new("two_ctas", &["twoCTAs"]).omitted_at(false))
        .with(ParameterSpelling::new("fp4_padded", &["fp4Padded"]).omitted_at(false))
}

fn tensor_memory_scales() -> Spelling {
    Spelling::new("tensor_memory_scales", "ttng", "tensor_memory_scales_encoding")
        .bare()
        .with(ParameterSpelling::cluster())
}
