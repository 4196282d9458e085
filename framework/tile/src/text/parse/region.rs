//! Parses regions and blocks.

use super::Parser;
use crate::{Block, Region, TileType, Value};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    /// Parses a region in braces. Its first block has the given arguments, or those of its label.
    pub(super) fn region(&mut self, arguments: &[((&'a str, usize), TileType)]) -> Parsed<Region> {
        let region = self.body.add_region();
        self.scopes.enter(false);
        let entry = if arguments.is_empty() { None } else { Some(self.body.add_block()) };
        for ((name, at), ty) in arguments {
            if let Some(entry) = entry {
                let value = self.body.add_argument(entry, ty.clone());
                self.name_value(name, *at, value)?;
            }
        }
        self.blocks(region, entry)?;
        Ok(region)
    }

    /// Parses the blocks of a region, in braces, and leaves the region's scope of names, which the caller has entered.
    ///
    /// `entry` is the first block, if the caller has created it with its arguments.
    pub(super) fn blocks(&mut self, region: Region, entry: Option<Block>) -> Parsed<()> {
        self.nested(|parser| {
            parser.cursor.expect("{")?;
            let mut current = entry;
            if let Some(entry) = entry {
                parser.body.append_block(region, entry);
            }
            while !parser.cursor.skip_if_next("}") {
                if parser.cursor.peek() == Some('^') {
                    current = Some(parser.label(region)?);
                    continue;
                }
                let block = match current {
                    Some(block) => block,
                    None => {
                        let block = parser.body.add_block();
                        parser.body.append_block(region, block);
                        current = Some(block);
                        block
                    }
                };
                let op = parser.operation()?;
                parser.body.append_op(block, op);
            }
            parser.resolve_in_region(region)?;
            match parser.scopes.leave_region() {
                None => Ok(()),
                Some((name, known)) => Err(parser.cursor.error_at(known.at, format!("there is no block `^{name}`"))),
            }
        })
    }

    /// Parses the label of a block: `^name(%argument: type, ...):`.
    fn label(&mut self, region: Region) -> Parsed<Block> {
        let at = self.cursor.at;
        let name = self.block_name()?;
        let block = self.block(name, at);
        let defined = self
            .scopes
            .find_or_create_block(name, at, || block)
            .is_some_and(|known| std::mem::replace(&mut known.defined, true));
        if defined {
            return Err(self.cursor.error_at(at, format!("`^{name}` is defined twice")));
        }
        self.body.append_block(region, block);
        if self.cursor.skip_if_next("(") {
            self.list(")", |parser| {
                parser.cursor.skip_blanks();
                let at = parser.cursor.at;
                let name = parser.value_name()?;
                parser.cursor.expect(":")?;
                let ty = parser.ty()?;
                parser.location()?;
                let value = parser.body.add_argument(block, ty);
                parser.name_value(name, at, value)
            })?;
        }
        self.cursor.expect(":")?;
        Ok(block)
    }

    /// Parses the name of a block: `^name`.
    pub(super) fn block_name(&mut self) -> Parsed<&'a str> {
        self.cursor.expect("^")?;
        self.cursor.read_name_after_sigil("the name of a block")
    }

    /// The block with this name in the current region, which may be defined later.
    pub(super) fn block(&mut self, name: &'a str, at: usize) -> Block {
        let Self { body, scopes, .. } = self;
        match scopes.find_or_create_block(name, at, || body.add_block()) {
            Some(known) => known.block,
            None => body.add_block(),
        }
    }

    pub(super) fn name_value(&mut self, name: &'a str, at: usize, value: Value) -> Parsed<()> {
        self.body.set_name(value, name);
        match self.scopes.define_values(name, value, 1) {
            true => Ok(()),
            false => Err(self.cursor.error_at(at, format!("`%{name}` is defined twice"))),
        }
    }
}
