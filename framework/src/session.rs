//! Sessions: layout and compilation requests over all known targets and plugins.
//!
//! A [`Session`] has the targets of a catalogue and the plugins of a registry. It opens the plugin of a target when the
//! target is first used, resolves layouts of all families, plans conversions, and compiles.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use tilewright_kernel::{self as kernel, Module};
use tilewright_layout::{
    AttributeSyntaxes, Families, FamilyError, FamilyProviders, FamilySpec, Layout, LinearLayout, cute::CuteError,
    families::NeutralFamilies,
};
use tilewright_lower as lower;
use tilewright_plan::movement::{self, ConversionPlan, MovementError, PlanContext};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Target};
use tilewright_plugin::{Registry, RegistryError};
use tilewright_target::{Instruction, InstructionKind, TargetCatalogue, TargetCatalogueError};

/// The known targets, and plugins that are opened on demand. A session may be shared between threads.
///
/// # Examples
/// ```
/// use tilewright::Session;
/// use tilewright::plugin::Registry;
///
/// // A session without plugins: layouts, plans and kernels, but no code for a target.
/// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
/// assert_eq!(session.catalogue().get("h100")?.lanes.default, 32);
/// assert!(session.registry().plugins().is_empty());
/// assert!(session.target("h100").is_err_and(|error| error.to_string().contains("no plugin serves architecture")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    catalogue: TargetCatalogue,
    registry: Registry,
    plans: Mutex<HashMap<ConversionKey, ConversionPlan>>,
}

/// The key of a cached conversion plan: the target, both layouts and the element width.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ConversionKey {
    target: String,
    src: LinearLayout,
    dst: LinearLayout,
    element_bits: u32,
}

/// Max number of plans in the cache of a session; a full cache is cleared.
const MOST_PLANS: usize = 4096;

/// The reason why a request failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The catalogue does not have the target; the caller's fault.
    #[error(transparent)]
    Target(#[from] TargetCatalogueError),
    /// No plugin serves the target, or its plugin cannot be opened.
    #[error(transparent)]
    Plugin(#[from] RegistryError),
    /// A layout family (named constructor of layouts) cannot build the layout.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// The layout is a memory or tensor-memory layout, but the request needs a distributed layout; the caller's fault.
    #[error("`{0}` is not a distributed layout: its elements have no lane and register")]
    NotDistributed(String),
    /// A layout in CuTe's notation has no linear layout for the tensor; the caller's fault.
    #[error(transparent)]
    Cute(#[from] CuteError),
    /// A thread-value layout or task mapping has other elements than the tensor; the caller's fault.
    #[error("`{layout}` does not have each element of a tensor of {shape}: give a layout of this tensor")]
    OtherElements {
        /// The layout, as text.
        layout: String,
        /// The shape of the tensor, as text.
        shape: String,
    },
    /// No plan exists for the conversion.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The plan cannot be lowered to a kernel.
    #[error(transparent)]
    Lower(#[from] lower::LowerError),
    /// The lowered kernel is invalid: a fault of this framework.
    #[error("the lowered kernel is invalid: {0}")]
    Lowered(#[from] kernel::VerifyError),
    /// The module does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl Session {
    /// Creates a session over the given targets and plugins; no plugin is opened yet.
    #[must_use]
    pub fn new(catalogue: TargetCatalogue, registry: Registry) -> Self {
        Self { catalogue, registry, plans: Mutex::default() }
    }

    /// Returns the known targets.
    #[must_use]
    pub fn catalogue(&self) -> &TargetCatalogue {
        &self.catalogue
    }

    /// Returns the plugins that serve the targets.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the target with this name, served by its plugin.
    ///
    /// # Errors
    /// [`SessionError::Target`] if the catalogue does not have the target, [`SessionError::Plugin`] if no plugin serves
    /// it or its plugin cannot be opened.
    ///
    /// # Examples
    /// ```no_run
    /// # let session = tilewright::Session::builder(tilewright_targets::read_default_catalogue()?).open()?;
    /// let target = session.target("h100")?;
    /// assert!(target.instructions().iter().any(|instruction| instruction.name.starts_with("mma")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn target(&self, name: &str) -> Result<Arc<dyn Target>, SessionError> {
        Ok(self.registry.create_target(self.catalogue.get(name)?)?)
    }

    /// Returns the target with this name, for layouts only: its instruction table may not have been read.
    ///
    /// # Errors
    /// [`SessionError::Target`] if the catalogue does not have the target, [`SessionError::Plugin`] if no plugin serves
    /// it or its plugin cannot be opened.
    pub fn target_without_table(&self, name: &str) -> Result<Arc<dyn Target>, SessionError> {
        Ok(self.registry.create_target_without_table(self.catalogue.get(name)?)?)
    }

    /// Returns the layout that a family builds for a tensor of `shape`. Neutral families, which the framework has, open
    /// no plugin. Without a target, each plugin is tried through the first target that it serves, until one knows the
    /// family. A plugin that cannot be opened is an error only if no other plugin knows the family.
    ///
    /// # Errors
    /// [`SessionError::Target`] if the catalogue does not have the target, [`SessionError::Plugin`] if a plugin that is
    /// needed cannot be opened, [`SessionError::Family`] if the family is unknown or cannot build the layout.
    ///
    /// # Examples
    /// ```
    /// use tilewright::Session;
    /// use tilewright::layout::{Layout, parse_family_spec};
    /// use tilewright::plugin::Registry;
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// let spec = parse_family_spec("#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>")?;
    /// assert!(matches!(session.layout(None, &spec, &[32, 32])?, Layout::Memory(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn layout(&self, target: Option<&str>, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, SessionError> {
        target.map(|name| self.catalogue.get(name)).transpose()?;
        let mut unknown = match FamilyProviders::new(vec![&NeutralFamilies]).layout(spec, shape) {
            Err(error) if not_served(&error) => error,
            answer => return Ok(answer?),
        };
        if let Some(name) = target {
            let target = self.target_without_table(name)?;
            return Ok(FamilyProviders::new(vec![&NeutralFamilies, target.families()]).layout(spec, shape)?);
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
            match FamilyProviders::new(vec![&NeutralFamilies, target.families()]).layout(spec, shape) {
                Err(error) if not_served(&error) => unknown = merged(unknown, error),
                answer => return Ok(answer?),
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
        Err(unknown.into())
    }

    /// Returns the attribute syntax of the layout families of a target or, without a target, of all plugins that can be
    /// opened.
    ///
    /// # Errors
    /// With a target: [`SessionError::Target`] if the catalogue does not have it, [`SessionError::Plugin`] if no plugin
    /// serves it or its plugin cannot be opened. Without a target: none.
    ///
    /// # Examples
    /// ```
    /// use tilewright::Session;
    /// use tilewright::layout::parse_family_spec;
    /// use tilewright::plugin::Registry;
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// let text = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    /// assert_eq!(session.attribute_syntaxes(None)?.print_spec(&parse_family_spec(text)?), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attribute_syntaxes(&self, target: Option<&str>) -> Result<AttributeSyntaxes, SessionError> {
        let targets: Vec<_> = match target {
            Some(name) => vec![self.target_without_table(name)?],
            None => self.one_target_a_plugin().iter().filter_map(|name| self.target_without_table(name).ok()).collect(),
        };
        let neutral: &dyn Families = &NeutralFamilies;
        let all = std::iter::once(neutral).chain(targets.iter().map(|target| target.families())).collect();
        Ok(AttributeSyntaxes::from_families(&FamilyProviders::new(all)))
    }

    /// Returns the linear map of a distributed layout that a family builds for a tensor of `shape`.
    ///
    /// # Errors
    /// [`SessionError::NotDistributed`] if the family builds a memory or tensor-memory layout; otherwise as
    /// [`Self::layout`].
    ///
    /// # Examples
    /// ```
    /// use tilewright::Session;
    /// use tilewright::layout::{Dim, parse_family_spec};
    /// use tilewright::plugin::Registry;
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// let spec = parse_family_spec("#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>")?;
    /// let layout = session.distributed_layout(None, &spec, &[256])?;
    /// assert_eq!(layout.apply(&[(Dim::REGISTER, 1), (Dim::LANE, 3), (Dim::WARP, 2)])?, [(Dim::tensor(0), 1 + 2 * (3 + 32 * 2))]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distributed_layout(
        &self,
        target: Option<&str>,
        spec: &FamilySpec,
        shape: &[u64],
    ) -> Result<LinearLayout, SessionError> {
        match self.layout(target, spec, shape)? {
            Layout::Distributed(layout) => Ok(layout),
            Layout::Memory(_) | Layout::TensorMemory(_) => Err(SessionError::NotDistributed(spec.name.clone())),
        }
    }

    /// Returns the target with this name; `None` if no plugin serves it.
    ///
    /// # Errors
    /// [`SessionError::Target`] if the catalogue does not have the target, [`SessionError::Plugin`] if its plugin
    /// cannot be opened.
    ///
    /// # Examples
    /// ```
    /// use tilewright::Session;
    /// use tilewright::plugin::Registry;
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// assert!(session.target_if_served("h100")?.is_none());
    /// assert!(session.target_if_served("h1000").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn target_if_served(&self, name: &str) -> Result<Option<Arc<dyn Target>>, SessionError> {
        let description = self.catalogue.get(name)?;
        match self.registry.find_server(&description.architecture) {
            Some(_) => Ok(Some(self.registry.create_target(description)?)),
            None => Ok(None),
        }
    }

    /// Returns the target's instructions of these kinds, in the order of `kinds`; none if no plugin serves the target.
    ///
    /// # Errors
    /// [`SessionError::Target`] if the catalogue does not have the target, [`SessionError::Plugin`] if its plugin
    /// cannot be opened or fails to list its instructions.
    ///
    /// # Examples
    /// ```no_run
    /// use tilewright::target::InstructionKind;
    /// # let session = tilewright::Session::builder(tilewright_targets::read_default_catalogue()?).open()?;
    /// for instruction in session.instructions_of("h100", &[InstructionKind::SharedMove])? {
    ///     println!("{}", instruction.name);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn instructions_of(&self, name: &str, kinds: &[InstructionKind]) -> Result<Vec<Instruction>, SessionError> {
        let description = self.catalogue.get(name)?;
        if self.registry.find_server(&description.architecture).is_none() {
            return Ok(Vec::new());
        }
        let target = self.target_without_table(name)?;
        let failed = |error| RegistryError::Target { target: name.to_owned(), error };
        let rows = kinds.iter().map(|&kind| target.instructions_of(kind).map(Cow::into_owned));
        Ok(rows.collect::<Result<Vec<_>, _>>().map_err(failed)?.concat())
    }

    /// Returns the cheapest plan of a conversion on a target, with the target's instructions if a plugin serves it.
    /// Plans are cached.
    ///
    /// # Errors
    /// [`SessionError::Target`] if the catalogue does not have the target, [`SessionError::Plugin`] if its plugin
    /// cannot be opened, [`SessionError::Movement`] if no plan exists.
    ///
    /// # Examples
    /// ```
    /// use tilewright::layout::{Dim, LinearLayout};
    /// use tilewright::plan::ConversionKind;
    /// use tilewright::plugin::Registry;
    /// use tilewright::Session;
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// // 64 elements: a lane holds two consecutive ones, or one of each half. No element changes its warp.
    /// let part = |dim, size| LinearLayout::identity(size, dim, Dim::tensor(0));
    /// let pairs = part(Dim::REGISTER, 2)?.direct_sum(&part(Dim::LANE, 32)?)?;
    /// let halves = part(Dim::LANE, 32)?.direct_sum(&part(Dim::REGISTER, 2)?)?;
    /// let plan = session.plan_conversion("h100", &pairs, &halves, 32)?;
    /// assert_eq!(plan.path, ConversionKind::Shuffle);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan_conversion(
        &self,
        target: &str,
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
    ) -> Result<ConversionPlan, SessionError> {
        let requested = ConversionKey { target: target.to_owned(), src: src.clone(), dst: dst.clone(), element_bits };
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans().get(&requested) {
            return Ok(plan.clone());
        }
        let instructions = self.instructions_of(target, &[InstructionKind::SharedMove])?;
        let context = PlanContext::new(self.catalogue.get(target)?).with_instructions(&instructions);
        let plan = movement::plan_conversion(src, dst, element_bits, context)?;
        let mut plans = plans();
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(requested, plan.clone());
        Ok(plan)
    }

    /// Returns a module with the kernel `convert`, which performs the cheapest plan of a conversion; see
    /// [`lower::build_conversion_kernel`] for the kernel's parameters.
    ///
    /// # Errors
    /// As [`Self::plan_conversion`]; [`SessionError::Lower`] if the plan cannot be lowered to a kernel.
    ///
    /// # Examples
    /// ```
    /// use tilewright::layout::{Dim, LinearLayout};
    /// use tilewright::plugin::Registry;
    /// use tilewright::Session;
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// let part = |dim, size| LinearLayout::identity(size, dim, Dim::tensor(0));
    /// let pairs = part(Dim::REGISTER, 2)?.direct_sum(&part(Dim::LANE, 32)?)?;
    /// let halves = part(Dim::LANE, 32)?.direct_sum(&part(Dim::REGISTER, 2)?)?;
    /// let module = session.build_conversion_module("h100", &pairs, &halves, 32)?;
    /// assert!(module.to_string().starts_with("kernel convert("));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_conversion_module(
        &self,
        target: &str,
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
    ) -> Result<Module, SessionError> {
        let plan = self.plan_conversion(target, src, dst, element_bits)?;
        let kernel = lower::build_conversion_kernel(
            "convert",
            [src, dst],
            element_bits,
            &plan,
            PlanContext::new(self.catalogue.get(target)?),
        )?;
        let module = Module { kernels: vec![kernel] };
        kernel::verify(&module)?;
        Ok(module)
    }

    /// Compiles a module for a target.
    ///
    /// # Errors
    /// [`SessionError::Lowered`] if the module is invalid, [`SessionError::Compile`] if it does not compile; as
    /// [`Self::target`] if the target or its plugin is not available.
    ///
    /// # Examples
    /// ```no_run
    /// use tilewright::plugin::{CompileOptions, CodeFormat};
    /// # let session = tilewright::Session::builder(tilewright_targets::read_default_catalogue()?).open()?;
    /// let module = tilewright::kernel::parse_module("kernel empty() lanes 32 warps 1 {}")?;
    /// let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
    /// let artifact = session.compile("h100", &module, &options)?;
    /// assert!(artifact.payload_text(CodeFormat::Assembly).is_some_and(|ptx| ptx.contains(".entry empty")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile(&self, target: &str, module: &Module, options: &CompileOptions) -> Result<Artifact, SessionError> {
        kernel::verify(module)?;
        Ok(self.target(target)?.compile(module, options)?)
    }

    /// Returns, for every plugin, the name of one target that it serves.
    fn one_target_a_plugin(&self) -> Vec<String> {
        let mut seen = Vec::new();
        let mut names = Vec::new();
        for description in self.catalogue.iter() {
            if let Some(plugin) = self.registry.find_server(&description.architecture)
                && !seen.contains(&plugin)
            {
                seen.push(plugin);
                names.push(description.name.clone());
            }
        }
        names
    }
}

/// Whether the error means that none of the opened plugins has the layout family or the family of its parent.
fn not_served(error: &FamilyError) -> bool {
    matches!(error, FamilyError::Unknown { .. })
}

/// Merges two errors: if both are about an unknown family, to one that lists the families of both; otherwise returns
/// the first.
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
