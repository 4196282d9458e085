//! Conversions shown on the emulator, and as code that an assembler takes.

use tilewright::kernel::{self, Module};
use tilewright::layout::{Dim, FamilyError, LinearLayout};
use tilewright::lower::conversion_kernel;
use tilewright::movement::{self, Means, MovementError, Plan};
use tilewright::pipeline::prove_conversion;
use tilewright::vendor::{Artifact, CompileError, CompileOptions, Emit};

use super::Conversion;
use crate::{Context, Level, Verdict};

/// Runs every plan that the planner weighs: each register of each lane must hold what the
/// destination layout says, and what is executed must be what the plan counts, never below the
/// plan's bound.
pub fn emulated(context: &Context, conversion: &Conversion) -> Verdict {
    let (src, dst) = match conversion.layouts(context) {
        Ok(layouts) => layouts,
        Err(error) => return unresolved(&error),
    };
    let bits = conversion.setting.element.bits();
    let means = means(context);
    let plans = match movement::candidates(&src, &dst, bits, means) {
        Ok((plans, rejected)) if plans.is_empty() => {
            let reasons: Vec<_> = rejected.iter().map(|way| format!("{}: {}", way.path, way.reason)).collect();
            return Verdict::unsupported(reasons.join("; "));
        }
        Ok((plans, _)) => plans,
        Err(error) => return Verdict::fail(Level::Layout, error.to_string()),
    };
    for plan in &plans {
        if let Err(wrong) = prove_conversion(&src, &dst, bits, plan, means) {
            return Verdict::fail(Level::Emulated, format!("path {}: {wrong}", plan.path));
        }
    }
    let best = plans.iter().min_by(|a, b| a.compare(b));
    match best.and_then(above_bound) {
        None => Verdict::pass(Level::Emulated),
        Some(reason) => Verdict::quality(Level::Emulated, reason),
    }
}

/// All that the target has.
fn means(context: &Context) -> Means<'_> {
    Means::of(context.target().description()).with_instructions(context.target().instructions())
}

/// What a sample without a layout means: a family may have tensors that are too small for it, and
/// says which.
fn unresolved(error: &FamilyError) -> Verdict {
    match error {
        FamilyError::Shape { .. } => Verdict::unsupported(error.to_string()),
        _ => Verdict::fail(Level::Layout, error.to_string()),
    }
}

fn above_bound(plan: &Plan) -> Option<String> {
    plan.above_bound.as_ref().map(|reason| format!("path {}: {reason}", plan.path))
}

/// Compiles the best plan's kernel twice: the target must give code, of the launch that was
/// asked for, the same both times. The level says whether a tool of the vendor's took it.
pub fn compiled(context: &Context, conversion: &Conversion) -> Verdict {
    let module = match module(context, conversion) {
        Ok(module) => module,
        Err(verdict) => return verdict,
    };
    let options = CompileOptions { emit: vec![Emit::Assembly, Emit::Object], ..CompileOptions::default() };
    let compile = || context.target().compile(&module, &options);
    let artifact = match compile() {
        Ok(artifact) => artifact,
        Err(CompileError::Unsupported(reason)) => return Verdict::unsupported(reason),
        Err(CompileError::Plugin(message)) => return Verdict::crash(message),
        Err(error) => return Verdict::fail(Level::Codegen, error.to_string()),
    };
    if let Err(wrong) = fits(&module, &artifact) {
        return Verdict::fail(Level::Codegen, wrong);
    }
    match compile() {
        Ok(again) if again == artifact => {}
        Ok(_) => return Verdict::fail(Level::Codegen, "compiling the module again gives other code"),
        Err(error) => return Verdict::fail(Level::Codegen, format!("compiling the module again: {error}")),
    }
    match artifact.taken_by {
        Some(tool) => Verdict::pass(Level::Codegen).with_detail(format!("taken by {tool}")),
        None => Verdict::pass(Level::Layout).with_detail("code was generated; no assembler is here to take it"),
    }
}

fn module(context: &Context, conversion: &Conversion) -> Result<Module, Verdict> {
    let failed = |message: String| Verdict::fail(Level::Layout, message);
    let (src, dst) = conversion.layouts(context).map_err(|error| unresolved(&error))?;
    let bits = conversion.setting.element.bits();
    fits_registers(context, &src, bits)?;
    fits_registers(context, &dst, bits)?;
    let plan = movement::convert(&src, &dst, bits, means(context)).map_err(|error| match error {
        MovementError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => failed(error.to_string()),
    })?;
    let kernel = conversion_kernel("convert", &src, &dst, bits, &plan).map_err(|error| failed(error.to_string()))?;
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module).map_err(|error| failed(error.to_string()))?;
    Ok(module)
}

/// Whether a lane can hold its part of the layout at all; what it cannot would go to memory, which is
/// no conversion that anyone would ask for.
fn fits_registers(context: &Context, layout: &LinearLayout, bits: u32) -> Result<(), Verdict> {
    let needed = (u64::from(bits) << layout.in_bits(Dim::REGISTER)).div_ceil(32);
    let limit = context.target().description().limits.registers_per_lane;
    if needed <= u64::from(limit) {
        return Ok(());
    }
    Err(Verdict::unsupported(format!("a lane would hold {needed} registers of 32 bits; it has {limit} at most")))
}

/// Whether the artifact is code for the module's kernel.
fn fits(module: &Module, artifact: &Artifact) -> Result<(), String> {
    let [kernel] = &module.kernels[..] else { return Err("one kernel was to be compiled".to_owned()) };
    let [metadata] = &artifact.kernels[..] else {
        return Err(format!("the artifact describes {} kernels, the module has one", artifact.kernels.len()));
    };
    let wanted = (&kernel.name, kernel.launch.lanes, kernel.launch.warps);
    if (&metadata.name, metadata.lanes, metadata.warps) != wanted {
        return Err(format!("the artifact describes {metadata:?}; asked for were {wanted:?}"));
    }
    if metadata.shared_bytes < kernel.shared_bytes() {
        let (has, needs) = (metadata.shared_bytes, kernel.shared_bytes());
        return Err(format!("the artifact has {has} bytes of shared memory, the kernel needs {needs}"));
    }
    let text = artifact.text(Emit::Assembly).ok_or("no assembly text was given")?;
    if !text.contains(&kernel.name) {
        return Err(format!("the assembly does not name the kernel `{}`", kernel.name));
    }
    match artifact.payload(Emit::Object) {
        Some(object) if !object.bytes.is_empty() => Ok(()),
        _ => Err("no object was given".to_owned()),
    }
}
