//! Checks an ELF library file before the system's loader maps it.
//!
//! The loader trusts the file's headers: it maps the ranges in them, and if the file is shorter, a bus error ends the
//! process. So a truncated file must be detected before it is loaded.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Size of the header of a 64-bit ELF file, in bytes.
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

/// Checks that the file is long enough for all ranges in its headers; the error names the fault. Files that are not
/// 64-bit little-endian ELF pass, and the loader rejects them.
pub(super) fn check(file: &Path) -> Result<(), String> {
    let unread = |error: std::io::Error| error.to_string();
    let file = File::open(file).map_err(unread)?;
    let length = file.metadata().map_err(unread)?.len();
    if length == 0 {
        return Err("the file is empty".to_owned());
    }
    let head = read(&file, 0, 6).unwrap_or_default();
    if cfg!(target_os = "linux") && !head.starts_with(b"\x7fELF") {
        return Err("the file is not an ELF file".to_owned());
    }
    if head.get(4) != Some(&CLASS_64) || head.get(5) != Some(&LITTLE_ENDIAN) {
        return Ok(());
    }
    match promised_bytes(&file) {
        Some(promised) if promised <= length => Ok(()),
        Some(promised) => Err(format!("the file is cut off: {length} bytes, and its headers promise {promised}")),
        None => Err(format!("the file is cut off within its headers, at {length} bytes")),
    }
}

/// Returns the offset of the file's end according to its headers, in bytes: the end of the last range that the loader
/// maps or of the section headers, which linkers put last; `None` if the headers are incomplete.
fn promised_bytes(file: &File) -> Option<u64> {
    let header = read(file, 0, HEADER_BYTES)?;
    let headers = number(&header, PROGRAM_HEADERS_AT, 8)?;
    let size = number(&header, PROGRAM_HEADER_SIZE_AT, 2)?;
    let count = number(&header, PROGRAM_HEADER_COUNT_AT, 2)?;
    // Offset and number of the section headers are zero if they were stripped from the file.
    let sections = number(&header, SECTION_HEADERS_AT, 8)?;
    let section_bytes = number(&header, SECTION_HEADER_SIZE_AT, 2)? * number(&header, SECTION_HEADER_COUNT_AT, 2)?;
    let mut end = sections.saturating_add(section_bytes).max(HEADER_BYTES as u64);
    for index in 0..count {
        let header = read(file, headers.checked_add(index.checked_mul(size)?)?, SEGMENT_BYTES_AT + 8)?;
        let offset = number(&header, SEGMENT_OFFSET_AT, 8)?;
        let length = number(&header, SEGMENT_BYTES_AT, 8)?;
        end = end.max(offset.saturating_add(length));
    }
    Some(end)
}

/// Reads `length` bytes at offset `at`; `None` if the file ends before.
fn read(file: &File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(width)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
