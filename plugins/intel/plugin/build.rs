//! Writes the manifest next to the shared library.
//!
//! The folders `build` and `answers` are symbolic links to files elsewhere in the repository; a published package has
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
    manifest::write("intel", (version::ABI_MAJOR, version::ABI_MINOR), architectures::ARCHITECTURES);
    manifest::bring_answers("intel", &["answers/layouts.jsonl", "answers/facts.jsonl"]);
}
