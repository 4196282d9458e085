//! Generates programs from `words.txt`: one for each section and each type that `T` may stand for, for tensors and for
//! scalars. Each has all lines of the section, between loads of the operands and stores of the results.

use std::fmt::Write;

/// Number of elements of the tensors.
const COUNT: u32 = 128;

/// Returns the names and texts of all programs.
pub fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    let lines = include_str!("words.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for section in sections(lines.collect()) {
        programs.extend(section.types.iter().map(|ty| (format!("{} of {ty}", section.name), section.program(ty))));
    }
    programs
}

struct Section<'t> {
    name: &'t str,
    types: Vec<&'t str>,
    others: Vec<&'t str>,
    lines: Vec<Line<'t>>,
}

/// A line of `words.txt`: letters for operands and results, and the operation between them.
struct Line<'t> {
    operands: Vec<&'t str>,
    results: Vec<&'t str>,
    operation: &'t str,
}

fn sections(lines: Vec<&str>) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in lines {
        if let Some((name, types)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            let (types, others) = types.split_once('|').unwrap_or((types, ""));
            let [types, others] = [types, others].map(|words| words.split_whitespace().collect());
            sections.push(Section { name, types, others, lines: Vec::new() });
            continue;
        }
        let (letters, operation) = line.split_once(" : ").expect("letters and an operation");
        let (operands, results) = letters.split_once("->").expect("operands and results");
        let [operands, results] = [operands, results].map(|words| words.split_whitespace().collect());
        sections.last_mut().expect("a section").lines.push(Line { operands, results, operation });
    }
    sections
}

impl Section<'_> {
    fn program(&self, ty: &str) -> String {
        let mut body = String::new();
        let mut line_number = 0;
        for line in &self.lines {
            let uses_other = line.operation.contains('U');
            let others = if uses_other { &self.others[..] } else { &["i32"] };
            for other in others {
                for shape in [format!("{COUNT}x"), String::new()] {
                    line_number += 1;
                    let one = One { ty, other, shape: &shape, line_number };
                    one.write(line, &mut body).expect("a text takes all");
                }
            }
        }
        format!("module {{\n  tt.func public @words(%all: !tt.ptr<i8>) {{\n{body}    tt.return\n  }}\n}}\n")
    }
}

/// An operation with concrete types: on tensors if it has a shape, otherwise on scalars.
struct One<'t> {
    ty: &'t str,
    other: &'t str,
    shape: &'t str,
    line_number: usize,
}

impl One<'_> {
    /// Returns the element type that a letter stands for.
    fn element(&self, letter: &str) -> String {
        match letter {
            "T" => self.ty.to_owned(),
            "U" => self.other.to_owned(),
            "B" => "i1".to_owned(),
            "P" => format!("!tt.ptr<{}>", in_memory(self.ty)),
            other => panic!("`{other}` is not a letter"),
        }
    }

    fn shaped(&self, element: &str) -> String {
        if self.shape.is_empty() { element.to_owned() } else { format!("tensor<{}{element}>", self.shape) }
    }

    fn write(&self, line: &Line<'_>, body: &mut String) -> std::fmt::Result {
        let line_number = self.line_number;
        for (letter, name) in line.operands.iter().zip(["a", "b", "c"]) {
            self.load(&self.element(letter), &format!("{name}{line_number}"), body)?;
        }
        self.emit_pointers(&self.element("P"), &format!("p{line_number}"), body)?;
        let letter = |letter: char| self.shaped(&self.element(&letter.to_string()));
        let is_letter = |before: Option<char>, after: Option<char>| {
            let is_name_char = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
            !is_name_char(before) && !is_name_char(after)
        };
        let letters: Vec<char> = line.operation.chars().collect();
        let mut operation = String::new();
        for (at, &c) in letters.iter().enumerate() {
            let (before, after) = (at.checked_sub(1).map(|at| letters[at]), letters.get(at + 1).copied());
            match c {
                'T' | 'U' | 'B' | 'P' if is_letter(before, after) => operation += &letter(c),
                'a' | 'b' | 'c' | 'p' | 'x' | 'y' if before == Some('%') => write!(operation, "{c}{line_number}")?,
                _ => operation.push(c),
            }
        }
        writeln!(body, "    {operation}")?;
        for (letter, name) in line.results.iter().zip(["x", "y"]) {
            self.store(&self.element(letter), &format!("{name}{line_number}"), body)?;
        }
        Ok(())
    }

    /// Writes statements that compute the addresses of elements, or the address of one element.
    fn emit_pointers(&self, pointer: &str, name: &str, body: &mut String) -> std::fmt::Result {
        if self.shape.is_empty() {
            return writeln!(body, "    %{name} = tt.bitcast %all : !tt.ptr<i8> -> {pointer}");
        }
        let many = self.shaped(pointer);
        writeln!(
            body,
            "    %{name}_one = tt.bitcast %all : !tt.ptr<i8> -> {pointer}
    %{name}_all = tt.splat %{name}_one : {pointer} -> {many}
    %{name}_at = tt.make_range {{end = {COUNT} : i32, start = 0 : i32}} : tensor<{COUNT}xi32>
    %{name} = tt.addptr %{name}_all, %{name}_at : {many}, tensor<{COUNT}xi32>"
        )
    }

    fn load(&self, element: &str, name: &str, body: &mut String) -> std::fmt::Result {
        let (pointer, ty) = (format!("!tt.ptr<{}>", in_memory(element)), self.shaped(element));
        self.emit_pointers(&pointer, &format!("{name}_from"), body)?;
        if element == "i1" {
            writeln!(body, "    %{name}_byte = tt.load %{name}_from : {}", self.shaped(&pointer))?;
            return writeln!(body, "    %{name} = arith.trunci %{name}_byte : {} to {ty}", self.shaped("i8"));
        }
        writeln!(body, "    %{name} = tt.load %{name}_from : {}", self.shaped(&pointer))
    }

    fn store(&self, element: &str, name: &str, body: &mut String) -> std::fmt::Result {
        let pointer = format!("!tt.ptr<{}>", in_memory(element));
        self.emit_pointers(&pointer, &format!("{name}_to"), body)?;
        let mut value = name.to_owned();
        if element == "i1" {
            value = format!("{name}_byte");
            writeln!(body, "    %{value} = arith.extui %{name} : {} to {}", self.shaped("i1"), self.shaped("i8"))?;
        }
        writeln!(body, "    tt.store %{name}_to, %{value} : {}", self.shaped(&pointer))
    }
}

/// Returns the type by which an element is stored in memory.
fn in_memory(element: &str) -> &str {
    if element == "i1" { "i8" } else { element }
}
