//! Counts words in the names, file names and prose of the source tree, and finds phrases in its prose.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;

/// The kind of text that is searched for a retired word.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Identifiers of Rust code, split at `_` and at capitals.
    Names,
    /// Names of Rust files and pages, split at `_` and `-`.
    Files,
    /// Pages, and comments of Rust code.
    Prose,
}

/// A place where a word is used.
#[derive(Clone, Debug)]
pub struct Use {
    /// The file and line of the use, or only the file if the word is in the file's name.
    pub location: String,
    /// The identifier, file name or word that was found.
    pub text: String,
}

/// All words of the source tree with their uses, and all lines of prose.
#[derive(Debug, Default)]
pub struct Vocabulary {
    uses: BTreeMap<(Scope, String), Vec<Use>>,
    prose: Vec<Use>,
}

/// Names of folders that have no sources of the project.
const SKIPPED: &[&str] = &["target", "corpus", "node_modules"];

impl Vocabulary {
    /// Reads the Rust files and the pages below a folder, except the files in `left_out`, which quote retired words.
    ///
    /// # Errors
    /// A folder or a file cannot be read.
    pub fn of_tree(root: &Path, left_out: &[&str]) -> io::Result<Self> {
        let mut vocabulary = Self::default();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                let kind = entry.file_type()?;
                if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                    folders.push(path);
                } else if kind.is_file() && !left_out.contains(&name.as_str()) {
                    vocabulary.add_file(root, &path)?;
                }
            }
        }
        Ok(vocabulary)
    }

    /// Returns the uses of a word, in the order of files.
    #[must_use]
    pub fn uses(&self, scope: Scope, word: &str) -> &[Use] {
        self.uses.get(&(scope, word.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines of pages and comments that a pattern matches, in the order of files.
    pub fn matches<'a>(&'a self, pattern: &'a Regex) -> impl Iterator<Item = &'a Use> {
        self.prose.iter().filter(|line| pattern.is_match(&line.text))
    }

    fn add_file(&mut self, root: &Path, file: &PathBuf) -> io::Result<()> {
        let is_rust = match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => true,
            Some("md") => false,
            _ => return Ok(()),
        };
        let location = file.strip_prefix(root).unwrap_or(file).display().to_string();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        stem.split(['_', '-']).for_each(|word| self.add(Scope::Files, word, location.clone(), &stem));
        for (line_number, line) in std::fs::read_to_string(file)?.lines().enumerate() {
            let location = || format!("{location}:{}", line_number + 1);
            let (code, prose) = if is_rust { code_and_comment(line) } else { (String::new(), line) };
            for name in code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()) {
                words_of_name(name).iter().for_each(|word| self.add(Scope::Names, word, location(), name));
            }
            let text = prose.trim_start_matches(['/', '!']).trim();
            if !text.is_empty() {
                self.prose.push(Use { location: location(), text: text.to_owned() });
            }
            for word in prose.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
                self.add(Scope::Prose, word, location(), word);
            }
        }
        Ok(())
    }

    fn add(&mut self, scope: Scope, word: &str, location: String, text: &str) {
        let used = Use { location, text: text.to_owned() };
        self.uses.entry((scope, word.to_lowercase())).or_default().push(used);
    }
}

/// Splits a line of Rust into the code, without string literals, and the comment.
fn code_and_comment(line: &str) -> (String, &str) {
    let (mut code, mut quoted, mut escaped) = (String::new(), false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '/' if !quoted && line[at..].starts_with("//") => return (code, &line[at..]),
            _ if !quoted => code.push(c),
            _ => {}
        }
    }
    (code, "")
}

/// Splits an identifier into words: `WarpPartition` and `warp_partition` are both `warp` and `partition`.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        if let (Some(word), true) = (words.last_mut(), c != '_') {
            word.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
