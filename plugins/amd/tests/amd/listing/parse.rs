//! Reads the instructions of one kernel from an assembly listing, with their registers and successors.

use std::collections::BTreeMap;

/// A synchronization that the code generator names in a comment: a barrier, a fence, or the release fence of an atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronization {
    WarpBarrier,
    BlockBarrier,
    BlockFence,
    /// A fence among blocks, or with the host.
    WideFence,
}

/// A register: its file (`v`, `s`, `a`) and number, or a special register, whose number is zero.
pub type Register = (&'static str, u32);

/// A line of a listing that matters for the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Instruction(Instruction),
    /// The comment before the instruction or fence that synchronizes, with the synchronization's number in the kernel.
    Synchronization(Synchronization, u32),
}

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The mnemonic, without the suffix of its encoding.
    pub mnemonic: String,
    /// The registers of each operand.
    pub operands: Vec<Vec<Register>>,
    pub text: String,
}

/// The lines of a kernel, and for each line the lines that may be executed after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub lines: Vec<Line>,
    pub successors: Vec<Vec<usize>>,
}

/// Prefix of conditional branches; execution may also continue at the next line.
const CONDITIONAL: &str = "s_cbranch_";

impl Listing {
    /// Reads a kernel from a whole listing.
    pub fn of_kernel(assembly: &str, kernel: &str) -> Self {
        let start = assembly.find(&format!("\n{kernel}:")).unwrap_or_else(|| panic!("no kernel `{kernel}`"));
        let body = &assembly[start..];
        Self::of_body(body.split_once(".section").map_or(body, |(body, _)| body))
    }

    /// Reads the lines of a kernel's body.
    pub fn of_body(body: &str) -> Self {
        let (mut lines, mut labels) = (Vec::new(), BTreeMap::new());
        for text in body.lines().map(str::trim) {
            if let Some(comment) = text.strip_prefix("; ") {
                lines.extend(synchronization(comment));
                continue;
            }
            let text = text.split(';').next().unwrap_or_default().trim();
            match text.split_once(':') {
                Some((label, "")) => {
                    labels.insert(label.to_owned(), lines.len());
                }
                _ if text.is_empty() || text.starts_with('.') => {}
                _ => lines.push(Line::Instruction(Instruction::of(text))),
            }
        }
        let successors = (0..lines.len()).map(|at| successors(&lines, at, &labels)).collect();
        Self { lines, successors }
    }
}

fn successors(lines: &[Line], at: usize, labels: &BTreeMap<String, usize>) -> Vec<usize> {
    let next = (at + 1 < lines.len()).then_some(at + 1);
    let Line::Instruction(instruction) = &lines[at] else { return next.into_iter().collect() };
    let target = || {
        let label = instruction.text.split_whitespace().nth(1).unwrap_or_default();
        *labels.get(label).unwrap_or_else(|| panic!("no label for `{}`", instruction.text))
    };
    match instruction.mnemonic.as_str() {
        "s_endpgm" => Vec::new(),
        "s_branch" => vec![target()],
        name if name.starts_with(CONDITIONAL) => next.into_iter().chain([target()]).collect(),
        name => {
            let known =
                !["s_setpc", "s_swappc", "s_call", "s_rfe", "s_subvector"].iter().any(|it| name.starts_with(it));
            assert!(known, "`{}` goes to an unknown line", instruction.text);
            next.into_iter().collect()
        }
    }
}

/// Reads the code generator's comment about a synchronization; `None` for other comments.
fn synchronization(comment: &str) -> Option<Line> {
    let (name, number) = comment.rsplit_once(' ')?;
    let kind = match name {
        "warp barrier" => Synchronization::WarpBarrier,
        "barrier" => Synchronization::BlockBarrier,
        "fence block" | "release block" => Synchronization::BlockFence,
        "fence device" | "fence system" | "release device" | "release system" => Synchronization::WideFence,
        _ => return None,
    };
    Some(Line::Synchronization(kind, number.parse().ok()?))
}

impl Instruction {
    fn of(text: &str) -> Self {
        let (mnemonic, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let stem = ["_e32", "_e64"].iter().find_map(|suffix| mnemonic.strip_suffix(suffix)).unwrap_or(mnemonic);
        let operands = split_operands(rest).into_iter().map(registers).collect();
        Self { mnemonic: stem.to_owned(), operands, text: text.to_owned() }
    }

    /// Returns all registers of some operands.
    pub fn registers(&self, operands: std::ops::RangeFrom<usize>) -> impl Iterator<Item = Register> {
        self.operands.get(operands).unwrap_or_default().iter().flatten().copied()
    }

    /// Whether the operands have this modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.text.split_whitespace().skip(1).any(|word| word == modifier)
    }
}

/// Splits operands at commas outside of brackets.
fn split_operands(text: &str) -> Vec<&str> {
    let (mut operands, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        operands.push(&text[start..]);
    }
    operands
}

/// Returns the registers that an operand names; its modifiers name none.
fn registers(operand: &str) -> Vec<Register> {
    let mut found = Vec::new();
    let boundary = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let mut rest = operand;
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        if boundary(before) {
            found.extend(register_at(rest));
        }
        before = letter;
        rest = &rest[letter.len_utf8()..];
    }
    found
}

/// Returns the registers whose name stands at the beginning of a text.
fn register_at(text: &str) -> Vec<Register> {
    let special = ["vcc", "m0", "exec"];
    if let Some(name) = special.into_iter().find(|name| text.starts_with(name)) {
        return vec![(name, 0)];
    }
    let Some(file) = ["v", "s", "a"].into_iter().find(|file| text.starts_with(file)) else { return Vec::new() };
    let number = |text: &str| {
        let digits = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        digits.split(|letter: char| !letter.is_ascii_digit()).next().and_then(|digits| digits.parse::<u32>().ok())
    };
    let rest = &text[1..];
    match rest.strip_prefix('[').and_then(|range| range.split_once(']')) {
        Some((range, _)) => {
            let (first, last) = range.split_once(':').unwrap_or((range, range));
            let range = number(first).zip(number(last)).map(|(first, last)| first..=last);
            range.into_iter().flatten().map(|number| (file, number)).collect()
        }
        None if rest.starts_with(|letter: char| letter.is_ascii_digit()) => {
            number(rest).into_iter().map(|number| (file, number)).collect()
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_from_operands() {
        for (text, expected) in [
            ("v3", vec![("v", 3)]),
            ("-|v3|", vec![("v", 3)]),
            ("s[4:5]", vec![("s", 4), ("s", 5)]),
            ("v7.h quad_perm:[1,0,3,2] row_mask:0xf", vec![("v", 7)]),
            ("a[0:1] offset:64", vec![("a", 0), ("a", 1)]),
            ("vcc_lo", vec![("vcc", 0)]),
            ("src_shared_base", vec![]),
            ("v1 :: v_dual_mov_b32 v2", vec![("v", 1), ("v", 2)]),
            ("0x3f800000", vec![]),
        ] {
            assert_eq!(registers(text), expected, "{text}");
        }
    }
}
