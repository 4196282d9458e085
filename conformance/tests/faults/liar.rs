//! A target that is correct except for one planted fault, so that tests know the failure to expect.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tilewright_kernel as kernel;
use tilewright_kernel::Module;
use tilewright_layout::{
    AttributeSyntax, Families, FamilyError, FamilySpec, Layout, LinearLayout, SampleLayout, SampleLayoutRequest,
};
use tilewright_plugin::{Artifact, CodeFormat, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_target::{Instruction, TargetDescription};

use super::edit::Edit;

/// Function that returns a wrong layout for a correct one.
pub type Change = fn(&LinearLayout) -> LinearLayout;

/// The planted fault, and the component that has it.
#[derive(Clone, Copy)]
pub enum Lie {
    /// No fault.
    None,
    /// The plugin's layouts of a family are changed.
    Family(&'static str, Change),
    /// The instruction table is changed.
    Rows(fn(&mut Vec<Instruction>)),
    /// The target description is changed.
    Description(fn(&mut TargetDescription)),
    /// The kernel is changed before code generation.
    Kernel(Edit),
    /// The generated code is changed.
    Text(Edit),
}

/// A target with a planted fault.
pub struct Liar {
    real: Arc<dyn Target>,
    description: TargetDescription,
    instructions: Vec<Instruction>,
    families: LyingFamilies,
    lie: Lie,
    /// Whether the fault changed anything; if not, the test proves nothing.
    took_effect: AtomicBool,
}

struct LyingFamilies {
    real: Arc<dyn Target>,
    lie: Option<(&'static str, Change)>,
}

impl Liar {
    pub fn new(real: &Arc<dyn Target>, lie: Lie) -> Self {
        let (mut description, mut instructions) = (real.description().clone(), real.instructions().to_vec());
        match lie {
            Lie::Rows(change) => change(&mut instructions),
            Lie::Description(change) => change(&mut description),
            _ => {}
        }
        let took_effect = description != *real.description() || instructions != real.instructions();
        let of_family = if let Lie::Family(name, change) = lie { Some((name, change)) } else { None };
        let families = LyingFamilies { real: Arc::clone(real), lie: of_family };
        let (real, took_effect) = (Arc::clone(real), AtomicBool::new(took_effect || of_family.is_some()));
        Self { real, description, instructions, families, lie, took_effect }
    }

    /// Whether the fault changed anything that the target returned.
    pub fn has_lied(&self) -> bool {
        self.took_effect.load(Ordering::Relaxed)
    }

    fn edit_text(&self, edit: Edit, text: &str) -> String {
        let edited = edit.of(text);
        if edited != text {
            self.took_effect.store(true, Ordering::Relaxed);
        }
        edited
    }
}

impl Target for Liar {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        match self.lie {
            Lie::Kernel(edit) => {
                let text = self.edit_text(edit, &module.to_string());
                let edited =
                    kernel::text::parse_module(&text).map_err(|error| CompileError::Invalid(error.to_string()))?;
                kernel::verify(&edited).map_err(|error| CompileError::Invalid(error.to_string()))?;
                self.real.compile(&edited, options)
            }
            Lie::Text(edit) => {
                let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..options.clone() };
                let mut artifact = self.real.compile(module, &options)?;
                for payload in artifact.payloads.iter_mut().filter(|payload| payload.format == "ptx") {
                    payload.bytes = self.edit_text(edit, &String::from_utf8_lossy(&payload.bytes)).into_bytes();
                }
                Ok(artifact)
            }
            _ => self.real.compile(module, options),
        }
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        self.real.devices()
    }
}

impl Families for LyingFamilies {
    fn names(&self) -> Vec<String> {
        self.real.families().names()
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
        let mut layout = self.real.families().resolve(spec, shape, all)?;
        if let Some((_, change)) = self.lie.filter(|(name, _)| *name == spec.name) {
            match &mut layout {
                Layout::Distributed(layout) => *layout = change(layout),
                Layout::Memory(layout) => layout.linear = change(&layout.linear),
                Layout::TensorMemory(_) => {}
            }
        }
        Ok(layout)
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        self.real.families().samples(use_case)
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        self.real.families().attribute_syntaxes()
    }
}
