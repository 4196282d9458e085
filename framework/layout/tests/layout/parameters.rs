//! Parameters of the neutral families: faults are reported by name, and nothing panics.

use tilewright_testkit::any_parameters;

use any_parameters::{Kind, Signature};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, FamilySpec, Layout, parse_family_spec};

const BLOCKED: Signature = Signature::new(
    "blocked",
    &[
        ("size_per_thread", Kind::PerAxis),
        ("threads_per_warp", Kind::PerAxis),
        ("warps_per_cta", Kind::PerAxis),
        ("order", Kind::Order),
        ("cga_layout", Kind::Bases),
    ],
);
const LINEAR: Signature = Signature::new(
    "linear",
    &[
        ("register", Kind::Bases),
        ("lane", Kind::Bases),
        ("warp", Kind::Bases),
        ("block", Kind::Bases),
        ("shape", Kind::PerAxis),
    ],
);
const FAMILIES: [Signature; 7] = [
    BLOCKED,
    LINEAR,
    Signature::new("slice", &[("dim", Kind::Number)]).with_parents(&[BLOCKED, LINEAR]),
    Signature::new("dot_operand", &[("operand_index", Kind::Number), ("k_width", Kind::Number)])
        .with_parents(&[BLOCKED]),
    Signature::new(
        "swizzled_shared",
        &[
            ("vec", Kind::Number),
            ("per_phase", Kind::Number),
            ("max_phase", Kind::Number),
            ("order", Kind::Order),
            ("cga_layout", Kind::Bases),
        ],
    ),
    Signature::new(
        "padded_shared",
        &[
            ("interval_padding_pairs", Kind::Pairs),
            ("offset_bases", Kind::Bases),
            ("order", Kind::Order),
            ("cga_layout", Kind::Bases),
            ("shape", Kind::PerAxis),
        ],
    ),
    Signature::new("shared_linear", &[("offset", Kind::Bases), ("block", Kind::Bases), ("alignment", Kind::Number)]),
];

#[test]
fn no_parameters_panic() {
    any_parameters::check_random_requests(4000, &FAMILIES, &NeutralFamilies, |layout| {
        assert!(layout.linear().is_surjective());
        if let Layout::Memory(memory) = layout {
            let last = u64::MAX.checked_shr(64 - memory.linear.in_bits(Dim::OFFSET)).unwrap_or(0);
            assert!(memory.allocated_elements() > last || last == u64::MAX);
        }
    });
}

/// All 64 bits of a layout's input can be offset bits: then no `u64` holds the number of elements.
#[test]
fn memory_of_all_offsets_is_counted_without_overflow() {
    let spec = parse_family_spec("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>")
        .expect("a spec");
    let elements =
        |shape: &[u64]| match NeutralFamilies.resolve(&spec, shape, &NeutralFamilies).expect("64 bits fit a layout") {
            Layout::Memory(memory) => memory.allocated_elements(),
            _ => panic!("a layout of shared memory is asked for"),
        };
    assert_eq!(elements(&[1, 1]), 1);
    assert_eq!(elements(&[1 << 31, 1 << 32]), 1 << 63);
    assert_eq!(elements(&[1 << 32, 1 << 32]), u64::MAX);
}

fn error(text: &str, shape: &[u64]) -> String {
    let spec = parse_family_spec(text).expect("the text is well formed");
    NeutralFamilies.resolve(&spec, shape, &NeutralFamilies).expect_err("the parameters are wrong").to_string()
}

#[test]
fn what_is_wrong_is_named() {
    let blocked = |size: &str, order: &str| {
        format!(
            "#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = {order}}}>"
        )
    };
    let of = |size, order| error(&blocked(size, order), &[64, 64]);
    assert_eq!(of("[1, 3]", "[1, 0]"), "family `blocked`, parameter `size_per_thread`: 3 is not a power of two");
    assert_eq!(of("[1]", "[1, 0]"), "family `blocked`, parameter `size_per_thread`: has 1 entries, expected 2");
    assert!(of("[1, 4]", "[1, 1]").contains("`order`: [1, 1] must list each of the 2 axes once"));
    assert!(error(&blocked("[1, 4]", "[1, 0]"), &[64, 48]).contains("axis 1 has 48 elements"));
    let slice = format!("#ttg.slice<{{dim = 3, parent = {}}}>", blocked("[1, 4]", "[1, 0]"));
    assert!(error(&slice, &[64]).contains("`dim`: 3 is not an axis of the parent"));
    let misspelt = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhases = 8, order = [1, 0]}>";
    assert!(error(misspelt, &[64, 64]).contains("`max_phase`: is missing"));
    assert!(error("#ttg.blokced<{order = [0]}>", &[64]).contains("did you mean `blocked`?"));
}

/// Triton 3.9 rejects these attributes when it verifies them; the parameter and the rule are named.
#[test]
fn parameters_that_triton_rejects_are_rejected() {
    let cases: [(&str, &[u64], &str); 13] = [
        ("#ttg.padded_shared<[4:+2, 4:+4] {order = [1, 0], shape = [4, 8]}>", &[4, 8], "interval 4 is named twice"),
        ("#ttg.padded_shared<[4:+3] {order = [1, 0], shape = [4, 8]}>", &[4, 8], "padding 3 is not a power of two"),
        ("#ttg.padded_shared<[4:+0] {order = [1, 0], shape = [4, 8]}>", &[4, 8], "padding 0 is not a power of two"),
        ("#ttg.padded_shared<[4:+2] {offset = [[1], [2], [4], [4]], block = []}>", &[8], "two offsets are the same"),
        ("#ttg.padded_shared<[4:+2] {offset = [[1], [2], [4], [0]], block = []}>", &[8], "two offsets are the same"),
        ("#ttg.padded_shared<[4:+2] {offset = [[1], [3], [4]], block = []}>", &[8], "by a power of two"),
        ("#ttg.padded_shared<[4:+2] {offset = [[0, 1], [1, 1]], block = []}>", &[2, 2], "along one axis"),
        ("#ttg.shared_linear<{offset = [[1], [2], [4], [4]]}, alignment = 16>", &[8], "two positions are the same"),
        ("#ttg.linear<{register = [[1]], lane = [[3]], warp = [], block = []}>", &[4], "powers of two along one axis"),
        ("#ttg.linear<{register = [[1], [1]], lane = [[2]], warp = [], block = []}>", &[4], "each once"),
        (
            "#ttg.linear<{register = [[0, 1]], lane = [[1, 1]], warp = [], block = []}>",
            &[2, 2],
            "`generic_linear` takes",
        ),
        (
            "#ttg.swizzled_shared<{vec = 1, perPhase = 0, maxPhase = 1, order = [0, 1]}>",
            &[8, 8],
            "`per_phase`: must be positive",
        ),
        (
            "#ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], \
             warpsPerCTA = [1, 1], order = [1, 0]}>, kWidth = 2}>",
            &[8, 8],
            "`k_width`: an operand of a blocked dot has none",
        ),
    ];
    for (text, shape, expected) in cases {
        let message = error(text, shape);
        assert!(message.contains(expected), "{message}\nof {text}");
    }
    let taken: [(&str, &[u64]); 5] = [
        ("#ttg.padded_shared<[4:+2, 8:+4] {order = [1, 0], shape = [4, 8]}>", &[4, 8]),
        ("#ttg.shared_linear<{offset = [[1], [2], [4], [0]]}, alignment = 16>", &[8]),
        ("#ttg.linear<{register = [[1], [0]], lane = [[2]], warp = [[0]], block = []}>", &[4]),
        ("#ttg.generic_linear<{register = [[1]], lane = [[3]], warp = [[1]], block = []}>", &[4]),
        ("#ttg.swizzled_shared<{vec = 12, perPhase = 3, maxPhase = 5, order = [1, 0]}>", &[16, 32]),
    ];
    for (text, shape) in taken {
        let spec = parse_family_spec(text).expect("the text is well formed");
        NeutralFamilies.resolve(&spec, shape, &NeutralFamilies).unwrap_or_else(|error| panic!("{error}\nof {text}"));
    }
}

/// JSON names parameters in `snake_case`; a keyword of attribute text is reported as such.
#[test]
fn names_of_attribute_text_in_json_are_recognized() {
    let error = |json: &str| {
        let spec: FamilySpec = serde_json::from_str(json).expect("the JSON is well formed");
        NeutralFamilies.resolve(&spec, &[64, 64], &NeutralFamilies).expect_err("the parameters are wrong").to_string()
    };
    let required = r#"{"kind": "blocked", "sizePerThread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1], "order": [1, 0]}"#;
    assert!(
        error(required).contains("`size_per_thread`: is missing: `sizePerThread` must be written `size_per_thread`"),
        "{}",
        error(required)
    );
    let optional = r#"{"kind": "blocked", "size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1], "order": [1, 0], "cgaLayout": []}"#;
    assert!(error(optional).contains("`cgaLayout`: must be written `cga_layout`"), "{}", error(optional));
}

#[test]
fn attribute_text_and_json_name_the_same_layouts() {
    let parent = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>";
    let json = |rest: &str| {
        let blocked = r#"{"kind": "blocked", "size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1], "order": [1, 0], "cga_layout": [[0, 1]]}"#;
        format!("{{{rest}, \"parent\": {blocked}}}")
    };
    let pairs: [(String, String, Vec<u64>); 5] = [
        (format!("#ttg.slice<{{dim = 1, parent = {parent}}}>"), json(r#""kind": "slice", "dim": 1"#), vec![64]),
        (
            format!("#ttg.dot_op<{{opIdx = 1, parent = {parent}}}>"),
            json(r#""kind": "dot_operand", "operand_index": 1, "k_width": 0"#),
            vec![32, 64],
        ),
        (
            "#ttg.padded_shared<[64:+8, 256:+16] {order = [1, 0], shape = [32, 64]}>".to_owned(),
            r#"{"kind": "padded_shared", "interval_padding_pairs": [[64, 8], [256, 16]], "order": [1, 0]}"#.to_owned(),
            vec![32, 64],
        ),
        (
            "#ttg.shared_linear<{offset = [[0, 1], [1, 1]], block = [[2, 0]]}, alignment = 32>".to_owned(),
            r#"{"kind": "shared_linear", "offset_bases": [[0, 1], [1, 1]], "block_bases": [[2, 0]], "alignment": 32}"#.to_owned(),
            vec![4, 2],
        ),
        (
            "#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [2, 0]], warp = [], block = []}>".to_owned(),
            r#"{"kind": "linear", "reg_bases": [[0, 1]], "lane_bases": [[1, 0], [2, 0]], "warp_bases": [], "block_bases": [], "shape": [4, 2]}"#.to_owned(),
            vec![4, 2],
        ),
    ];
    for (text, json, shape) in pairs {
        let layout = |spec: &str| {
            let spec = parse_family_spec(spec).unwrap_or_else(|error| panic!("{error} in {spec}"));
            NeutralFamilies
                .resolve(&spec, &shape, &NeutralFamilies)
                .unwrap_or_else(|error| panic!("{error} in {spec:?}"))
        };
        assert_eq!(layout(&text), layout(&json));
    }
}
