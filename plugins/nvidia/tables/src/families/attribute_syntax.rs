//! The text syntax of Triton's attributes for this vendor's layout families.

use tilewright_layout::{AttributeSyntax, ParameterSyntax};

pub(super) fn all() -> Vec<AttributeSyntax> {
    vec![nvidia_mma(), nvmma_shared(), tensor_memory(), tensor_memory_scales()]
}

fn nvidia_mma() -> AttributeSyntax {
    AttributeSyntax::new("nvidia_mma", "ttg", "nvidia_mma")
        .with_parameter(ParameterSyntax::new("version", &["versionMajor", "versionMinor"]))
        .with_keywords(&[("warps_per_cta", "warpsPerCTA")])
        .with_parameter(ParameterSyntax::cga_layout())
        .with_keywords(&[("instr_shape", "instrShape")])
        .with_call("NVMMADistributedLayout", &["version", "warps_per_cta", "instr_shape", "cga_layout"])
}

/// Returns the syntax of `nvmma_shared`. Each basis of the cluster has one coordinate for each axis of the tensor.
fn nvmma_shared() -> AttributeSyntax {
    let keywords = [
        ("swizzle_byte_width", "swizzlingByteWidth"),
        ("transposed", "transposed"),
        ("element_bitwidth", "elementBitWidth"),
    ];
    AttributeSyntax::new("nvmma_shared", "ttg", "nvmma_shared")
        .with_keywords(&keywords)
        .with_parameter(ParameterSyntax::new("fp4_padded", &["fp4Padded"]).with_omitted_value(false))
        .with_parameter(ParameterSyntax::cga_layout())
        .with_parameter(ParameterSyntax::new("rank", &["rank"]).with_omitted_value(2).with_implied_by("cga_layout"))
        .with_call_defaults(
            "NVMMASharedLayout",
            &["swizzle_byte_width", "element_bitwidth", "rank", "transposed", "fp4_padded", "cga_layout"],
            [("rank", 2.into())],
        )
        .with_call(
            "NVMMASharedLayout.get_default_for",
            &["block_shape", "dtype", "transposed", "fp4_padded", "cga_layout"],
        )
}

fn tensor_memory() -> AttributeSyntax {
    AttributeSyntax::new("tensor_memory", "ttng", "tensor_memory_encoding")
        .without_braces()
        .with_parameter(ParameterSyntax::new("block", &["blockM", "blockN"]))
        .with_keywords(&[("col_stride", "colStride")])
        .with_parameter(ParameterSyntax::cga_layout())
        .with_parameter(ParameterSyntax::new("two_ctas", &["twoCTAs"]).with_omitted_value(false))
        .with_parameter(ParameterSyntax::new("fp4_padded", &["fp4Padded"]).with_omitted_value(false))
        .with_call("TensorMemoryLayout", &["block", "col_stride", "cga_layout", "two_ctas", "fp4_padded"])
}

fn tensor_memory_scales() -> AttributeSyntax {
    AttributeSyntax::new("tensor_memory_scales", "ttng", "tensor_memory_scales_encoding")
        .without_braces()
        .with_parameter(ParameterSyntax::cga_layout())
        .with_call("TensorMemoryScalesLayout", &["cga_layout"])
}
