//! Reading of program cases.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use super::compare::Tolerance;
use super::{
    CaseArgument, CaseBuffer, CaseElement, CaseElementValue, CaseFileError, CaseValue, ExpectedContents, ProgramCase,
};

/// A function that reads the contents of a file.
type Open<'a> = &'a dyn Fn(&Path) -> std::io::Result<Vec<u8>>;

/// Maximum number of bytes of a buffer.
const MOST_BYTES: u64 = 1 << 30;

/// The content of a case's JSON file.
#[derive(Deserialize)]
struct CaseFile {
    name: String,
    ttir: String,
    entry: String,
    grid: Vec<NonZeroU32>,
    num_warps: NonZeroU32,
    num_stages: Option<NonZeroU32>,
    num_ctas: Option<NonZeroU32>,
    args: Vec<ArgumentEntry>,
    buffers: BTreeMap<String, BufferEntry>,
}

/// An argument in the JSON file; its kind determines which optional fields it has.
#[derive(Deserialize)]
struct ArgumentEntry {
    name: String,
    kind: String,
    buffer: Option<String>,
    ir_type: Option<String>,
    value: Option<Json>,
}

/// A buffer in the JSON file; its role determines which optional fields it has.
#[derive(Deserialize)]
struct BufferEntry {
    dtype: String,
    shape: Vec<u64>,
    bytes: Option<u64>,
    role: String,
    input: Option<String>,
    expected: Option<String>,
    fill: Option<Json>,
    tolerance: Option<ToleranceEntry>,
}

#[derive(Deserialize)]
struct ToleranceEntry {
    rtol: f64,
    atol: f64,
}

impl ProgramCase {
    /// Reads `NAME.json` and the files of its buffers, which are in the same folder. Does not read the program.
    ///
    /// # Errors
    /// [`CaseFileError`] if a file cannot be read or is not JSON, or a field is missing or invalid.
    pub fn read(file: &Path) -> Result<Self, CaseFileError> {
        Self::read_from(file, &|file| std::fs::read(file))
    }

    /// Reads a case through `open`, which returns the contents of a file.
    ///
    /// # Errors
    /// [`CaseFileError`] if a file cannot be read or is not JSON, or a field is missing or invalid.
    pub fn read_from(file: &Path, open: Open<'_>) -> Result<Self, CaseFileError> {
        let source = Source { file, folder: file.parent().unwrap_or(Path::new("")), open };
        let case: CaseFile = source.parse()?;
        let buffers = case.buffers.iter().map(|(name, entry)| source.buffer(name, entry));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let arguments = case.args.iter().enumerate().map(|(index, entry)| source.argument(index, entry, &buffers));
        Ok(Self {
            arguments: arguments.collect::<Result<_, _>>()?,
            grid: source.grid(&case.grid)?,
            name: case.name,
            program: source.folder.join(case.ttir),
            entry: case.entry,
            warps: case.num_warps.get(),
            stages: case.num_stages.map(NonZeroU32::get),
            blocks: case.num_ctas.map_or(1, NonZeroU32::get),
            buffers,
        })
    }

    /// Lists the case files of a folder by name: every `NAME.json` with an `entry`; other files are skipped.
    ///
    /// # Errors
    /// [`CaseFileError::File`] if the folder cannot be read.
    pub fn list_case_files(folder: &Path) -> Result<Vec<std::path::PathBuf>, CaseFileError> {
        let failed = |source| CaseFileError::File { file: folder.to_owned(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            // Files `NAME.other.json` hold further data of a case.
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_case = file.extension().is_some_and(|extension| extension == "json") && !stem.contains('.');
            if is_case && stem != "index" {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }
}

/// The file of a case: its path, the folder of its buffers, and the function that reads files. Errors name the file.
struct Source<'a> {
    file: &'a Path,
    folder: &'a Path,
    open: Open<'a>,
}

impl Source<'_> {
    fn parse(&self) -> Result<CaseFile, CaseFileError> {
        let bytes = self.contents(self.file)?;
        let json: Json = serde_json::from_slice(&bytes)
            .map_err(|source| CaseFileError::Json { file: self.file.to_owned(), source })?;
        serde_path_to_error::deserialize(&json).map_err(|error| {
            let path = error.path().to_string();
            // The path of the outermost object is a dot.
            self.wrong(if path == "." { "case" } else { &path }, error.inner().to_string())
        })
    }

    fn contents(&self, file: &Path) -> Result<Vec<u8>, CaseFileError> {
        (self.open)(file).map_err(|source| CaseFileError::File { file: file.to_owned(), source })
    }

    /// Returns the error of an invalid field.
    fn wrong(&self, field: &str, message: impl Into<String>) -> CaseFileError {
        CaseFileError::Field { file: self.file.to_owned(), field: field.to_owned(), message: message.into() }
    }

    /// Returns the value of the field `name`; if it is `None`, the error that the object at the JSON path `of` lacks
    /// this field.
    fn required<'v, T>(&self, of: &str, name: &str, value: &'v Option<T>) -> Result<&'v T, CaseFileError> {
        value.as_ref().ok_or_else(|| self.wrong(of, format!("`{name}` is missing")))
    }

    fn grid(&self, counts: &[NonZeroU32]) -> Result<[u32; 3], CaseFileError> {
        let [x, y, z] = counts else {
            return Err(self.wrong("grid", format!("has {} counts; expected those along x, y and z", counts.len())));
        };
        let programs = x.checked_mul(*y).and_then(|programs| programs.checked_mul(*z));
        programs.ok_or_else(|| self.wrong("grid", "there are too many programs: expected less than 2^32"))?;
        Ok([x.get(), y.get(), z.get()])
    }

    fn argument(
        &self,
        index: usize,
        entry: &ArgumentEntry,
        buffers: &[CaseBuffer],
    ) -> Result<CaseArgument, CaseFileError> {
        let at = format!("args[{index}]");
        let given = match entry.kind.as_str() {
            "pointer" => {
                let name = self.required(&at, "buffer", &entry.buffer)?;
                let found = buffers.iter().position(|buffer| buffer.name == *name);
                let missing = || self.wrong(&format!("{at}.buffer"), format!("there is no buffer `{name}`"));
                CaseValue::Buffer(found.ok_or_else(missing)?)
            }
            "scalar" => self.scalar(&at, entry)?,
            other => {
                let message = format!("`{other}` is neither `pointer` nor `scalar`");
                return Err(self.wrong(&format!("{at}.kind"), message));
            }
        };
        Ok(CaseArgument { name: entry.name.clone(), value: given })
    }

    fn scalar(&self, at: &str, entry: &ArgumentEntry) -> Result<CaseValue, CaseFileError> {
        let name = self.required(at, "ir_type", &entry.ir_type)?;
        let element = CaseElement::from_tile_type(name)
            .ok_or_else(|| self.wrong(&format!("{at}.ir_type"), format!("`{name}` is not a type of a number")))?;
        let bits = self.bits(element, &format!("{at}.value"), self.required(at, "value", &entry.value)?)?;
        let width = if element == CaseElement::Boolean { 1 } else { element.bytes() as u32 * 8 };
        Ok(CaseValue::Scalar { bits, width })
    }

    /// Encodes the number `json`, found at the JSON path `at`, as the bits of an element.
    fn bits(&self, element: CaseElement, at: &str, json: &Json) -> Result<u64, CaseFileError> {
        let value = number(json).ok_or_else(|| self.wrong(at, format!("expected a number, found {json}")))?;
        element.encode(value).map_err(|error| self.wrong(at, error.to_string()))
    }

    fn buffer(&self, name: &str, entry: &BufferEntry) -> Result<CaseBuffer, CaseFileError> {
        let at = format!("buffers.{name}");
        let field = |name: &str| format!("{at}.{name}");
        let element =
            CaseElement::from_name(&entry.dtype).map_err(|error| self.wrong(&field("dtype"), error.to_string()))?;
        let bytes = entry.shape.iter().try_fold(element.bytes() as u64, |product, &size| product.checked_mul(size));
        let bytes = bytes.filter(|bytes| *bytes <= MOST_BYTES);
        let bytes = bytes.ok_or_else(|| self.wrong(&field("shape"), "is too large"))?;
        if let Some(stated) = entry.bytes.filter(|stated| *stated != bytes) {
            return Err(self.wrong(&field("bytes"), format!("is {stated}, but the shape has {bytes} bytes")));
        }
        let input = || self.contents_of(&at, "input", &entry.input, bytes);
        let expected = || self.expected(&at, entry, bytes);
        let (before, after) = match entry.role.as_str() {
            "input" => (input()?, ExpectedContents::Unchanged),
            "output" => (self.filled(&at, element, entry, bytes)?, expected()?),
            "inout" => (input()?, expected()?),
            "scratch" => (input()?, ExpectedContents::Anything),
            other => {
                let message = format!("`{other}` is none of `input`, `output`, `inout`, `scratch`");
                return Err(self.wrong(&field("role"), message));
            }
        };
        Ok(CaseBuffer { name: name.to_owned(), element, shape: entry.shape.clone(), before, after })
    }

    fn contents_of(&self, at: &str, name: &str, file: &Option<String>, bytes: u64) -> Result<Vec<u8>, CaseFileError> {
        let file = self.folder.join(self.required(at, name, file)?);
        let read = self.contents(&file)?;
        if read.len() as u64 == bytes {
            return Ok(read);
        }
        let message = format!("{} has {} bytes, but the buffer {bytes}", file.display(), read.len());
        Err(self.wrong(&format!("{at}.{name}"), message))
    }

    fn filled(
        &self,
        at: &str,
        element: CaseElement,
        entry: &BufferEntry,
        bytes: u64,
    ) -> Result<Vec<u8>, CaseFileError> {
        let bits = self.bits(element, &format!("{at}.fill"), self.required(at, "fill", &entry.fill)?)?;
        let one = &bits.to_le_bytes()[..element.bytes()];
        Ok(one.repeat(bytes as usize / one.len()))
    }

    fn expected(&self, at: &str, entry: &BufferEntry, bytes: u64) -> Result<ExpectedContents, CaseFileError> {
        let bytes = self.contents_of(at, "expected", &entry.expected, bytes)?;
        let ToleranceEntry { rtol, atol } = *self.required(at, "tolerance", &entry.tolerance)?;
        if let Some((name, bound)) = [("rtol", rtol), ("atol", atol)].into_iter().find(|(_, bound)| *bound < 0.0) {
            return Err(self.wrong(&format!("{at}.tolerance.{name}"), format!("{bound:?} is negative")));
        }
        Ok(ExpectedContents::Expected { bytes, tolerance: Tolerance { relative: rtol, absolute: atol } })
    }
}

/// Parses a number: an integer, a boolean, a decimal, or the text `nan`, `inf` or `-inf`; `None` for other JSON.
fn number(json: &Json) -> Option<CaseElementValue> {
    match json {
        Json::Bool(flag) => Some(CaseElementValue::Integer(i128::from(*flag))),
        Json::Number(number) => match number.as_i128() {
            Some(integer) => Some(CaseElementValue::Integer(integer)),
            None => number.as_f64().map(CaseElementValue::Float),
        },
        Json::String(text) => match text.to_ascii_lowercase().as_str() {
            "nan" => Some(CaseElementValue::Float(f64::NAN)),
            "inf" | "infinity" => Some(CaseElementValue::Float(f64::INFINITY)),
            "-inf" | "-infinity" => Some(CaseElementValue::Float(f64::NEG_INFINITY)),
            _ => None,
        },
        _ => None,
    }
}
