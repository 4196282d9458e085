//! Sets the run path of the host to the LLVM that it is linked to.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Ok(directory) = std::env::var("DEP_TILEWRIGHT_LLVM_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
}
