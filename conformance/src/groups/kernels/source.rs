//! Where the files of cases are: carried by the suite, or in folders.

use std::io;
use std::path::{Path, PathBuf};

use tilewright_verify::case::ProgramCase;

/// The files that the suite carries, in the order of their names.
const CARRIED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The contents of a file.
type Open<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// The file of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// Carried, by its name.
    Carried(&'static str),
    /// A file.
    File(PathBuf),
}

impl Source {
    /// The cases of the folders, or the carried ones where none is named.
    pub fn all(folders: &[PathBuf]) -> Result<Vec<Self>, String> {
        if folders.is_empty() {
            let cases = CARRIED.iter().filter(|(name, _)| name.ends_with(".json"));
            return Ok(cases.map(|(name, _)| Self::Carried(name)).collect());
        }
        let mut sources = Vec::new();
        for folder in folders {
            sources.extend(ProgramCase::files(folder).map_err(|error| error.to_string())?.into_iter().map(Self::File));
        }
        Ok(sources)
    }

    /// The case's name: its file's, with `-` for what names of cases may not have.
    pub fn name(&self) -> String {
        let file = match self {
            Self::Carried(name) => Path::new(name),
            Self::File(file) => file,
        };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let own = |c: char| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '-' };
        stem.chars().map(own).collect()
    }

    /// The case, and its program's text.
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
    use tilewright_tile::{text, verify};

    /// Operations of every kind that real programs have: the census of 220 of them.
    const CENSUS: &str = include_str!("../../../kernels/operations.txt");

    #[test]
    fn the_carried_programs_have_every_operation_of_the_census() {
        let mut used = BTreeSet::new();
        let sources = Source::all(&[]).expect("what is carried is there");
        assert!(sources.len() >= 25, "{}", sources.len());
        for source in sources {
            let (case, program) = source.read().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(case.name, source.name());
            let module = text::parse(&program, &tilewright_dialects::all())
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            verify(&module).unwrap_or_else(|violation| panic!("{}: {}", case.name, violation.in_text(&program)));
            for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
                used.extend(body.walk(body.root()).into_iter().map(|op| body.op(op).name().to_owned()));
            }
        }
        let missing: Vec<_> = CENSUS.lines().filter(|name| !name.starts_with('#') && !used.contains(*name)).collect();
        assert_eq!(missing, [""; 0]);
    }
}
