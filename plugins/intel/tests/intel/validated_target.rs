//! [`ValidatedTarget`]: a target of this plugin whose SPIR-V is validated on every compilation.

use crate::validate::validate;
use tilewright_intel::IntelTarget;
use tilewright_plugin::FactoryError;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::targets::target_description;

/// The plugin's target, with this crate's SPIR-V validator after the code generator.
pub struct ValidatedTarget(IntelTarget);

impl ValidatedTarget {
    pub fn new(description: TargetDescription) -> Result<Self, FactoryError> {
        IntelTarget::new(description).map(Self)
    }
}

/// Returns the validated target with this name.
pub fn target(name: &str) -> ValidatedTarget {
    ValidatedTarget::new(target_description(name)).expect("the architecture is served")
}

impl Target for ValidatedTarget {
    fn description(&self) -> &TargetDescription {
        self.0.description()
    }

    fn families(&self) -> &dyn Families {
        self.0.families()
    }

    fn instructions(&self) -> &[Instruction] {
        self.0.instructions()
    }

    fn omitted_instructions(&self) -> &[OmittedInstruction] {
        self.0.omitted_instructions()
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        let artifact = self.0.compile(module, options)?;
        match artifact.payload(CodeFormat::Object) {
            Some(object) => check(&object.bytes),
            // The words are validated too if a test requests only text.
            None => {
                let options = CompileOptions { emit: vec![CodeFormat::Object], ..options.clone() };
                check(&self.0.compile(module, &options)?.payload(CodeFormat::Object).expect("it was asked for").bytes);
            }
        }
        Ok(artifact)
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        self.0.devices()
    }
}

fn check(spirv: &[u8]) {
    validate(&words(spirv)).unwrap_or_else(|fault| panic!("the code generator breaks a rule of SPIR-V: {fault}"));
}

/// Returns the 32-bit words of a SPIR-V binary.
pub fn words(spirv: &[u8]) -> Vec<u32> {
    spirv.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}
