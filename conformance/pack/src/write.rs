//! Writes a pack: a folder of compiled cases with all files that are needed to run them on another machine.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tilewright_plugin::Artifact;
use tilewright_verify::TestCase;
use tilewright_verify::case::{CaseBuffer, CaseValue, ExpectedContents};

use crate::{
    ByteRange, CodeFile, FigurePoint, OmittedCase, PackIndex, PackedArgument, PackedBuffer, PackedCase, PackedCode,
    PackedExpectation, PackedPrediction, PackedTestCase,
};

/// Name of the pack's file that lists its contents, see [`PackIndex`].
pub(crate) const INDEX: &str = "index.json";
pub(crate) const BUFFERS: &str = "buffers.bin";
pub(crate) const CODE: &str = "code";

/// A case to be written to a pack: its launches and the compiled code of each.
#[derive(Debug)]
pub struct CaseToPack {
    /// The case's name in the suite.
    pub name: String,
    /// Test cases, each with its compiled kernel.
    pub test_cases: Vec<(TestCase, Artifact)>,
    /// The place of the case in a plot of measurements: the plot, the point on its axis, and the curve (variant);
    /// `None` if no plot has it.
    pub figure: Option<FigurePoint>,
}

/// A pack that is being written. Equal code and equal contents of buffers are stored once, to keep the pack small.
pub struct PackWriter {
    folder: PathBuf,
    index: PackIndex,
    buffers: io::BufWriter<fs::File>,
    length: u64,
    spans: HashMap<[u8; 32], ByteRange>,
    codes: HashMap<[u8; 32], usize>,
}

impl PackWriter {
    /// Starts a pack in a folder that is empty or absent; `index` has the pack's metadata and no cases yet.
    ///
    /// # Errors
    /// The folder is not empty or cannot be written.
    pub fn new(folder: &Path, index: PackIndex) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        if fs::read_dir(folder)?.next().is_some() {
            let message = format!("{} is not empty: name a folder that is, or is not there", folder.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        fs::create_dir(folder.join(CODE))?;
        let buffers = io::BufWriter::new(fs::File::create(folder.join(BUFFERS))?);
        let (spans, codes) = (HashMap::new(), HashMap::new());
        Ok(Self { folder: folder.to_owned(), index, buffers, length: 0, spans, codes })
    }

    /// Adds a case to the pack: writes its code and the contents of its buffers.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn add_case(&mut self, packed: CaseToPack) -> io::Result<()> {
        let test_cases = packed.test_cases.iter().map(|(test_case, artifact)| self.add_test_case(test_case, artifact));
        let test_cases = test_cases.collect::<io::Result<Vec<_>>>()?;
        self.index.cases.push(PackedCase { name: packed.name, test_cases, figure: packed.figure });
        Ok(())
    }

    /// Records a case that cannot be packed, with the reason.
    pub fn record_omitted_case(&mut self, name: &str, reason: String) {
        self.index.left_out.push(OmittedCase { name: name.to_owned(), reason });
    }

    /// Writes the index of the pack. A folder without it is not a pack, so an interrupted run leaves no incomplete one.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self) -> io::Result<PackIndex> {
        self.buffers.flush()?;
        self.index.cases.sort_by(|a, b| a.name.cmp(&b.name));
        self.index.left_out.sort_by(|a, b| a.name.cmp(&b.name));
        let text = serde_json::to_string_pretty(&self.index).map_err(io::Error::other)?;
        fs::write(self.folder.join(INDEX), text + "\n")?;
        Ok(self.index)
    }

    fn add_test_case(&mut self, test_case: &TestCase, artifact: &Artifact) -> io::Result<PackedTestCase> {
        let argument = |given: &CaseValue| match *given {
            CaseValue::Buffer(number) => PackedArgument::Buffer(number),
            CaseValue::Pointer { buffer, offset } => PackedArgument::Pointer { buffer, offset },
            CaseValue::Scalar { bits, width } => PackedArgument::Scalar { bits, width },
            CaseValue::Tensor(tensor) => PackedArgument::Tensor(tensor),
        };
        let launch = &test_case.launch;
        let predicted = launch.predicted.map(|predicted| PackedPrediction {
            rounds: predicted.rounds,
            cycles: predicted.cycles,
            shared_bytes: predicted.shared_bytes,
            counts: predicted.counts,
        });
        Ok(PackedTestCase {
            code: self.code(artifact)?,
            kernel: launch.kernel.clone(),
            grid: launch.grid,
            arguments: launch.arguments.iter().map(argument).collect(),
            buffers: launch.buffers.iter().map(|buffer| self.buffer(&buffer.content)).collect::<io::Result<_>>()?,
            predicted,
        })
    }

    fn buffer(&mut self, buffer: &CaseBuffer) -> io::Result<PackedBuffer> {
        let unnamed = || io::Error::other(format!("elements of buffer `{}` have no name", buffer.name));
        let numbers = |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        let after = match &buffer.after {
            ExpectedContents::Unchanged => PackedExpectation::Unchanged,
            ExpectedContents::Anything => PackedExpectation::Anything,
            ExpectedContents::Expected { bytes, tolerance } => PackedExpectation::Expected {
                numbers: self.span(bytes)?,
                relative: tolerance.relative,
                absolute: tolerance.absolute,
            },
            ExpectedContents::Masked { bytes, mask } => {
                PackedExpectation::Masked { bytes: self.span(bytes)?, mask: self.span(mask)? }
            }
            ExpectedContents::Near { values, rests, allowed } => {
                // The pack format has no low parts of expected values (`rests`), so the tolerance grows by their
                // magnitude.
                let rests = rests.iter().copied().chain(std::iter::repeat(0.0));
                let allowed: Vec<f64> = allowed.iter().zip(rests).map(|(off, rest)| off + rest.abs()).collect();
                PackedExpectation::Near {
                    values: self.span(&numbers(values))?,
                    allowed: self.span(&numbers(&allowed))?,
                }
            }
        };
        Ok(PackedBuffer {
            name: buffer.name.clone(),
            element: buffer.element.name().ok_or_else(unnamed)?.to_owned(),
            shape: buffer.shape.clone(),
            before: self.span(&buffer.before)?,
            after,
        })
    }

    fn span(&mut self, bytes: &[u8]) -> io::Result<ByteRange> {
        let digest = Sha256::digest(bytes).into();
        if let Some(span) = self.spans.get(&digest) {
            return Ok(*span);
        }
        self.buffers.write_all(bytes)?;
        let span = ByteRange { offset: self.length, bytes: bytes.len() as u64 };
        self.length += span.bytes;
        self.spans.insert(digest, span);
        Ok(span)
    }

    fn code(&mut self, artifact: &Artifact) -> io::Result<usize> {
        let mut hasher = Sha256::new();
        for payload in &artifact.payloads {
            hasher.update(payload.format.as_bytes());
            hasher.update(&payload.bytes);
        }
        let digest: [u8; 32] = hasher.finalize().into();
        if let Some(number) = self.codes.get(&digest) {
            return Ok(*number);
        }
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let mut files = Vec::new();
        for payload in &artifact.payloads {
            let file = format!("{name}.{}", payload.format);
            fs::write(self.folder.join(CODE).join(&file), &payload.bytes)?;
            files.push(CodeFile { form: payload.form, format: payload.format.clone(), file });
        }
        let (kernels, accepted_by) = (artifact.kernels.clone(), artifact.accepted_by.clone());
        self.index.codes.push(PackedCode { files, kernels, accepted_by });
        self.codes.insert(digest, self.index.codes.len() - 1);
        Ok(self.index.codes.len() - 1)
    }
}
