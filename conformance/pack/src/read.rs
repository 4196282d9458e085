//! Reads a pack (a folder of compiled test cases), and validates code and buffers as they are read.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use thiserror::Error;
use tilewright_kernel::TensorMapBinding;
use tilewright_plugin::{Artifact, CodePayload};
use tilewright_verify::TestLaunch;
use tilewright_verify::case::{CaseBuffer, CaseElement, CaseValue, ExpectedContents, Tolerance};

use crate::write::{BUFFERS, CODE, INDEX};
use crate::{
    ByteRange, PACK_VERSION, PackIndex, PackedArgument, PackedBuffer, PackedCase, PackedExpectation, PackedTestCase,
};

/// A pack (a folder of compiled test cases), whose index has been read. Code and buffers are read and validated when a
/// launch needs them, since they may be large.
#[derive(Debug)]
pub struct Pack {
    /// The contents of the pack's file `index.json`.
    pub index: PackIndex,
    folder: PathBuf,
    buffers: fs::File,
    length: u64,
}

/// The reason why a pack or a part of it cannot be used. The fault lies with the writer of the pack or with its
/// copying.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PackError {
    /// A file is missing or cannot be read.
    #[error("{file}: {source}")]
    File {
        /// The path of the unreadable file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The pack's index is not valid JSON or lacks fields.
    #[error("{file}: {source}; expected the index of a pack that `conformance pack` wrote")]
    Index {
        /// The path of the index file.
        file: PathBuf,
        /// The parser's error, with line and column.
        source: serde_json::Error,
    },
    /// The pack has another format version, given here, than [`PACK_VERSION`].
    #[error("the pack has version {0}, this program reads {PACK_VERSION}: create it with the same release")]
    Version(u64),
    /// A case refers to code, kernels or buffers that the pack does not contain or that contradict the case.
    #[error("case `{case}`: {message}")]
    Case {
        /// The name of the inconsistent case.
        case: String,
        /// The inconsistency found in the case.
        message: String,
    },
}

/// The one field that `index.json` has in all format versions, so that the version is known before the rest is read.
#[derive(serde::Deserialize)]
struct AnyVersion {
    version: u64,
}

impl Pack {
    /// Opens the pack in a folder: reads the index and opens the file of the buffers.
    ///
    /// # Errors
    /// [`PackError`] if a file is missing, the index is malformed, or its version is another.
    pub fn open(folder: &Path) -> Result<Self, PackError> {
        let failed = |file: &Path, source| PackError::File { file: file.to_owned(), source };
        let file = folder.join(INDEX);
        let text = fs::read_to_string(&file).map_err(|source| failed(&file, source))?;
        let broken = |source| PackError::Index { file: file.clone(), source };
        // The index of another version may have other fields.
        let AnyVersion { version } = serde_json::from_str(&text).map_err(broken)?;
        if version != u64::from(PACK_VERSION) {
            return Err(PackError::Version(version));
        }
        let index = serde_json::from_str(&text).map_err(broken)?;
        let file = folder.join(BUFFERS);
        let buffers = fs::File::open(&file).map_err(|source| failed(&file, source))?;
        let length = buffers.metadata().map_err(|source| failed(&file, source))?.len();
        Ok(Self { index, folder: folder.to_owned(), buffers, length })
    }

    /// Reads the compiled code of a launch of the case.
    ///
    /// # Errors
    /// [`PackError`] if the pack does not list the code, or a file of it is missing or has an invalid name.
    pub fn read_code(&self, case: &PackedCase, test_case: &PackedTestCase) -> Result<Artifact, PackError> {
        let wrong = |message: String| PackError::Case { case: case.name.clone(), message };
        let code = self.index.codes.get(test_case.code);
        let code = code.ok_or_else(|| wrong(format!("the pack has no code {}", test_case.code)))?;
        let mut payloads = Vec::new();
        for file in &code.files {
            let plain = |name: &str| !name.starts_with('.') && !name.contains(['/', '\\', ':']);
            if file.file.is_empty() || !plain(&file.file) {
                return Err(wrong(format!("`{}` is not a file's name in the folder `{CODE}`", file.file)));
            }
            let path = self.folder.join(CODE).join(&file.file);
            let bytes = fs::read(&path).map_err(|source| PackError::File { file: path, source })?;
            payloads.push(CodePayload { form: file.form, format: file.format.clone(), bytes, may_differ: false });
        }
        Ok(Artifact { payloads, kernels: code.kernels.clone(), accepted_by: code.accepted_by.clone() })
    }

    /// Builds a launch to be run. It is not checked against operation counts of the plan, since a pack does not contain
    /// them.
    ///
    /// # Errors
    /// [`PackError`] if an argument or a buffer of the launch is inconsistent.
    pub fn build_launch(&self, case: &PackedCase, test_case: &PackedTestCase) -> Result<TestLaunch, PackError> {
        let given = |argument: &PackedArgument| match *argument {
            PackedArgument::Buffer(number) => CaseValue::Buffer(number),
            PackedArgument::Pointer { buffer, offset } => CaseValue::Pointer { buffer, offset },
            PackedArgument::Scalar { bits, width } => CaseValue::Scalar { bits, width },
            PackedArgument::Tensor(tensor) => CaseValue::Tensor(tensor),
        };
        Ok(TestLaunch {
            kernel: test_case.kernel.clone(),
            grid: test_case.grid,
            arguments: test_case.arguments.iter().map(given).collect(),
            buffers: self.buffers(case, test_case)?.into_iter().map(Into::into).collect(),
            counts: None,
            predicted: None,
        })
    }

    /// Reads the buffers of a launch, with contents before it and expectations after it.
    fn buffers(&self, case: &PackedCase, test_case: &PackedTestCase) -> Result<Vec<CaseBuffer>, PackError> {
        let wrong = |message: String| PackError::Case { case: case.name.clone(), message };
        for argument in &test_case.arguments {
            let number = match *argument {
                PackedArgument::Buffer(number)
                | PackedArgument::Pointer { buffer: number, .. }
                | PackedArgument::Tensor(TensorMapBinding { buffer: number, .. }) => number,
                PackedArgument::Scalar { .. } => continue,
            };
            if number >= test_case.buffers.len() {
                return Err(wrong(format!("an argument is buffer {number} of {}", test_case.buffers.len())));
            }
        }
        test_case.buffers.iter().map(|buffer| self.buffer(buffer).map_err(wrong)).collect()
    }

    fn buffer(&self, buffer: &PackedBuffer) -> Result<CaseBuffer, String> {
        let element = CaseElement::from_name(&buffer.element).map_err(|error| error.to_string())?;
        let elements = buffer.shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let elements = elements.ok_or_else(|| format!("buffer `{}` has too many elements", buffer.name))?;
        let bytes = elements.saturating_mul(element.bytes() as u64);
        let of = |span: ByteRange, requested: u64, what: &str| match span.bytes == requested {
            true => self.bytes(span),
            false => Err(format!("{what} of buffer `{}` has {} bytes, not {requested}", buffer.name, span.bytes)),
        };
        let numbers = |span: ByteRange, what: &str| -> Result<Vec<f64>, String> {
            let bytes = of(span, elements.saturating_mul(8), what)?;
            let number = |bytes: &[u8]| f64::from_bits(bytes.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
            Ok(bytes.chunks(8).map(number).collect())
        };
        let after = match buffer.after {
            PackedExpectation::Unchanged => ExpectedContents::Unchanged,
            PackedExpectation::Anything => ExpectedContents::Anything,
            PackedExpectation::Expected { numbers, relative, absolute } => ExpectedContents::Expected {
                bytes: of(numbers, bytes, "what is expected")?,
                tolerance: Tolerance { relative, absolute },
            },
            PackedExpectation::Masked { bytes: expected, mask } => ExpectedContents::Masked {
                bytes: of(expected, bytes, "what is expected")?,
                mask: of(mask, bytes, "the mask")?,
            },
            PackedExpectation::Near { values, allowed } => ExpectedContents::Near {
                values: numbers(values, "what is expected")?,
                rests: Vec::new(),
                allowed: numbers(allowed, "the tolerance")?,
            },
        };
        let before = of(buffer.before, bytes, "the content")?;
        Ok(CaseBuffer { name: buffer.name.clone(), element, shape: buffer.shape.clone(), before, after })
    }

    fn bytes(&self, span: ByteRange) -> Result<Vec<u8>, String> {
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
