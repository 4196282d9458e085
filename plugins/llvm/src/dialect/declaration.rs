//! Names of the target in LLVM, and the declaration of a kernel as an LLVM function.

/// Names that select the target in LLVM, and the numbers of its address spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlvmTarget {
    /// The LLVM target triple, such as `nvptx64-nvidia-cuda`.
    pub triple: String,
    /// The processor, such as `sm_90` or `gfx942`.
    pub cpu: String,
    /// Subtarget features of all kernels in LLVM's form, such as `+a,-b`; a kernel's attributes can add to them.
    pub features: String,
    /// Number of the address space of global memory.
    pub global: u16,
    /// Number of the address space of shared memory.
    pub shared: u16,
    /// Number of the address space of a cluster's shared memory; `None` if the target has no clusters.
    pub cluster: Option<u16>,
}

/// How a kernel is declared as an LLVM function: attributes that mark it as a kernel and describe its launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelDeclaration {
    /// LLVM's number of the kernel's calling convention.
    pub calling_convention: u32,
    /// Function attributes of the kernel, as names and values.
    pub attributes: Vec<(String, String)>,
    /// Metadata nodes of the kernel's function, by name; each node is a list of 32-bit constants.
    pub metadata: Vec<(String, Vec<u32>)>,
    /// Whether the kernel's symbol has ELF's protected visibility, so that a symbol of another image cannot replace it.
    pub protected: bool,
    /// Whether the kernel's shared memory has a fixed size or a size that the launch gives.
    pub shared: SharedMemoryDeclaration,
    /// How tensor-map parameters are declared; `None` if the target has no tensor maps.
    pub map: Option<TensorMapDeclaration>,
}

/// How a tensor-map parameter is declared: passed by value, as opaque bytes that the host has encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMapDeclaration {
    /// Size of the tensor map in bytes.
    pub bytes: u32,
    /// Alignment of the tensor map in bytes.
    pub alignment: u32,
    /// LLVM attributes of the parameter, as names and values.
    pub attributes: Vec<(String, String)>,
}

/// How a kernel declares its shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedMemoryDeclaration {
    /// An array of fixed size, which the code object records.
    Static,
    /// An array of unknown size at the start of dynamic shared memory, whose size the launch gives.
    Dynamic,
}
