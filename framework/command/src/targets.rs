//! `tilewright targets`: lists the targets and the plugins that serve them.

use std::io::Write;

use clap::Args;
use serde_json::json;

use crate::failure::CommandError;
use crate::text_table::new_table;
use crate::{GlobalOptions, input};

/// Options of `tilewright targets`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of target files, for editors.
    #[arg(long, conflicts_with = "json")]
    schema: bool,
}

/// Runs `tilewright targets`. Opens no plugin, since the plugins' manifests list the architectures.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    if options.schema {
        return Ok(std::io::stdout().lock().write_all(tilewright_targets::TARGET_FILE_JSON_SCHEMA.as_bytes())?);
    }
    let session = input::open_session(global)?;
    let mut table = new_table(["target", "device", "architecture", "lanes", "shared KiB", "plugin"], 0..0);
    let mut out = std::io::stdout().lock();
    for target in session.catalogue().iter() {
        let plugin = session.registry().find_server(&target.architecture).map(|plugin| plugin.name.clone());
        if options.json {
            let line = json!({
                "target": target.name, "product": target.gpu_model, "architecture": target.architecture,
                "lanes": target.lanes.choices, "shared_bytes": target.shared.bytes, "plugin": plugin,
            });
            writeln!(out, "{line}")?;
            continue;
        }
        let lanes: Vec<_> = target.lanes.choices.iter().map(u32::to_string).collect();
        table.add_row([
            target.name.clone(),
            target.gpu_model.clone(),
            target.architecture.clone(),
            lanes.join(", "),
            (target.shared.bytes / 1024).to_string(),
            plugin.unwrap_or_else(|| "none".to_owned()),
        ]);
    }
    if !options.json {
        writeln!(out, "{}", table.trim_fmt())?;
    }
    Ok(())
}
