//! Looks at a library file before the system's loader maps it.
//!
//! The loader trusts an ELF file's headers: it maps what they promise and is ended by a bus error
//! where the file is shorter. So a file that was cut off must be found out before. Imports nothing.

/// Where things are in the headers of a 64-bit ELF file.
const HEADER_BYTES: usize = 64;
const PROGRAM_HEADERS_AT: usize = 32;
const SECTION_HEADERS_AT: usize = 40;
const PROGRAM_HEADER_SIZE_AT: usize = 54;
const PROGRAM_HEADER_COUNT_AT: usize = 56;
const SECTION_HEADER_SIZE_AT: usize = 58;
const SECTION_HEADER_COUNT_AT: usize = 60;
const SEGMENT_OFFSET_AT: usize = 8;
const SEGMENT_BYTES_AT: usize = 32;
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;

/// Checks that the file holds all that its headers promise; the message says what is missing.
/// What is no 64-bit little-endian ELF file is left to the loader to refuse.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("the file is empty".to_owned());
    }
    if cfg!(target_os = "linux") && !bytes.starts_with(b"\x7fELF") {
        return Err("the file is no ELF file".to_owned());
    }
    if bytes.get(4) != Some(&CLASS_64) || bytes.get(5) != Some(&LITTLE_ENDIAN) {
        return Ok(());
    }
    match promised_bytes(bytes) {
        Some(promised) if promised <= bytes.len() as u64 => Ok(()),
        Some(promised) => {
            Err(format!("the file is cut off: {} bytes, and its headers promise {promised}", bytes.len()))
        }
        None => Err(format!("the file is cut off within its headers, at {} bytes", bytes.len())),
    }
}

/// The end of the last thing that the loader maps, and of the section headers, with which linkers end
/// a file; `None` where the headers are not all there.
fn promised_bytes(bytes: &[u8]) -> Option<u64> {
    let headers = number(bytes, PROGRAM_HEADERS_AT, 8)?;
    let size = number(bytes, PROGRAM_HEADER_SIZE_AT, 2)?;
    let count = number(bytes, PROGRAM_HEADER_COUNT_AT, 2)?;
    // None of them, at zero, where a file was stripped of them.
    let sections = number(bytes, SECTION_HEADERS_AT, 8)?;
    let section_bytes = number(bytes, SECTION_HEADER_SIZE_AT, 2)? * number(bytes, SECTION_HEADER_COUNT_AT, 2)?;
    let mut end = sections.saturating_add(section_bytes).max(HEADER_BYTES as u64);
    for index in 0..count {
        let header = usize::try_from(headers.checked_add(index.checked_mul(size)?)?).ok()?;
        let offset = number(bytes, header.checked_add(SEGMENT_OFFSET_AT)?, 8)?;
        let length = number(bytes, header.checked_add(SEGMENT_BYTES_AT)?, 8)?;
        end = end.max(offset.saturating_add(length));
    }
    Some(end)
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(width)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
