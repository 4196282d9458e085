//! Writes the manifest beside the shared library.
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
    manifest::write("intel", (version::ABI_MAJOR, version::ABI_MINOR), architectures::ARCHITECTURES);
    manifest::bring_answers("intel", &["answers/layouts.jsonl", "answers/facts.jsonl"]);
}
