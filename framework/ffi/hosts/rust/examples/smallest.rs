//! The smallest host: two layouts, the plan of the conversion between them, and code for it.

use tilewright::plugin::{CodeFormat, CompileOptions};
use tilewright::{LayoutRequest, Session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::builder(tilewright_targets::read_default_catalogue()?).open()?;

    let target = "h100";
    let layout = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
        Ok(LayoutRequest::from_text(text)?.resolve_linear_layout(&session, Some(target), &[32, 32])?)
    };
    let rows = layout(
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    )?;
    let columns = layout(
        "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>",
    )?;

    let plan = session.plan_conversion(target, &rows, &columns, 32)?;
    let counts = &plan.stats.counts;
    println!("{} wavefronts stored, {} loaded", counts.wavefronts_stored, counts.wavefronts_loaded);

    let module = session.build_conversion_module(target, &rows, &columns, 32)?;
    let code = session.compile(
        target,
        &module,
        &CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() },
    )?;
    println!("{}", code.payload_text(CodeFormat::Assembly).ok_or("its assembly is not text")?);
    Ok(())
}
