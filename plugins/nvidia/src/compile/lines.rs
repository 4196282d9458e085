//! Line tables of PTX: the directives `.file` and `.loc` remain of the debug information that LLVM writes.

/// Removes the request for code to debug, by which `ptxas` would not optimise, and the sections for debuggers.
/// `.debug_str` remains, since `.loc` names functions in it. Text without debug information is returned as it is.
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

/// Whether PTX has line tables, which the cubin is to have too.
pub(crate) fn has_lines(ptx: &[u8]) -> bool {
    let directive = b"\n\t.loc\t";
    ptx.windows(directive.len()).any(|window| window == directive)
}
