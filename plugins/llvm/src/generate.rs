//! Compiles a kernel-IR module with LLVM: translation, verification, optimization, and output as text or objects.

use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module as LlvmModule;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use tilewright_kernel::Module;
use tilewright_plugin::CompileError;

use crate::bit_reversal;
use crate::bytes;
use crate::ffi::Session;
use crate::predicates;
use crate::translate::{Role, translate};
use crate::{LlvmTarget, TargetDialect};

/// The kinds of output that a compilation can produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LlvmOutputKind {
    /// Optimized LLVM IR as text.
    Intermediate,
    /// Assembly as text, in the syntax of LLVM's target.
    Assembly,
    /// A relocatable object, to be linked to a code object.
    Object,
    /// Optimized LLVM bitcode with kernels as plain functions, to link into other modules.
    Functions,
}

/// The outputs of a compilation; a field is `None` if its form was not requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneratedCode {
    /// Optimized LLVM IR as text.
    pub intermediate: Option<String>,
    /// Assembly as text, in the syntax of LLVM's target.
    pub assembly: Option<Vec<u8>>,
    /// A relocatable object, to be linked to a code object.
    pub object: Option<Vec<u8>>,
    /// LLVM bitcode with a plain function for each kernel.
    pub functions: Option<Vec<u8>>,
}

/// Compiles all kernels of a module to the requested forms. `optimisation` is LLVM's level, from 0 to 3.
///
/// # Errors
/// [`CompileError::Invalid`] if the module breaks a rule of the kernel IR, [`CompileError::Unsupported`] if the target
/// lacks an operation, [`CompileError::Option`] for an unknown level, [`CompileError::Backend`] if LLVM reports an
/// error.
pub fn compile_module(
    dialect: &dyn TargetDialect,
    source: &Module,
    optimisation: u8,
    forms: &[LlvmOutputKind],
) -> Result<GeneratedCode, CompileError> {
    let level = level(optimisation)?;
    let names = dialect.llvm_target();
    let machine = target_machine(&names, level)?;
    let session = Session::new();
    let optimised = |role| {
        let module = translated(&session, dialect, &names, &machine, source, role)?;
        let passed = module.run_passes(&format!("default<O{optimisation}>"), &machine, PassBuilderOptions::create());
        passed.map_err(|error| CompileError::Backend(format!("optimisation: {error}")))?;
        bit_reversal::widen(&module)?;
        if dialect.splits_vectors() {
            predicates::split(&module)?;
            bytes::split_conversions(&module)?;
        }
        check(&session, &module, "after optimisation")?;
        Ok::<_, CompileError>(module)
    };
    let mut code = GeneratedCode::default();
    if forms.contains(&LlvmOutputKind::Functions) {
        code.functions = Some(optimised(Role::Function)?.write_bitcode_to_memory().as_slice().to_vec());
    }
    if forms.iter().all(|form| *form == LlvmOutputKind::Functions) && !forms.is_empty() {
        return Ok(code);
    }
    let module = optimised(Role::Kernel)?;
    if forms.contains(&LlvmOutputKind::Intermediate) {
        code.intermediate = Some(module.print_to_string().to_string());
    }
    if forms.contains(&LlvmOutputKind::Assembly) {
        code.assembly = Some(write(&session, &machine, &module, FileType::Assembly)?);
    }
    if forms.contains(&LlvmOutputKind::Object) {
        code.object = Some(write(&session, &machine, &module, FileType::Object)?);
    }
    Ok(code)
}

fn level(optimisation: u8) -> Result<OptimizationLevel, CompileError> {
    match optimisation {
        0 => Ok(OptimizationLevel::None),
        1 => Ok(OptimizationLevel::Less),
        2 => Ok(OptimizationLevel::Default),
        3 => Ok(OptimizationLevel::Aggressive),
        other => Err(CompileError::Option {
            option: "optimisation".to_owned(),
            message: format!("{other}; levels are 0 to 3"),
        }),
    }
}

/// Initializes LLVM's target registry for NVPTX and AMDGPU, once in a process.
fn register_targets() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let config = InitializationConfig { disassembler: false, ..InitializationConfig::default() };
        Target::initialize_nvptx(&config);
        Target::initialize_amd_gpu(&config);
    });
}

fn target_machine(names: &LlvmTarget, level: OptimizationLevel) -> Result<TargetMachine, CompileError> {
    register_targets();
    let triple = TargetTriple::create(&names.triple);
    let target = Target::from_triple(&triple)
        .map_err(|error| CompileError::Backend(format!("this LLVM has no target `{}`: {error}", names.triple)))?;
    let (relocation, model) = (RelocMode::Default, CodeModel::Default);
    let machine = target.create_target_machine(&triple, &names.cpu, &names.features, level, relocation, model);
    machine.ok_or_else(|| CompileError::Backend(format!("LLVM creates no target machine for `{}`", names.triple)))
}

fn translated<'ctx>(
    session: &'ctx Session,
    dialect: &dyn TargetDialect,
    names: &LlvmTarget,
    machine: &TargetMachine,
    source: &Module,
    role: Role,
) -> Result<LlvmModule<'ctx>, CompileError> {
    let context: &'ctx Context = session.context();
    let module = context.create_module("tilewright");
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    translate(context, &module, dialect, names, source, role)?;
    check(session, &module, "after translation")?;
    Ok(module)
}

/// Returns an error unless LLVM's verifier accepts the module and LLVM has reported no error. `when` describes the
/// compilation step in the error message.
fn check(session: &Session, module: &LlvmModule<'_>, when: &str) -> Result<(), CompileError> {
    let verified = module.verify();
    reported(session, when)?;
    verified.map_err(|error| CompileError::Backend(format!("LLVM's verifier {when}: {error}")))
}

fn reported(session: &Session, when: &str) -> Result<(), CompileError> {
    let errors = session.take_errors();
    if errors.is_empty() { Ok(()) } else { Err(CompileError::Backend(format!("{when}: {}", errors.join("; ")))) }
}

fn write(
    session: &Session,
    machine: &TargetMachine,
    module: &LlvmModule<'_>,
    form: FileType,
) -> Result<Vec<u8>, CompileError> {
    // Code generation changes the module, so each form is generated from a copy.
    let module = module.clone();
    let written = machine.write_to_memory_buffer(&module, form);
    reported(session, "code generation")?;
    let buffer = written.map_err(|error| CompileError::Backend(format!("code generation: {error}")))?;
    Ok(buffer.as_slice().to_vec())
}
