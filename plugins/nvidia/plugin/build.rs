//! Gives the shared library its run paths (its own directory, where an installation puts LLVM, and
//! the LLVM that this build was linked to) and writes the manifest beside it.

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
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN");
    if let Ok(directory) = std::env::var("DEP_TILEWRIGHT_LLVM_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
    manifest::write("nvidia", (version::ABI_MAJOR, version::ABI_MINOR), architectures::ARCHITECTURES);
    manifest::bring_answers("nvidia", &["../tests/data/layouts.jsonl", "../tests/data/facts.jsonl"]);
}
