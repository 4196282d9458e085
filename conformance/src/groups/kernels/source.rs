//! Sources of the test programs: files that the suite carries, or folders that the user names.

use std::io;
use std::path::{Path, PathBuf};

use tilewright_verify::case::ProgramCase;

/// Names and contents of the files that the build script included in the suite, sorted by name.
const CARRIED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// Function that reads a file.
type Open<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// The file with a test case of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A file that the suite carries, by name.
    Carried(&'static str),
    /// A file on disk, by its path.
    File(PathBuf),
}

impl Source {
    /// Returns the test cases in the folders, or those that the suite carries if `folders` is empty.
    pub fn all(folders: &[PathBuf]) -> Result<Vec<Self>, String> {
        if folders.is_empty() {
            let cases = CARRIED.iter().filter(|(name, _)| name.ends_with(".json"));
            return Ok(cases.map(|(name, _)| Self::Carried(name)).collect());
        }
        let mut sources = Vec::new();
        for folder in folders {
            sources.extend(
                ProgramCase::list_case_files(folder).map_err(|error| error.to_string())?.into_iter().map(Self::File),
            );
        }
        Ok(sources)
    }

    /// Returns the name of the case: the file's name, with `-` for characters that case names may not have.
    pub fn name(&self) -> String {
        let file = match self {
            Self::Carried(name) => Path::new(name),
            Self::File(file) => file,
        };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let own = |c: char| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '-' };
        stem.chars().map(own).collect()
    }

    /// Reads the test case from its file, and its program's text from the file that it names.
    pub fn read(&self) -> Result<(ProgramCase, String), String> {
        let (file, open): (&Path, Open<'_>) = match self {
            Self::Carried(name) => (Path::new(name), &carried),
            Self::File(file) => (file, &|file| std::fs::read(file)),
        };
        let case = ProgramCase::read_from(file, open).map_err(|error| error.to_string())?;
        let wrong = |message: String| format!("{}: {message}", case.program.display());
        let text = open(&case.program).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
        Ok((case, text))
    }
}

fn carried(file: &Path) -> io::Result<Vec<u8>> {
    let found = CARRIED.iter().find(|(name, _)| Path::new(name) == file);
    found.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tilewright_tile::{text, verify_module};

    /// The operations that occur in 220 real programs, of every kind.
    const CENSUS: &str = include_str!("../../../kernels/operations.txt");

    #[test]
    fn the_carried_programs_have_every_operation_of_the_census() {
        let mut used = BTreeSet::new();
        let sources = Source::all(&[]).expect("what is carried is there");
        assert!(sources.len() >= 25, "{}", sources.len());
        for source in sources {
            let (case, program) = source.read().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(case.name, source.name());
            let module = text::parse_module(&program, &tilewright_dialects::all_dialects())
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            verify_module(&module)
                .unwrap_or_else(|violation| panic!("{}: {}", case.name, violation.to_text_error(&program)));
            for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
                used.extend(body.walk_region(body.root()).into_iter().map(|op| body.op(op).name().to_owned()));
            }
        }
        let missing: Vec<_> = CENSUS.lines().filter(|name| !name.starts_with('#') && !used.contains(*name)).collect();
        assert_eq!(missing, [""; 0]);
    }
}
