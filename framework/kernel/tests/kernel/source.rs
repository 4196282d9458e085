//! Source locations: the notation of MLIR gives the innermost line and the calls around it.

use tilewright_kernel::SourceLocation;

/// Locations as MLIR prints them, and their lines, innermost first.
const LOCATIONS: &[(&str, &str)] = &[
    (r#""kernel.py":3:8"#, "kernel.py:3:8"),
    (r#"("/a b/kernel.py":3:8)"#, "/a b/kernel.py:3:8"),
    (r#"("x"("kernel.py":3:8))"#, "kernel.py:3:8"),
    (r#"("kernel.py":3:8 to 4:2)"#, "kernel.py:3:8"),
    (r#"("kernel.py":3:8 to :9)"#, "kernel.py:3:8"),
    (r#"(callsite("a.py":1:2 at "b.py":3:4))"#, "a.py:1:2, called from b.py:3:4"),
    (
        r#"(callsite(callsite("a.py":1:2 at "b.py":3:4) at "x"("c.py":5:6)))"#,
        "a.py:1:2, called from b.py:3:4, called from c.py:5:6",
    ),
    (
        r#"(callsite("a.py":1:2 at callsite("b.py":3:4 at "c.py":5:6)))"#,
        "a.py:1:2, called from b.py:3:4, called from c.py:5:6",
    ),
    (r#"(callsite(unknown at "b.py":3:4))"#, "b.py:3:4"),
    (r#"(callsite("a.py":1:2 at unknown))"#, "a.py:1:2"),
    (r#"(fused["name", "a.py":1:2, "b.py":3:4])"#, "a.py:1:2"),
    (r#"(fused<{x = "a>b", y = #m<1>}>["a.py":1:2])"#, "a.py:1:2"),
    (r#"("C:\\k.py":1:2)"#, r"C:\k.py:1:2"),
    (r#"("\22k\C3\A9\22.py":1:2)"#, "\"ké\".py:1:2"),
];

/// Texts that name no file, or break the grammar.
const UNKNOWN: &[&str] = &[
    "",
    "unknown",
    r#""name""#,
    r#"("x"(unknown))"#,
    r#"(callsite(unknown at unknown))"#,
    "(fused[])",
    r#"(fused["a.py":1:2"#,
    r#"("a.py":1)"#,
    r#"("a.py":99999999999:1)"#,
    r#"("a.py"#,
    r#"("\u".py":1:1)"#,
    "(fused<<<<",
    "#loc1",
];

#[test]
fn locations_give_the_innermost_line_and_its_calls() {
    for (text, expected) in LOCATIONS {
        let found = SourceLocation::parse(text).map(|location| location.to_string());
        assert_eq!(found.as_deref(), Some(*expected), "{text}");
    }
}

#[test]
fn other_texts_have_no_location() {
    let deep = format!("{}\"a.py\":1:1{}", "callsite(".repeat(10_000), " at \"b.py\":1:1)".repeat(10_000));
    for text in UNKNOWN.iter().copied().chain([deep.as_str()]) {
        assert_eq!(SourceLocation::parse(text), None, "{text}");
    }
}
