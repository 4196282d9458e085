//! Build script: embeds the target files of this folder in the library, so that adding a GPU model is adding a file.

use std::fmt::Write;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.retain(|path| path.file_name().is_some_and(|name| name != "Cargo.toml"));
    files.sort();
    let mut list = String::from("&[\n");
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file name that is not Unicode")?;
        let full_path = path.to_str().ok_or("a path that is not Unicode")?;
        writeln!(list, "    ({name:?}, include_str!({full_path:?})),")?;
    }
    list.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("files.rs"), list)?;
    Ok(())
}
