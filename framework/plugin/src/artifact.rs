//! What compiling asks for and gives.

use serde::{Deserialize, Serialize};

use tilewright_kernel::{DerivedTensorMap, Kernel, Launch, TensorMap};
use tilewright_target::{Instruction, Operand};

/// Options of one compilation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileOptions {
    /// The forms that are wanted; those that the target has no notion of are left out of the artifact.
    pub emit: Vec<Emit>,
    /// Optimisation level of the code generator, 0 to 3.
    pub optimisation: u8,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self { emit: vec![Emit::Assembly, Emit::Object], optimisation: 2 }
    }
}

/// A form of compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Emit {
    /// The code generator's own intermediate form, as text.
    Intermediate,
    /// Assembly, as text.
    Assembly,
    /// What a driver loads: a linked code object, a binary module.
    Object,
    /// The kernels as functions that a host's own code calls on the device: the code generator's intermediate form as
    /// bytes, for a host that links it into a module of its own with the same major version of that code generator.
    Functions,
}

/// Compiled code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// One payload for each form.
    pub payloads: Vec<Payload>,
    /// One entry for each kernel, in the order of the module.
    pub kernels: Vec<KernelMetadata>,
    /// The tool, not of the plugin's own making, that took the object as valid: an assembler, a
    /// linker, a validator. Absent where there was none, or no object was asked for.
    #[serde(default)]
    pub taken_by: Option<String>,
}

impl Artifact {
    /// The payload of the given form.
    #[must_use]
    pub fn payload(&self, form: Emit) -> Option<&Payload> {
        self.payloads.iter().find(|payload| payload.form == form)
    }

    /// The payload of the given form as text; `None` where it is absent or no UTF-8.
    #[must_use]
    pub fn text(&self, form: Emit) -> Option<&str> {
        self.payload(form).and_then(|payload| std::str::from_utf8(&payload.bytes).ok())
    }
}

/// One form of compiled code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// Which form.
    pub form: Emit,
    /// The format, by its usual file extension: `ptx`, `s`, `hsaco`, `spv`, ...
    pub format: String,
    /// The code.
    #[serde(with = "byte_string")]
    pub bytes: Vec<u8>,
    /// Whether compiling the module again may give other bytes: a tool made them of which that is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_differ: bool,
}

/// What a launcher must know of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelMetadata {
    /// Its name.
    pub name: String,
    /// Lanes of a warp that it was compiled for.
    pub lanes: u32,
    /// Warps of a block that it was compiled for.
    pub warps: u32,
    /// Blocks of a cluster that it was compiled for; one where it was for none.
    #[serde(default = "one_block")]
    pub blocks: u32,
    /// Static shared memory in bytes.
    pub shared_bytes: u64,
    /// The parameters that are maps of tensors, which the host must encode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<EncodedMap>,
    /// The width of each parameter in bits, 0 of a map of a tensor; absent where whoever compiled it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<u32>>,
}

impl KernelMetadata {
    /// What is to be known of a kernel whose static shared memory was laid out in so many bytes; `rows` know how maps are
    /// encoded.
    #[must_use]
    pub fn of(kernel: &Kernel, shared_bytes: u64, rows: &[Instruction]) -> Self {
        let Launch { lanes, warps, blocks } = kernel.launch;
        let parameters = kernel.parameters.iter().map(|parameter| parameter.ty.bits()).collect();
        Self {
            name: kernel.name.clone(),
            lanes,
            warps,
            blocks,
            shared_bytes,
            maps: encoded_maps(kernel, rows),
            parameters: Some(parameters),
        }
    }
}

/// A map that the host encodes, with the address, the sizes and the strides of the tensor, for a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedMap {
    /// Number of the parameter.
    pub parameter: u32,
    /// What the kernel was compiled for.
    pub map: TensorMap,
    /// The number by which the encoder knows how a box lies in shared memory; absent where no row of the target knows.
    pub mode: Option<u32>,
    /// What the tensor follows from, where the launch makes it of what it gives other parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<DerivedTensorMap>,
}

/// The maps that a kernel takes, with the modes that the rows have for them.
fn encoded_maps(kernel: &Kernel, rows: &[Instruction]) -> Vec<EncodedMap> {
    let mode = |map: &TensorMap| {
        let boxes = rows.iter().flat_map(|row| &row.operands).filter_map(|operand| match operand {
            Operand::Box(operand) => Some(operand),
            _ => None,
        });
        let mut fitting = boxes.filter(|operand| map.check_for(operand).is_ok());
        fitting.find_map(|operand| Some(operand.arrangement_of(map.mix)?.mode))
    };
    let mapped = (0..).zip(&kernel.parameters).filter_map(|(number, own)| Some((number, own, own.map.as_ref()?)));
    mapped
        .map(|(parameter, own, map)| {
            let (map, mode, rows) = (map.clone(), mode(map), own.rows.clone());
            EncodedMap { parameter, map, mode, rows }
        })
        .collect()
}

fn one_block() -> u32 {
    1
}

/// Bytes as one byte string rather than a list of numbers.
pub(crate) mod byte_string {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a byte string")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        from.deserialize_byte_buf(Bytes)
    }
}
