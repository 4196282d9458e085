//! Reading a pack, nothing of which is trusted.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use thiserror::Error;
use tilewright_kernel::TensorMapBinding;
use tilewright_plugin::{Artifact, Payload};
use tilewright_verify::TestLaunch;
use tilewright_verify::case::{CaseBuffer as Held, CaseElement, CaseValue, Expectation as MustHold, Tolerance};

use crate::write::{BUFFERS, CODE, INDEX};
use crate::{PackIndex, PackedArgument, PackedBuffer, PackedCase, PackedExpectation, Span, Trial, VERSION};

/// A pack in a folder.
#[derive(Debug)]
pub struct Pack {
    /// What is in it.
    pub index: PackIndex,
    folder: PathBuf,
    buffers: fs::File,
    length: u64,
}

/// Why a pack, or a part of it, cannot be used; the fault of who wrote or copied it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PackError {
    /// A file that is missing or cannot be read.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An index that is none.
    #[error("{file}: {source}; it is to be what `conformance pack` wrote")]
    Index {
        /// The file.
        file: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A pack of another version.
    #[error("the pack has version {0}, this program reads {VERSION}: make it again with the same release")]
    Version(u64),
    /// A case says something that cannot be.
    #[error("case `{case}`: {message}")]
    Case {
        /// Its name.
        case: String,
        /// What.
        message: String,
    },
}

/// The part of an index that all versions have.
#[derive(serde::Deserialize)]
struct AnyVersion {
    version: u64,
}

impl Pack {
    /// Opens the pack in a folder.
    ///
    /// # Errors
    /// [`PackError`].
    pub fn open(folder: &Path) -> Result<Self, PackError> {
        let failed = |file: &Path, source| PackError::File { file: file.to_owned(), source };
        let file = folder.join(INDEX);
        let text = fs::read_to_string(&file).map_err(|source| failed(&file, source))?;
        let broken = |source| PackError::Index { file: file.clone(), source };
        // Another version's index may have other fields.
        let AnyVersion { version } = serde_json::from_str(&text).map_err(broken)?;
        if version != u64::from(VERSION) {
            return Err(PackError::Version(version));
        }
        let index = serde_json::from_str(&text).map_err(broken)?;
        let file = folder.join(BUFFERS);
        let buffers = fs::File::open(&file).map_err(|source| failed(&file, source))?;
        let length = buffers.metadata().map_err(|source| failed(&file, source))?.len();
        Ok(Self { index, folder: folder.to_owned(), buffers, length })
    }

    /// The code of a trial.
    ///
    /// # Errors
    /// [`PackError`].
    pub fn code(&self, case: &PackedCase, trial: &Trial) -> Result<Artifact, PackError> {
        let wrong = |message: String| PackError::Case { case: case.name.clone(), message };
        let code = self.index.codes.get(trial.code);
        let code = code.ok_or_else(|| wrong(format!("there is no code {} in the pack", trial.code)))?;
        let mut payloads = Vec::new();
        for file in &code.files {
            let plain = |name: &str| !name.starts_with('.') && !name.contains(['/', '\\', ':']);
            if file.file.is_empty() || !plain(&file.file) {
                return Err(wrong(format!("`{}` is no file's name in the folder `{CODE}`", file.file)));
            }
            let path = self.folder.join(CODE).join(&file.file);
            let bytes = fs::read(&path).map_err(|source| PackError::File { file: path, source })?;
            payloads.push(Payload { form: file.form, format: file.format.clone(), bytes, may_differ: false });
        }
        Ok(Artifact { payloads, kernels: code.kernels.clone(), taken_by: code.taken_by.clone() })
    }

    /// The launch of a trial. What the plan counts is not compared: a pack does not say which of it.
    ///
    /// # Errors
    /// [`PackError`].
    pub fn launch(&self, case: &PackedCase, trial: &Trial) -> Result<TestLaunch, PackError> {
        let given = |argument: &PackedArgument| match *argument {
            PackedArgument::Buffer(number) => CaseValue::Buffer(number),
            PackedArgument::Scalar { bits, width } => CaseValue::Scalar { bits, width },
            PackedArgument::Tensor(tensor) => CaseValue::Tensor(tensor),
        };
        Ok(TestLaunch {
            kernel: trial.kernel.clone(),
            grid: trial.grid,
            arguments: trial.arguments.iter().map(given).collect(),
            buffers: self.buffers(case, trial)?.into_iter().map(Into::into).collect(),
            counts: None,
            predicted: None,
        })
    }

    /// The buffers of a trial. Arguments name some of them.
    fn buffers(&self, case: &PackedCase, trial: &Trial) -> Result<Vec<Held>, PackError> {
        let wrong = |message: String| PackError::Case { case: case.name.clone(), message };
        for argument in &trial.arguments {
            let (PackedArgument::Buffer(number) | PackedArgument::Tensor(TensorMapBinding { buffer: number, .. })) =
                *argument
            else {
                continue;
            };
            if number >= trial.buffers.len() {
                return Err(wrong(format!("an argument is buffer {number} of {}", trial.buffers.len())));
            }
        }
        trial.buffers.iter().map(|buffer| self.buffer(buffer).map_err(wrong)).collect()
    }

    fn buffer(&self, buffer: &PackedBuffer) -> Result<Held, String> {
        let element = CaseElement::named(&buffer.element)?;
        let elements = buffer.shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let elements = elements.ok_or_else(|| format!("buffer `{}` has too many elements", buffer.name))?;
        let bytes = elements.saturating_mul(element.bytes() as u64);
        let of = |span: Span, requested: u64, what: &str| match span.bytes == requested {
            true => self.bytes(span),
            false => Err(format!("{what} of buffer `{}` has {} bytes, not {requested}", buffer.name, span.bytes)),
        };
        let numbers = |span: Span, what: &str| -> Result<Vec<f64>, String> {
            let bytes = of(span, elements.saturating_mul(8), what)?;
            let number = |bytes: &[u8]| f64::from_bits(bytes.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
            Ok(bytes.chunks(8).map(number).collect())
        };
        let after = match buffer.after {
            PackedExpectation::Unchanged => MustHold::Unchanged,
            PackedExpectation::Anything => MustHold::Anything,
            PackedExpectation::Expected { numbers, relative, absolute } => MustHold::Expected {
                bytes: of(numbers, bytes, "what is expected")?,
                tolerance: Tolerance { relative, absolute },
            },
            PackedExpectation::Masked { bytes: expected, mask } => {
                MustHold::Masked { bytes: of(expected, bytes, "what is expected")?, mask: of(mask, bytes, "the mask")? }
            }
            PackedExpectation::Near { values, allowed } => MustHold::Near {
                values: numbers(values, "what is expected")?,
                rests: Vec::new(),
                allowed: numbers(allowed, "the tolerance")?,
            },
        };
        let before = of(buffer.before, bytes, "the content")?;
        Ok(Held { name: buffer.name.clone(), element, shape: buffer.shape.clone(), before, after })
    }

    fn bytes(&self, span: Span) -> Result<Vec<u8>, String> {
        let end = span.offset.checked_add(span.bytes).filter(|&end| end <= self.length);
        end.ok_or_else(|| {
            format!("{} bytes from {} on of `{BUFFERS}`, which has {}", span.bytes, span.offset, self.length)
        })?;
        let mut bytes = vec![0; span.bytes as usize];
        let mut file = &self.buffers;
        let read = file.seek(SeekFrom::Start(span.offset)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| format!("`{BUFFERS}`: {error}"))?;
        Ok(bytes)
    }
}
