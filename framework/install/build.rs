//! Build script: passes the folder and the name of the LLVM library that the plugins link to `tilewright-install`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for (variable, name) in
        [("DEP_TILEWRIGHT_LLVM_LIBDIR", "LLVM_FOLDER"), ("DEP_TILEWRIGHT_LLVM_LIBRARY", "LLVM_LIBRARY")]
    {
        println!("cargo:rustc-env={name}={}", std::env::var(variable).unwrap_or_default());
    }
}
