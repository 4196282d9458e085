//! Golden files: texts that a test compares with its results, and rewrites with `TILEWRIGHT_BLESS=1`.

use std::path::Path;

use similar::TextDiff;

/// Whether golden files are rewritten instead of compared, by the environment variable `TILEWRIGHT_BLESS`.
pub fn blesses() -> bool {
    std::env::var_os("TILEWRIGHT_BLESS").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Fails if the golden file (expected text in the repository) differs from `actual`; if [`blesses`], writes `actual` to
/// the file instead.
pub fn check(file: &Path, actual: &str) {
    if blesses() {
        return std::fs::write(file, actual).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let kept = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("{}: {error}; TILEWRIGHT_BLESS=1 writes it", file.display()));
    assert!(kept == actual, "{}", difference(&file.display().to_string(), &kept, actual));
}

/// Fails if the section of a page between the lines `<!-- NAME -->` and `<!-- end of NAME -->` differs from `actual`;
/// if [`blesses`], writes `actual` there instead.
pub fn check_section(page: &Path, name: &str, actual: &str) {
    let text = std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let missing = |mark: &str| -> ! { panic!("{}: there is no line `{}`", page.display(), mark.trim_end()) };
    let (before, rest) = text.split_once(&open).unwrap_or_else(|| missing(&open));
    let (kept, after) = rest.split_once(&close).unwrap_or_else(|| missing(&close));
    let actual = format!("{}\n", actual.trim_end_matches('\n'));
    if blesses() {
        let written = format!("{before}{open}{actual}{close}{after}");
        return std::fs::write(page, written).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    }
    assert!(kept == actual, "{}", difference(&format!("{}, `{name}`", page.display()), kept, &actual));
}

/// Returns the lines that differ between two texts, as `diff -u` shows them.
fn difference(name: &str, kept: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(kept, actual);
    let lines = diff.unified_diff().context_radius(2).header("kept", "computed").to_string();
    format!("{name} differs from the computed text; if the new text is right, TILEWRIGHT_BLESS=1 writes it\n{lines}")
}
