//! Programs that say where tiles lie, on a product of AMD's.

#[path = "../../../framework/tests/explicit/mod.rs"]
#[allow(dead_code, reason = "each test program uses some of this")]
mod explicit;

use explicit::{MIXED, PROGRAMS, is_inside, kept, solved, table};
use tilewright::engine::synthesis::Options;
use tilewright::target::TargetDescription;
use tilewright_amd::AmdTarget;

fn target() -> AmdTarget {
    let text = include_str!("../../../targets/mi300x.toml");
    let description = TargetDescription::from_toml("mi300x", text).expect("a description");
    AmdTarget::new(description).expect("a target")
}

/// What each program is executed for is right (`solved` says so where not), and it takes the fewest wavefronts.
#[test]
fn no_loop_has_conflicts_of_banks() {
    let target = target();
    for name in PROGRAMS {
        let solved = solved(&target, name, Options::default());
        assert_eq!(solved.derivation.conflicts_in_loops(), 0, "{name}:\n{}", solved.derivation);
    }
}

/// The results of a product are a factor of the next one where they are: the unit's factors are exchanged for it. With one warp
/// (`explicit_decode`) some lanes exchange instead, which takes less than other loads would.
#[test]
fn attention_converts_nothing_between_its_products() {
    let target = target();
    for name in ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq"] {
        let solved = solved(&target, name, Options::default());
        let between = solved.derivation.conversions.iter().filter(|line| is_inside(line));
        assert_eq!(between.collect::<Vec<_>>(), [""; 0], "{name}:\n{}", solved.derivation);
    }
}

/// Weights go from bytes to the unit's factor by operations of a lane alone.
#[test]
fn weights_are_converted_nowhere() {
    let target = target();
    for name in MIXED {
        let solved = solved(&target, name, Options::default());
        let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inside(line));
        assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name}:\n{}", solved.derivation);
    }
}

#[test]
fn products_go_by_the_matrix_unit() {
    let solved = solved(&target(), "explicit_gemm", Options::default());
    assert!(solved.kernel.contains("mfma"), "{}", solved.derivation);
}

#[test]
fn the_page_has_what_was_found() {
    let target = target();
    kept("amd", &table(&[("mi300x", &target)]));
}
