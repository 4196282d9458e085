//! Sets the run paths of the shared library (its own directory, where an installation puts LLVM, and the LLVM of this
//! build) and writes the manifest next to it.
//!
//! Files from elsewhere in the repository are symbolic links in `build` and `answers`; a published package has copies.

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
