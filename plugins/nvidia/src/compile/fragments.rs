//! Copies fragments (the registers of an operand of `mma`) that several MMAs read, and whose registers come from
//! several vector loads. A vector load fills consecutive registers, and an MMA reads consecutive registers. If the orders
//! differ, `ptxas` moves the registers, and often for each MMA again. It keeps a copy by `lop3`, which all MMAs share.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Begins the declaration of a function's 32-bit registers in the PTX that LLVM prints.
const REGISTERS: &str = "\t.reg .b32 \t%r<";

/// Copies fragments in PTX text; returns text without such fragments unchanged.
pub(super) fn copy_fragments(ptx: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&ptx) else { return ptx };
    let mut starts: Vec<usize> = text.match_indices(REGISTERS).map(|(start, _)| start).collect();
    if !text.contains("mma.") || starts.is_empty() {
        return ptx;
    }
    starts.push(text.len());
    let mut copied = text[..starts[0]].to_owned();
    for function in starts.windows(2) {
        copy_fragments_of(&text[function[0]..function[1]], &mut copied);
    }
    copied.into_bytes()
}

/// Appends a function's text, with copies of its fragments, to `copied`. The text begins with the declaration of its
/// registers.
fn copy_fragments_of(function: &str, copied: &mut String) {
    let fragments = find_fragments(function);
    let members: HashSet<&str> = fragments.iter().flat_map(|fragment| registers(fragment)).collect();
    for line in function.split_inclusive('\n') {
        let mut line = Cow::Borrowed(line);
        for fragment in mma_operands(&line.clone()).into_iter().flatten().filter(|one| fragments.contains(one)) {
            let copies: Vec<String> = registers(fragment).map(copy_of).collect();
            line = line.replacen(&format!("{{{fragment}}}"), &format!("{{{}}}", copies.join(",")), 1).into();
        }
        copied.push_str(&line);
        if line.starts_with(REGISTERS) && !members.is_empty() {
            copied.push_str(&line.replacen("%r<", "%copy<", 1));
        }
        for register in loaded_vector(&line).into_iter().flat_map(registers).filter(|one| members.contains(one)) {
            let copy = copy_of(register);
            copied.push_str(&format!("\tlop3.b32 \t{copy}, {register}, {register}, {register}, 0xf0;\n"));
        }
    }
}

/// Returns the fragments of a function that several MMAs read, whose registers only vector loads write, and which no
/// vector load fills in their order.
fn find_fragments(function: &str) -> HashSet<&str> {
    let (mut loads, mut writes) = (HashMap::new(), HashMap::<&str, usize>::new());
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for (number, line) in function.lines().enumerate() {
        for register in line.split(';').flat_map(|statement| registers(first_operand(statement))) {
            *writes.entry(register).or_default() += 1;
        }
        for (position, register) in loaded_vector(line).into_iter().flat_map(registers).enumerate() {
            let load = loads.entry(register).or_insert((number, position, 0));
            *load = (number, position, load.2 + 1);
        }
        for fragment in mma_operands(line).into_iter().flatten() {
            *uses.entry(fragment).or_default() += 1;
        }
    }
    let is_split = |fragment: &str| {
        let load = |register| loads.get(register).filter(|load| writes.get(register) == Some(&load.2));
        let sources: Option<Vec<_>> = registers(fragment).map(load).collect();
        let follows = |pair: &[&(usize, usize, usize)]| (pair[0].0, pair[0].1 + 1) == (pair[1].0, pair[1].1);
        sources.is_some_and(|sources| !sources.windows(2).all(follows))
    };
    uses.into_iter()
        .filter(|&(fragment, count)| count > 1 && is_split(fragment))
        .map(|(fragment, _)| fragment)
        .collect()
}

/// Returns the first operand of an instruction, in most instructions the result, or the registers in its braces.
fn first_operand(statement: &str) -> &str {
    let operands = instruction(statement).split_once(char::is_whitespace).map_or("", |(_, operands)| operands.trim());
    let end = if operands.starts_with('{') { '}' } else { ',' };
    operands.split(end).next().unwrap_or_default().trim_start_matches('{')
}

/// Returns an instruction without its predicate.
fn instruction(statement: &str) -> &str {
    let statement = statement.trim_start();
    let rest = statement.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map(|(_, rest)| rest);
    rest.unwrap_or(statement).trim_start()
}

/// Returns the operands A and B of an `mma` instruction, without their braces.
fn mma_operands(line: &str) -> Option<[&str; 2]> {
    let mut operands = line.split(['{', '}']).skip(3).step_by(2);
    let is_mma = line.trim_start().starts_with("mma.");
    is_mma.then(|| Some([operands.next()?, operands.next()?])).flatten()
}

/// Returns the registers, without braces, of a load of a vector of 32-bit registers.
fn loaded_vector(line: &str) -> Option<&str> {
    let (opcode, rest) = instruction(line).split_once('{')?;
    (opcode.starts_with("ld.") && opcode.contains(".v") && opcode.contains("32")).then(|| rest.split('}').next())?
}

/// Returns the registers of a list that are 32-bit registers of LLVM.
fn registers(list: &str) -> impl Iterator<Item = &str> {
    let is_word =
        |register: &&str| register.strip_prefix("%r").is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    list.split(',').map(str::trim).filter(is_word)
}

/// Returns the name of the copy of a register.
fn copy_of(register: &str) -> String {
    register.replacen("%r", "%copy", 1)
}
