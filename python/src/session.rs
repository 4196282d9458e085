//! Sessions: the targets, JSON requests, pictures, and compilation of programs.

use std::path::PathBuf;
use std::sync::OnceLock;

use pyo3::prelude::*;
use tilewright::plugin::{CodeFormat, CompileOptions, PluginSearchPath, Registry};
use tilewright::target::{Optimization, OptimizationSet};
use tilewright::tile::{Dialects, ForeignOpReplacements, Strategy};
use tilewright::{CompilationStageOutput, LayoutRequest, ProgramCompiler, ProgramOptions};
use tilewright_kernel::Module;
use tilewright_picture::view::{self, LayoutDrawingOptions};
use tilewright_picture::{html, svg, terminal};

use crate::errors;
use crate::kernel::Kernel;

/// The targets, with the vendors' layout families and instruction tables. Code generators are plugins, which are opened
/// when code is requested.
#[pyclass(frozen, module = "tilewright._native")]
pub struct Session {
    session: tilewright::Session,
    dialects: Dialects,
    imports: ForeignOpReplacements,
    /// Paths of the manifests or libraries of the plugins that generate code.
    generators: Vec<PathBuf>,
    code: OnceLock<Result<tilewright::Session, String>>,
}

/// Returns the built-in targets together with those whose target files are in `directories`.
fn catalogue(directories: &[PathBuf]) -> Result<tilewright::target::TargetCatalogue, String> {
    let mut catalogue = tilewright_targets::read_default_catalogue().map_err(|error| error.to_string())?;
    for directory in directories {
        catalogue.add_directory(directory).map_err(|error| error.to_string())?;
    }
    Ok(catalogue)
}

#[pymethods]
impl Session {
    /// Opens a session. `generators` are manifests or libraries of plugins that generate code, `targets` are
    /// directories of target files.
    #[new]
    #[pyo3(signature = (generators = Vec::new(), targets = Vec::new()))]
    fn new(py: Python<'_>, generators: Vec<PathBuf>, targets: Vec<PathBuf>) -> PyResult<Self> {
        let mut registry = Registry::new();
        registry
            .discover(&PluginSearchPath::default_search())
            .map_err(|error| errors::input(py, &error.to_string()))?;
        let catalogue = catalogue(&targets).map_err(|error| errors::input(py, &error))?;
        Ok(Self {
            session: tilewright::Session::new(catalogue, registry),
            dialects: tilewright_dialects::all_dialects(),
            imports: tilewright_dialects::read_import_tables(),
            generators,
            code: OnceLock::new(),
        })
    }

    /// Answers one JSON request of `tilewright batch`.
    fn answer(&self, py: Python<'_>, request: &str) -> String {
        py.detach(|| tilewright_command::answer_request(&self.session, request.as_bytes()).to_string())
    }

    /// Returns the names of all targets.
    fn targets(&self) -> Vec<String> {
        self.session.catalogue().iter().map(|target| target.name.clone()).collect()
    }

    /// Returns the description of a target as JSON, as in its target file.
    fn target(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let description = self.session.catalogue().get(name).map_err(|error| errors::input(py, &error.to_string()))?;
        serde_json::to_string(description).map_err(|error| errors::input(py, &error.to_string()))
    }

    /// Compiles a tile program to kernel IR.
    #[pyo3(signature = (target, text, *, warps = None, lanes = None, stages = None, entry = None, strategy = None,
                        fp_fusion = None, keep_assembly = None, disable = None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn compile(
        &self,
        py: Python<'_>,
        target: &str,
        text: &str,
        warps: Option<u32>,
        lanes: Option<u32>,
        stages: Option<u32>,
        entry: Option<&str>,
        strategy: Option<&str>,
        fp_fusion: Option<bool>,
        keep_assembly: Option<bool>,
        disable: Option<Vec<String>>,
    ) -> PyResult<Kernel> {
        let strategy = match strategy {
            None | Some("least-cost") => Strategy::LeastCost,
            Some("propagation") => Strategy::Propagation,
            Some(other) => {
                let message = format!("strategy `{other}`: expected `least-cost` or `propagation`");
                return Err(errors::input(py, &message));
            }
        };
        let options = ProgramOptions::default().with_warps(warps).with_lanes(lanes).with_stages(stages);
        let options = options.with_strategy(strategy);
        let disabled = disable.unwrap_or_default().into_iter().map(|name| name.parse::<Optimization>());
        let disabled: Result<OptimizationSet, _> = disabled.collect();
        let disabled = disabled.map_err(|error| errors::input(py, &error.to_string()))?;
        let options = options.with_disabled(disabled).with_kept_assembly(keep_assembly == Some(true));
        let is_separate = fp_fusion == Some(false) || disabled.contains(Optimization::FusedMultiplyAdd);
        let options = options.with_separate_rounding(is_separate);
        let options = match entry {
            Some(entry) => options.with_entry(entry),
            None => options,
        };
        let served = py.detach(|| self.session.target(target)).map_err(|error| errors::pipeline(py, &error))?;
        let compiled = py.detach(|| {
            let compiler = ProgramCompiler { dialects: &self.dialects, imports: &self.imports, target: &*served };
            let (mut layouts, mut report) = (String::new(), String::new());
            let kernel = compiler.compile_kernel(text, &options, &mut |stage| {
                if let CompilationStageOutput::Layouts(assigned) = stage {
                    layouts = stage.to_string();
                    report = assigned.report.to_string();
                }
            });
            kernel.map(|kernel| Kernel::new(served, kernel, layouts, report).with_disabled(disabled))
        });
        compiled.map_err(|error| errors::program(py, &error))
    }

    /// Makes a kernel of the bytes of [`Kernel::encode`].
    fn decode(&self, py: Python<'_>, target: &str, kernel: &[u8]) -> PyResult<Kernel> {
        let module = tilewright_kernel::decode_module(kernel).map_err(|error| errors::input(py, &error.to_string()))?;
        let kernel = module.kernels.into_iter().next().ok_or_else(|| errors::input(py, "there is no kernel"))?;
        let served = py.detach(|| self.session.target(target)).map_err(|error| errors::pipeline(py, &error))?;
        Ok(Kernel::new(served, kernel, String::new(), String::new()))
    }

    /// Generates code of a kernel in one form: `llvm`, `asm` or `object`; returns the bytes and the file extension.
    fn generate(&self, py: Python<'_>, kernel: &Kernel, form: &str, optimisation: u8) -> PyResult<(Vec<u8>, String)> {
        let emit = match form {
            "llvm" => CodeFormat::Intermediate,
            "asm" => CodeFormat::Assembly,
            "object" => CodeFormat::Object,
            other => return Err(errors::input(py, &format!("form `{other}`: expected `llvm`, `asm` or `object`"))),
        };
        let generated = py.detach(|| {
            let module = Module { kernels: vec![kernel.kernel().clone()] };
            let code = self.code().map_err(|error| errors::Refused::Input(error.clone()))?;
            let options = CompileOptions { emit: vec![emit], optimisation, disabled: kernel.disabled() };
            code.compile(kernel.target_name(), &module, &options).map_err(errors::Refused::Pipeline)
        });
        let artifact = generated.map_err(|refused| refused.raise(py))?;
        let payload = artifact.payloads.into_iter().find(|payload| payload.form == emit);
        let missing = || errors::input(py, &format!("target {} has no form `{form}`", kernel.target_name()));
        payload.map(|payload| (payload.bytes, payload.format)).ok_or_else(missing)
    }

    /// Draws a layout as `svg`, `html` or `text`.
    #[pyo3(signature = (layout, shape, form, title, target = None))]
    fn picture(
        &self,
        py: Python<'_>,
        layout: &str,
        shape: Vec<u64>,
        form: &str,
        title: &str,
        target: Option<&str>,
    ) -> PyResult<String> {
        let wrong = |message: String| errors::input(py, &message);
        let request = LayoutRequest::from_text(layout).map_err(|error| wrong(error.to_string()))?;
        let layout =
            request.resolve_layout(&self.session, target, &shape).map_err(|error| errors::pipeline(py, &error))?;
        let picture = view::draw_layout(title, &layout, &LayoutDrawingOptions::default())
            .map_err(|error| wrong(error.to_string()))?;
        match form {
            "svg" => Ok(svg::render_svg(&picture)),
            "html" => Ok(html::render_html(&picture)),
            "text" => Ok(terminal::render_text(&picture, &terminal::TextRenderOptions::plain())),
            other => Err(wrong(format!("form `{other}`: expected `svg`, `html` or `text`"))),
        }
    }
}

impl Session {
    /// Returns the loaded code generators; the first call loads the plugins in `generators`. An error if none of them
    /// can be loaded.
    fn code(&self) -> Result<&tilewright::Session, &String> {
        let opened = self.code.get_or_init(|| {
            let mut registry = Registry::new();
            let mut rejected = Vec::new();
            for file in &self.generators {
                if let Err(error) = registry.load(file) {
                    rejected.push(error.to_string());
                }
            }
            // It is enough that one plugin can be loaded: another may lack something here, such as LLVM.
            if rejected.len() == self.generators.len() && !rejected.is_empty() {
                return Err(rejected.join("; "));
            }
            Ok(tilewright::Session::new(self.session.catalogue().clone(), registry))
        });
        opened.as_ref()
    }
}
