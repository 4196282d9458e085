//! Checks of the round trips of a layout through each notation: attribute text, JSON, and the layout itself.

use serde_json::Value;
use tilewright_layout::{
    AttributeSyntaxes, Families, FamilyError, FamilySpec, parse_family_spec, spec_from_json, spec_to_json,
};

use crate::known_answers::{Answers, all_agree, numbers, resolve, rows};

/// Returns the spec (family name and parameters) of a row of known answers, and the spec's attribute text.
fn written(row: &Value, families: &dyn Families) -> (FamilySpec, String) {
    let spec = spec_from_json(&row["params"]).expect("params name a family");
    let text = AttributeSyntaxes::from_families(families).print_spec(&spec);
    (spec, text)
}

/// Checks that a row's attribute text parses as the same layout and prints as the same text; the same for JSON.
pub fn check_round_trip(row: &Value, families: &dyn Families) -> Result<(), String> {
    let attribute_syntaxes = AttributeSyntaxes::from_families(families);
    let (spec, text) = written(row, families);
    let read = parse_family_spec(&text).map_err(|error| format!("{error} in {text}"))?;
    let canonical = attribute_syntaxes.to_canonical_spec(&spec);
    if attribute_syntaxes.to_canonical_spec(&read) != canonical || attribute_syntaxes.print_spec(&read) != text {
        return Err(format!("{text} is read as {read:?}, which should be {canonical:?}"));
    }
    if spec_from_json(&spec_to_json(&canonical)).as_ref() != Ok(&canonical) {
        return Err(format!("{canonical:?} does not come back from JSON"));
    }
    let shape = numbers(&row["shape"]);
    let resolved = |spec: &FamilySpec| families.resolve(spec, &shape, families);
    let expected = resolved(&spec).map_err(|error| error.to_string())?;
    for (form, spec) in [("text", &read), ("canonical form", &canonical)] {
        let found = resolved(spec).map_err(|error| format!("{text}: {error}"))?;
        if found != expected {
            return Err(format!("the {form} of {text} is another layout"));
        }
    }
    let by_bases = expected.to_spec().map(|spec| resolved(&spec));
    match by_bases {
        Some(Ok(found)) if found.linear() != expected.linear() => Err(format!("{text}: its bases give another layout")),
        Some(Err(error)) => Err(format!("{text}: its bases give no layout: {error}")),
        _ => Ok(()),
    }
}

/// Checks that the attribute text is the one that the Triton compiler prints for the row's parameters.
pub fn check_text(row: &Value, families: &dyn Families) -> Result<(), String> {
    let (_, text) = written(row, families);
    if row["text"] == text.as_str() { Ok(()) } else { Err(format!("{text}\nshould be {}", row["text"])) }
}

/// Checks all rows of `texts`, each with `params`, `shape` and the `text` that Triton prints.
pub fn all_texts_are_as_printed(texts: &str, families: &dyn Families) {
    all_agree(&rows(texts), |_| true, |row| check_text(row, families));
    all_agree(&rows(texts), |_| true, |row| check_round_trip(row, families));
}

/// Checks the round trips of every layout among the known answers, except layouts of families that `families` lacks.
pub fn all_layouts_come_back(answers: Answers, sample: &str, families: &dyn Families) {
    let served = |row: &Value| !matches!(resolve(row, families), Err(FamilyError::Unknown { .. }));
    all_agree(&answers.rows(sample, "oracle/layouts.jsonl"), served, |row| check_round_trip(row, families));
}
