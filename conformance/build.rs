//! Build script: writes the kernels in the suite's data as a table of names and contents, so that the program needs no
//! other files when it runs.

use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names it")).join("kernels");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of kernels")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| ["json", "ttir", "bin"].iter().any(|known| end == *known)))
        .collect();
    files.sort();
    let mut table = "[\n".to_owned();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name in ASCII");
        writeln!(table, "    ({name:?}, include_bytes!({:?}).as_slice()),", file.display().to_string())
            .expect("a text");
    }
    table.push(']');
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it")).join("kernels.rs");
    std::fs::write(out, table).expect("the table is written");
}
