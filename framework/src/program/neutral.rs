//! Reads a program, and makes it one function of neutral operations.

use super::compiler::ProgramCompiler;
use super::error::ProgramError;
use super::stage::Stage;
use tilewright_tile::import::import;
use tilewright_tile::transform::{at_once, inline_calls, remove_unused, scaled_before, structure};
use tilewright_tile::{self as tile, TileModule};

impl ProgramCompiler<'_> {
    /// The program as one function of neutral words.
    pub(super) fn neutral(
        &self,
        text: &str,
        entry: Option<&str>,
        seen: &mut dyn FnMut(Stage<'_>),
    ) -> Result<TileModule, ProgramError> {
        let in_text = |violation: tile::TileViolation| ProgramError::Text(violation.in_text(text));
        let module = tile::text::parse(text, self.dialects)?;
        tile::verify(&module).map_err(in_text)?;
        seen(Stage::Read(&module));
        let module = import(&module, self.imports, self.dialects).map_err(in_text)?;
        seen(Stage::Import(&module));
        let module = at_once(&module, self.dialects).map_err(in_text)?;
        let module = scaled_before(&module, self.dialects).map_err(in_text)?;
        let module = structure(&module, self.dialects).map_err(in_text)?;
        let mut module = inline_calls(&module, self.dialects).map_err(in_text)?;
        keep(&mut module, entry)?;
        remove_unused(&mut module);
        tile::verify(&module).map_err(in_text)?;
        seen(Stage::Shape(&module));
        Ok(module)
    }
}

/// Leaves the entry alone.
fn keep(module: &mut TileModule, entry: Option<&str>) -> Result<(), ProgramError> {
    let names: Vec<_> = module.entries().map(|function| function.name.to_string()).collect();
    let listed = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let name = match (entry, &names[..]) {
        (Some(name), _) if names.iter().any(|known| known == name) => name.to_owned(),
        (Some(name), _) => {
            return Err(ProgramError::Entry(format!(
                "there is no function `{name}` to begin with; there are {}",
                listed()
            )));
        }
        (None, [name]) => name.clone(),
        (None, []) => return Err(ProgramError::Entry("there is no function to begin with".to_owned())),
        (None, _) => return Err(ProgramError::Entry(format!("name the function to begin with, one of {}", listed()))),
    };
    module.functions.retain(|function| *function.name == *name);
    Ok(())
}
