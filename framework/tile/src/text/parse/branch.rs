//! Parses branches.

use super::Parser;
use super::draft::Draft;
use crate::{Attribute, TileType};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    /// Parses a branch after its name: `^block(%a : type)`.
    pub(super) fn branch(&mut self, draft: &mut Draft) -> Parsed<()> {
        self.successor(draft, 0)?;
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)
    }

    /// Parses a conditional branch after its name: `%condition weights([1, 2]), ^then(...), ^otherwise(...)`.
    pub(super) fn conditional_branch(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.operands[0] = vec![self.used()?];
        draft.types.operands[0] = Some(vec![TileType::BOOLEAN]);
        if self.cursor.skip_if_next("weights") {
            self.cursor.expect("(")?;
            self.cursor.expect("[")?;
            let weights = self.list("]", |parser| parser.cursor.read_decimal("a weight"))?;
            self.cursor.expect(")")?;
            draft.attributes.set("branch_weights", Attribute::Array(TileType::integer(32), weights));
        }
        self.cursor.expect(",")?;
        self.successor(draft, 1)?;
        self.cursor.expect(",")?;
        self.successor(draft, 2)?;
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)
    }

    /// Parses a switch after its name: `%flag : type, [default: ^block(...), 2: ^block(...)]`.
    pub(super) fn switch_branch(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.operands[0] = vec![self.used()?];
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        draft.types.operands[0] = Some(vec![ty.clone()]);
        self.cursor.expect(",")?;
        self.cursor.expect("[")?;
        self.cursor.expect("default")?;
        self.cursor.expect(":")?;
        self.successor(draft, 1)?;
        let mut cases = Vec::new();
        while self.cursor.skip_if_next(",") {
            let literal = self.literal()?;
            cases.push(self.typed(literal, ty.clone())?);
            self.cursor.expect(":")?;
            self.successor(draft, 2)?;
        }
        self.cursor.expect("]")?;
        draft.attributes.set("case_values", Attribute::List(cases));
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)
    }

    /// Parses a successor, `^block` or `^block(%a, %b : type, type)`, and adds its block arguments to an operand group.
    fn successor(&mut self, draft: &mut Draft, group: usize) -> Parsed<()> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let name = self.block_name()?;
        let block = self.block(name, at);
        let mut count = 0;
        if self.cursor.skip_if_next("(") {
            let used = self.used_list()?;
            count = used.len();
            self.cursor.expect(":")?;
            let types = self.type_list()?;
            self.cursor.expect(")")?;
            draft.operands[group].extend(used);
            draft.types.operands[group].get_or_insert_default().extend(types);
        }
        draft.successors.push((block, count));
        Ok(())
    }
}
