//! Reading cases.

use std::path::Path;

use super::compare::Tolerance;
use super::field::Field;
use super::{After, Argument, Buffer, Case, CaseError, Element, Given};

/// The contents of a file.
type Open<'a> = &'a dyn Fn(&Path) -> std::io::Result<Vec<u8>>;

/// A buffer has at most so many bytes.
const MOST_BYTES: u64 = 1 << 30;

impl Case {
    /// Reads `NAME.json` and the contents of the buffers that it names, which lie beside it. The program itself is not
    /// read.
    ///
    /// # Errors
    /// [`CaseError`].
    pub fn read(file: &Path) -> Result<Self, CaseError> {
        Self::read_from(file, &|file| std::fs::read(file))
    }

    /// The same, of files that `open` gives the contents of.
    ///
    /// # Errors
    /// [`CaseError`].
    pub fn read_from(file: &Path, open: Open<'_>) -> Result<Self, CaseError> {
        let bytes = contents(file, open)?;
        let json =
            serde_json::from_slice(&bytes).map_err(|source| CaseError::Json { file: file.to_owned(), source })?;
        let case = Field::outermost(file, &json);
        let folder = file.parent().unwrap_or(Path::new(""));
        let entries = case.field("buffers")?.entries()?;
        let buffers =
            entries.iter().map(|(name, field)| buffer(name, field, folder, open)).collect::<Result<Vec<_>, _>>()?;
        let arguments = case.field("args")?.list()?;
        let arguments = arguments.iter().map(|field| argument(field, &buffers)).collect::<Result<_, _>>()?;
        let count = |name| case.optional(name).map_or(Ok(1), |field| field.positive());
        Ok(Self {
            name: case.field("name")?.text()?.to_owned(),
            program: folder.join(case.field("ttir")?.text()?),
            entry: case.field("entry")?.text()?.to_owned(),
            grid: grid(&case.field("grid")?)?,
            warps: case.field("num_warps")?.positive()?,
            stages: case.optional("num_stages").map(|field| field.positive()).transpose()?,
            blocks: count("num_ctas")?,
            arguments,
            buffers,
        })
    }

    /// The files of all cases of a folder, in the order of their names: every `NAME.json` that has an `entry`, so that
    /// what else lies there is passed over.
    ///
    /// # Errors
    /// [`CaseError::File`] where the folder cannot be read.
    pub fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, CaseError> {
        let failed = |source| CaseError::File { file: folder.to_owned(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            // `NAME.what.json` says something else of a case.
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

fn contents(file: &Path, open: Open<'_>) -> Result<Vec<u8>, CaseError> {
    open(file).map_err(|source| CaseError::File { file: file.to_owned(), source })
}

fn grid(field: &Field<'_>) -> Result<[u32; 3], CaseError> {
    let counts = field.list()?.iter().map(Field::positive).collect::<Result<Vec<_>, _>>()?;
    let programs = counts.iter().try_fold(1u32, |product, &count| product.checked_mul(count));
    match (counts[..].try_into(), programs) {
        (Ok(grid), Some(_)) => Ok(grid),
        (Ok(_), None) => Err(field.wrong("there are too many programs: expected less than 2^32")),
        (Err(_), _) => Err(field.wrong(format!("has {} counts; expected those along x, y and z", counts.len()))),
    }
}

fn argument(field: &Field<'_>, buffers: &[Buffer]) -> Result<Argument, CaseError> {
    let name = field.field("name")?.text()?.to_owned();
    let kind = field.field("kind")?;
    let given = match kind.text()? {
        "pointer" => {
            let field = field.field("buffer")?;
            let name = field.text()?;
            let found = buffers.iter().position(|buffer| buffer.name == name);
            Given::Buffer(found.ok_or_else(|| field.wrong(format!("there is no buffer `{name}`")))?)
        }
        "scalar" => scalar(field)?,
        other => return Err(kind.wrong(format!("`{other}` is neither `pointer` nor `scalar`"))),
    };
    Ok(Argument { name, given })
}

fn scalar(field: &Field<'_>) -> Result<Given, CaseError> {
    let ty = field.field("ir_type")?;
    let name = ty.text()?;
    let element = Element::of_program(name).ok_or_else(|| ty.wrong(format!("`{name}` is no type of a number")))?;
    let value = field.field("value")?;
    let bits = element.encode(value.value()?).map_err(|message| value.wrong(message))?;
    let width = if element == Element::Boolean { 1 } else { element.bytes() as u32 * 8 };
    Ok(Given::Scalar { bits, width })
}

fn buffer(name: &str, field: &Field<'_>, folder: &Path, open: Open<'_>) -> Result<Buffer, CaseError> {
    let dtype = field.field("dtype")?;
    let element = Element::named(dtype.text()?).map_err(|message| dtype.wrong(message))?;
    let shape_field = field.field("shape")?;
    let shape = shape_field.list()?.iter().map(Field::count).collect::<Result<Vec<_>, _>>()?;
    let bytes = shape.iter().try_fold(element.bytes() as u64, |product, &size| product.checked_mul(size));
    let bytes = bytes.filter(|bytes| *bytes <= MOST_BYTES).ok_or_else(|| shape_field.wrong("is too large"))?;
    if let Some(said) = field.optional("bytes")
        && said.count()? != bytes
    {
        return Err(said.wrong(format!("is {}, but the shape has {bytes} bytes", said.count()?)));
    }
    let read = |name| contents_of(&field.field(name)?, folder, bytes, open);
    let role = field.field("role")?;
    let (before, after) = match role.text()? {
        "input" => (read("input")?, After::Unchanged),
        "output" => (filled(element, &field.field("fill")?, bytes)?, expected(field, read("expected")?)?),
        "inout" => (read("input")?, expected(field, read("expected")?)?),
        "scratch" => (read("input")?, After::Anything),
        other => return Err(role.wrong(format!("`{other}` is none of `input`, `output`, `inout`, `scratch`"))),
    };
    Ok(Buffer { name: name.to_owned(), element, shape, before, after })
}

fn contents_of(field: &Field<'_>, folder: &Path, bytes: u64, open: Open<'_>) -> Result<Vec<u8>, CaseError> {
    let file = folder.join(field.text()?);
    let read = contents(&file, open)?;
    match read.len() as u64 == bytes {
        true => Ok(read),
        false => Err(field.wrong(format!("{} has {} bytes, but the buffer {bytes}", file.display(), read.len()))),
    }
}

fn filled(element: Element, fill: &Field<'_>, bytes: u64) -> Result<Vec<u8>, CaseError> {
    let bits = element.encode(fill.value()?).map_err(|message| fill.wrong(message))?;
    let one = &bits.to_le_bytes()[..element.bytes()];
    Ok(one.repeat(bytes as usize / one.len()))
}

fn expected(field: &Field<'_>, bytes: Vec<u8>) -> Result<After, CaseError> {
    let tolerance = field.field("tolerance")?;
    let part = |name| {
        let part = tolerance.field(name)?;
        let number = part.number()?;
        if number >= 0.0 { Ok(number) } else { Err(part.wrong(format!("{number:?} is negative"))) }
    };
    Ok(After::Expected { bytes, tolerance: Tolerance { relative: part("rtol")?, absolute: part("atol")? } })
}
