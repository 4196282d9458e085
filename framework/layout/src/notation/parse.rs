//! Reads families from attribute text.

use std::collections::BTreeMap;

use super::case::to_snake_case;
use super::json::spec_from_text;
use crate::text::{Cursor, Parsed};
use crate::{FamilyParameterValue, FamilySpec};

/// Maximum nesting depth of layouts and lists in text, with aliases expanded.
const MAX_DEPTH: usize = 64;

/// Maximum number of values in one text, with each use of an alias expanded.
const MAX_VALUES: usize = 1 << 16;

/// Parses a family from text: `#ttg.blocked<{sizePerThread = [1, 4], ...}>`, the JSON form, or the attribute without
/// its dialect. Aliases may be defined before, as in MLIR: `#rows = #ttg.blocked<{...}>`. `//` begins a comment.
///
/// A call of a class of Gluon, `gl.BlockedLayout([1, 4], [8, 4], [4, 1], order=[1, 0])`, is a spec of the class's name;
/// positional arguments are named by their index.
/// [`AttributeSyntaxes::replace_constructor_calls`](super::AttributeSyntaxes::replace_constructor_calls) gives it the
/// family's name and its parameters' names, and so does [`FamilyProviders`](crate::FamilyProviders).
///
/// ```
/// use tilewright_layout::parse_family_spec;
/// let spec = parse_family_spec("#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}>")?;
/// assert_eq!(spec.name, "slice");
/// let same = parse_family_spec("#rows = #ttg.blocked<{order = [1, 0]}>\n#ttg.slice<{dim = 1, parent = #rows}>")?;
/// assert_eq!(same, spec);
/// let error = parse_family_spec("#ttg.blocked<{order = [1, 0}>").unwrap_err();
/// assert_eq!((error.at, error.line, error.column), (27, 1, 28));
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
///
/// # Errors
/// [`TextError`](crate::text::TextError) at the first syntax error, undefined or repeated name, or limit of nesting or
/// size.
pub fn parse_family_spec(text: &str) -> Parsed<FamilySpec> {
    if text.trim_start().starts_with('{') {
        return spec_from_text(text);
    }
    let mut parser = Parser::new(text);
    while parser.definition()? {}
    let spec = match parser.cursor.is_next("#") {
        true => parser.spec()?.value,
        false => parser.spec_or_call()?.value,
    };
    parser.cursor.expect_end("the end of the text after the layout")?;
    Ok(spec)
}

/// Parses alias definitions, `#name = #dialect.family<...>`, in the order of the text: the head of a file in Triton's
/// IR.
///
/// ```
/// use tilewright_layout::parse_definitions;
/// let text = "#blocked = #ttg.blocked<{order = [1, 0]}>\n#rows = #ttg.slice<{dim = 1, parent = #blocked}>";
/// let layouts = parse_definitions(text)?;
/// assert_eq!(layouts[1].0, "rows");
/// assert_eq!(layouts[1].1.parent.as_deref(), Some(&layouts[0].1));
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
///
/// # Errors
/// [`TextError`](crate::text::TextError) as [`parse_family_spec`].
pub fn parse_definitions(text: &str) -> Parsed<Vec<(String, FamilySpec)>> {
    let mut parser = Parser::new(text);
    while parser.definition()? {}
    parser.cursor.expect_end("`#name = ` and a layout")?;
    Ok(parser.defined.into_iter().map(|(name, read)| (name, read.value)).collect())
}

/// A reader of layouts within a larger text, with the aliases defined so far.
#[derive(Default)]
pub struct LayoutAliasReader {
    defined: Vec<(String, Read<FamilySpec>)>,
    names: BTreeMap<String, usize>,
}

impl LayoutAliasReader {
    /// Reads the layout, or another attribute `#dialect.name<...>`, that starts at byte `at` of the text; returns it
    /// and the byte behind it.
    ///
    /// # Errors
    /// [`TextError`](crate::text::TextError) as [`parse_family_spec`].
    pub fn read_layout(&mut self, text: &str, at: usize) -> Parsed<(FamilySpec, usize)> {
        self.with_parser(text, at, |parser| Ok((parser.spec()?.value, parser.cursor.at)))
    }

    /// Reads the definition `#name = layout` that starts at byte `at` of the text, and returns the byte behind it.
    ///
    /// # Errors
    /// [`TextError`](crate::text::TextError) as [`parse_family_spec`], or if the text there is not a definition.
    pub fn read_alias_definition(&mut self, text: &str, at: usize) -> Parsed<usize> {
        self.with_parser(text, at, |parser| match parser.definition()? {
            true => Ok(parser.cursor.at),
            false => Err(parser.cursor.expected_token_error("`#name = ` and a layout")),
        })
    }

    fn with_parser<T>(&mut self, text: &str, at: usize, read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Parsed<T> {
        let (defined, names) = (std::mem::take(&mut self.defined), std::mem::take(&mut self.names));
        let mut parser = Parser { defined, names, ..Parser::new(text) };
        parser.cursor.at = at;
        let result = read(&mut parser);
        (self.defined, self.names) = (parser.defined, parser.names);
        result
    }
}

/// A parsed value with its nesting depth and the number of values in it, both counted with all aliases expanded.
#[derive(Clone)]
struct Read<T> {
    value: T,
    depth: usize,
    values: usize,
}

impl<T> Read<T> {
    fn leaf(value: T) -> Self {
        Self { value, depth: 0, values: 1 }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read { value: change(self.value), depth: self.depth, values: self.values }
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// Nesting depth of the cursor: number of open layouts and lists.
    depth: usize,
    /// Number of calls that are open at the cursor.
    calls: usize,
    /// Aliases in order of definition.
    defined: Vec<(String, Read<FamilySpec>)>,
    names: BTreeMap<String, usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let cursor = Cursor::with_comments(text, "//");
        Self { cursor, depth: 0, calls: 0, defined: Vec::new(), names: BTreeMap::new() }
    }

    /// Reads letters, digits and `_`, or a quoted string verbatim.
    fn word(&mut self, what: &str) -> Parsed<String> {
        match self.cursor.peek() {
            Some('"') => self.cursor.read_quoted(what),
            _ => self.cursor.read_identifier(what).map(str::to_owned),
        }
    }

    /// Reads a value one nesting level deeper by `parse`, which adds up the sizes of the values in it; returns the
    /// value with its own size.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self, &mut Size) -> Parsed<T>) -> Parsed<Read<T>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.cursor.error_at(self.cursor.at, format!("nested deeper than {MAX_DEPTH}")));
        }
        let mut size = Size { depth: 0, values: 1 };
        let value = parse(self, &mut size)?;
        self.depth -= 1;
        Ok(Read { value, depth: size.depth + 1, values: size.values })
    }

    /// Adds the size of a value, read at byte `at`, to the size of the value that contains it, and checks the limits.
    fn counted<T>(&self, at: usize, read: Read<T>, size: &mut Size) -> Parsed<T> {
        size.depth = size.depth.max(read.depth);
        size.values = size.values.saturating_add(read.values);
        if self.depth + read.depth > MAX_DEPTH {
            return Err(self.cursor.error_at(at, format!("nested deeper than {MAX_DEPTH}")));
        }
        if size.values > MAX_VALUES {
            return Err(self.cursor.error_at(at, format!("more than {MAX_VALUES} values")));
        }
        Ok(read.value)
    }

    /// Reads `#name = layout` if the text continues so; returns whether it does.
    fn definition(&mut self) -> Parsed<bool> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let name = self.cursor.skip_if_next("#").then(|| self.word("a name").ok()).flatten();
        let Some(name) = name.filter(|_| self.cursor.skip_if_next("=")) else {
            self.cursor.at = start;
            return Ok(false);
        };
        if self.names.contains_key(&name) {
            return Err(self.cursor.error_at(start, format!("`#{name}` is defined twice")));
        }
        let spec = self.spec()?;
        self.names.insert(name.clone(), self.defined.len());
        self.defined.push((name, spec));
        Ok(true)
    }

    /// Reads a layout without `#`: a call, or the attribute without its dialect.
    fn spec_or_call(&mut self) -> Parsed<Read<FamilySpec>> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let name = self.word("a layout")?;
        if self.cursor.is_next("(") || self.cursor.is_next(".") {
            let name = self.dotted(name)?;
            return self.call(&name);
        }
        self.cursor.at = start;
        self.spec()
    }

    /// Reads the rest of a name whose first word has been read, and returns it without modules: `.BlockedLayout`.
    fn dotted(&mut self, first: String) -> Parsed<String> {
        let mut names = vec![first];
        while self.cursor.skip_if_next(".") {
            names.push(self.word("a name")?);
        }
        // Modules, such as `gl`, are in small letters, classes begin with a capital.
        let class = names.iter().position(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
        Ok(names[class.unwrap_or(names.len() - 1)..].join("."))
    }

    /// Reads the arguments of a call of `name`: `([1, 4], order=[1, 0])`.
    fn call(&mut self, name: &str) -> Parsed<Read<FamilySpec>> {
        self.cursor.expect("(")?;
        self.calls += 1;
        let spec = self.nested(|parser, size| {
            let mut spec = FamilySpec::new(name);
            let mut position = 0;
            while !parser.cursor.is_next(")") {
                parser.argument(&mut spec, &mut position, size)?;
                if !parser.cursor.skip_if_next(",") {
                    break;
                }
            }
            Ok(spec)
        })?;
        self.calls -= 1;
        self.cursor.expect(")")?;
        Ok(spec)
    }

    /// Reads an argument of a call: `name=value`, or a value at the next position. `None` stands for the default.
    fn argument(&mut self, spec: &mut FamilySpec, position: &mut usize, size: &mut Size) -> Parsed<()> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let keyword = match self.cursor.peek() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => Some(self.word("a name")?),
            _ => None,
        };
        let name = match keyword.filter(|_| self.cursor.skip_if_next("=")) {
            Some(name) => name,
            None => {
                self.cursor.at = start;
                *position += 1;
                (*position - 1).to_string()
            }
        };
        let value = self.value(&name)?;
        let value = self.counted(start, value, size)?;
        if value == FamilyParameterValue::Text("None".to_owned()) {
            return Ok(());
        }
        self.set_parameter(spec, start, name, value)
    }

    fn spec(&mut self) -> Parsed<Read<FamilySpec>> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let hash = self.cursor.skip_if_next("#");
        let mut name = self.word("a layout")?;
        let dialect = hash && self.cursor.skip_if_next(".");
        if dialect {
            name = self.word("a name")?;
        }
        // The verbose form of a dialect's attribute: `#ttg<blocked<...>>`.
        let outer = if hash && !dialect { self.verbose_name() } else { None };
        if let Some(inner) = &outer {
            name.clone_from(inner);
        }
        let bare = hash && (dialect || outer.is_some()) && !self.cursor.rest().starts_with('<');
        if bare || !self.cursor.skip_if_next("<") {
            if outer.is_some() {
                self.cursor.expect(">")?;
                return Ok(Read::leaf(FamilySpec::new(&name)));
            }
            return match self.names.get(&name) {
                _ if dialect => Ok(Read::leaf(FamilySpec::new(&name))),
                Some(&defined) if hash => Ok(self.defined[defined].1.clone()),
                _ if hash => {
                    Err(self.cursor.error_at(start, format!("`#{name}` is not defined before, nor does `<` follow")))
                }
                _ => Err(self.cursor.expected_token_error("`<`")),
            };
        }
        let spec = self.nested(|parser, size| {
            let mut spec = FamilySpec::new(&name);
            parser.body(&mut spec, size)?;
            Ok(spec)
        })?;
        self.cursor.expect(">")?;
        if outer.is_some() {
            self.cursor.expect(">")?;
        }
        Ok(spec)
    }

    /// Reads `<name` of the verbose form `#dialect<name<...>>` and returns the name; `None` if the text does not
    /// continue so.
    fn verbose_name(&mut self) -> Option<String> {
        let mut ahead = self.cursor;
        let name = ahead.skip_if_next("<").then(|| ahead.read_word()).flatten()?;
        if !ahead.rest().starts_with(['<', '>']) {
            return None;
        }
        self.cursor = ahead;
        Some(name.to_owned())
    }

    /// Reads an optional list of values without a name, then named ones, in braces or not.
    fn body(&mut self, spec: &mut FamilySpec, size: &mut Size) -> Parsed<()> {
        if self.cursor.is_next("[") {
            let start = self.cursor.at;
            let list = self.list(UNNAMED, ["[", "]"])?;
            let list = self.counted(start, list, size)?;
            spec.attributes.insert(UNNAMED.to_owned(), list);
            self.cursor.skip_if_next(",");
        }
        if self.cursor.skip_if_next("{") {
            self.entries(spec, "}", size)?;
            self.cursor.expect("}")?;
            if !self.cursor.skip_if_next(",") {
                return Ok(());
            }
        }
        self.entries(spec, ">", size)
    }

    /// Reads named values up to the `closing` token, which is not consumed.
    fn entries(&mut self, spec: &mut FamilySpec, closing: &str, size: &mut Size) -> Parsed<()> {
        if self.cursor.is_next(closing) {
            return Ok(());
        }
        self.entry(spec, size)?;
        while self.cursor.skip_if_next(",") {
            self.entry(spec, size)?;
        }
        Ok(())
    }

    fn entry(&mut self, spec: &mut FamilySpec, size: &mut Size) -> Parsed<()> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let literal = self.cursor.is_next("\"");
        let word = self.word("a name")?;
        let name = if literal { word } else { to_snake_case(&word) };
        self.cursor.expect("=")?;
        let value = self.value(&name)?;
        let value = self.counted(start, value, size)?;
        self.set_parameter(spec, start, name, value)
    }

    /// Adds a parameter, read at `start`, to a spec; an error if the spec has it already.
    fn set_parameter(
        &self,
        spec: &mut FamilySpec,
        start: usize,
        name: String,
        value: FamilyParameterValue,
    ) -> Parsed<()> {
        let is_known = match value {
            FamilyParameterValue::Spec(parent) if name == "parent" => spec.parent.replace(parent).is_some(),
            _ if name == "parent" => return Err(self.cursor.error_at(start, "`parent` must be a layout")),
            other => spec.attributes.insert(name.clone(), other).is_some(),
        };
        if is_known {
            return Err(self.cursor.error_at(start, format!("`{name}` is given twice")));
        }
        Ok(())
    }

    /// Reads the value of the parameter `name`; named values in braces are a spec of that name.
    fn value(&mut self, name: &str) -> Parsed<Read<FamilyParameterValue>> {
        match self.cursor.peek() {
            Some('[') => self.list(name, ["[", "]"]),
            Some('(') if self.calls > 0 => self.list(name, ["(", ")"]),
            Some('#') => Ok(self.spec()?.map(|spec| FamilyParameterValue::Spec(Box::new(spec)))),
            Some('{') => self.group(name),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some('"') => Ok(Read::leaf(FamilyParameterValue::Text(self.cursor.read_quoted("a text")?))),
            _ => {
                let word = self.word("a value")?;
                if self.calls > 0 && (self.cursor.is_next("(") || self.cursor.is_next(".")) {
                    let name = self.dotted(word)?;
                    if self.cursor.is_next("(") {
                        return Ok(self.call(&name)?.map(|spec| FamilyParameterValue::Spec(Box::new(spec))));
                    }
                    // A constant of a module, such as an element type: `gl.float16`.
                    return Ok(Read::leaf(FamilyParameterValue::Text(name)));
                }
                Ok(Read::leaf(match word.as_str() {
                    "true" => FamilyParameterValue::Bool(true),
                    "false" => FamilyParameterValue::Bool(false),
                    "True" if self.calls > 0 => FamilyParameterValue::Bool(true),
                    "False" if self.calls > 0 => FamilyParameterValue::Bool(false),
                    _ => FamilyParameterValue::Text(word),
                }))
            }
        }
    }

    fn group(&mut self, name: &str) -> Parsed<Read<FamilyParameterValue>> {
        self.cursor.expect("{")?;
        let group = self.nested(|parser, size| {
            let mut spec = FamilySpec::new(name);
            parser.entries(&mut spec, "}", size)?;
            Ok(FamilyParameterValue::Spec(Box::new(spec)))
        })?;
        self.cursor.expect("}")?;
        Ok(group)
    }

    /// Reads values in brackets; `64:+8` is the pair of 64 and 8. In a call a comma may end the list.
    fn list(&mut self, name: &str, [opening, closing]: [&str; 2]) -> Parsed<Read<FamilyParameterValue>> {
        self.cursor.expect(opening)?;
        if self.cursor.skip_if_next(closing) {
            return Ok(Read::leaf(FamilyParameterValue::List(Vec::new())));
        }
        let list = self.nested(|parser, size| {
            let mut items = Vec::new();
            loop {
                let start = parser.cursor.at;
                let item = parser.value(name)?;
                let mut item = parser.counted(start, item, size)?;
                if parser.cursor.skip_if_next(":+") {
                    item = FamilyParameterValue::List(vec![item, parser.number()?.value]);
                }
                items.push(item);
                let more = parser.cursor.skip_if_next(",");
                if !more || (parser.calls > 0 && parser.cursor.is_next(closing)) {
                    return Ok(FamilyParameterValue::List(items));
                }
            }
        })?;
        self.cursor.expect(closing)?;
        Ok(list)
    }

    fn number(&mut self) -> Parsed<Read<FamilyParameterValue>> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let sign = if self.cursor.skip_if_next("-") { "-" } else { "" };
        let radix = if self.cursor.rest().starts_with("0x") { 16 } else { 10 };
        self.cursor.at += if radix == 16 { "0x".len() } else { 0 };
        let digits = self.cursor.take_while(|c| c.is_digit(radix));
        if digits.is_empty() {
            return Err(self.cursor.expected_token_error("an integer"));
        }
        let number = i64::from_str_radix(&format!("{sign}{digits}"), radix);
        let number = number.map_err(|_| self.cursor.error_at(start, "expected an integer of 64 bits"))?;
        // The type of an integer, `4 : i32`, does not change its value.
        if !self.cursor.is_next(":+") && self.cursor.skip_if_next(":") {
            self.cursor.read_identifier("the type of the integer")?;
        }
        Ok(Read::leaf(FamilyParameterValue::Int(number)))
    }
}

/// The parameter name under which a spec stores a list that the text gives without a keyword.
pub(super) const UNNAMED: &str = "0";

/// The nesting depth of a parsed value, and the number of values in it.
struct Size {
    depth: usize,
    values: usize,
}
