//! [`VendorTarget`]: the target of a vendor whose architectures share one instruction table and one code generator.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::{Artifact, CompileError, CompileOptions, Device, DeviceError, FactoryError, Target};
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_target::{Instruction, InstructionKind, OmittedInstruction, TargetDescription};

/// A part of a vendor's instruction table, with instructions of one kind.
#[derive(Debug, Clone, Copy)]
pub struct InstructionGroup {
    /// The kind of all instructions of this part.
    pub kind: InstructionKind,
    /// Returns the instructions of this part that an architecture has; may be empty.
    pub rows: fn(architecture: &str) -> Vec<Instruction>,
}

/// Concatenates the instructions that an architecture has in all parts of the table.
#[must_use]
pub fn concatenate_instruction_groups(groups: &[InstructionGroup], architecture: &str) -> Vec<Instruction> {
    groups.iter().flat_map(|group| (group.rows)(architecture)).collect()
}

/// The layout families and instructions that all targets of a vendor share.
pub trait VendorTables: Send + Sync + 'static {
    /// The names of the vendor's architectures, as target files spell them.
    const ARCHITECTURES: &'static [&'static str];

    /// The parts of the vendor's instruction table, each with instructions of one kind.
    const INSTRUCTIONS: &'static [InstructionGroup];

    /// The type of the vendor's layout families.
    type Families: Families;

    /// Returns the layout families of an architecture.
    fn families(architecture: &str) -> Self::Families;

    /// Returns the instructions that an architecture has in hardware but not in the instruction table.
    fn omitted_instructions(architecture: &str) -> Vec<OmittedInstruction>;
}

/// The tables, the compiler and the devices that all targets of a vendor share; [`VendorTarget`] makes a [`Target`] of
/// them.
pub trait VendorBackend: Send + Sync + 'static {
    /// The vendor's layout families and instructions.
    type Tables: VendorTables;

    /// Compiles a module; see [`Target::compile`].
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target cannot do what the module requires, [`CompileError::Invalid`] if the
    /// module violates a rule, [`CompileError::Option`] if an option is unknown or has an invalid value, and
    /// [`CompileError::Backend`] if the code generator fails.
    fn compile(
        description: &TargetDescription,
        rows: &[Instruction],
        module: &Module,
        options: &CompileOptions,
    ) -> Result<Artifact, CompileError>;

    /// Opens the target's devices; see [`Target::devices`].
    ///
    /// # Errors
    /// [`DeviceError::NoRuntime`] if the vendor's runtime is missing, [`DeviceError::Driver`] if it fails.
    fn devices(description: &TargetDescription, rows: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError>;
}

/// A vendor's tables without its compiler and devices, for programs that plan and emulate: compilation and devices are
/// errors.
#[derive(Debug)]
pub struct TablesOnly<T>(PhantomData<T>);

impl<T: VendorTables> VendorBackend for TablesOnly<T> {
    type Tables = T;

    fn compile(
        description: &TargetDescription,
        _rows: &[Instruction],
        _module: &Module,
        _options: &CompileOptions,
    ) -> Result<Artifact, CompileError> {
        let architecture = &description.architecture;
        Err(CompileError::Unsupported(format!(
            "this program has no code generator for `{architecture}`: load a plugin that serves it"
        )))
    }

    fn devices(description: &TargetDescription, _rows: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        let architecture = &description.architecture;
        Err(DeviceError::NoRuntime(format!(
            "this program opens no devices of `{architecture}`: load a plugin that serves it"
        )))
    }
}

/// One target of a vendor. It builds its instruction table on first use.
pub struct VendorTarget<V: VendorBackend> {
    description: TargetDescription,
    families: <V::Tables as VendorTables>::Families,
    instructions: OnceLock<Vec<Instruction>>,
    unused: OnceLock<Vec<OmittedInstruction>>,
}

impl<V: VendorBackend> fmt::Debug for VendorTarget<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VendorTarget").field("description", &self.description).finish_non_exhaustive()
    }
}

impl<V: VendorBackend> VendorTarget<V> {
    /// Creates the target that a description describes.
    ///
    /// # Errors
    /// [`FactoryError::Description`] if the vendor does not serve the architecture.
    pub fn new(description: TargetDescription) -> Result<Self, FactoryError> {
        if !V::Tables::ARCHITECTURES.contains(&description.architecture.as_str()) {
            return Err(FactoryError::Description(format!(
                "architecture `{}` of target `{}`; this plugin serves {}",
                description.architecture,
                description.name,
                V::Tables::ARCHITECTURES.join(", ")
            )));
        }
        let families = V::Tables::families(&description.architecture);
        Ok(Self { description, families, instructions: OnceLock::new(), unused: OnceLock::new() })
    }

    /// Creates the boxed target that a description describes, as [`TargetFactory::create`](crate::TargetFactory)
    /// requires.
    ///
    /// # Errors
    /// [`FactoryError::Description`] if the vendor does not serve the architecture.
    pub fn create_boxed(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
        Ok(Box::new(Self::new(description)?))
    }
}

impl<V: VendorBackend> Target for VendorTarget<V> {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        self.instructions
            .get_or_init(|| concatenate_instruction_groups(V::Tables::INSTRUCTIONS, &self.description.architecture))
    }

    fn instruction_table(&self) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        let build_table =
            || concatenate_instruction_groups(V::Tables::INSTRUCTIONS, &self.description.architecture).into();
        Ok(self.instructions.get().map_or_else(build_table, |rows| rows.as_slice().into()))
    }

    fn instructions_of(&self, kind: InstructionKind) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        let groups = V::Tables::INSTRUCTIONS.iter().filter(|group| group.kind == kind);
        Ok(groups.flat_map(|group| (group.rows)(&self.description.architecture)).collect())
    }

    fn omitted_instructions(&self) -> &[OmittedInstruction] {
        self.unused.get_or_init(|| V::Tables::omitted_instructions(&self.description.architecture))
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        V::compile(&self.description, self.instructions(), module, options)
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        V::devices(&self.description, self.instructions())
    }
}
