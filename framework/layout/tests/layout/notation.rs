//! Notations: attribute text as the Triton compiler (version 3.9.0) prints it, JSON, and the laws between them.
//! Vendors' families have the same tests in their own crates.

use tilewright_testkit::known_answers;
use tilewright_testkit::notation;

use known_answers::{Answers, all_agree, list_family_names};
use notation::check_round_trip;
use serde_json::Value;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{
    AttributeParameterPosition, AttributeSyntax, AttributeSyntaxes, Families, FamilyError, FamilyParameterValue,
    FamilySpec, Layout, ParameterSyntax, parse_definitions, parse_family_spec, spec_to_json,
};

const LAYOUTS: &str = include_str!("../data/layouts.jsonl");
/// Lines with `params` and `shape` of a layout, and the `text` that Triton's printer gives for it.
const TEXTS: &str = include_str!("../data/attribute_text.jsonl");

fn neutral(row: &Value) -> bool {
    let names = ["blocked", "slice", "linear", "dot_operand", "swizzled_shared", "padded_shared", "shared_linear"];
    list_family_names(&row["params"]).iter().all(|name| names.contains(&name.as_str()))
}

#[test]
fn text_is_what_triton_prints() {
    notation::all_texts_are_as_printed(TEXTS, &NeutralFamilies);
}

#[test]
fn every_layout_comes_back_from_its_text() {
    check_every_layout_comes_back_from_its_text(Answers::Sample);
}

pub fn check_every_layout_comes_back_from_its_text(answers: Answers) {
    all_agree(&answers.rows(LAYOUTS, "oracle/layouts.jsonl"), neutral, |row| check_round_trip(row, &NeutralFamilies));
}

#[test]
fn a_family_without_attribute_syntax_is_written_by_rule() {
    let spec = FamilySpec::new("striped")
        .with_parameter("warps_per_group", 4)
        .with_parameter("fp4_k_pack", true)
        .with_parameter("Odd name", [1, -2])
        .with_parameter("word", FamilyParameterValue::Text("16x\"64\\b\n".to_owned()))
        .with_parent(FamilySpec::new("plain"));
    let text = AttributeSyntaxes::from_families(&NeutralFamilies).print_spec(&spec);
    let expected = r##"#tw.striped<{"Odd name" = [1, -2], fp4KPack = true, warpsPerGroup = 4, word = "16x\"64\\b\n", parent = #tw.plain<{}>}>"##;
    assert_eq!(text, expected);
    assert_eq!(parse_family_spec(&text).as_ref(), Ok(&spec));
}

/// A canonical spec that is written as text and parsed again is unchanged, also if the text omits some of its
/// parameters.
#[test]
fn a_spec_is_what_is_read_from_its_text() {
    let attribute_syntaxes = AttributeSyntaxes::from_families(&NeutralFamilies);
    for text in [
        "#ttg.padded_shared<[16:+1] {offset = [[0, 1], [0, 2]], shape = []}>",
        "#ttg.padded_shared<[16:+1] {offset = [[0, 1], [0, 2]], shape = [8, 8]}>",
        "#ttg.padded_shared<[16:+1] {offset = [[0, 1], [0, 2]], block = [[1, 0]], shape = [2, 4]}>",
    ] {
        let spec = attribute_syntaxes.to_canonical_spec(&parse_family_spec(text).expect("text"));
        assert_eq!(attribute_syntaxes.to_canonical_spec(&spec), spec, "{text}");
        let written = attribute_syntaxes.print_spec(&spec);
        assert_eq!(
            attribute_syntaxes.to_canonical_spec(&parse_family_spec(&written).expect("text")),
            spec,
            "{text}: {written}"
        );
    }
}

#[test]
fn the_head_of_a_file_defines_layouts() {
    let text = "// a file of Triton's IR\n\
        #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n\
        #rows = #ttg.slice<{dim = 1, parent = #blocked}>\n\
        #smem = #ttg.shared_memory\n";
    let layouts = parse_definitions(text).expect("definitions");
    let names: Vec<_> = layouts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["blocked", "rows", "smem"]);
    assert_eq!(layouts[1].1.parent.as_deref(), Some(&layouts[0].1));
    let nested = format!("{text}#ttg.slice<{{dim = 0, parent = #rows}}>");
    assert_eq!(parse_family_spec(&nested).expect("a layout").parent.as_deref(), Some(&layouts[1].1));
}

/// Wrong texts, the line and column of the fault, and the message.
const WRONG: [(&str, (usize, usize), &str); 19] = [
    ("#ttg.blocked<{order = [1, 0}>", (1, 28), "expected `]`, found `}`"),
    ("#ttg.blocked<{order = [1, 0]}", (1, 30), "expected `>`, found the end of the text"),
    ("#ttg.blocked<{\n  order = [1, 0],\n  vec == 2}>", (3, 8), "expected a value, found `=`"),
    ("#ttg.blocked<{order = [1, é]}>", (1, 27), "expected a value, found `é`"),
    ("#ttg.blocked<{order = [1, 0], order = [0, 1]}>", (1, 31), "`order` is given twice"),
    ("#ttg.slice<{dim = 1, parent = 1}>", (1, 22), "`parent` must be a layout"),
    ("#ttg.blocked<{order = [1, 99999999999999999999]}>", (1, 27), "expected an integer of 64 bits"),
    ("#ttg.blocked<{order = [1, -]}>", (1, 28), "expected an integer, found `]`"),
    ("#ttg.blocked<{7 = 3}>", (1, 15), "expected a name, found `7`"),
    ("#ttg.<{}>", (1, 6), "expected a name, found `<`"),
    ("#rows", (1, 1), "`#rows` is not defined before, nor does `<` follow"),
    ("rows", (1, 5), "expected `<`, found the end of the text"),
    ("", (1, 1), "expected a layout, found the end of the text"),
    ("#a = #ttg.x<{}>\n#a = #ttg.y<{}>\n#a", (2, 1), "`#a` is defined twice"),
    ("#ttg.x<{}> #ttg.y<{}>", (1, 12), "expected the end of the text after the layout, found `#`"),
    ("#ttg.x<{word = \"16x64}>", (1, 16), "this quote is never closed"),
    (
        "#ttg.x<{word = \"a\\q\"}>",
        (1, 18),
        "expected `\\\"`, `\\\\`, `\\n`, `\\t` or two hexadecimal digits after `\\`",
    ),
    ("{\"kind\": \"blocked\",\n \"order\": [1, }", (2, 15), "expected value"),
    ("{\"order\": [1]}", (1, 14), "missing field `kind`"),
];

#[test]
fn errors_point_at_the_character_and_say_what_was_expected() {
    for (text, location, message) in WRONG {
        let error = parse_family_spec(text).expect_err("wrong text");
        assert_eq!(((error.line, error.column), error.message.as_str()), (location, message), "{text}");
        assert!(text.is_char_boundary(error.at), "{text}");
    }
}

/// Aliases can nest and repeat, so a short text could expand to an unbounded layout; the parser limits both its depth
/// and its size.
#[test]
fn nesting_and_size_are_bounded() {
    let deep = "#ttg.x<{p = ".repeat(1000);
    assert_eq!(parse_family_spec(&deep).expect_err("too deep").message, "nested deeper than 64");
    let chain: String = (1..200).map(|i| format!("#a{i} = #ttg.x<{{p = #a{}}}>\n", i - 1)).collect();
    let error = parse_definitions(&format!("#a0 = #ttg.x<{{}}>\n{chain}")).expect_err("too deep by names");
    assert_eq!((error.line, error.message.as_str()), (65, "nested deeper than 64"));
    let doubling: String = (1..60).map(|i| format!("#a{i} = #ttg.x<{{p = #a{0}, q = #a{0}}}>\n", i - 1)).collect();
    let error = parse_definitions(&format!("#a0 = #ttg.x<{{}}>\n{doubling}")).expect_err("too much");
    assert_eq!(error.message, "more than 65536 values");
}

#[test]
fn json_and_text_say_the_same() {
    let text = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>";
    let spec =
        AttributeSyntaxes::from_families(&NeutralFamilies).to_canonical_spec(&parse_family_spec(text).expect("text"));
    let json = serde_json::json!({
        "kind": "padded_shared", "interval_padding_pairs": [[64, 8]], "order": [1, 0], "shape": [32, 64]
    });
    assert_eq!(spec_to_json(&spec), json);
}

/// Attribute syntaxes come from plugins; with any of them, a spec is printed as some text.
#[test]
fn no_attribute_syntax_makes_the_printer_panic() {
    let parameter = |keywords: &[&str]| ParameterSyntax::new("p", keywords);
    let parameters = [
        parameter(&[]),
        parameter(&["."]),
        parameter(&["a.b", "c"]),
        parameter(&["p", "p"]),
        parameter(&["p"]).with_position(AttributeParameterPosition::Before),
        ParameterSyntax { name: "parent".to_owned(), ..parameter(&[]) },
    ];
    let values = [
        FamilyParameterValue::Int(1),
        FamilyParameterValue::List(vec![FamilyParameterValue::Int(1)]),
        FamilyParameterValue::Text("é".to_owned()),
    ];
    for (parameter, value) in parameters.iter().flat_map(|parameter| values.iter().map(move |value| (parameter, value)))
    {
        let odd = Odd(AttributeSyntax::new("odd", "", "two words").with_parameter(parameter.clone()));
        let spec = FamilySpec::new("odd").with_parameter("p", value.clone()).with_parent(FamilySpec::new("odd"));
        assert!(AttributeSyntaxes::from_families(&odd).print_spec(&spec).starts_with("#.two words<"));
    }
}

/// Families with one attribute syntax.
struct Odd(AttributeSyntax);

impl Families for Odd {
    fn names(&self) -> Vec<String> {
        vec![self.0.family.clone()]
    }

    fn resolve(&self, spec: &FamilySpec, _: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() })
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        vec![self.0.clone()]
    }
}
