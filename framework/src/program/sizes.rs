//! Programs that leave tile sizes open: the performance model of synthesis chooses among the sizes that compile.

use std::fmt;

use super::chosen_sizes::ChosenTileSizes;
use super::compiler::{ProgramCompiler, ProgramOptions};
use super::config::{launch_config, plan_cache};
use super::error::ProgramError;
use tilewright_assign::synthesis::{
    SynthesisError, SynthesizedProgram, TileSizeSearchResult, TiledProgram, has_explicit_memory_ops, search_tile_sizes,
};
use tilewright_layout::FamilyProviders;
use tilewright_layout::families::NeutralFamilies;
use tilewright_tile::text::TileSizeTemplate;

/// Max number of size combinations of one program for which layouts are synthesized; further ones are not tried
/// ([`ChosenTileSizes::left_out`]).
const MOST: usize = 64;

/// The chosen tile sizes, and the program's text with these sizes.
pub(super) struct Sized {
    pub chosen: ChosenTileSizes,
    pub text: String,
    /// The program after synthesis with these sizes; `None` if only one combination of sizes was possible, which is not
    /// synthesized here.
    pub found: Option<SynthesizedProgram>,
}

impl ProgramCompiler<'_> {
    /// Chooses the tile sizes of a program's text; `None` if the text leaves no sizes open.
    pub(super) fn sized(&self, text: &str, options: &ProgramOptions) -> Result<Option<Sized>, ProgramError> {
        let Some(mut sized) = TileSizeTemplate::parse(text)? else {
            let Some((name, _)) = options.sizes.first() else { return Ok(None) };
            return Err(ProgramError::Sizes(format!("the program has no `tw.size {name} = ...`")));
        };
        for (name, size) in &options.sizes {
            let known: Vec<&str> = sized.parameters().iter().map(|parameter| &*parameter.name).collect();
            let unknown = ProgramError::Sizes(format!("there is no size `{name}`, there are {}", known.join(", ")));
            sized = sized.with_fixed_size(name, *size).ok_or(unknown)?;
        }
        let alone: Option<Vec<u64>> = sized
            .parameters()
            .iter()
            .map(|parameter| <[u64; 1]>::try_from(&*parameter.sizes).ok().map(|[s]| s))
            .collect();
        match alone {
            Some(sizes) => {
                let text = sized.substitute_sizes(&sizes).map_err(|error| ProgramError::Sizes(error.to_string()))?;
                let chosen = ChosenTileSizes { sizes: named(&sized, &sizes), ..ChosenTileSizes::default() };
                Ok(Some(Sized { chosen, text, found: None }))
            }
            None => self.searched(&sized, options).map(Some),
        }
    }

    fn searched(&self, sized: &TileSizeTemplate, options: &ProgramOptions) -> Result<Sized, ProgramError> {
        let families = FamilyProviders::new(vec![&NeutralFamilies, self.target.families()]);
        let mut refused: Vec<(Vec<u64>, String)> = Vec::new();
        let mut first = None;
        let mut make = |sizes: &[u64]| match self.program_with(sized, sizes, options) {
            Ok(program) => Some(program),
            Err(error) => {
                refused.push((sizes.to_vec(), error.to_string()));
                first.get_or_insert(error);
                None
            }
        };
        let parameters: Vec<&[u64]> = sized.parameters().iter().map(|parameter| &parameter.sizes[..]).collect();
        // The first combination of sizes gives the launch configuration: warps and lanes do not depend on the sizes.
        let begin: Vec<u64> = parameters.iter().map(|sizes| sizes[0]).collect();
        let module = make(&begin).map(|program| program.module);
        let plans = plan_cache(self.target);
        let config = launch_config(self.target, module.as_ref(), options, &families, &plans)?;
        let found = search_tile_sizes(&parameters, &mut make, &config, (options.synthesis(), MOST));
        refused.dedup();
        match found {
            Ok(TileSizeSearchResult { sizes, found, solved, unsatisfied, beyond_limit: left_out, predicted }) => {
                let text = sized.substitute_sizes(&sizes).map_err(|error| ProgramError::Sizes(error.to_string()))?;
                let unsatisfied = unsatisfied.into_iter().map(|(sizes, error)| (sizes, error.to_string())).collect();
                let sizes = named(sized, &sizes);
                let chosen = ChosenTileSizes { sizes, solved, unsatisfied, refused, left_out, predicted };
                Ok(Sized { chosen, text, found: Some(found) })
            }
            // If no combination of sizes gives a valid program, the error of the first combination is reported.
            Err(SynthesisError::NoSizes) => Err(first.unwrap_or(ProgramError::Synthesis(SynthesisError::NoSizes))),
            Err(error) => Err(ProgramError::Synthesis(error)),
        }
    }

    fn program_with(
        &self,
        sized: &TileSizeTemplate,
        sizes: &[u64],
        options: &ProgramOptions,
    ) -> Result<TiledProgram, ProgramError> {
        let wrong = |error: &dyn fmt::Display| ProgramError::Sizes(error.to_string());
        let text = sized.substitute_sizes(sizes).map_err(|error| wrong(&error))?;
        let blocks = sized.launch_blocks(sizes).map_err(|error| wrong(&error))?.filter(|blocks| *blocks > 0);
        let blocks = blocks.ok_or_else(|| {
            wrong(&"sizes are compared by the time of a launch: add its number of blocks as a line `tw.blocks ...`")
        })?;
        let module = self.neutral(&text, options, &mut |_| {})?;
        match has_explicit_memory_ops(&module) {
            true => Ok(TiledProgram { module, blocks }),
            false => {
                Err(wrong(&"sizes are chosen only for programs with explicit memory: pass one value for each size"))
            }
        }
    }
}

fn named(sized: &TileSizeTemplate, sizes: &[u64]) -> Vec<(String, u64)> {
    sized.parameters().iter().map(|parameter| parameter.name.clone()).zip(sizes.iter().copied()).collect()
}
