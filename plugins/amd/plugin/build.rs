//! Gives the shared library its run paths (its own directory, where an installation puts LLVM, and
//! the LLVM that this build was linked to) and writes the manifest beside it.
//!
//! What it takes from elsewhere in the repository lies in `build` and `answers` as links, of which a package has copies.

#[path = "build/architectures.rs"]
mod architectures;
#[path = "build/manifest.rs"]
mod manifest;
#[path = "build/version.rs"]
mod version;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build/architectures.rs");
    println!("cargo:rerun-if-changed=build/manifest.rs");
    println!("cargo:rerun-if-changed=build/version.rs");
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN");
    if let Ok(directory) = std::env::var("DEP_TILEWRIGHT_LLVM_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
    manifest::write("amd", (version::ABI_MAJOR, version::ABI_MINOR), architectures::ARCHITECTURES);
    manifest::bring_answers("amd", &["answers/layouts.jsonl", "answers/facts.jsonl"]);
}
