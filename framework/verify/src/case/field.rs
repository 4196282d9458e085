//! Fields of a JSON file, each of which knows where it stands, so that what is wrong with it names file and field.

use std::path::Path;

use serde_json::Value as Json;

use super::CaseError;

/// A value of a file, and the way to it.
#[derive(Clone)]
pub(super) struct Field<'a> {
    file: &'a Path,
    path: String,
    json: &'a Json,
}

impl<'a> Field<'a> {
    /// The file's outermost value.
    pub(super) fn outermost(file: &'a Path, json: &'a Json) -> Self {
        Self { file, path: String::new(), json }
    }

    /// What is wrong with this field.
    pub(super) fn wrong(&self, message: impl Into<String>) -> CaseError {
        CaseError::Field { file: self.file.to_owned(), field: self.path.clone(), message: message.into() }
    }

    fn expected(&self, what: &str) -> CaseError {
        self.wrong(format!("expected {what}, found {}", self.json))
    }

    /// The field of this name, if it is there and not null.
    pub(super) fn optional(&self, name: &str) -> Option<Self> {
        let json = self.json.get(name).filter(|json| !json.is_null())?;
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Some(Self { file: self.file, path, json })
    }

    /// The field of this name.
    pub(super) fn field(&self, name: &str) -> Result<Self, CaseError> {
        self.optional(name).ok_or_else(|| match self.json {
            Json::Object(_) if self.path.is_empty() => CaseError::Field {
                file: self.file.to_owned(),
                field: name.to_owned(),
                message: "is missing".to_owned(),
            },
            Json::Object(_) => self.wrong(format!("`{name}` is missing")),
            _ => self.expected("an object"),
        })
    }

    /// The elements of a list.
    pub(super) fn list(&self) -> Result<Vec<Self>, CaseError> {
        let list = self.json.as_array().ok_or_else(|| self.expected("a list"))?;
        let at = |(index, json)| Self { file: self.file, path: format!("{}[{index}]", self.path), json };
        Ok(list.iter().enumerate().map(at).collect())
    }

    /// The fields of an object by name, in the order of their names.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Self)>, CaseError> {
        let object = self.json.as_object().ok_or_else(|| self.expected("an object"))?;
        let at = |(name, json): (&'a String, &'a Json)| {
            (name.as_str(), Self { file: self.file, path: format!("{}.{name}", self.path), json })
        };
        let mut entries: Vec<_> = object.iter().map(at).collect();
        entries.sort_by_key(|(name, _)| *name);
        Ok(entries)
    }

    pub(super) fn text(&self) -> Result<&'a str, CaseError> {
        self.json.as_str().ok_or_else(|| self.expected("a text"))
    }

    pub(super) fn number(&self) -> Result<f64, CaseError> {
        self.json.as_f64().ok_or_else(|| self.expected("a number"))
    }

    /// A count: an integer that is not negative.
    pub(super) fn count(&self) -> Result<u64, CaseError> {
        self.json.as_u64().ok_or_else(|| self.expected("a count"))
    }

    pub(super) fn positive(&self) -> Result<u32, CaseError> {
        let count = self.json.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.ok_or_else(|| self.expected("a count that is not zero"))
    }

    /// A number as it stands: an integer, a truth value, a decimal, or the text `nan`, `inf` or `-inf`.
    pub(super) fn value(&self) -> Result<super::Value, CaseError> {
        use super::Value;
        if let Some(integer) = self.json.as_i64() {
            return Ok(Value::Integer(i128::from(integer)));
        }
        if let Some(integer) = self.json.as_u64() {
            return Ok(Value::Integer(i128::from(integer)));
        }
        match self.json {
            Json::Bool(truth) => Ok(Value::Integer(i128::from(*truth))),
            Json::Number(_) => Ok(Value::Float(self.number()?)),
            Json::String(text) => match text.to_ascii_lowercase().as_str() {
                "nan" => Ok(Value::Float(f64::NAN)),
                "inf" | "infinity" => Ok(Value::Float(f64::INFINITY)),
                "-inf" | "-infinity" => Ok(Value::Float(f64::NEG_INFINITY)),
                _ => Err(self.expected("a number")),
            },
            _ => Err(self.expected("a number")),
        }
    }
}
