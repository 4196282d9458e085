//! Tests that each published package builds on its own: it contains the files that its sources name and depends only on
//! packages published before it, in the order in CONTRIBUTING.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::source_tree::{cargo, root};

/// Returns the manifest of each package of the workspace that is published, by the package's name.
fn published() -> BTreeMap<String, Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let published = packages.filter(|package| package["publish"].is_null());
    published.map(|package| (package["name"].as_str().expect("a name").to_owned(), package.clone())).collect()
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().expect("a path")).parent().expect("a folder").to_owned()
}

/// Returns the files that cargo packs for the package `name`, relative to the package's folder.
fn files(name: &str) -> BTreeSet<PathBuf> {
    let listed = cargo(&["package", "--list", "--allow-dirty", "--offline", "-p", name]);
    listed.lines().map(PathBuf::from).collect()
}

/// Resolves `file` relative to another file's folder, without `..`.
fn beside(file: &Path, other: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in file.parent().unwrap_or(Path::new("")).join(other).components() {
        match component {
            Component::ParentDir if path.file_name().is_some_and(|last| last != "..") => {
                path.pop();
            }
            Component::CurDir => {}
            component => path.push(component),
        }
    }
    path
}

/// Returns the files that a source file includes at build time, outside of its tests.
fn named(source: &str) -> Vec<&str> {
    let built = source.split("#[cfg(test)]").next().unwrap_or_default();
    let begins = ["include!(\"", "include_str!(\"", "include_bytes!(\"", "#[path = \""];
    let of = |begin: &'static str| built.split(begin).skip(1).filter_map(|rest| rest.split('"').next());
    begins.into_iter().flat_map(of).collect()
}

/// Returns the files and folders of a package that its build script names in string literals.
fn read_by_script(folder: &Path, script: &str) -> Vec<PathBuf> {
    let words = script.split('"').skip(1).step_by(2).map(|word| word.rsplit('=').next().unwrap_or_default());
    let there = words.filter(|word| !word.is_empty() && !word.starts_with(['/', '.']) && folder.join(word).exists());
    there.map(PathBuf::from).collect()
}

#[test]
fn packages_carry_what_their_sources_name() {
    let mut checked = 0;
    for (name, package) in published() {
        let (folder, files) = (folder(&package), files(&name));
        for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
            let of_build = file.starts_with("src") || file.starts_with("build") || file == Path::new("build.rs");
            let Ok(source) = std::fs::read_to_string(folder.join(file)) else { continue };
            for other in named(&source).into_iter().filter(|_| of_build) {
                let needed = beside(file, other);
                assert!(files.contains(&needed), "{name}: {} names {other}, which is not packed", file.display());
                checked += 1;
            }
        }
        let script = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
        for needed in read_by_script(&folder, &script) {
            assert!(files.iter().any(|file| file.starts_with(&needed)), "{name}: {} is not packed", needed.display());
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} names");
}

/// Checks that a package contains all files of each folder that its build script lists.
#[test]
fn listed_folders_are_packed_with_all_their_files() {
    for (name, listed, end) in [("tilewright-targets", "", "toml"), ("conformance", "kernels", "ttir")] {
        let (folder, files) = (folder(&published()[name]).join(listed), files(name));
        let there = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").file_name());
        let there: Vec<_> =
            there.filter(|file| Path::new(file).extension().is_some_and(|known| known == end)).collect();
        assert!(there.len() > 5, "{name}: {there:?}");
        assert!(there.iter().all(|file| files.contains(&Path::new(listed).join(file))), "{name}");
    }
}

#[test]
fn packages_have_the_fields_that_a_registry_requires() {
    let (packages, license) = (published(), "MIT OR Apache-2.0");
    for (name, package) in &packages {
        for field in ["description", "repository", "readme", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        assert_eq!(package["license"].as_str(), Some(license), "{name}");
    }
}

#[test]
fn contributing_names_them_in_an_order_that_can_be_published() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page");
    let section = text.split("## Publishing").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    let words = section.split('`').skip(1).step_by(2);
    let packages = published();
    let order: Vec<&str> = words.filter(|word| packages.contains_key(*word)).collect();
    assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), packages.keys().map(String::as_str).collect());
    assert_eq!(order.len(), packages.len(), "each once: {order:?}");
    for (index, name) in order.iter().enumerate() {
        for needed in packages[*name]["dependencies"].as_array().expect("dependencies") {
            let (other, by_path) = (needed["name"].as_str().expect("a name"), needed["path"].is_string());
            // Dev-dependencies without a version are omitted from the package.
            if by_path && !(needed["kind"] == "dev" && needed["req"] == "*") {
                assert_ne!(needed["req"], "*", "{name} needs a version of {other}");
                assert!(order[..index].contains(&other), "{name} needs {other} before it");
            }
        }
    }
}
