//! Values that are used before the text defines them: where a region has several blocks, one that every way passes
//! first may stand behind.
//!
//! Until the name is defined a value of no body stands in. When the function has been read, the values take the places of those that
//! stood in for them, and blocks are put in an order in which values are defined before they are used.

use super::Parser;
use super::draft::Used;
use super::late::ForwardReference;
use crate::{Op, Region, order};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    /// The use of a name that is not defined yet, where blocks may follow that define it.
    pub(super) fn late_use(&mut self, name: &'a str, place: Option<u32>, at: usize) -> Option<Used> {
        if !self.scopes.has_blocks() {
            return None;
        }
        let late = ForwardReference { name, place, stand_in: self.late.stand_in(), at };
        self.scopes.add_late(late);
        Some(Used { value: late.stand_in, at })
    }

    /// Finds the values of late uses within a region that has been read; those that it does not define are left to the region
    /// around it.
    pub(super) fn find_late(&mut self, region: Region) -> Parsed<()> {
        for late in self.scopes.take_late() {
            match self.scopes.value(late.name) {
                Some(named) => {
                    let value = self.chosen(late.name, late.place, late.at, named)?;
                    self.late.known.insert(late.stand_in, value);
                    self.late.regions.insert(region);
                }
                None if self.scopes.hand_on(late) => {}
                None => return Err(self.undefined(late.name, late.at)),
            }
        }
        Ok(())
    }

    /// Puts values in the places of those that stood in for them, when the function has been read.
    pub(super) fn settle_late(&mut self) -> Parsed<()> {
        let late = std::mem::take(&mut self.late);
        if late.known.is_empty() {
            return Ok(());
        }
        for number in 0..self.body.op_count() as u32 {
            for operand in &mut self.body.op_mut(Op(number)).operands {
                *operand = late.known.get(operand).copied().unwrap_or(*operand);
            }
        }
        for (used, ty) in late.types {
            let value = late.known.get(&used.value).copied().unwrap_or(used.value);
            self.check_type(Used { value, at: used.at }, &ty)?;
        }
        for region in late.regions {
            self.body.reorder_blocks(region, order::all(&self.body, region));
        }
        Ok(())
    }
}
