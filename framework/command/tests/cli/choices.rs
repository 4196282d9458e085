//! Choices that an expert knows: which instruction, how many, and how wide. The tables are `choices.jsonl` in the
//! tests of each plugin. Their answers come from instruction set references and vendors' guides.
//!
//! A row has the question as a command (`ask`), the expected values of the plan as printed by `--json` (`plan`), the
//! expected number of instructions in the code as printed by `--emit asm` (`code`) and in the kernel IR as printed by
//! `--emit kernel` (`kernel`), the reason and its source. If the command's answer still differs, `known` gives the
//! reason; a row with the expected answer must not have `known`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::command;

use command::{json_lines, root, run, shell};
use serde_json::{Map, Value as Json};

/// One row of a table: the path of the table's file, and the fields of the row.
struct Choice {
    file: PathBuf,
    fields: Map<String, Json>,
}

/// Reads the tables of all plugins.
fn choices() -> Vec<Choice> {
    let plugins = std::fs::read_dir(root().join("plugins")).expect("the plugins");
    let mut files: Vec<_> = plugins.map(|plugin| plugin.expect("a plugin").path()).collect();
    files.sort();
    let files = files.into_iter().map(|plugin| plugin.join("tests/data/choices.jsonl")).filter(|file| file.is_file());
    let rows = files.flat_map(|file| {
        let text = std::fs::read_to_string(&file).expect("a table");
        json_lines(&text)
            .into_iter()
            .map(move |row| Choice { file: file.clone(), fields: row.as_object().expect("fields of a row").clone() })
    });
    rows.collect()
}

impl Choice {
    fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Json::as_str).unwrap_or_default()
    }

    fn expected(&self, field: &str) -> impl Iterator<Item = (&String, &Json)> {
        self.fields.get(field).and_then(Json::as_object).into_iter().flatten()
    }

    /// Runs the question with another option; returns its output, or the error message.
    fn answer(&self, option: &str) -> Result<String, String> {
        let printed = run(&mut shell(&format!("{} {option}", self.text("ask")), &root()));
        if printed.code == Some(0) { Ok(printed.out) } else { Err(printed.err) }
    }

    /// Returns the differences of the plan from the expected values.
    fn differences_of_plan(&self) -> Result<Vec<String>, String> {
        let plan: Json = serde_json::from_str(&self.answer("--json")?).expect("JSON");
        let differences = self.expected("plan").filter_map(|(path, expected)| {
            let found = path.split('.').fold(&plan, |value, field| &value[field]);
            (!is_expected(expected, found)).then(|| format!("{path}: expected {expected}, found {found}"))
        });
        Ok(differences.collect())
    }

    /// Returns the differences of the code in a form of `--emit` from the numbers of instructions in `field`.
    fn differences_of_code(&self, form: &str, field: &str) -> Result<Vec<String>, String> {
        let code = self.answer(&format!("--emit {form}"))?;
        let mut found = BTreeMap::<&str, u64>::new();
        for word in code.split_whitespace() {
            *found.entry(word.trim_matches('"')).or_default() += 1;
        }
        let differences = self.expected(field).filter_map(|(names, expected)| {
            let count: u64 = names.split('|').filter_map(|name| found.get(name)).sum();
            (expected.as_u64() != Some(count)).then(|| format!("{names}: expected {expected}, found {count}"))
        });
        Ok(differences.collect())
    }

    /// Returns the differences of the command's plan and code from all expected values of the row.
    ///
    /// # Errors
    /// The message of the command if it fails.
    fn differences(&self) -> Result<Vec<String>, String> {
        let has = |field| self.expected(field).next().is_some();
        let mut differences = Vec::new();
        if has("plan") {
            differences.extend(self.differences_of_plan()?);
        }
        for (form, field) in [("asm", "code"), ("kernel", "kernel")].into_iter().filter(|(_, field)| has(field)) {
            differences.extend(self.differences_of_code(form, field)?);
        }
        Ok(differences)
    }

    /// Returns the report of a row that fails: the command and the differences, or that `known` is out of date.
    fn failure(&self) -> Option<String> {
        let lines = match (self.differences(), self.text("known").is_empty()) {
            (Err(message), _) => vec![message],
            (Ok(differences), true) if !differences.is_empty() => differences,
            (Ok(differences), false) if differences.is_empty() => {
                vec!["this row has the expected answer: remove its `known`".to_owned()]
            }
            _ => return None,
        };
        let reason = format!("{} ({})", self.text("because"), self.text("source"));
        Some(format!("{}\n    {}\n    {reason}\n", self.text("ask"), lines.join("\n    ")))
    }
}

/// Whether a value of a plan is the expected one: equal, or one of a list, or, for a text that ends in `*`, one that
/// begins so.
fn is_expected(expected: &Json, found: &Json) -> bool {
    match (expected, found) {
        (Json::Array(choices), found) if expected != found => choices.iter().any(|choice| is_expected(choice, found)),
        (Json::String(expected), Json::String(found)) => {
            expected.strip_suffix('*').map_or(expected == found, |begin| found.starts_with(begin))
        }
        _ => expected == found,
    }
}

#[test]
fn every_choice_is_the_one_of_the_instruction_set_reference() {
    let choices = choices();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let parts = choices.chunks(choices.len().div_ceil(threads).max(1));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(|| part.iter().filter_map(Choice::failure).collect::<Vec<_>>())).collect();
        parts.into_iter().flat_map(|part| part.join().expect("no panic")).collect()
    });
    assert!(failures.is_empty(), "{} of {} choices:\n{}", failures.len(), choices.len(), failures.join("\n"));
}

#[test]
fn every_row_of_the_tables_has_a_command_a_reason_and_a_source() {
    let choices = choices();
    assert!(choices.len() >= 300, "{} rows", choices.len());
    let mut commands = std::collections::BTreeSet::new();
    for choice in &choices {
        let (file, ask) = (choice.file.display(), choice.text("ask"));
        assert!(
            ask.starts_with("tilewright ") && commands.insert(ask.to_owned()),
            "{file}: {ask}: no question, or twice"
        );
        for field in ["name", "because", "source"] {
            assert!(!choice.text(field).is_empty(), "{file}: {ask}: no `{field}`");
        }
        let answers = ["plan", "code", "kernel"];
        assert!(answers.iter().any(|answer| choice.expected(answer).next().is_some()), "{file}: {ask}: no answer");
        let fields = ["name", "ask", "because", "source", "known"];
        for field in choice.fields.keys() {
            let is_field = fields.iter().chain(&answers).any(|name| name == field);
            assert!(is_field, "{file}: {ask}: unknown field `{field}`");
        }
    }
}
