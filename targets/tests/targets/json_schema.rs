//! Checks JSON values against a JSON schema (draft 2020-12), keyword by keyword.
//!
//! The schema of target files uses few keywords, and a complete validator would add many packages to the build. Unknown
//! keywords or patterns cause a panic here, so that no rule of the schema is skipped.

use serde_json::{Map, Value};

/// A schema in a single document, with its definitions under `$defs`.
pub struct JsonSchema {
    root: Value,
}

impl JsonSchema {
    /// Parses a schema.
    pub fn from_text(text: &str) -> Self {
        Self { root: serde_json::from_str(text).expect("a schema is JSON") }
    }

    /// Checks a value; the error names the first violated keyword and the position in the value.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.check_at(&self.root, value, "")
    }

    fn check_at(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let rules = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{path}: no value is allowed here")),
            other => other.as_object().expect("a schema is an object or a boolean"),
        };
        rules.iter().try_for_each(|(keyword, rule)| {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format" | "then" => true,
                "$ref" => return self.check_at(self.definition(rule), value, path),
                "properties" => return self.check_properties(rule, value, path),
                "items" => return self.check_items(rule, value, path),
                "type" => any(rule, |name| has_type(value, name.as_str().expect("a type is a name"))),
                "enum" => any(rule, |allowed| allowed == value),
                "const" => rule == value,
                "required" => value.as_object().is_none_or(|map| all_present(rule, map)),
                "additionalProperties" => {
                    assert_eq!(rule, &Value::Bool(false), "{path}: `additionalProperties` other than false");
                    value.as_object().is_none_or(|map| map.keys().all(|key| rules["properties"].get(key).is_some()))
                }
                "minItems" => value.as_array().is_none_or(|list| list.len() as f64 >= number(rule)),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as f64 <= number(rule)),
                "minimum" => value.as_f64().is_none_or(|value| value >= number(rule)),
                "maximum" => value.as_f64().is_none_or(|value| value <= number(rule)),
                "pattern" => value.as_str().is_none_or(|text| matches_pattern(text, rule)),
                "anyOf" => self.count_matches(rule, value, path) > 0,
                "oneOf" => self.count_matches(rule, value, path) == 1,
                "if" if self.check_at(rule, value, path).is_ok() => return self.check_at(&rules["then"], value, path),
                "if" => true,
                unknown => panic!("{path}: the validator does not know the keyword `{unknown}`"),
            };
            if holds { Ok(()) } else { Err(format!("{path}: {value} breaks `{keyword}`: {rule}")) }
        })
    }

    fn definition(&self, reference: &Value) -> &Value {
        let pointer =
            reference.as_str().and_then(|text| text.strip_prefix('#')).expect("a reference into this document");
        self.root.pointer(pointer).expect("a reference to a definition that exists")
    }

    fn check_properties(&self, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
        let (Some(schemas), Some(values)) = (rule.as_object(), value.as_object()) else { return Ok(()) };
        let known = values.iter().filter_map(|(key, value)| Some((key, schemas.get(key)?, value)));
        known.into_iter().try_for_each(|(key, schema, value)| self.check_at(schema, value, &format!("{path}/{key}")))
    }

    fn check_items(&self, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
        let values = value.as_array().into_iter().flatten().enumerate();
        values.into_iter().try_for_each(|(index, value)| self.check_at(rule, value, &format!("{path}/{index}")))
    }

    fn count_matches(&self, rule: &Value, value: &Value, path: &str) -> usize {
        let schemas = rule.as_array().expect("a list of schemas");
        schemas.iter().filter(|schema| self.check_at(schema, value, path).is_ok()).count()
    }
}

/// Whether `predicate` holds for a rule or, if the rule is a list, for one of its elements.
fn any(rule: &Value, predicate: impl Fn(&Value) -> bool) -> bool {
    rule.as_array().map_or_else(|| predicate(rule), |list| list.iter().any(&predicate))
}

fn all_present(required: &Value, map: &Map<String, Value>) -> bool {
    let mut keys = required.as_array().into_iter().flatten();
    keys.all(|key| map.contains_key(key.as_str().expect("a required key is a name")))
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("the validator does not know the type `{unknown}`"),
    }
}

fn matches_pattern(text: &str, pattern: &Value) -> bool {
    match pattern.as_str() {
        Some(r"\S") => text.chars().any(|c| !c.is_whitespace()),
        Some("^[a-z0-9_-]+$") => {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
        }
        unknown => panic!("the validator does not know the pattern {unknown:?}"),
    }
}

fn number(rule: &Value) -> f64 {
    rule.as_f64().expect("a bound is a number")
}
