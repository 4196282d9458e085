//! Sets the shared library's run paths and writes the plugin manifest next to it. The run paths are the library's own
//! directory, where an installation puts LLVM, and the LLVM of this build.
//!
//! Files from elsewhere in the repository are symbolic links in `build` and `answers`, which a package replaces by
//! copies.

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
    manifest::write("nvidia", (version::ABI_MAJOR, version::ABI_MINOR), architectures::ARCHITECTURES);
    manifest::bring_answers("nvidia", &["answers/layouts.jsonl", "answers/facts.jsonl"]);
}
