//! Kernels with clusters: text, uniformity, and verifier errors.
#![allow(clippy::unwrap_used)]

use tilewright_kernel::{
    MemorySpace, Module, StaticLaunchConfig, Type, Uniformity, Value, Violation, analyze_uniformity, decode_module,
    encode_module, text, verify,
};

fn module(blocks: u32, body: &str) -> Module {
    let text = format!(
        "kernel tested(%0 a: ptr.global, %1 n: i32) lanes 8 warps 4 blocks {blocks} {{
           shared 0: 64 bytes align 16
           %2: i32 = special block
           %3: ptr.shared = shared_address 0
           {body}
         }}"
    );
    text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn violation(blocks: u32, body: &str) -> Violation {
    verify(&module(blocks, body)).expect_err(body).violation
}

const REACH: &str = "%4: ptr.cluster = cluster_address %3, %2
    %5: ptr.cluster = ptr_add %4, %1
    store %5 + 4, %1 align 4
    barrier cluster all
    %6: i32 = load %5 + 4 align 4
    barrier cluster all";

#[test]
fn a_kernel_carries_its_blocks_in_text_and_bytes() {
    let module = module(4, REACH);
    verify(&module).unwrap();
    assert_eq!(module.kernels[0].launch, StaticLaunchConfig::new(8, 4).with_blocks(4));
    let text = module.to_string();
    assert!(text.contains("lanes 8 warps 4 blocks 4 {"), "{text}");
    assert!(text.contains("%4: ptr.cluster = cluster_address %3, %2"), "{text}");
    assert_eq!(text::parse_module(&text).as_ref(), Ok(&module));
    assert_eq!(decode_module(&encode_module(&module)).as_ref(), Ok(&module));
    // A kernel without `blocks` has clusters of one block.
    let single = self::module(1, "").to_string();
    assert!(!single.contains("blocks"), "{single}");
}

#[test]
fn clusters_have_one_to_64_blocks() {
    for blocks in [1, 3, 64] {
        verify(&module(blocks, REACH)).unwrap();
    }
    for blocks in [0, 65] {
        assert_eq!(violation(blocks, REACH), Violation::Blocks { found: blocks });
    }
}

#[test]
fn a_cluster_address_combines_a_shared_address_and_a_block() {
    let operand =
        |value, found, expected: &str| Violation::Operand { value: Value(value), found, expected: expected.to_owned() };
    let cases = [
        ("%4: ptr.cluster = cluster_address %0, %2", operand(0, Type::Pointer(MemorySpace::Global), "ptr.shared")),
        ("%4: ptr.cluster = cluster_address %3, %0", operand(0, Type::Pointer(MemorySpace::Global), "i32")),
        (
            "%4: ptr.shared = cluster_address %3, %2",
            Violation::Result {
                value: Value(4),
                found: Type::Pointer(MemorySpace::Shared),
                expected: "ptr.cluster".to_owned(),
            },
        ),
        (
            "%4: ptr.cluster = cluster_address %3, %2\n %5: ptr.cluster = cluster_address %4, %2",
            operand(4, Type::Pointer(MemorySpace::Cluster), "ptr.shared"),
        ),
        ("%4: i32 = binary add %3, %2", operand(3, Type::Pointer(MemorySpace::Shared), "an integer of 8 bits or more")),
    ];
    for (body, expected) in cases {
        assert_eq!(violation(2, body), expected, "{body}");
    }
    let parameter = text::parse_module("kernel k(%0 p: ptr.cluster) lanes 8 warps 1 blocks 2 {}").unwrap();
    let refused = verify(&parameter).unwrap_err().violation;
    assert_eq!(refused, Violation::ParameterType { parameter: 0, found: Type::Pointer(MemorySpace::Cluster) });
}

#[test]
fn what_blocks_share_is_cluster_uniform() {
    use Uniformity::{BlockUniform, ClusterUniform, Uniform};
    let body = "%4: i32 = special program 0
        %5: i32 = special program 1
        %6: i32 = binary add %1, %5
        %7: i32 = binary add %1, %4
        %8: ptr.cluster = cluster_address %3, %5
        %9: i32 = load %8 align 4
        %10: i1 = compare eq %2, %1
        %11: i32 = if %10 { yield %1 } else { yield %5 }
        %12: i32 = shuffle index all %1, %2";
    let expected = [
        (0, ClusterUniform),
        (1, ClusterUniform),
        (2, BlockUniform),
        (3, BlockUniform),
        (4, BlockUniform),
        (5, ClusterUniform),
        (6, ClusterUniform),
        (7, BlockUniform),
        (8, BlockUniform),
        (9, Uniform),
        (11, BlockUniform),
        (12, ClusterUniform),
    ];
    let levels = analyze_uniformity(&module(2, body).kernels[0]);
    for (value, level) in expected {
        assert_eq!(levels[value], level, "%{value}");
    }
    // A cluster of one block is uniform.
    let single = analyze_uniformity(&module(1, body).kernels[0]);
    assert!(expected.iter().all(|&(value, level)| single[value] == ClusterUniform || level == Uniform));
}

#[test]
fn a_barrier_of_the_cluster_stands_under_control_of_the_cluster() {
    let under = |condition: &str| {
        format!("{condition}\n %5: i1 = compare eq %4, %1\n if %5 {{ barrier cluster all\n yield }} else {{ yield }}")
    };
    let cases = [
        ("%4: i32 = special program 1", None),
        ("%4: i32 = special block", Some("blocks of a cluster")),
        ("%4: i32 = special program 0", Some("blocks of a cluster")),
        ("%4: i32 = special warp", Some("warps of a block")),
        ("%4: i32 = special lane", Some("lanes of a warp")),
    ];
    for (condition, refused) in cases {
        let verified = verify(&module(2, &under(condition)));
        let expected = refused.map(|scope| Violation::DivergentControl { scope });
        assert_eq!(verified.err().map(|error| error.violation), expected, "{condition}");
    }
    // A barrier of the block may stand under control that differs between blocks.
    let block = under("%4: i32 = special block").replace("barrier cluster", "barrier block");
    verify(&module(2, &block)).unwrap();
}
