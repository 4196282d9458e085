//! Keeps the line tables (`.file` and `.loc`) of the debug information that LLVM writes to PTX, and removes the rest.

/// Removes the target option `debug`, with which `ptxas` would not optimise, and the debug sections from PTX text.
/// `.debug_str` remains, since `.loc` names functions in it. Returns text without the option unchanged.
pub(super) fn keep_lines_only(ptx: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&ptx) else { return ptx };
    let is_target = |line: &str| line.starts_with(".target ");
    if !text.lines().any(|line| is_target(line) && line.ends_with(", debug")) {
        return ptx;
    }
    let (mut kept, mut dropped) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let directive = line.trim();
        if directive.starts_with(".section") {
            dropped = !directive.contains(".debug_str");
        }
        match dropped {
            true => dropped = !directive.ends_with('}'),
            false if is_target(line) => kept.push_str(&line.replacen(", debug", "", 1)),
            false => kept.push_str(line),
        }
    }
    kept.into_bytes()
}

/// Whether PTX text has line tables (`.loc` directives); `ptxas` must then keep them in the cubin.
pub(crate) fn has_lines(ptx: &[u8]) -> bool {
    let directive = b"\n\t.loc\t";
    ptx.windows(directive.len()).any(|window| window == directive)
}
