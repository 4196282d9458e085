//! Programs that say where tiles lie, on a product of AMD's.

#[path = "../../../framework/tests/explicit/mod.rs"]
#[allow(dead_code, reason = "each test program uses some of this")]
mod explicit;

use explicit::{PROGRAMS, kept, solved, table};
use tilewright::engine::synthesis::Options;
use tilewright::target::TargetDescription;
use tilewright_amd::AmdTarget;

fn target() -> AmdTarget {
    let text = include_str!("../../../targets/mi300x.toml");
    let description = TargetDescription::from_toml("mi300x", text).expect("a description");
    AmdTarget::new(description).expect("a target")
}

#[test]
fn no_loop_has_conflicts_of_banks() {
    let target = target();
    // Weights of four bits are read by lanes of 64 in a warp with some conflicts left.
    for name in PROGRAMS.into_iter().filter(|name| *name != "explicit_int4") {
        let solved = solved(&target, name, Options::default());
        assert_eq!(solved.derivation.conflicts_in_loops(), 0, "{name}:\n{}", solved.derivation);
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
