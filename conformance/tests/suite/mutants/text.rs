//! Random changes of text: of layout parameters, words, numbers and letters.

use super::random::Random;

/// Pieces of text that are inserted to break programs.
const PIECES: [&str; 18] = [
    "%",
    "#",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "dense<",
    "tensor<",
    "^bb9",
    " : ",
    "-> ",
    "\"",
    "loc(",
    "0x",
    "99999999999999999999",
    "é",
];

/// Numbers that programs may not expect.
const NUMBERS: [&str; 16] =
    ["0", "1", "2", "3", "4", "7", "8", "16", "32", "64", "128", "4096", "65536", "2147483647", "-1", "4294967296"];

/// Lists of words that can replace each other.
const WORDS: [&[&str]; 10] = [
    &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
    &["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"],
    &["fadd", "add", "max", "min", "umax", "umin", "xor", "and", "or", "exch"],
    &["relaxed", "acquire", "release", "acq_rel"],
    &["gpu", "cta", "sys"],
    &["true", "false"],
    &["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"],
    &["cacheModifier", "evictionPolicy", "isVolatile", "ca", "cg", "wb", "cs", "wt", "cv", "evict_first", "evict_last"],
    &["e4m3", "e5m2", "e2m1", "bf16", "fp16", "e3m2", "e2m3"],
    &["f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "f8E4M3FN", "f8E5M2", "index", "tf32", "f4E2M1FN"],
];

/// Makes one random change of a text.
pub fn change(text: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match random.below(8) {
        0..=2 => in_a_line(&lines, random, |line| line.starts_with('#'), number),
        3 => in_a_line(&lines, random, |_| true, number),
        4 => in_a_line(&lines, random, |_| true, word),
        5 => without_or_twice(&lines, random),
        _ => letters(text, random),
    }
}

/// Changes one randomly chosen line among those for which a predicate holds.
fn in_a_line(
    lines: &[&str],
    random: &mut Random,
    requested: impl Fn(&str) -> bool,
    change: impl Fn(&str, &mut Random) -> String,
) -> String {
    let candidates: Vec<usize> = (0..lines.len()).filter(|line| requested(lines[*line])).collect();
    let Some(&index) = random.of(&candidates) else { return lines.join("\n") };
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    lines[index] = change(&lines[index], random);
    lines.join("\n")
}

/// Replaces a number in a line.
fn number(line: &str, random: &mut Random) -> String {
    let digits = |c: char| c.is_ascii_digit();
    let own = NUMBERS[random.below(NUMBERS.len())];
    replaced(line, random, digits, |_| own.to_owned())
}

/// Replaces a word in a line by another of its list in `WORDS`.
fn word(line: &str, random: &mut Random) -> String {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let chosen = random.bits() as usize;
    replaced(line, random, letters, |word| {
        let list = WORDS.iter().find(|list| list.contains(&word));
        list.map_or_else(|| word.to_owned(), |list| list[chosen % list.len()].to_owned())
    })
}

/// Replaces one of the runs of characters for which `matches` holds.
fn replaced(line: &str, random: &mut Random, matches: impl Fn(char) -> bool, by: impl Fn(&str) -> String) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, letter) in line.char_indices().filter(|(_, letter)| matches(*letter)) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end += letter.len_utf8(),
            _ => runs.push((at, at + letter.len_utf8())),
        }
    }
    let changing: Vec<_> =
        runs.into_iter().filter(|(start, end)| by(&line[*start..*end]) != line[*start..*end]).collect();
    let Some(&(start, end)) = random.of(&changing) else { return line.to_owned() };
    format!("{}{}{}", &line[..start], by(&line[start..end]), &line[end..])
}

/// Deletes lines, or repeats them elsewhere.
fn without_or_twice(lines: &[&str], random: &mut Random) -> String {
    let start = random.below(lines.len());
    let end = (start + 1 + random.below(4)).min(lines.len());
    let mut changed: Vec<&str> = lines.to_vec();
    if random.once_in(2) {
        changed.drain(start..end);
    } else {
        let index = random.below(lines.len());
        changed.splice(index..index, lines[start..end].iter().copied());
    }
    changed.join("\n")
}

fn letters(text: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = random.below(letters.len());
    let end = (at + 1 + random.below(20)).min(letters.len());
    match random.below(3) {
        0 => drop(letters.drain(at..end)),
        1 => drop(letters.splice(at..at, PIECES[random.below(PIECES.len())].chars()).collect::<Vec<_>>()),
        _ => {
            let copied: Vec<char> = letters[at..end].to_vec();
            letters.splice(at..at, copied);
        }
    }
    letters.into_iter().collect()
}
