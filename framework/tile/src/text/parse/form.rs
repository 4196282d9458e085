//! Parses operations whose text has a special form, which templates cannot express.

use super::Parser;
use super::draft::Draft;
use crate::op::OpSpecificFormatPiece;
use crate::{Attribute, TileType};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    pub(super) fn special(&mut self, draft: &mut Draft, special: OpSpecificFormatPiece) -> Parsed<()> {
        match special {
            OpSpecificFormatPiece::Token(operand, result) => self.token(draft, operand, result),
            OpSpecificFormatPiece::Barriers(barriers, predicates) => self.barriers(draft, barriers, predicates),
            OpSpecificFormatPiece::Bundles(group) => self.bundles(draft, group),
            OpSpecificFormatPiece::Constant => self.constant(draft),
            OpSpecificFormatPiece::Choice => self.choice(draft),
            OpSpecificFormatPiece::For => self.counted_loop(draft),
            OpSpecificFormatPiece::If => self.branches(draft),
            OpSpecificFormatPiece::While => self.conditional_loop(draft),
            OpSpecificFormatPiece::Switch => self.region_switch(draft),
            OpSpecificFormatPiece::Execute => self.execute(draft),
            OpSpecificFormatPiece::Branch => self.branch(draft),
            OpSpecificFormatPiece::ConditionalBranch => self.conditional_branch(draft),
            OpSpecificFormatPiece::SwitchBranch => self.switch_branch(draft),
            OpSpecificFormatPiece::WarpSpecialize => self.warp_specialize(draft),
            OpSpecificFormatPiece::WarpGroup => self.warp_group(draft),
        }
    }

    /// Parses an async token: `[%dependency]`, `[]`, or nothing.
    fn token(&mut self, draft: &mut Draft, operand: usize, result: usize) -> Parsed<()> {
        draft.types.results[result] = Some(Vec::new());
        if !self.cursor.skip_if_next("[") {
            return Ok(());
        }
        if !self.cursor.is_next("]") {
            draft.operands[operand] = vec![self.used()?];
        }
        draft.types.operands[operand] = Some(vec![TileType::Token; draft.operands[operand].len()]);
        draft.types.results[result] = Some(vec![TileType::Token]);
        self.cursor.expect("]")
    }

    /// Parses mbarriers with predicates: `, %barrier[%predicate]`, any number of times.
    fn barriers(&mut self, draft: &mut Draft, barriers: usize, predicates: usize) -> Parsed<()> {
        while self.cursor.skip_if_next(",") {
            draft.operands[barriers].push(self.used()?);
            self.cursor.expect("[")?;
            draft.operands[predicates].push(self.used()?);
            self.cursor.expect("]")?;
        }
        draft.types.operands[predicates] = Some(vec![TileType::BOOLEAN; draft.operands[predicates].len()]);
        Ok(())
    }

    /// Parses bundles of operands: `["tag"(%a, %b : i32, i32), ...]`, or nothing.
    fn bundles(&mut self, draft: &mut Draft, group: usize) -> Parsed<()> {
        draft.types.operands[group] = Some(Vec::new());
        if !self.cursor.skip_if_next("[") {
            return Ok(());
        }
        let bundles = self.list("]", |parser| {
            let tag = parser.cursor.read_quoted("the tag of a bundle")?;
            parser.cursor.expect("(")?;
            let used = parser.used_list()?;
            let types = if used.is_empty() { Vec::new() } else { parser.types_after_colon()? };
            parser.cursor.expect(")")?;
            Ok((tag, used, types))
        })?;
        let (mut tags, mut sizes) = (Vec::new(), Vec::new());
        for (tag, used, types) in bundles {
            tags.push(Attribute::Text(tag.into()));
            sizes.push(used.len() as u64);
            draft.operands[group].extend(used);
            draft.types.operands[group].get_or_insert_default().extend(types);
        }
        draft.attributes.set("op_bundle_sizes", Attribute::Array(TileType::integer(32), sizes));
        draft.attributes.set("op_bundle_tags", Attribute::List(tags));
        Ok(())
    }

    fn types_after_colon(&mut self) -> Parsed<Vec<TileType>> {
        self.cursor.expect(":")?;
        self.type_list()
    }

    /// Parses a constant after its name: `{...} value : type`.
    fn constant(&mut self, draft: &mut Draft) -> Parsed<()> {
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)?;
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let value = self.attribute()?;
        let ty = match value.value_type() {
            Some(ty) => ty,
            None if self.cursor.skip_if_next(":") => self.ty()?,
            None => {
                return Err(self.cursor.error_at(at, "expected a number, or `dense<...>` and the type of a tensor"));
            }
        };
        draft.attributes.set("value", value);
        draft.types.results[0] = Some(vec![ty]);
        Ok(())
    }

    /// Parses a select after its name: `%condition, %a, %b {...} : type`. If the condition is a tensor, its type comes
    /// before the type of the values.
    fn choice(&mut self, draft: &mut Draft) -> Parsed<()> {
        for group in 0..3 {
            if group > 0 {
                self.cursor.expect(",")?;
            }
            draft.operands[group] = vec![self.used()?];
        }
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)?;
        self.cursor.expect(":")?;
        let first = self.ty()?;
        let (condition, result) =
            if self.cursor.skip_if_next(",") { (first, self.ty()?) } else { (TileType::BOOLEAN, first) };
        draft.types.operands[0] = Some(vec![condition]);
        draft.types.results[0] = Some(vec![result]);
        Ok(())
    }

    /// Parses regions of warps after the name of the operation: `attributes {...} partition0 num_warps(4) {...}`.
    fn warp_group(&mut self, draft: &mut Draft) -> Parsed<()> {
        let given = self.attributes_after_keyword()?;
        self.add_attributes(draft, given)?;
        let mut warps = Vec::new();
        while self.cursor.skip_if_next(&format!("partition{}", warps.len())) {
            warps.push(self.warp_count()?);
            draft.regions.push(self.region(&[])?);
        }
        draft.attributes.set("numWarps", Attribute::Array(TileType::integer(32), warps));
        Ok(())
    }

    /// Parses the number of a partition's warps: `num_warps(4)`.
    fn warp_count(&mut self) -> Parsed<u64> {
        self.cursor.expect("num_warps")?;
        self.cursor.expect("(")?;
        let count = self.cursor.read_decimal("how many warps")?;
        self.cursor.expect(")")?;
        Ok(count)
    }

    /// Parses warp partitions after the name of the operation: `(%captures) attributes {...} default {...}
    /// partition0(%argument: type) num_warps(4) {...} : (types) -> types`.
    fn warp_specialize(&mut self, draft: &mut Draft) -> Parsed<()> {
        self.cursor.expect("(")?;
        draft.operands[0] = self.list(")", Self::used)?;
        let given = self.attributes_after_keyword()?;
        self.add_attributes(draft, given)?;
        self.cursor.expect("default")?;
        draft.regions.push(self.region(&[])?);
        let mut warps = Vec::new();
        while self.cursor.skip_if_next(&format!("partition{}", warps.len())) {
            self.cursor.expect("(")?;
            let arguments = self.list(")", |parser| {
                parser.cursor.skip_blanks();
                let at = parser.cursor.at;
                let name = parser.value_name()?;
                parser.cursor.expect(":")?;
                let ty = parser.ty()?;
                parser.location()?;
                Ok(((name, at), ty))
            })?;
            warps.push(self.warp_count()?);
            draft.regions.push(self.region(&arguments)?);
        }
        draft.attributes.set("partitionNumWarps", Attribute::Array(TileType::integer(32), warps));
        self.cursor.expect(":")?;
        let signature = self.signature()?;
        self.distribute_operands(draft, signature.arguments)?;
        self.distribute_results(draft, signature.results)
    }
}
