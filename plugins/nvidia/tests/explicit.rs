//! Programs that say where tiles lie: what is found for them on products of three generations, and that it does what it must.

#[path = "../../../framework/tests/explicit/mod.rs"]
mod explicit;

use explicit::{MIXED, PROGRAMS, is_inside, kept, solved, table};
use tilewright::engine::synthesis::Options;
use tilewright::target::TargetDescription;
use tilewright_nvidia::NvidiaTarget;

fn target(name: &str) -> NvidiaTarget {
    let text = match name {
        "a100" => include_str!("../../../targets/a100.toml"),
        "h100" => include_str!("../../../targets/h100.toml"),
        _ => include_str!("../../../targets/rtx4090.toml"),
    };
    let description = TargetDescription::from_toml(name, text).expect("a description");
    NvidiaTarget::new(description).expect("a target")
}

#[test]
fn no_loop_has_conflicts_of_banks() {
    for product in ["a100", "h100", "rtx4090"] {
        let target = target(product);
        for name in PROGRAMS {
            let solved = solved(&target, name, Options::default());
            assert_eq!(solved.derivation.conflicts_in_loops(), 0, "{name} on {product}:\n{}", solved.derivation);
        }
    }
}

/// Sixteen bytes a lane come past the registers, four matrices at a time go to them, and each turn meets once.
#[test]
fn a_product_is_a_pipeline_of_the_widest_instructions() {
    let solved = solved(&target("a100"), "explicit_gemm", Options::default());
    assert!(solved.kernel.contains("cp.async.cg.shared.global.16"), "{}", solved.derivation);
    assert!(solved.kernel.contains("ldmatrix.sync.aligned.m8n8.x4.shared.b16"), "{}", solved.derivation);
    assert_eq!(solved.derivation.conversions, [""; 0]);
    assert!(solved.derivation.loops[0].stages > 1);
    // Five turns of K; each loads 64 x 32 and 32 x 64 of 16 bits, half of each in a warp: 2 x 2048 bytes.
    let turns = 5;
    assert_eq!(solved.counts.wavefronts_loaded, turns * 2 * 2048 / 128);
    assert_eq!(solved.counts.barriers, turns);
}

/// The weights go from bytes in shared memory to the unit's factor by operations of a lane alone (seed 003, Figure 2c), and come
/// sixteen bytes at a time.
#[test]
fn weights_are_converted_nowhere() {
    for product in ["a100", "h100", "rtx4090"] {
        for name in MIXED {
            let solved = solved(&target(product), name, Options::default());
            let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inside(line));
            assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name} on {product}:\n{}", solved.derivation);
            let copied = solved.derivation.memories.iter().flat_map(|memory| &memory.accesses);
            let copied = copied.filter(|access| access.operation.starts_with("ttg.async"));
            let widths: Vec<u64> = copied.map(|access| access.vector_bits).collect();
            assert_eq!(widths, [128, 128], "{name} on {product}:\n{}", solved.derivation);
        }
        let int4 = solved(&target(product), "explicit_int4", Options::default());
        assert_eq!((int4.counts.exchanges, int4.counts.exchanges_xor), (0, 0));
    }
}

/// The results of a product are a factor of the next one where they are.
#[test]
fn attention_converts_nothing() {
    for product in ["a100", "h100", "rtx4090"] {
        for name in ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq", "explicit_decode"] {
            let solved = solved(&target(product), name, Options::default());
            let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inside(line));
            assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name} on {product}:\n{}", solved.derivation);
        }
    }
}

/// What is left out is left out, and the program still does what it must: the ablations of seed 003, section 7.5.
#[test]
fn parts_of_synthesis_can_be_left_out() {
    let target = target("a100");
    let memory = solved(&target, "explicit_gemm", Options { memory: false, ..Options::default() });
    assert!(memory.derivation.memories.iter().all(|line| !line.notation.contains("Swizzle")), "{}", memory.derivation);
    let pipeline = solved(&target, "explicit_gemm", Options { pipeline: false, ..Options::default() });
    assert_eq!(pipeline.derivation.loops[0].stages, 1);
    // Each turn meets before it reads, and before it is written again.
    assert!(pipeline.counts.barriers > 5, "{}", pipeline.derivation);
}

#[test]
fn the_page_has_what_was_found() {
    let products = ["a100", "h100", "rtx4090"].map(|name| (name, target(name)));
    let targets: Vec<(&str, &dyn tilewright::vendor::Target)> =
        products.iter().map(|(name, target)| (*name, target as _)).collect();
    kept("nvidia", &table(&targets));
}
