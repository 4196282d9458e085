//! Tests of the headers: those in the tree match the crate, compile as C and C++, and declare the exports of the shared
//! library.
//!
//! `TILEWRIGHT_BLESS=1` rewrites the headers in the tree.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compiler::accept;
use tilewright_testkit::golden;

/// Returns this package's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Generates the text of the header from the crate.
fn generated() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("the configuration");
    let bindings =
        cbindgen::Builder::new().with_crate(root()).with_config(config).generate().expect("the crate's items");
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).expect("UTF-8");
    without_safety(&text)
}

/// Removes the sections on safety from a header; C gets these rules from the header's introduction.
fn without_safety(text: &str) -> String {
    let mut kept = Vec::new();
    let mut skipping = false;
    for line in text.lines() {
        let ends = line.trim() == "*/";
        if line.trim() == "* # Safety" {
            skipping = true;
            while kept.last().is_some_and(|line: &&str| line.trim() == "*") {
                kept.pop();
            }
        }
        skipping &= !ends;
        if !skipping {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}

/// A function that the header declares.
struct Function {
    returns: String,
    name: String,
    parameters: String,
}

/// Returns the functions that the header declares.
fn functions(header: &str) -> Vec<Function> {
    let mut without_comments = String::new();
    let mut rest = header;
    while let Some((before, after)) = rest.split_once("/*") {
        without_comments += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    without_comments += rest;
    let code: String = without_comments.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    let declared = code.split(';').filter(|statement| !statement.contains("typedef") && statement.contains("tw_"));
    let function = |statement: &str| {
        let (head, parameters) = statement.split_once('(')?;
        let words = head.split('{').next_back()?.trim();
        let at = words.rfind("tw_")?;
        let parameters = parameters.rsplit_once(')')?.0.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Function { returns: words[..at].trim().to_owned(), name: words[at..].to_owned(), parameters })
    };
    declared.filter_map(function).collect()
}

/// Generates the text of the loader: a table of the functions, filled at run time, so that a host links nothing.
fn loader(functions: &[Function]) -> String {
    let mut text = "\
/*
 * Loads libtilewright at run time, so that a host links nothing: tw_api_load fills a table with its functions.
 *
 * Generated from tilewright.h. The host links the system's loader (-ldl, where that is a library of its own).
 */
#ifndef TILEWRIGHT_LOADER_H
#define TILEWRIGHT_LOADER_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include \"tilewright.h\"

/* The functions of the library. Those that a later minor version added are null in an older library. */
typedef struct tw_api {
    void *library;
"
    .to_owned();
    for Function { returns, name, parameters } in functions {
        let space = if returns.ends_with('*') { "" } else { " " };
        let _ = writeln!(text, "    {returns}{space}(*{})({parameters});", name.trim_start_matches("tw_"));
    }
    text += "\
} tw_api;

/* Fills the table from the library of this path, or \"libtilewright.so.1\" for null. Returns 1, or 0 with the reason in
 * `message`, which has room for `size` bytes. The library is never unloaded: plugins live as long as the process. */
static inline int tw_api_load(tw_api *api, const char *path, char *message, size_t size) {
    static const char *const names[] = {
";
    for Function { name, .. } in functions {
        let _ = writeln!(text, "        \"{name}\",");
    }
    text += "    };
    void *found;
    size_t index;
    char *slots = (char *)api + sizeof(void *);
    memset(api, 0, sizeof *api);
    api->library = dlopen(path ? path : \"libtilewright.so.1\", RTLD_NOW | RTLD_LOCAL);
    if (!api->library) {
        snprintf(message, size, \"%s\", dlerror());
        return 0;
    }
    for (index = 0; index < sizeof names / sizeof names[0]; index++) {
        found = dlsym(api->library, names[index]);
        memcpy(slots + index * sizeof found, &found, sizeof found);
    }
    if (!api->abi_version || api->abi_version() >> 16 != TW_ABI_MAJOR) {
        snprintf(message, size, \"the library has another major version of the interface than %u\", (unsigned)TW_ABI_MAJOR);
        return 0;
    }
    return 1;
}

#endif /* TILEWRIGHT_LOADER_H */
";
    text
}

/// Compares a file in the tree with the generated text; fails if they differ.
fn agrees(name: &str, generated: &str) {
    golden::check(&root().join("include").join(name), generated);
}

#[test]
fn the_headers_in_the_tree_match_the_crate() {
    let header = generated();
    agrees("tilewright.h", &header);
    agrees("tilewright_loader.h", &loader(&functions(&header)));
}

#[test]
fn every_function_documents_its_first_version() {
    let header = generated();
    let functions = functions(&header);
    assert!(functions.len() > 30, "{} functions", functions.len());
    for Function { name, .. } in functions {
        let at = header.find(&format!("{name}(")).expect("its declaration");
        let comment = header[..at].rfind("/*").map(|start| &header[start..at]).expect("its comment");
        let words: Vec<_> = comment.split_whitespace().filter(|&word| word != "*").collect();
        assert!(words.join(" ").contains("Available since 1."), "{name}: {comment}");
    }
}

#[test]
fn the_headers_are_c99() {
    accept("cc", "-std=c99", "header.c");
}

/// Returns the path of this package's shared library, which cargo has built next to its tests.
fn library() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    let folder = own.parent().expect("its folder");
    folder.join("libtilewright_c.so")
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output().expect("nm, of the linker's package");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("UTF-8");
    let mut exported: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    exported.sort_unstable();
    let functions = functions(&generated());
    let mut declared: Vec<_> = functions.iter().map(|function| function.name.as_str()).collect();
    declared.sort_unstable();
    assert_eq!(exported, declared);
}

#[test]
fn neither_the_library_nor_the_crate_knows_a_code_generator() {
    let output = Command::new("ldd").arg(library()).output().expect("ldd");
    let libraries = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert!(libraries.contains("libc.so") && !libraries.contains("llvm"), "{libraries}");
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root()).args(["tree", "--offline", "--edges", "normal", "-p", "tilewright-c"]);
    let output = command.output().expect("cargo tree");
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && tree.contains("tilewright "), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!tree.contains("inkwell") && !tree.contains("tilewright-llvm"), "{tree}");
}
