//! [`VendorTarget`]: a target of a vendor whose architectures share one instruction table and one code generator.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use crate::{Artifact, CompileError, CompileOptions, Device, DeviceError, FactoryError, Target};
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_target::{Instruction, InstructionKind, TargetDescription, UnusedInstruction};

/// A part of a vendor's instruction table whose rows are all of one kind.
#[derive(Debug, Clone, Copy)]
pub struct TablePart {
    /// The kind of the rows.
    pub kind: InstructionKind,
    /// The rows of an architecture; none if it has no such instructions.
    pub rows: fn(architecture: &str) -> Vec<Instruction>,
}

/// The rows of an architecture in all parts, in their order.
#[must_use]
pub fn instruction_table(parts: &[TablePart], architecture: &str) -> Vec<Instruction> {
    parts.iter().flat_map(|part| (part.rows)(architecture)).collect()
}

/// A vendor: what its targets have in common. [`VendorTarget`] makes a [`Target`] of it.
pub trait Vendor: Send + Sync + 'static {
    /// The architectures, as target files name them.
    const ARCHITECTURES: &'static [&'static str];

    /// The instruction table.
    const INSTRUCTIONS: &'static [TablePart];

    /// The vendor's layout families.
    type Families: Families;

    /// The layout families of an architecture.
    fn families(architecture: &str) -> Self::Families;

    /// Instructions of an architecture that no row of the table stands for.
    fn unused_instructions(architecture: &str) -> Vec<UnusedInstruction>;

    /// See [`Target::compile`]. Without a code generator in the build it refuses.
    ///
    /// # Errors
    /// [`CompileError`].
    fn compile(
        _description: &TargetDescription,
        _rows: &[Instruction],
        _module: &Module,
        _options: &CompileOptions,
    ) -> Result<Artifact, CompileError> {
        Err(CompileError::Unsupported(
            "this build makes no code: it was built without the feature `codegen`".to_owned(),
        ))
    }

    /// See [`Target::devices`].
    ///
    /// # Errors
    /// [`DeviceError`].
    fn devices(description: &TargetDescription, rows: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError>;
}

/// One product of a vendor. It makes its instruction table when somebody asks for it.
pub struct VendorTarget<V: Vendor> {
    description: TargetDescription,
    families: V::Families,
    instructions: OnceLock<Vec<Instruction>>,
    unused: OnceLock<Vec<UnusedInstruction>>,
}

impl<V: Vendor> fmt::Debug for VendorTarget<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VendorTarget").field("description", &self.description).finish_non_exhaustive()
    }
}

impl<V: Vendor> VendorTarget<V> {
    /// The target of a description.
    ///
    /// # Errors
    /// [`FactoryError::Description`] if the vendor does not serve the architecture.
    pub fn new(description: TargetDescription) -> Result<Self, FactoryError> {
        if !V::ARCHITECTURES.contains(&description.architecture.as_str()) {
            return Err(FactoryError::Description(format!(
                "architecture `{}` of target `{}`; this plugin serves {}",
                description.architecture,
                description.name,
                V::ARCHITECTURES.join(", ")
            )));
        }
        let families = V::families(&description.architecture);
        Ok(Self { description, families, instructions: OnceLock::new(), unused: OnceLock::new() })
    }

    /// The target of a description, as a [`TargetFactory`](crate::TargetFactory) makes it.
    ///
    /// # Errors
    /// As [`VendorTarget::new`].
    pub fn create(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
        Ok(Box::new(Self::new(description)?))
    }
}

impl<V: Vendor> Target for VendorTarget<V> {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        self.instructions.get_or_init(|| instruction_table(V::INSTRUCTIONS, &self.description.architecture))
    }

    fn instruction_table(&self) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        let made = || instruction_table(V::INSTRUCTIONS, &self.description.architecture).into();
        Ok(self.instructions.get().map_or_else(made, |rows| rows.as_slice().into()))
    }

    fn instructions_of(&self, kind: InstructionKind) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        let parts = V::INSTRUCTIONS.iter().filter(|part| part.kind == kind);
        Ok(parts.flat_map(|part| (part.rows)(&self.description.architecture)).collect())
    }

    fn unused_instructions(&self) -> &[UnusedInstruction] {
        self.unused.get_or_init(|| V::unused_instructions(&self.description.architecture))
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        V::compile(&self.description, self.instructions(), module, options)
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        V::devices(&self.description, self.instructions())
    }
}
