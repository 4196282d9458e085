//! Calls of the functions that every CUDA device provides: `vprintf` and `__assertfail`. Source: CUDA C++ Programming
//! Guide, formatted output and assertions; PTX Interoperability, system calls.

use crate::machine::{Address, DeviceFaultKind, Leaves, Next, Operation, PtxSpace, Running, each};
use crate::program::{Form, Operands};

/// Maximum bytes of a string that a call reads; a longer string is cut.
const LONGEST: usize = 1 << 16;

pub(super) fn call(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let (name, given) = operands.call()?;
    match (name, given.as_slice()) {
        ("vprintf", &[format, values]) => Ok(each(move |warp| print(warp, &format, &values))),
        ("__assertfail", &[message, file, line, function, ..]) => Ok(Box::new(Fails([message, file, line, function]))),
        ("vprintf" | "__assertfail", _) => Err(format!("`{name}` is called with {} parameters", given.len())),
        _ => Err(format!("the function `{name}` is not supported; only `vprintf` and `__assertfail` are: inline it")),
    }
}

/// Loads an integer of `bytes` bytes from memory for a lane.
fn number(
    warp: &mut Running<'_>,
    resolved: (PtxSpace, u64),
    bytes: usize,
    lane: usize,
) -> Result<u64, DeviceFaultKind> {
    let mut word = [0; 8];
    warp.load(resolved, &mut word[..bytes], lane)?;
    Ok(u64::from_le_bytes(word))
}

/// Loads a parameter of a call for one lane. `address` is the location of the variable that holds the parameter, of
/// `bytes` bytes.
fn parameter(warp: &mut Running<'_>, address: &Address, bytes: usize, lane: usize) -> Result<u64, DeviceFaultKind> {
    number(warp, (address.space.unwrap_or(PtxSpace::Local), address.offset), bytes, lane)
}

/// Loads a zero-terminated string from memory for a lane.
fn text(warp: &mut Running<'_>, pointer: u64, lane: usize) -> Result<String, DeviceFaultKind> {
    let (space, address) = PtxSpace::of_generic(pointer);
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST {
        match number(warp, (space, address.wrapping_add(bytes.len() as u64)), 1, lane)? {
            0 => break,
            byte => bytes.push(byte as u8),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn print(warp: &mut Running<'_>, format: &Address, values: &Address) -> Result<(), DeviceFaultKind> {
    for lane in warp.lanes() {
        let pointer = parameter(warp, format, 8, lane)?;
        let format = text(warp, pointer, lane)?;
        let values = PtxSpace::of_generic(parameter(warp, values, 8, lane)?);
        let printed = formatted(warp, &format, values, lane)?;
        warp.printed.push(printed);
    }
    Ok(())
}

/// Formats values in memory as C's `printf` does: integers, floating-point numbers, pointers and strings. Widths and
/// precisions in the format are ignored.
fn formatted(
    warp: &mut Running<'_>,
    format: &str,
    (space, mut at): (PtxSpace, u64),
    lane: usize,
) -> Result<String, DeviceFaultKind> {
    let mut out = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let (mut longs, mut kind) = (0, None);
        for c in rest.by_ref() {
            match c {
                'l' | 'z' | 'j' | 't' => longs += 1,
                c if c.is_ascii_alphabetic() && c != 'h' || c == '%' => {
                    kind = Some(c);
                    break;
                }
                _ => {}
            }
        }
        if matches!(kind, None | Some('%')) {
            out.push('%');
            continue;
        }
        let bytes = if longs > 0 || matches!(kind, Some('f' | 'e' | 'g' | 'a' | 'p' | 's')) { 8 } else { 4 };
        at = at.next_multiple_of(bytes);
        let value = number(warp, (space, at), bytes as usize, lane)?;
        at += bytes;
        let signed = if bytes == 8 { value.cast_signed() } else { i64::from(value as i32) };
        out += &match kind {
            Some('d' | 'i') => signed.to_string(),
            Some('x') => format!("{value:x}"),
            Some('X') => format!("{value:X}"),
            Some('p') => format!("{value:#x}"),
            Some('o') => format!("{value:o}"),
            Some('c') => char::from(value as u8).to_string(),
            Some('s') => text(warp, value, lane)?,
            Some('f' | 'e' | 'g' | 'a') => f64::from_bits(value).to_string(),
            _ => value.to_string(),
        };
    }
    Ok(out)
}

/// A call of `__assertfail`, with the locations of its parameters: message, file, line and function.
struct Fails([Address; 4]);

impl Operation for Fails {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let lane = warp.active.trailing_zeros() as usize;
        let [message, file, line, function] = self.0;
        let mut read = |address| {
            let pointer = parameter(warp, &address, 8, lane)?;
            text(warp, pointer, lane)
        };
        let (message, file, function) = (read(message)?, read(file)?, read(function)?);
        let line = parameter(warp, &line, 4, lane)?;
        Err(DeviceFaultKind::Trap(format!("{file}:{line}: {function}: lane {lane}: assertion `{message}` failed")))
    }

    fn leaves(&self) -> Leaves {
        Leaves::Faults
    }
}
