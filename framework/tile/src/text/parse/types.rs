//! Parses types.

use std::sync::Arc;

use super::Parser;
use crate::op::OperandTypeConstraint;
use crate::types::{
    AddressSpace, FloatType, FunctionType, LayoutAttribute, MemDescType, PointerType, Signedness, TensorDescriptorType,
    TensorType, TensorViewType, TileType,
};
use tilewright_layout::text::{Cursor, Parsed};

/// Maximum number of axes of a tensor type; more are a syntax error.
const MAX_RANK: usize = 64;

impl<'a> Parser<'a> {
    pub(super) fn ty(&mut self) -> Parsed<TileType> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Parsed<TileType> {
        let start = {
            self.cursor.skip_blanks();
            self.cursor.at
        };
        match self.cursor.peek() {
            Some('(') => return Ok(TileType::Function(Arc::new(self.signature()?))),
            Some('!') => {
                self.cursor.at += 1;
                return self.named_type(start);
            }
            _ => {}
        }
        let word = self.cursor.expect_word("a type")?;
        if word == "tensor" {
            self.cursor.skip_blanks();
            return self.tensor(start);
        }
        if let Some(ty) = scalar(word) {
            return Ok(ty);
        }
        if matches!(word, "vector" | "tuple" | "memref" | "complex") && self.cursor.is_next("<") {
            let body = self.cursor.read_balanced("<")?;
            return Ok(TileType::Foreign(format!("{word}{body}").into()));
        }
        if OTHER_TYPES.contains(&word) {
            return Ok(TileType::Foreign(word.into()));
        }
        Err(self.cursor.error_at(start, format!("expected a type, found `{word}`")))
    }

    /// Parses a type of the set `class`; the text may omit the type constructor (the word before `<`).
    pub(super) fn type_of_class(&mut self, class: OperandTypeConstraint) -> Parsed<TileType> {
        match class.constructor() {
            Some(constructor) if self.cursor.is_next("<") => self.nested(|parser| parser.constructed(constructor)),
            _ => self.ty(),
        }
    }

    /// Parses a type after the `!` at byte `start`.
    fn named_type(&mut self, start: usize) -> Parsed<TileType> {
        let name = self.cursor.read_name_after_sigil("the name of a type")?;
        if name.contains('.') {
            return self.dialect_type(name, start);
        }
        if self.cursor.rest().starts_with('<') {
            // The verbose form: `!dialect<name<...>>`.
            self.cursor.at += 1;
            let inner = self.cursor.expect_word("the name of a type")?;
            let ty = self.dialect_type(&format!("{name}.{inner}"), start)?;
            self.cursor.expect(">")?;
            return Ok(ty);
        }
        match self.type_names.get(name) {
            Some(ty) => Ok(ty.clone()),
            None => Err(self.cursor.error_at(start, format!("`!{name}` is not defined before"))),
        }
    }

    /// Parses a type after its name `dialect.name`; its parameters follow without a blank.
    fn dialect_type(&mut self, name: &str, start: usize) -> Parsed<TileType> {
        self.check_dialect(name, start)?;
        let parameters = self.cursor.rest().starts_with('<');
        match name {
            "ttg.async.token" => Ok(TileType::Token),
            "tt.ptr" | "ttg.memdesc" | "tt.tensordesc" | "tw.view" if !parameters => {
                Err(self.cursor.error_at(self.cursor.at, format!("expected `<` directly behind `!{name}`")))
            }
            "tt.ptr" | "ttg.memdesc" | "tt.tensordesc" => self.constructed(&format!("!{name}")),
            "tw.view" => self.view(),
            _ if name.starts_with("tt.") || name.starts_with("ttg.") => {
                let known = "`!tt.ptr`, `!tt.tensordesc`, `!ttg.memdesc` or `!ttg.async.token`";
                Err(self.cursor.error_at(start, format!("`!{name}` is no type: expected {known}")))
            }
            _ => {
                let body = if parameters { self.cursor.read_balanced("<")? } else { "" };
                let body = self.expanded(body, start)?;
                Ok(TileType::Foreign(format!("!{name}{body}").into()))
            }
        }
    }

    /// Parses a type after its constructor: `<...>`.
    fn constructed(&mut self, constructor: &str) -> Parsed<TileType> {
        self.cursor.expect("<")?;
        let ty = match constructor {
            "!tt.ptr" => self.pointer(),
            "!ttg.memdesc" => self.memory(),
            _ => self.descriptor(),
        }?;
        self.cursor.expect(">")?;
        Ok(ty)
    }

    fn pointer(&mut self) -> Parsed<TileType> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let pointee = self.ty()?;
        if !matches!(pointee, TileType::Integer(..) | TileType::Float(_)) {
            return Err(self
                .cursor
                .error_at(at, format!("a pointer to `{pointee}`: expected an integer or float type")));
        }
        let mut space = AddressSpace::default();
        if self.cursor.skip_if_next(",") {
            let mut spaces = AddressSpace::ALL.iter().copied();
            let given = spaces.find(|space| self.cursor.skip_if_next(&format!("\"{}\"", space.name())));
            let expected = || {
                self.cursor.expected_token_error("an address space, `\"global\"`, `\"constant\"` or `\"descriptor\"`")
            };
            space = given.ok_or_else(expected)?;
        }
        Ok(TileType::Pointer(Arc::new(PointerType { pointee, space })))
    }

    pub(super) fn tensor(&mut self, start: usize) -> Parsed<TileType> {
        let open = self.cursor.at;
        self.cursor.read_balanced("<")?;
        let type_text = &self.cursor.text()[start..self.cursor.at];
        if let Some(known) = self.tensors.get(type_text) {
            return Ok(known.clone());
        }
        // Parse the contents of the brackets, which end at `end`.
        let end = self.cursor.at;
        self.cursor.at = open + 1;
        let shape = self.sizes()?;
        let element = self.ty()?;
        let layout = if self.cursor.skip_if_next(",") { Some(self.layout()?) } else { None };
        self.cursor.expect(">")?;
        if self.cursor.at != end {
            return Err(self.cursor.expected_token_error("the end of the tensor's type"));
        }
        let ty = TileType::Tensor(Arc::new(TensorType { shape, element, layout }));
        self.tensors.insert(type_text, ty.clone());
        Ok(ty)
    }

    /// Parses the sizes `4x8x` before an element type.
    fn sizes(&mut self) -> Parsed<Vec<u64>> {
        let mut shape = Vec::new();
        while let Some(c) = self.cursor.peek() {
            if c == '?' || c == '*' {
                let message = "sizes are known in tile programs: expected a number";
                return Err(self.cursor.error_at(self.cursor.at, message));
            }
            if !c.is_ascii_digit() {
                break;
            }
            shape.push(self.cursor.read_decimal("a size")?);
            if self.cursor.peek() != Some('x') {
                return Err(self.cursor.expected_token_error("`x` after a size"));
            }
            self.cursor.at += 1;
            if shape.len() > MAX_RANK {
                return Err(self.cursor.error_at(self.cursor.at, format!("more than {MAX_RANK} axes")));
            }
        }
        Ok(shape)
    }

    /// Parses a view type after its constructor: `<4x?xf32>`; `?` is a size that is only known at launch.
    fn view(&mut self) -> Parsed<TileType> {
        self.cursor.expect("<")?;
        let mut shape = Vec::new();
        while let Some(c) = self.cursor.peek() {
            let size = match c {
                '?' => {
                    self.cursor.at += 1;
                    None
                }
                c if c.is_ascii_digit() => Some(self.cursor.read_decimal("a size")?),
                _ => break,
            };
            if !self.cursor.rest().starts_with('x') {
                return Err(self.cursor.expected_token_error("`x` after a size"));
            }
            self.cursor.at += 1;
            shape.push(size);
            if shape.len() > MAX_RANK {
                return Err(self.cursor.error_at(self.cursor.at, format!("more than {MAX_RANK} axes")));
            }
        }
        let element = self.ty()?;
        self.cursor.expect(">")?;
        Ok(TileType::View(Arc::new(TensorViewType { shape, element })))
    }

    fn memory(&mut self) -> Parsed<TileType> {
        let shape = self.sizes()?;
        let element = self.ty()?;
        self.cursor.expect(",")?;
        let layout = self.layout()?;
        self.cursor.expect(",")?;
        let space = self.layout()?;
        let (mut mutable, mut allocation) = (false, None);
        while self.cursor.skip_if_next(",") {
            if self.cursor.skip_if_next("mutable") {
                mutable = true;
            } else {
                allocation = Some(self.allocation()?);
            }
        }
        // An allocation of the tensor's own shape is the default, and is left out.
        let allocation = allocation.filter(|allocation| *allocation != shape);
        Ok(TileType::Memory(Arc::new(MemDescType { shape, element, layout, space, mutable, allocation })))
    }

    /// Parses the shape of an allocation: `4x8`, without a type after it.
    fn allocation(&mut self) -> Parsed<Vec<u64>> {
        let mut shape = vec![self.cursor.read_decimal("`mutable` or the shape of the allocation")?];
        while self.cursor.peek() == Some('x') {
            self.cursor.at += 1;
            shape.push(self.cursor.read_decimal("a size")?);
        }
        Ok(shape)
    }

    /// Parses the block type of a tensor descriptor: `4x8xf32`.
    fn descriptor(&mut self) -> Parsed<TileType> {
        if self.cursor.is_next("tensor") {
            return Err(self
                .cursor
                .expected_token_error("the block's shape and element type without `tensor`: `64x64xf16`"));
        }
        let shape = self.sizes()?;
        let element = self.ty()?;
        let layout = if self.cursor.skip_if_next(",") { Some(self.layout()?) } else { None };
        Ok(TileType::Descriptor(Arc::new(TensorDescriptorType { shape, element, layout })))
    }

    /// Parses the name of a layout.
    pub(super) fn layout(&mut self) -> Parsed<LayoutAttribute> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let (mut spec, end) = self.layouts.read_layout(self.cursor.text(), start)?;
        self.dialects.remove_layout_defaults(&mut spec);
        self.cursor.at = end;
        let text = self.expanded(&self.cursor.text()[start..end], start)?;
        Ok(LayoutAttribute::new(spec, text))
    }

    /// Parses a function type: `(types) -> types`.
    pub(super) fn signature(&mut self) -> Parsed<FunctionType> {
        self.cursor.expect("(")?;
        let arguments = self.list(")", Self::ty)?;
        self.cursor.expect("->")?;
        Ok(FunctionType { arguments, results: self.result_types()? })
    }

    /// Parses one type, or several in brackets.
    pub(super) fn result_types(&mut self) -> Parsed<Vec<TileType>> {
        if !self.cursor.skip_if_next("(") {
            return Ok(vec![self.ty()?]);
        }
        self.list(")", Self::ty)
    }

    /// Checks that the dialect in the name `dialect.name` of a type or attribute exists.
    fn check_dialect(&self, name: &str, at: usize) -> Parsed<()> {
        let dialect = name.split('.').next().unwrap_or(name);
        if self.dialects.has_dialect(dialect) {
            return Ok(());
        }
        let nearest = self.dialects.similar_dialect_name(dialect).map(|near| format!("; did you mean `{near}`?"));
        let message = format!("there is no dialect `{dialect}`{}", nearest.unwrap_or_default());
        Err(self.cursor.error_at(at, message))
    }

    /// Replaces aliases in the text of an attribute, and comments and multiple blanks by one blank.
    pub(super) fn expanded(&self, text: &str, at: usize) -> Parsed<String> {
        let mut out = String::with_capacity(text.len());
        let mut cursor = Cursor::with_comments(text, "//");
        while cursor.at < text.len() {
            let start = cursor.at;
            cursor.skip_blanks();
            if cursor.at > start && !out.ends_with(' ') {
                out.push(' ');
            }
            let start = cursor.at;
            match cursor.rest().chars().next() {
                None => break,
                Some('"') => {
                    cursor.read_quoted("a text")?;
                    out.push_str(&text[start..cursor.at]);
                }
                Some('#') => {
                    cursor.at += 1;
                    let name = cursor.read_name_after_sigil("a name")?;
                    match self.attribute_names.get(name) {
                        // The attribute of a dialect: `#dialect.name`, or the verbose form `#dialect<...>`.
                        _ if name.contains('.') || cursor.rest().starts_with('<') => {
                            self.check_dialect(name, at)?;
                            out.push_str(&text[start..cursor.at]);
                        }
                        Some(definition) => out.push_str(definition),
                        None => return Err(self.cursor.error_at(at, format!("`#{name}` is not defined before"))),
                    }
                }
                Some(c) => {
                    out.push(c);
                    cursor.at += c.len_utf8();
                }
            }
            if out.len() > MAX_EXPANDED {
                return Err(self
                    .cursor
                    .error_at(at, format!("more than {MAX_EXPANDED} bytes with all names replaced")));
            }
        }
        Ok(out)
    }
}

/// Types of MLIR that tile programs do not compute with.
const OTHER_TYPES: [&str; 6] = ["none", "f80", "f128", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ"];

/// Maximum length in bytes of an attribute's text after its aliases are replaced; a longer one is a syntax error.
const MAX_EXPANDED: usize = 1 << 16;

fn scalar(word: &str) -> Option<TileType> {
    if word == "index" {
        return Some(TileType::Index);
    }
    let integer = |prefix: &str, sign| {
        let digits = word.strip_prefix(prefix)?;
        let bits = digits.parse::<u32>().ok().filter(|bits| (1..=1 << 12).contains(bits))?;
        (!digits.starts_with('0')).then_some(TileType::Integer(bits, sign))
    };
    integer("si", Signedness::Signed)
        .or_else(|| integer("ui", Signedness::Unsigned))
        .or_else(|| integer("i", Signedness::Signless))
        .or_else(|| FloatType::from_name(word).map(TileType::Float))
}
