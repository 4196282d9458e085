//! From a question to its answer, over all the targets and plugins there are.
//!
//! A [`Session`] knows the targets of a catalogue and the plugins of a registry. It opens a target
//! when it is first asked for, resolves layouts of all families, plans conversions and compiles.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use tilewright_kernel::{self as kernel, Module};
use tilewright_layout::{
    AttributeSyntaxes, Families, FamilyError, FamilySet, FamilySpec, Layout, LinearLayout, families::Neutral,
};
use tilewright_lower as lower;
use tilewright_plan::movement::{self, MovementError, Plan, PlanContext};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Target};
use tilewright_plugin::{Registry, RegistryError};
use tilewright_target::{Catalogue, CatalogueError, Instruction, InstructionKind};

/// Targets and plugins, opened as they are needed. May be used from several threads.
#[derive(Debug)]
pub struct Session {
    catalogue: Catalogue,
    registry: Registry,
    plans: Mutex<HashMap<Asked, Plan>>,
}

/// A conversion that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Asked {
    target: String,
    src: LinearLayout,
    dst: LinearLayout,
    element_bits: u32,
}

/// Plans that a session keeps; with more than these it begins anew.
const MOST_PLANS: usize = 4096;

/// Why a question has no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The catalogue does not have the target; the caller's fault.
    #[error(transparent)]
    Target(#[from] CatalogueError),
    /// No plugin serves the target, or its plugin cannot be opened.
    #[error(transparent)]
    Plugin(#[from] RegistryError),
    /// A family cannot build the layout.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// The layout is not of the kind that the question needs; the caller's fault.
    #[error("`{0}` is no distributed layout: it does not say which lane and register holds an element")]
    NotDistributed(String),
    /// No plan can be made.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The plan gives no kernel.
    #[error(transparent)]
    Lower(#[from] lower::LowerError),
    /// The lowered kernel breaks a rule of the kernel IR: a fault of this framework.
    #[error("the lowered kernel is invalid: {0}")]
    Lowered(#[from] kernel::VerifyError),
    /// The module was not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl Session {
    /// A session over the given targets and plugins; opens nothing yet.
    #[must_use]
    pub fn new(catalogue: Catalogue, registry: Registry) -> Self {
        Self { catalogue, registry, plans: Mutex::default() }
    }

    /// The targets that can be named.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The plugins that serve them.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The target of this name, with its plugin.
    ///
    /// # Errors
    /// [`PipelineError::Target`], [`PipelineError::Plugin`].
    pub fn target(&self, name: &str) -> Result<Arc<dyn Target>, PipelineError> {
        Ok(self.registry.target(self.catalogue.get(name)?)?)
    }

    /// The target of this name, for its layouts: its instruction table need not have been read.
    ///
    /// # Errors
    /// [`PipelineError::Target`], [`PipelineError::Plugin`].
    pub fn target_without_table(&self, name: &str) -> Result<Arc<dyn Target>, PipelineError> {
        Ok(self.registry.target_without_table(self.catalogue.get(name)?)?)
    }

    /// The layout that a family builds for a tensor of `shape`. Neutral families open no plugin. Without a target, each
    /// plugin is asked through the first target that it serves, until one knows the family; a plugin that cannot
    /// be opened is an error only where no other knows it.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn layout(&self, target: Option<&str>, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, PipelineError> {
        target.map(|name| self.catalogue.get(name)).transpose()?;
        let mut unknown = match FamilySet::new(vec![&Neutral]).layout(spec, shape) {
            Err(error) if not_served(&error) => error,
            answer => return Ok(answer?),
        };
        if let Some(name) = target {
            let target = self.target_without_table(name)?;
            return Ok(FamilySet::new(vec![&Neutral, target.families()]).layout(spec, shape)?);
        }
        let mut broken = None;
        for name in self.one_target_a_plugin() {
            let target = match self.target_without_table(&name) {
                Ok(target) => target,
                Err(error) => {
                    broken.get_or_insert(error);
                    continue;
                }
            };
            match FamilySet::new(vec![&Neutral, target.families()]).layout(spec, shape) {
                Err(error) if not_served(&error) => unknown = merged(unknown, error),
                answer => return Ok(answer?),
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
        Err(unknown.into())
    }

    /// How attribute text spells the families of a target, or of all plugins that can be opened.
    ///
    /// # Errors
    /// [`PipelineError::Target`], [`PipelineError::Plugin`] of the target that is named.
    pub fn spellings(&self, target: Option<&str>) -> Result<AttributeSyntaxes, PipelineError> {
        let targets: Vec<_> = match target {
            Some(name) => vec![self.target_without_table(name)?],
            None => self.one_target_a_plugin().iter().filter_map(|name| self.target_without_table(name).ok()).collect(),
        };
        let neutral: &dyn Families = &Neutral;
        let all = std::iter::once(neutral).chain(targets.iter().map(|target| target.families())).collect();
        Ok(AttributeSyntaxes::of_families(&FamilySet::new(all)))
    }

    /// The linear map of a distributed layout.
    ///
    /// # Errors
    /// [`PipelineError`]; a memory layout is [`PipelineError::NotDistributed`].
    pub fn distributed(
        &self,
        target: Option<&str>,
        spec: &FamilySpec,
        shape: &[u64],
    ) -> Result<LinearLayout, PipelineError> {
        match self.layout(target, spec, shape)? {
            Layout::Distributed(layout) => Ok(layout),
            Layout::Memory(_) | Layout::TensorMemory(_) => Err(PipelineError::NotDistributed(spec.name.clone())),
        }
    }

    /// The target of this name where a plugin serves it.
    ///
    /// # Errors
    /// [`PipelineError::Target`]; [`PipelineError::Plugin`] where its plugin cannot be opened.
    pub fn served(&self, name: &str) -> Result<Option<Arc<dyn Target>>, PipelineError> {
        let description = self.catalogue.get(name)?;
        match self.registry.serves(&description.architecture) {
            Some(_) => Ok(Some(self.registry.target(description)?)),
            None => Ok(None),
        }
    }

    /// The rows of some kinds of a target's instruction table, kind by kind; none if no plugin serves the target.
    ///
    /// # Errors
    /// [`PipelineError::Target`], [`PipelineError::Plugin`].
    pub fn instructions_of(&self, name: &str, kinds: &[InstructionKind]) -> Result<Vec<Instruction>, PipelineError> {
        let description = self.catalogue.get(name)?;
        if self.registry.serves(&description.architecture).is_none() {
            return Ok(Vec::new());
        }
        let target = self.target_without_table(name)?;
        let failed = |error| RegistryError::Target { target: name.to_owned(), error };
        let rows = kinds.iter().map(|&kind| target.instructions_of(kind).map(Cow::into_owned));
        Ok(rows.collect::<Result<Vec<_>, _>>().map_err(failed)?.concat())
    }

    /// The best plan for a conversion on a target, by the target's instructions too where a plugin
    /// serves it. A question that was asked before is answered from memory.
    ///
    /// # Errors
    /// [`PipelineError::Target`], [`PipelineError::Plugin`], [`PipelineError::Movement`].
    pub fn convert(
        &self,
        target: &str,
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
    ) -> Result<Plan, PipelineError> {
        let requested = Asked { target: target.to_owned(), src: src.clone(), dst: dst.clone(), element_bits };
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans().get(&requested) {
            return Ok(plan.clone());
        }
        let instructions = self.instructions_of(target, &[InstructionKind::SharedMove])?;
        let context = PlanContext::of(self.catalogue.get(target)?).with_instructions(&instructions);
        let plan = movement::convert(src, dst, element_bits, context)?;
        let mut plans = plans();
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(requested, plan.clone());
        Ok(plan)
    }

    /// A module with one kernel, `convert`, around the cheapest plan; see
    /// [`lower::conversion_kernel`] for its parameters.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn conversion_module(
        &self,
        target: &str,
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
    ) -> Result<Module, PipelineError> {
        let plan = self.convert(target, src, dst, element_bits)?;
        let kernel = lower::conversion_kernel(
            "convert",
            [src, dst],
            element_bits,
            &plan,
            PlanContext::of(self.catalogue.get(target)?),
        )?;
        let module = Module { kernels: vec![kernel] };
        kernel::verify(&module)?;
        Ok(module)
    }

    /// Code for a module.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn compile(&self, target: &str, module: &Module, options: &CompileOptions) -> Result<Artifact, PipelineError> {
        kernel::verify(module)?;
        Ok(self.target(target)?.compile(module, options)?)
    }

    /// For every plugin the name of one target that it serves.
    fn one_target_a_plugin(&self) -> Vec<String> {
        let mut seen = Vec::new();
        let mut names = Vec::new();
        for description in self.catalogue.iter() {
            if let Some(plugin) = self.registry.serves(&description.architecture)
                && !seen.contains(&plugin)
            {
                seen.push(plugin);
                names.push(description.name.clone());
            }
        }
        names
    }
}

/// Whether the error says that nobody here serves the family, or its parent.
fn not_served(error: &FamilyError) -> bool {
    matches!(error, FamilyError::Unknown { .. })
}

/// One error with the families that both know.
fn merged(first: FamilyError, second: FamilyError) -> FamilyError {
    match (first, second) {
        (FamilyError::Unknown { name, mut known }, FamilyError::Unknown { known: more, .. }) => {
            known.extend(more);
            known.sort();
            known.dedup();
            FamilyError::Unknown { name, known }
        }
        (first, _) => first,
    }
}
