//! Input and output of compilation: options and artifacts.

use serde::{Deserialize, Serialize};

use tilewright_kernel::{Kernel, LaunchDerivedTensorMap, StaticLaunchConfig, TensorMap};
use tilewright_target::{Instruction, InstructionOperand, OptimizationSet};

/// Options of one compilation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileOptions {
    /// The requested forms of compiled code; the artifact lacks those that the target cannot produce.
    pub emit: Vec<CodeFormat>,
    /// Optimisation level of the code generator, 0 to 3.
    pub optimisation: u8,
    /// The optimizations that the compiler of the target disables; it ignores those that it does not have.
    #[serde(default, skip_serializing_if = "OptimizationSet::is_empty")]
    pub disabled: OptimizationSet,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            emit: vec![CodeFormat::Assembly, CodeFormat::Object],
            optimisation: 2,
            disabled: OptimizationSet::default(),
        }
    }
}

/// A form of compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CodeFormat {
    /// The code generator's own intermediate representation, as text.
    Intermediate,
    /// Assembly, as text.
    Assembly,
    /// The form that a driver loads: a linked code object or a binary module.
    Object,
    /// The kernels as functions for a host's own device code: the code generator's intermediate representation as
    /// bytes, for a host that links it into its own module with the same major version of that code generator.
    Functions,
}

/// An artifact: the compiled code of a module, in one or more forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The code, one payload for each form.
    pub payloads: Vec<CodePayload>,
    /// The properties of each kernel that a launcher needs, in the order of the module.
    pub kernels: Vec<KernelMetadata>,
    /// The external tool that accepted the object as valid: an assembler, a linker or a validator. `None` if there is
    /// no such tool or no object was requested.
    #[serde(default)]
    #[serde(rename = "taken_by")]
    pub accepted_by: Option<String>,
}

impl Artifact {
    /// Returns the code in the given form; `None` if the artifact lacks it.
    #[must_use]
    pub fn payload(&self, form: CodeFormat) -> Option<&CodePayload> {
        self.payloads.iter().find(|payload| payload.form == form)
    }

    /// Returns the code in the given form as text; `None` if the artifact lacks it or it is not UTF-8.
    #[must_use]
    pub fn payload_text(&self, form: CodeFormat) -> Option<&str> {
        self.payload(form).and_then(|payload| std::str::from_utf8(&payload.bytes).ok())
    }
}

/// The compiled code in one form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePayload {
    /// The form of the code, such as assembly or a loadable object.
    pub form: CodeFormat,
    /// The file format, by its usual file extension: `ptx`, `s`, `hsaco`, `spv`, ...
    pub format: String,
    /// The bytes of the code.
    #[serde(with = "byte_string")]
    pub bytes: Vec<u8>,
    /// Whether compiling the module again may give other bytes, since a tool that produced them is not deterministic.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_differ: bool,
}

/// The properties of a kernel that a launcher needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelMetadata {
    /// The kernel's name.
    pub name: String,
    /// Lanes (threads) of a warp, fixed at compile time.
    pub lanes: u32,
    /// Warps of a block, fixed at compile time.
    pub warps: u32,
    /// Blocks of a cluster, fixed at compile time; 1 for a kernel without clusters.
    #[serde(default = "one_block")]
    pub blocks: u32,
    /// Static shared memory of a block in bytes.
    pub shared_bytes: u64,
    /// Number of 32-bit registers of a lane that the kernel is compiled for (register mode); 0 for the target's
    /// default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub registers: u32,
    /// The tensor maps among the kernel's parameters, which the host must encode before a launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<TensorMapParameter>,
    /// The width of each parameter in bits, 0 for a tensor map; `None` if the compiling tool does not report widths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<u32>>,
}

impl KernelMetadata {
    /// Returns the metadata of a kernel with `shared_bytes` bytes of static shared memory; `rows` is the instruction
    /// table, which has the encodings of tensor maps.
    #[must_use]
    pub fn new(kernel: &Kernel, shared_bytes: u64, rows: &[Instruction]) -> Self {
        let StaticLaunchConfig { lanes, warps, blocks, registers } = kernel.launch;
        let parameters = kernel.parameters.iter().map(|parameter| parameter.ty.bits()).collect();
        Self {
            name: kernel.name.clone(),
            lanes,
            warps,
            blocks,
            shared_bytes,
            registers,
            maps: encoded_maps(kernel, rows),
            parameters: Some(parameters),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_default(registers: &u32) -> bool {
    *registers == 0
}

/// A tensor map that the host encodes for a launch, with the address, the sizes and the strides of the tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMapParameter {
    /// Index of the kernel parameter that takes the tensor map.
    pub parameter: u32,
    /// The tensor map that the kernel was compiled for.
    pub map: TensorMap,
    /// The driver's number for the layout of the copied box in shared memory (such as its swizzle mode); `None` if no
    /// instruction of the target supports that layout.
    pub mode: Option<u32>,
    /// How a launch derives the tensor from other arguments; `None` if the caller passes the tensor itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<LaunchDerivedTensorMap>,
}

/// Returns the tensor maps among a kernel's parameters, with the driver's mode numbers from the instruction table.
fn encoded_maps(kernel: &Kernel, rows: &[Instruction]) -> Vec<TensorMapParameter> {
    let mode = |map: &TensorMap| {
        let box_operands =
            rows.iter().flat_map(|row| &row.operands).filter_map(InstructionOperand::tensor_copy_operand);
        let mut fitting = box_operands.filter(|operand| map.check_for_operand(operand).is_ok());
        fitting.find_map(|operand| Some(operand.find_layout(map.swizzle)?.mode))
    };
    let mapped = (0..).zip(&kernel.parameters).filter_map(|(number, own)| Some((number, own, own.map.as_ref()?)));
    mapped
        .map(|(parameter, own, map)| {
            let (map, mode, rows) = (map.clone(), mode(map), own.rows.clone());
            TensorMapParameter { parameter, map, mode, rows }
        })
        .collect()
}

fn one_block() -> u32 {
    1
}

/// Serialises bytes as one byte string rather than a list of numbers.
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
