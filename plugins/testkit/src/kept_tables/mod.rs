//! Tables of the documentation that tests compute.

use std::path::Path;

/// Compares a table with the one that a page of `docs` keeps between the lines `<!-- NAME -->` and
/// `<!-- end of NAME -->`, or keeps it there where `TILEWRIGHT_BLESS` is set.
pub fn check(page: &str, name: &str, table: &[String]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|up| up.join("rust-toolchain.toml").is_file());
    let file = root.expect("the repository").join("docs").join(page);
    let text = std::fs::read_to_string(&file).expect("the page");
    let (start, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start).expect("the beginning of the table");
    let (kept, after) = rest.split_once(&end).expect("the end of the table");
    let new = table.join("\n");
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(&file, format!("{before}{start}{new}{end}{after}")).expect("a page that can be written");
        return;
    }
    assert!(kept == new, "docs/{page}, table `{name}`, is not what is measured: look at it and bless it:\n{new}");
}
