//! `tilewright new-plugin`: copies a plugin template, which passes conformance unchanged.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::CommandError;

/// The plugin template: file names and contents of `plugins/null`, which this package's folder `null` links to.
const TEMPLATE: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../null/package.toml")),
    ("null.plugin.toml", include_str!("../null/null.plugin.toml")),
    ("src/lib.rs", include_str!("../null/lib.rs")),
    ("targets/null1.toml", include_str!("../null/null1.toml")),
];

/// The line of the template's `Cargo.toml` for its dependency on the plugin interface.
const FRAMEWORK: &str = "tilewright-plugin = { path = \"../../framework/plugin\" }";

/// The folder above this package when this command was built (`framework`); it need not exist later.
const SOURCE_TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Options of `tilewright new-plugin`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The plugin's name: lower-case letters and digits, a letter first. Its first architecture and target are called
    /// NAME1.
    name: String,
    /// The folder to create. Default: a folder with the plugin's name.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Build against the crate `tilewright-plugin` of this source tree's folder `framework`. Default: the source tree
    /// of this command if it still exists, else the published crate.
    #[arg(long, value_name = "DIR")]
    framework: Option<PathBuf>,
}

/// Runs `tilewright new-plugin`.
pub fn run(options: &Options) -> Result<(), CommandError> {
    let name = &options.name;
    let letters = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !letters || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        let message = format!("`{name}` is not a plugin's name: lower-case letters and digits, a letter first");
        return Err(CommandError::Input(message));
    }
    let folder = options.to.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.exists() {
        return Err(CommandError::Input(format!("{} is there already; --to names another folder", folder.display())));
    }
    let framework = framework(options.framework.as_deref())?;
    for (file, text) in TEMPLATE {
        let file = folder.join(named(file, name));
        let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        written
            .and_then(|()| std::fs::write(&file, named(&text.replace(FRAMEWORK, &framework), name)))
            .map_err(|error| CommandError::Input(format!("cannot write {}: {error}", file.display())))?;
        println!("{}", file.display());
    }
    println!(
        "\nto build and check it:\n\n    cd {} && cargo build --release\n    \
         TILEWRIGHT_TARGET_PATH=$PWD/targets conformance --target {name}1 --plugin target/release/lib{name}_plugin.so",
        folder.display()
    );
    Ok(())
}

/// Returns the `Cargo.toml` line for the dependency on the plugin interface, for a given or default folder.
fn framework(folder: Option<&Path>) -> Result<String, CommandError> {
    let tree = Path::new(SOURCE_TREE);
    let in_tree = || tree.join("plugin/Cargo.toml").is_file().then_some(tree);
    let Some(folder) = folder.or_else(in_tree) else {
        return Ok(format!("tilewright-plugin = \"{}\"", env!("CARGO_PKG_VERSION")));
    };
    let found = folder.join("plugin").canonicalize().ok().filter(|folder| folder.join("Cargo.toml").is_file());
    let found = found.ok_or_else(|| {
        CommandError::Input(format!(
            "{}: expected a folder `framework` of a source tree, with the crate `plugin`",
            folder.display()
        ))
    })?;
    Ok(format!("tilewright-plugin = {{ path = {:?} }}", found.display().to_string()))
}

/// Returns the template's text with the plugin's name in place of the template's.
fn named(text: &str, name: &str) -> String {
    let mut capital = name.to_owned();
    capital[..1].make_ascii_uppercase();
    text.replace("null", name).replace("Null", &capital)
}
