//! A target of a plugin, reached through a channel (calls to the plugin in this or another process). Callers cannot
//! distinguish it from a target of this program.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::channel::{Call, Channel};
use super::claims::{check_instructions, check_layout};
use super::devices;
use super::factory_error::FactoryError;
use super::listener::{self, LogLevel};
use super::message::{self, FamilyAnswer, FamilyRequest, Piece, TargetInfo};
use super::remote::Remote;
use super::wire;
use crate::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_kernel as kernel;
use tilewright_layout::{
    AttributeSyntax, Families, FamilyError, FamilySpec, Layout, SampleLayout, SampleLayoutRequest,
};
use tilewright_target::{Instruction, InstructionKind, OmittedInstruction, TargetDescription};

/// Max layouts cached for a target; a full cache is cleared.
const MOST_LAYOUTS: usize = 1 << 14;

/// The next number for a target; numbers are unique in this process.
static NEXT_TARGET: AtomicU64 = AtomicU64::new(1);

/// A target that a plugin serves.
pub(super) struct Proxy {
    description: TargetDescription,
    families: ProxyFamilies,
    /// The instruction table and the unused instructions, read when first used.
    table: OnceLock<(Vec<Instruction>, Vec<OmittedInstruction>)>,
    remote: Arc<Remote>,
}

impl Proxy {
    /// Creates the target in the plugin, and reads the names of its layout families.
    pub(super) fn open(channel: Arc<dyn Channel>, description: &TargetDescription) -> Result<Self, FactoryError> {
        let plugin = channel.file().display().to_string();
        let bytes =
            wire::serialize_message(description).map_err(|error| FactoryError::Description(error.to_string()))?;
        let target = NEXT_TARGET.fetch_add(1, Ordering::Relaxed);
        let create = Call::Create { target, description: bytes };
        channel.call(create).map_err(|failure| failure.into_factory_error(&plugin))?;
        let remote = Arc::new(Remote::new(channel, target));
        let TargetInfo { families, attribute_syntaxes, .. } = remote.pieces(Piece::Families)?;
        let families = ProxyFamilies {
            names: families,
            samples: OnceLock::new(),
            attribute_syntaxes,
            remote: Arc::clone(&remote),
            known: RwLock::default(),
        };
        Ok(Self { description: description.clone(), families, table: OnceLock::new(), remote })
    }

    /// Returns the plugin's instructions after a check against the target's description.
    fn checked(&self, rows: Cow<'_, [Instruction]>) -> Result<Vec<Instruction>, FactoryError> {
        check_instructions(&rows, &self.description)
            .map_err(|reason| FactoryError::Failed(self.remote.wrong_answer(&reason)))?;
        Ok(rows.into_owned())
    }
}

impl Target for Proxy {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        self.table.get().map_or(&[], |(rows, _)| rows)
    }

    fn read_instructions(&self) -> Result<(), FactoryError> {
        if self.table.get().is_none() {
            let TargetInfo { instructions, unused, .. } = self.remote.pieces(Piece::Instructions)?;
            // If two threads read the table at the same time, the second `set` has no effect, which is harmless: both
            // read the same table.
            let _ = self.table.set((self.checked(instructions)?, unused.into_owned()));
        }
        Ok(())
    }

    fn instructions_of(&self, kind: InstructionKind) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        let mut rows = match self.table.get() {
            Some((rows, _)) => rows.clone(),
            None => self.checked(self.remote.pieces(Piece::InstructionsOf(kind))?.instructions)?,
        };
        // A plugin of interface version 1.0 returns its whole table, so the instructions of other kinds are removed
        // here.
        rows.retain(|row| row.kind == kind);
        Ok(rows.into())
    }

    fn omitted_instructions(&self) -> &[OmittedInstruction] {
        self.table.get().map_or(&[], |(_, unused)| unused)
    }

    fn compile(&self, module: &kernel::Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        let options = wire::serialize_message(options).map_err(|error| CompileError::Invalid(error.to_string()))?;
        let call = Call::Compile { target: self.remote.target(), module: kernel::encode_module(module), options };
        let answer = self.remote.call(call).map_err(|failure| failure.into_compile_error(&self.remote.plugin()))?;
        message::read_artifact(&answer)
            .map_err(|error| CompileError::Plugin(self.remote.unreadable_answer("compiled code", &error)))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        devices::proxy::open(&self.remote)
    }
}

/// The layout families of a plugin's target; layouts are cached by request.
struct ProxyFamilies {
    names: Vec<String>,
    samples: OnceLock<HashMap<SampleLayoutRequest, Vec<SampleLayout>>>,
    attribute_syntaxes: Vec<AttributeSyntax>,
    remote: Arc<Remote>,
    known: RwLock<HashMap<FamilySpec, HashMap<Vec<u64>, Layout>>>,
}

impl Families for ProxyFamilies {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(layout) = known.get(spec).and_then(|shapes| shapes.get(shape)) {
                return Ok(layout.clone());
            }
        }
        let layout = self.ask(spec, shape)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.values().map(HashMap::len).sum::<usize>() >= MOST_LAYOUTS {
            known.clear();
        }
        known.entry(spec.clone()).or_default().insert(shape.to_vec(), layout.clone());
        Ok(layout)
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        let samples = self.samples.get_or_init(|| match self.remote.pieces(Piece::Samples) {
            Ok(info) => info.samples.into_iter().map(|of_use| (of_use.use_case, of_use.samples)).collect(),
            Err(error) => {
                listener::deliver_log(LogLevel::ERROR, &error.to_string());
                HashMap::new()
            }
        });
        samples.get(&use_case).cloned().unwrap_or_default()
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        self.attribute_syntaxes.clone()
    }
}

impl ProxyFamilies {
    fn ask(&self, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, FamilyError> {
        let remote = &self.remote;
        let request = FamilyRequest { spec: spec.clone(), shape: shape.to_vec() };
        let request = wire::serialize_message(&request).map_err(|error| FamilyError::Shape {
            family: spec.name.clone(),
            shape: shape.to_vec(),
            message: error.to_string(),
        })?;
        let answer = remote
            .call(Call::Resolve { target: remote.target(), request })
            .map_err(|failure| failure.into_family_error(&remote.plugin()))?;
        let FamilyAnswer { layout } = wire::deserialize_message(&answer)
            .map_err(|error| FamilyError::Plugin(remote.unreadable_answer("a layout", &error)))?;
        check_layout(&layout, shape).map_err(|reason| FamilyError::Plugin(remote.wrong_answer(&reason)))?;
        Ok(layout)
    }
}
