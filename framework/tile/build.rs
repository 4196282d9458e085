//! Generates a constant for each operation of the dialect files, so that a misspelled operation does not compile.

use std::fmt::Write;
use std::path::Path;
use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/dialects");
    let mut files: Vec<_> =
        fs::read_dir("src/dialects")?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut modules = String::new();
    for file in files {
        write_module(&mut modules, &fs::read_to_string(file)?)?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("operation_names.rs"), modules)?;
    Ok(())
}

/// Writes the module of one dialect: a constant for each key of its table `[operations]`.
fn write_module(modules: &mut String, text: &str) -> Result<(), Box<dyn Error>> {
    let quoted =
        text.lines().find_map(|line| line.strip_prefix("dialect = ")).ok_or("a dialect file names its dialect")?;
    let dialect = quoted.trim_matches('"');
    writeln!(modules, "/// Operations of the dialect `{dialect}`.\npub mod {dialect} {{")?;
    let rows =
        text.lines().skip_while(|line| *line != "[operations]").skip(1).take_while(|line| !line.starts_with('['));
    for key in rows.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = ")) {
        let name = key.0.trim_matches('"');
        let constant = name.replace('.', "_").to_uppercase();
        writeln!(modules, "    /// `{dialect}.{name}`.\n    pub const {constant}: &str = \"{dialect}.{name}\";")?;
    }
    writeln!(modules, "}}\n")?;
    Ok(())
}
