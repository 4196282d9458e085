//! Reads files of known answers: JSON Lines of layouts and of operations on layouts, JSON of CuTe operations.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;
use tilewright_layout::{FamilyParameterValue, FamilySpec, spec_from_json};

use super::{AnswersError, KnownAnswer, KnownAnswers};

/// Names of the files that may hold known answers in a directory; other files are ignored.
const NAMES: [&str; 3] = ["layouts.jsonl", "algebra.jsonl", "cute_algebra_cases.json"];
pub(super) const EXPECTED: &str =
    "JSON Lines of layouts, operations or facts, the JSON of CuTe's operations, or a directory with such files";

// These files are symbolic links to data of the framework's tests; a published package has copies.
const LAYOUTS: &str = include_str!("../../data/layouts.jsonl");
const ALGEBRA: &str = include_str!("../../data/algebra.jsonl");
const CUTE: &str = include_str!("../../data/cute_algebra_cases.json");

pub(super) fn read_builtin() -> KnownAnswers {
    let mut answers = KnownAnswers::default();
    for (name, text) in NAMES.iter().zip([LAYOUTS, ALGEBRA, CUTE]) {
        let read = add_text(&mut answers, Path::new(name), text);
        debug_assert!(read.is_ok(), "{read:?}");
    }
    answers
}

/// Returns the path of the known answers that a plugin brings, `NAME.answers.jsonl` next to its library; `None` if
/// there is no such file.
#[must_use]
pub fn plugin_answers_file(library: &Path, plugin: &str) -> Option<PathBuf> {
    let file = library.with_file_name(format!("{plugin}.answers.jsonl"));
    file.is_file().then_some(file)
}

pub(super) fn add(answers: &mut KnownAnswers, path: &Path) -> Result<(), AnswersError> {
    if !path.is_dir() {
        return add_file(answers, path);
    }
    let unreadable =
        |error: std::io::Error| AnswersError::Unreadable { file: path.to_owned(), message: error.to_string() };
    let below = fs::read_dir(path).map_err(unreadable)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut directories: Vec<_> = below.filter(|entry| entry.is_dir()).collect();
    directories.sort();
    directories.insert(0, path.to_owned());
    let files: Vec<_> = directories.iter().flat_map(|directory| NAMES.map(|name| directory.join(name))).collect();
    let found: Vec<_> = files.iter().filter(|file| file.is_file()).collect();
    if found.is_empty() {
        return Err(AnswersError::Empty { file: path.to_owned() });
    }
    found.into_iter().try_for_each(|file| add_file(answers, file))
}

fn add_file(answers: &mut KnownAnswers, file: &Path) -> Result<(), AnswersError> {
    let text = fs::read_to_string(file)
        .map_err(|error| AnswersError::Unreadable { file: file.to_owned(), message: error.to_string() })?;
    add_text(answers, file, &text)
}

fn add_text(answers: &mut KnownAnswers, file: &Path, text: &str) -> Result<(), AnswersError> {
    if file.extension().is_some_and(|extension| extension == "json") {
        return add_cute(answers, file, text);
    }
    let wrong = |line: usize, message: String| {
        Err(AnswersError::Row { file: file.to_owned(), location: format!("line {}", line + 1), message })
    };
    let mut rows = 0;
    for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let head: Head = match serde_json::from_str(text) {
            Ok(head) => head,
            Err(error) => return wrong(line, error.to_string()),
        };
        if let Err(message) = head.add(answers, text) {
            return wrong(line, message);
        }
        rows += 1;
    }
    if rows == 0 { Err(AnswersError::Empty { file: file.to_owned() }) } else { Ok(()) }
}

/// The fields of a known answer that determine its kind and subject; a case parses the whole answer when it runs.
#[derive(Deserialize)]
struct Head {
    id: Json,
    op: Option<String>,
    fact: Option<String>,
    params: Option<Json>,
}

impl Head {
    fn add(self, answers: &mut KnownAnswers, text: &str) -> Result<(), String> {
        let id = self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned);
        let row = KnownAnswer { id, text: text.to_owned() };
        if let Some(fact) = self.fact {
            KnownAnswers::insert(&mut answers.facts, fact, row);
            return Ok(());
        }
        match (self.op, self.params) {
            (Some(op), _) => KnownAnswers::insert(&mut answers.algebra, op, row),
            (None, Some(params)) => {
                let spec = spec_from_json(&params).map_err(|error| format!("`params`: {}", error.message))?;
                KnownAnswers::insert(&mut answers.layouts, families(&spec).join("-of-"), row);
            }
            (None, None) => return Err("has neither `op` nor `params` nor `fact`".to_owned()),
        }
        Ok(())
    }
}

/// Returns the names of the layout families of a spec and of the specs nested in it, outermost first.
fn families(spec: &FamilySpec) -> Vec<String> {
    let inner = spec.attributes.values().filter_map(|value| match value {
        FamilyParameterValue::Spec(spec) => Some(&**spec),
        _ => None,
    });
    let inner = spec.parent.as_deref().into_iter().chain(inner);
    std::iter::once(spec.name.clone()).chain(inner.flat_map(families)).collect()
}

/// The known answers of the CuTe reference file. Each entry of `cases` has one correct answer. On an entry of
/// `known_divergences`, CuTe's implementations disagree; if one of them reports an error (`cpp_agrees` is `error`), an
/// error is accepted too. `composition_admissibility` has compositions with a table of their exact values; for some, no
/// layout has these values.
#[derive(Deserialize)]
struct CuteFile {
    cases: Vec<Json>,
    #[serde(default)]
    known_divergences: Vec<Json>,
    #[serde(default)]
    composition_admissibility: Hard,
}

#[derive(Default, Deserialize)]
struct Hard {
    cases: Vec<Json>,
}

fn add_cute(answers: &mut KnownAnswers, file: &Path, text: &str) -> Result<(), AnswersError> {
    let wrong = |location: String, message: String| AnswersError::Row { file: file.to_owned(), location, message };
    let read: CuteFile =
        serde_json::from_str(text).map_err(|error| wrong(format!("line {}", error.line()), error.to_string()))?;
    let sections = [
        ("cases", read.cases, None),
        ("known_divergences", read.known_divergences, None),
        ("composition_admissibility", read.composition_admissibility.cases, Some("composition")),
    ];
    for (section, cases, usual) in sections {
        for (at, mut case) in cases.into_iter().enumerate() {
            let operation = case.get("operation").and_then(Json::as_str).or(usual).map(str::to_owned);
            let Some(operation) = operation else {
                return Err(wrong(format!("case {at} of `{section}`"), "has no `operation`".to_owned()));
            };
            case["operation"] = Json::from(operation.as_str());
            let id = case.get("inputs").map(Json::to_string).unwrap_or_default();
            KnownAnswers::insert(&mut answers.cute, operation, KnownAnswer { id, text: case.to_string() });
        }
    }
    Ok(())
}
