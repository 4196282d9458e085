//! Writes the manifest beside the shared library.

#[path = "../src/architectures.rs"]
mod architectures;
#[path = "../../manifest.rs"]
mod manifest;
#[path = "../../../framework/src/plugin/version.rs"]
mod version;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../src/architectures.rs");
    println!("cargo:rerun-if-changed=../../manifest.rs");
    println!("cargo:rerun-if-changed=../../../framework/src/plugin/version.rs");
    manifest::write("intel", (version::ABI_MAJOR, version::ABI_MINOR), architectures::ARCHITECTURES);
    manifest::bring_answers("intel", &["../tests/data/layouts.jsonl", "../tests/data/facts.jsonl"]);
}
