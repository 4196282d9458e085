//! A target that is right but for one thing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tilewright_kernel as kernel;
use tilewright_kernel::Module;
use tilewright_layout::{AttributeSyntax, Families, FamilyError, FamilySpec, Layout, LinearLayout, Sample, SampleUse};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Emit, Target};
use tilewright_target::{Instruction, TargetDescription};

use super::edit::Edit;

/// Another layout in the place of one.
pub type Change = fn(&LinearLayout) -> LinearLayout;

/// The one thing.
#[derive(Clone, Copy)]
pub enum Lie {
    /// Nothing.
    None,
    /// The layouts of a family of the plugin.
    Family(&'static str, Change),
    /// The table of instructions.
    Rows(fn(&mut Vec<Instruction>)),
    /// What is said of the product.
    Description(fn(&mut TargetDescription)),
    /// The kernel that code is made of.
    Kernel(Edit),
    /// The text that was made of it.
    Text(Edit),
}

/// A target with a lie.
pub struct Liar {
    real: Arc<dyn Target>,
    description: TargetDescription,
    instructions: Vec<Instruction>,
    families: LyingFamilies,
    lie: Lie,
    /// Whether the lie was told.
    told: AtomicBool,
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
        let told = description != *real.description() || instructions != real.instructions();
        let of_family = if let Lie::Family(name, change) = lie { Some((name, change)) } else { None };
        let families = LyingFamilies { real: Arc::clone(real), lie: of_family };
        let (real, told) = (Arc::clone(real), AtomicBool::new(told || of_family.is_some()));
        Self { real, description, instructions, families, lie, told }
    }

    /// Whether anything came out otherwise than it would have.
    pub fn has_lied(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    fn tell(&self, edit: Edit, text: &str) -> String {
        let edited = edit.of(text);
        if edited != text {
            self.told.store(true, Ordering::Relaxed);
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
                let text = self.tell(edit, &module.to_string());
                let edited = kernel::text::parse(&text).map_err(|error| CompileError::Invalid(error.to_string()))?;
                kernel::verify(&edited).map_err(|error| CompileError::Invalid(error.to_string()))?;
                self.real.compile(&edited, options)
            }
            Lie::Text(edit) => {
                let options = CompileOptions { emit: vec![Emit::Assembly], ..options.clone() };
                let mut artifact = self.real.compile(module, &options)?;
                for payload in artifact.payloads.iter_mut().filter(|payload| payload.format == "ptx") {
                    payload.bytes = self.tell(edit, &String::from_utf8_lossy(&payload.bytes)).into_bytes();
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

    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        self.real.families().samples(use_case)
    }

    fn spellings(&self) -> Vec<AttributeSyntax> {
        self.real.families().spellings()
    }
}
