//! Compiled code of tile programs and plans.

use std::ffi::{CString, c_char};

use tilewright::{CompilationStageOutput, ProgramCompiler, ProgramOptions};
use tilewright_assign::Strategy;
use tilewright_kernel::{Kernel, Module};
use tilewright_plugin::{Artifact, CodeFormat, CompileOptions};
use tilewright_target::{Optimization, OptimizationSet};

use crate::boundary::{borrowed, fill, guarded, out_pointer, read_text};
use crate::error::{Failure, TW_ERROR_OPTION, TW_ERROR_UNSUPPORTED, tw_error};
use crate::handle::{destroy, handle, text};
use crate::option::{number, read_options, tw_option, unknown, wrong};
use crate::plan::tw_plan;
use crate::session::tw_session;

/// The compiled code of a program or plan, in the requested forms.
pub struct tw_code {
    /// The target that the code was compiled for.
    pub(crate) target: String,
    /// The kernel IR of the code.
    pub(crate) kernel: Kernel,
    forms: Vec<Form>,
    kernels: Vec<(CString, tilewright_plugin::KernelMetadata)>,
}

/// One form of the code, such as assembly.
struct Form {
    name: CString,
    format: CString,
    /// The bytes of the code, followed by a zero byte.
    bytes: Vec<u8>,
}

impl Form {
    fn of(name: &str, format: &str, mut bytes: Vec<u8>) -> Self {
        bytes.push(0);
        Self { name: text(name), format: text(format), bytes }
    }
}

/// Launch metadata of a kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_kernel {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// The name of the kernel; lives as long as the code.
    pub name: *const c_char,
    /// Number of lanes of a warp that the kernel was compiled for.
    pub lanes: u32,
    /// Number of warps of a block.
    pub warps: u32,
    /// Number of blocks of a cluster; 1 if the kernel was compiled without clusters.
    pub blocks: u32,
    /// Number of parameters of the kernel; 0 if unknown.
    pub parameters: u32,
    /// Static shared memory of a block, in bytes.
    pub shared_bytes: u64,
}

/// The options of one compilation.
struct Requested {
    program: ProgramOptions,
    forms: Vec<String>,
    optimisation: u8,
}

const KEYS: &[&str] = &["entry", "warps", "lanes", "strategy", "stages", "emit", "optimisation", "disable"];

/// The names of the forms of code: those of the framework, then those of the target's compiler.
const FORMS: &[&str] = &["layouts", "plan", "kernel", "llvm", "asm", "object", "functions"];

impl Requested {
    fn read(options: &[(&str, &str)]) -> Result<Self, Failure> {
        let mut requested =
            Self { program: ProgramOptions::default().with_kept_assembly(true), forms: Vec::new(), optimisation: 2 };
        for &(key, value) in options {
            match key {
                "entry" => requested.program.entry = Some(value.to_owned()),
                "warps" => requested.program.warps = Some(power_of_two(key, value)?),
                "lanes" => requested.program.lanes = Some(power_of_two(key, value)?),
                "strategy" => requested.program.strategy = strategy(key, value)?,
                "stages" => match number(key, value)? {
                    stages @ 1..=64 => requested.program.stages = Some(stages),
                    _ => return Err(wrong(key, value, "1 to 64")),
                },
                "emit" => requested.forms.extend(forms(key, value)?),
                "optimisation" => match number(key, value)? {
                    level @ 0..=3 => requested.optimisation = level,
                    _ => return Err(wrong(key, value, "0 to 3")),
                },
                "disable" => requested.program.disabled = disabled(key, value)?,
                _ => return Err(unknown(key, KEYS)),
            }
        }
        if requested.forms.is_empty() {
            requested.forms.push("asm".to_owned());
        }
        Ok(requested)
    }

    fn wants(&self, form: &str) -> bool {
        self.forms.iter().any(|requested| requested == form)
    }

    /// Returns the requested forms that the target's compiler generates.
    fn emitted(&self) -> Vec<(&'static str, CodeFormat)> {
        let known = [
            ("llvm", CodeFormat::Intermediate),
            ("asm", CodeFormat::Assembly),
            ("object", CodeFormat::Object),
            ("functions", CodeFormat::Functions),
        ];
        known.into_iter().filter(|(name, _)| self.wants(name)).collect()
    }
}

fn power_of_two(key: &str, value: &str) -> Result<u32, Failure> {
    let count: u32 = number(key, value)?;
    if count.is_power_of_two() { Ok(count) } else { Err(wrong(key, value, "a power of two")) }
}

fn strategy(key: &str, value: &str) -> Result<Strategy, Failure> {
    match value {
        "least-cost" => Ok(Strategy::LeastCost),
        "propagation" => Ok(Strategy::Propagation),
        _ => Err(wrong(key, value, "`least-cost` or `propagation`")),
    }
}

fn disabled(key: &str, value: &str) -> Result<OptimizationSet, Failure> {
    let named = value.split(',').map(|name| name.trim().parse::<Optimization>());
    named.collect::<Result<_, _>>().map_err(|error| Failure::new(TW_ERROR_OPTION, format!("option `{key}`: {error}")))
}

fn forms(key: &str, value: &str) -> Result<Vec<String>, Failure> {
    let named = value.split(',').map(str::trim);
    let known = named.map(|form| match FORMS.contains(&form) {
        true => Ok(form.to_owned()),
        false => Err(wrong(key, form, &format!("one of {}", FORMS.join(", ")))),
    });
    known.collect()
}

/// Compiles a tile program, `length` bytes of Triton IR. Option keys: `emit` (forms separated by commas: `layouts`,
/// `plan`, `kernel`, `llvm`, `asm`, `object`, `functions`; default `asm`), `entry` (the function to launch; optional if
/// there is only one), `warps` of a block and `lanes` of a warp (unless the program states them), `strategy`
/// (`least-cost` or `propagation`), `stages` (of software-pipelined loops, 1 to 64), `optimisation` (0 to 3), `disable`
/// (optimizations separated by commas, as `tilewright optimizations` lists them). Available since 1.0.
///
/// # Safety
/// `session` is a handle, `target` a text, `program` points to `length` bytes, `options` to `count` options; `out` may
/// be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_compile(
    session: *const tw_session,
    target: *const c_char,
    program: *const c_char,
    length: usize,
    options: *const tw_option,
    count: usize,
    out: *mut *mut tw_code,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle and that `out` may be written.
        let (session, out) = unsafe { (borrowed("session", session)?, out_pointer(out)?) };
        // SAFETY: the caller promises that `options` points to `count` options.
        let requested = Requested::read(&unsafe { read_options(options, count) }?)?;
        // SAFETY: the caller promises that `target` is a C string.
        let target = unsafe { read_text("target", target) }?;
        // SAFETY: the caller promises that `program` points to `length` bytes.
        let bytes = unsafe { crate::boundary::read_array("program", program.cast::<u8>(), length) }?;
        let program = std::str::from_utf8(bytes)
            .map_err(|error| Failure::argument(format!("`program` is not UTF-8: {error}")))?;
        *out = handle(session.heard(|| compiled(session, target, program, &requested))?);
        Ok(())
    })
}

fn compiled(session: &tw_session, target: &str, program: &str, requested: &Requested) -> Result<tw_code, Failure> {
    let served = session.session.target(target)?;
    let compiler = ProgramCompiler { dialects: &session.dialects, imports: &session.imports, target: &*served };
    let mut shown = Vec::new();
    let options = requested.program.clone().with_static_memory(requested.wants("functions"));
    let kernel = compiler.compile_kernel(program, &options, &mut |stage| {
        if let CompilationStageOutput::Layouts(assigned) = stage {
            if requested.wants("layouts") {
                shown.push(Form::of("layouts", "ttgir", stage.to_string().into_bytes()));
            }
            if requested.wants("plan") {
                shown.push(Form::of("plan", "txt", assigned.report.to_string().into_bytes()));
            }
        }
    })?;
    code(session, target, kernel, requested, shown)
}

/// Compiles a plan's kernel. Options are those of `tw_compile`; `entry`, `warps`, `lanes` and `strategy` have no
/// effect. Available since 1.0.
///
/// # Safety
/// `session` and `plan` are handles, `options` points to `count` options; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_compile_plan(
    session: *const tw_session,
    plan: *const tw_plan,
    options: *const tw_option,
    count: usize,
    out: *mut *mut tw_code,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` and `plan` are handles and that `out` may be written.
        let (session, plan, out) =
            unsafe { (borrowed("session", session)?, borrowed("plan", plan)?, out_pointer(out)?) };
        // SAFETY: the caller promises that `options` points to `count` options.
        let requested = Requested::read(&unsafe { read_options(options, count) }?)?;
        let code = session.heard(|| code(session, &plan.target, plan.kernel.clone(), &requested, Vec::new()))?;
        *out = handle(code);
        Ok(())
    })
}

/// Produces the requested forms of a kernel, its IR and those that the target's compiler generates, and appends them to
/// `forms`, the forms that exist already.
fn code(
    session: &tw_session,
    target: &str,
    kernel: Kernel,
    requested: &Requested,
    mut forms: Vec<Form>,
) -> Result<tw_code, Failure> {
    let module = Module { kernels: vec![kernel.clone()] };
    if requested.wants("kernel") {
        forms.push(Form::of("kernel", "tw", module.to_string().into_bytes()));
    }
    let emitted = requested.emitted();
    let options = CompileOptions {
        emit: emitted.iter().map(|&(_, form)| form).collect(),
        optimisation: requested.optimisation,
        disabled: requested.program.disabled,
    };
    let artifact = session.session.compile(target, &module, &options)?;
    for (name, form) in emitted {
        let payload = artifact.payload(form).ok_or_else(|| {
            Failure::new(TW_ERROR_UNSUPPORTED, format!("target {target} cannot emit the form `{name}`"))
        })?;
        forms.push(Form::of(name, &payload.format, payload.bytes.clone()));
    }
    let Artifact { kernels, .. } = artifact;
    let kernels = kernels.into_iter().map(|kernel| (text(kernel.name.clone()), kernel)).collect();
    Ok(tw_code { target: target.to_owned(), kernel, forms, kernels })
}

/// Returns the name of the form of code at `index`, in emission order; null past the last. Available since 1.0.
///
/// # Safety
/// `code` is null, or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_code_form_name(code: *const tw_code, index: usize) -> *const c_char {
    // SAFETY: the caller promises that `code` is null or a handle.
    let form = unsafe { code.as_ref() }.and_then(|code| code.forms.get(index));
    form.map_or(std::ptr::null(), |form| form.name.as_ptr())
}

/// Returns the bytes of a form of code, which live as long as the code and are followed by a zero byte. `size` and
/// `format` may be null; `format` receives the usual file extension (`ptx`, `s`, `hsaco`, `spv`, ...). Available since
/// 1.0.
///
/// # Safety
/// `code` is a handle, `form` a text; `data` may be written, and so may `size` and `format` unless they are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_code_bytes(
    code: *const tw_code,
    form: *const c_char,
    data: *mut *const c_char,
    size: *mut usize,
    format: *mut *const c_char,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `code` is a handle and `form` a C string.
        let (code, requested) = unsafe { (borrowed("code", code)?, read_text("form", form)?) };
        let found = code.forms.iter().find(|form| form.name.to_bytes() == requested.as_bytes());
        let Some(form) = found else {
            let there: Vec<_> = code.forms.iter().map(|form| form.name.to_string_lossy()).collect();
            return Err(Failure::argument(format!("the code has no form `{requested}`; it has {}", there.join(", "))));
        };
        if data.is_null() {
            return Err(Failure::argument("`data` is null; pass the address of a pointer"));
        }
        // SAFETY: `data` is not null; the caller promises that it may be written, and `size` and `format` if they are
        // not null.
        unsafe {
            data.write(form.bytes.as_ptr().cast());
            if let Some(size) = size.as_mut() {
                *size = form.bytes.len() - 1;
            }
            if let Some(format) = format.as_mut() {
                *format = form.format.as_ptr();
            }
        }
        Ok(())
    })
}

/// Returns the number of kernels in the code. Zero for null. Available since 1.0.
///
/// # Safety
/// `code` is null, or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_code_kernel_count(code: *const tw_code) -> usize {
    // SAFETY: the caller promises that `code` is null or a handle.
    unsafe { code.as_ref() }.map_or(0, |code| code.kernels.len())
}

/// Returns launch metadata of the kernel at `index`. Available since 1.0.
///
/// # Safety
/// `code` is a handle; `out` points to a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_code_kernel(code: *const tw_code, index: usize, out: *mut tw_kernel) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `code` is a handle.
        let kernels = &unsafe { borrowed("code", code) }?.kernels;
        let Some((name, kernel)) = kernels.get(index) else {
            return Err(Failure::argument(format!("there is no kernel {index}; there are {}", kernels.len())));
        };
        let parameters = kernel.parameters.as_ref().map_or(0, Vec::len);
        let known = tw_kernel {
            struct_size: size_of::<tw_kernel>(),
            name: name.as_ptr(),
            lanes: kernel.lanes,
            warps: kernel.warps,
            blocks: kernel.blocks,
            parameters: u32::try_from(parameters).unwrap_or(u32::MAX),
            shared_bytes: kernel.shared_bytes,
        };
        // SAFETY: the caller promises that `out` points to a struct that begins with its size.
        unsafe { fill("out", &known, out) }
    })
}

/// Frees compiled code. Available since 1.0.
///
/// # Safety
/// `code` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_code_destroy(code: *mut tw_code) {
    // SAFETY: the caller promises that `code` is null or a handle that nothing else uses.
    unsafe { destroy(code) }
}
