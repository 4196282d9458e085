//! Tests of the table of layout operations: its answers through `batch` and `layout op`, its names, and the page that
//! lists it.
//!
//! The expected answers were derived by hand from the definitions of the operations.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value as Json, json};
use tilewright::operations::{LAYOUT_OPERATIONS, LayoutOperationEntry, LayoutOperationParameter};
use tilewright_testkit::golden;

use crate::command::{batch, lines, run, tilewright};

fn printed(arguments: &[&str]) -> String {
    run(tilewright().args(arguments)).ok().to_owned()
}

/// A layout of the given out dims and sizes, and bases by input dim.
fn layout(outs: Json, bases: &[(&str, Json)]) -> Json {
    let size = |images: &Json| 1u64 << images.as_array().map_or(0, Vec::len);
    let ins: Vec<_> = bases.iter().map(|(dim, images)| json!([dim, size(images)])).collect();
    let bases: Map<_, _> = bases.iter().map(|(dim, images)| ((*dim).to_owned(), images.clone())).collect();
    json!({ "in_dims": ins, "out_dims": outs, "bases": bases })
}

/// Returns the identity on `bits` bits from the input dim `from` to the out dim `to`.
fn identity(bits: u32, from: &str, to: &str) -> Json {
    layout(json!([[to, 1 << bits]]), &[(from, (0..bits).map(|bit| json!([1 << bit])).collect())])
}

/// An invertible layout: the register is bit 0 of dim1, the lane has dim0 and bit 1 of dim1.
fn sample() -> Json {
    layout(json!([["dim0", 2], ["dim1", 4]]), &[("register", json!([[0, 1]])), ("lane", json!([[1, 0], [0, 2]]))])
}

/// A layout whose register bit 1 is a replica (zero basis), and whose only lane bit is bit 2 of the offset.
fn copies() -> Json {
    layout(json!([["offset", 8]]), &[("register", json!([[2], [0], [1]])), ("lane", json!([[4]]))])
}

/// Returns for each operation of the table its name, inputs, and the expected answer.
fn cases() -> Vec<(&'static str, Json, Json)> {
    let of = |more: Json| {
        let mut inputs = json!({ "layout": sample() });
        more.as_object().into_iter().flatten().for_each(|(name, value)| inputs[name] = value.clone());
        inputs
    };
    let outs = json!([["dim0", 2], ["dim1", 4]]);
    let cut =
        layout(json!([["dim0", 2], ["dim1", 2]]), &[("register", json!([[0, 1]])), ("lane", json!([[1, 0], [0, 0]]))]);
    let swizzle = layout(json!([["offset", 8]]), &[("lane", json!([[1], [6], [2]]))]);
    let (two, four) = (identity(1, "lane", "dim0"), identity(2, "lane", "dim0"));
    vec![
        ("identity_1d", json!({"size": 4, "in_dim": "lane", "out_dim": "dim0"}), four.clone()),
        (
            "strided_1d",
            json!({"size": 2, "stride": 4, "in_dim": "lane", "out_dim": "dim0"}),
            layout(json!([["dim0", 8]]), &[("lane", json!([[4]]))]),
        ),
        (
            "zeros_1d",
            json!({"size": 8, "in_dim": "lane", "out_dim": "dim1"}),
            layout(json!([["dim1", 1]]), &[("lane", json!([[0], [0], [0]]))]),
        ),
        (
            "from_bases",
            json!({"bases": [["lane", [[1, 0], [0, 1]]]], "out_dim_names": ["dim0", "dim1"]}),
            layout(json!([["dim0", 2], ["dim1", 2]]), &[("lane", json!([[1, 0], [0, 1]]))]),
        ),
        (
            "from_output_masks",
            json!({"ins": [["offset", 4]], "masks": [["dim0", [3]], ["dim1", [2]]]}),
            layout(json!([["dim0", 2], ["dim1", 2]]), &[("offset", json!([[1, 0], [1, 1]]))]),
        ),
        (
            "identity_nd",
            json!({"in_dim": "offset", "shape": [2, 4], "order": [1, 0]}),
            layout(json!([["dim1", 4], ["dim0", 2]]), &[("offset", json!([[1, 0], [2, 0], [0, 1]]))]),
        ),
        ("empty", json!({}), layout(json!([]), &[])),
        ("mul", json!({"a": two, "b": four}), identity(3, "lane", "dim0")),
        (
            "compose",
            json!({"inner": identity(2, "lane", "offset"), "outer": layout(json!([["dim0", 4]]), &[("offset", json!([[2], [1]]))])}),
            layout(json!([["dim0", 4]]), &[("lane", json!([[2], [1]]))]),
        ),
        (
            "invert",
            of(json!({})),
            layout(
                json!([["register", 2], ["lane", 4]]),
                &[("dim0", json!([[0, 1]])), ("dim1", json!([[1, 0], [0, 2]]))],
            ),
        ),
        (
            "pseudoinvert",
            json!({"layout": layout(json!([["dim0", 2]]), &[("lane", json!([[0], [1]]))])}),
            layout(json!([["lane", 4]]), &[("dim0", json!([[2]]))]),
        ),
        (
            "invert_and_compose",
            json!({"a": four, "b": layout(json!([["dim0", 4]]), &[("offset", json!([[2], [1]]))])}),
            layout(json!([["offset", 4]]), &[("lane", json!([[2], [1]]))]),
        ),
        (
            "solve",
            json!({
                "a": layout(json!([["dim0", 8]]), &[("offset", json!([[2], [4]]))]),
                "b": layout(json!([["dim0", 8]]), &[("lane", json!([[4], [6]]))]),
            }),
            layout(json!([["offset", 4]]), &[("lane", json!([[2], [3]]))]),
        ),
        ("divide_left", json!({"layout": identity(3, "lane", "dim0"), "divisor": two}), four.clone()),
        ("divide_right", json!({"layout": identity(3, "lane", "dim0"), "divisor": four}), two.clone()),
        (
            "quotient",
            json!({
                "layout": layout(json!([["warp", 2], ["dim0", 2]]), &[("lane", json!([[0, 1]])), ("warp", json!([[1, 0]]))]),
                "dims": ["warp"],
            }),
            two.clone(),
        ),
        (
            "repetitions",
            json!({"layout": layout(json!([["dim0", 8]]), &[("lane", json!([[4], [1], [2]]))]), "tile": layout(json!([["dim0", 8]]), &[("lane", json!([[4]]))])}),
            layout(json!([["dim0", 8]]), &[("lane", json!([[0], [1], [2]]))]),
        ),
        ("flatten_ins", of(json!({})), layout(outs.clone(), &[("register", json!([[0, 1], [1, 0], [0, 2]]))])),
        (
            "flatten_outs",
            of(json!({})),
            layout(json!([["dim0", 8]]), &[("register", json!([[2]])), ("lane", json!([[1], [4]]))]),
        ),
        (
            "reshape_ins",
            of(json!({"ins": [["lane", 4], ["warp", 2]]})),
            layout(outs.clone(), &[("lane", json!([[0, 1], [1, 0]])), ("warp", json!([[0, 2]]))]),
        ),
        (
            "reshape_outs",
            of(json!({"outs": [["dim0", 4], ["dim1", 2]]})),
            layout(
                json!([["dim0", 4], ["dim1", 2]]),
                &[("register", json!([[2, 0]])), ("lane", json!([[1, 0], [0, 1]]))],
            ),
        ),
        (
            "transpose_ins",
            of(json!({"order": ["lane", "register"]})),
            layout(outs.clone(), &[("lane", json!([[1, 0], [0, 2]])), ("register", json!([[0, 1]]))]),
        ),
        (
            "transpose_outs",
            of(json!({"order": ["dim1", "dim0"]})),
            layout(
                json!([["dim1", 4], ["dim0", 2]]),
                &[("register", json!([[1, 0]])), ("lane", json!([[0, 1], [2, 0]]))],
            ),
        ),
        (
            "squeeze_ins",
            json!({"layout": layout(json!([["dim0", 2]]), &[("lane", json!([[1]])), ("warp", json!([]))])}),
            two.clone(),
        ),
        (
            "squeeze_outs",
            json!({"layout": layout(json!([["dim0", 2], ["dim1", 1]]), &[("lane", json!([[1, 0]]))])}),
            two.clone(),
        ),
        (
            "unsqueeze_ins",
            json!({"layout": two, "dim": "warp"}),
            layout(json!([["dim0", 2]]), &[("lane", json!([[1]])), ("warp", json!([]))]),
        ),
        (
            "unsqueeze_outs",
            json!({"layout": two, "dim": "dim1"}),
            layout(json!([["dim0", 2], ["dim1", 1]]), &[("lane", json!([[1, 0]]))]),
        ),
        ("rename_in", json!({"layout": two, "from": "lane", "to": "warp"}), identity(1, "warp", "dim0")),
        ("rename_out", json!({"layout": two, "from": "dim0", "to": "dim3"}), identity(1, "lane", "dim3")),
        (
            "resize_in",
            of(json!({"dim": "lane", "size": 8})),
            layout(outs.clone(), &[("register", json!([[0, 1]])), ("lane", json!([[1, 0], [0, 2], [0, 0]]))]),
        ),
        // The coordinate 6 does not fit: it becomes zero, not 2.
        (
            "resize_out",
            json!({"layout": swizzle, "dim": "offset", "size": 4}),
            layout(json!([["offset", 4]]), &[("lane", json!([[1], [0], [2]]))]),
        ),
        ("no_larger_than", of(json!({"sizes": [["dim1", 2]]})), cut),
        (
            "no_smaller_than",
            of(json!({"sizes": [["dim0", 4]]})),
            layout(
                json!([["dim0", 4], ["dim1", 4]]),
                &[("register", json!([[0, 1], [2, 0]])), ("lane", json!([[1, 0], [0, 2]]))],
            ),
        ),
        (
            "sublayout",
            of(json!({"ins": ["lane"], "outs": ["dim0"]})),
            layout(json!([["dim0", 2]]), &[("lane", json!([[1], [0]]))]),
        ),
        (
            "remove_axis",
            of(json!({"dim": "dim0"})),
            layout(json!([["dim0", 4]]), &[("register", json!([[1]])), ("lane", json!([[0], [2]]))]),
        ),
        (
            "remove_zero_bases",
            json!({"layout": copies(), "dim": "register"}),
            layout(json!([["offset", 8]]), &[("register", json!([[2], [1]])), ("lane", json!([[4]]))]),
        ),
        (
            "concat_ins",
            json!({"a": two, "b": layout(json!([["dim0", 2]]), &[("warp", json!([[0]]))])}),
            layout(json!([["dim0", 2]]), &[("lane", json!([[1]])), ("warp", json!([[0]]))]),
        ),
        (
            "concat_outs",
            json!({"a": two, "b": layout(json!([["dim1", 4]]), &[("lane", json!([[3]]))])}),
            layout(json!([["dim0", 2], ["dim1", 4]]), &[("lane", json!([[1, 3]]))]),
        ),
        (
            "apply",
            of(json!({"points": [{"lane": 3, "register": 1}, {}]})),
            json!({"points": [{"dim0": 1, "dim1": 3}, {"dim0": 0, "dim1": 0}]}),
        ),
        ("equal", json!({"a": two, "b": two}), json!({"value": true})),
        (
            "equal_ignoring_out_sizes",
            json!({"a": two, "b": layout(json!([["dim0", 8]]), &[("lane", json!([[1]]))])}),
            json!({"value": true}),
        ),
        (
            "predicates",
            json!({"layout": copies()}),
            json!({
                "is_surjective": true, "is_injective": false, "is_invertible": false, "num_in_dims": 2, "num_out_dims": 1,
            }),
        ),
        ("matrix", json!({"layout": copies()}), json!({"rows": [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]})),
        ("rank", json!({"layout": copies()}), json!({"value": 3})),
        ("is_distributed", json!({"layout": swizzle}), json!({"value": false})),
        ("is_memory_layout", json!({"layout": swizzle}), json!({"value": true})),
        ("is_trivial_over", json!({"layout": identity(2, "warp", "warp"), "dims": ["warp"]}), json!({"value": true})),
        ("is_identity_on_out", json!({"layout": identity(2, "warp", "warp"), "dim": "warp"}), json!({"value": true})),
        ("sublayout_is_zero", of(json!({"ins": ["register"], "outs": ["dim0"]})), json!({"value": true})),
        ("consecutive_elements", json!({"layout": four}), json!({"value": 4})),
        ("contiguous_along_out", json!({"layout": copies(), "dim": "offset"}), json!({"value": 8})),
        ("free_variable_masks", json!({"layout": copies()}), json!({"masks": {"register": 2, "lane": 0}})),
        ("output_basis_mask", of(json!({"ins": ["register", "lane"], "out": "dim1"})), json!({"value": 3})),
        ("input_basis_mask", of(json!({"dim": "lane", "outs": ["dim1"]})), json!({"value": 2})),
        ("output_masks", of(json!({})), json!({"masks": {"dim0": [2], "dim1": [1, 4]}})),
        (
            "select_bases",
            json!({"layout": copies(), "dim": "register", "kept": [2, 0]}),
            layout(json!([["offset", 8]]), &[("register", json!([[1], [2]])), ("lane", json!([[4]]))]),
        ),
        ("without_broadcast", json!({"layout": copies(), "dim": "register"}), json!({"kept": [0, 2]})),
        (
            "order_for_division",
            json!({"layout": copies(), "divisor": layout(json!([["offset", 2]]), &[("register", json!([[1]]))]), "dim": "register"}),
            json!({"kept": [2, 0, 1]}),
        ),
        ("additive_first", json!({"layout": copies(), "dim": "register"}), json!({"kept": [0, 1, 2], "span": 8})),
        ("largest_vector", json!({"layout": copies(), "widest": 8}), json!({"elements": 4, "kept": [2, 0, 1]})),
        ("enlarge", json!({"shape": [48, 64]}), json!({"shape": [64, 64], "bounds": [["dim0", 48]]})),
        (
            "mask",
            json!({
                "layout": layout(json!([["dim0", 16]]), &[("lane", json!([[1], [2]])), ("register", json!([[4], [8]]))]),
                "shape": [10], "dim": "register",
            }),
            json!({"shares": ["real", "real", "mixed", "nothing"]}),
        ),
        ("is_real", json!({"shape": [10], "points": [{"dim0": 9}, {"dim0": 10}]}), json!({"values": [true, false]})),
        (
            "index_arithmetic",
            json!({"layout": layout(json!([["offset", 8]]), &[("lane", json!([[1], [2]])), ("warp", json!([[6]]))]), "constants": {"warp": 1}}),
            json!({"instructions": ["%0 = and lane, 3", "%1 = xor %0, 6"], "values": {"offset": "%1"}}),
        ),
    ]
}

/// Each operation of the table has a case, and answers it by `batch` under each of its names, and by the command.
#[test]
fn operations_answer_alike_everywhere() {
    let cases = cases();
    let tested: BTreeSet<_> = cases.iter().map(|(name, ..)| *name).collect();
    assert_eq!(tested, LAYOUT_OPERATIONS.iter().map(|operation| operation.name).collect());
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    for (name, inputs, answer) in &cases {
        let operation = LayoutOperationEntry::find(name).expect("an operation");
        for known in std::iter::once(&operation.name).chain(operation.aliases) {
            requests.push(json!({"id": known, "op": known, "inputs": inputs}));
            expected.push(answer);
        }
    }
    for (answer, expected) in batch(lines(&requests)).iter().zip(expected) {
        assert_eq!(&answer["result"], expected, "{answer}");
    }
    for (name, inputs, expected) in &cases {
        let mut arguments = vec!["layout".to_owned(), "op".to_owned(), (*name).to_owned(), "--json".to_owned()];
        arguments.extend(inputs.as_object().into_iter().flatten().map(|(input, value)| match value.as_str() {
            Some(text) => format!("{input}={text}"),
            None => format!("{input}={value}"),
        }));
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let shown = printed(&arguments);
        let found: Json = serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{name}: {error} in {shown}"));
        assert_eq!(&found, expected, "{name}");
    }
}

/// Layouts by their family, with short forms of the other inputs.
#[test]
fn layouts_of_families_are_inputs() {
    let text = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let blocked = format!("layout={text}");
    let shown = printed(&["layout", "op", "transposeOuts", &blocked, "order=dim1,dim0", "--shape", "2x4"]);
    assert_eq!(shown, "register: [1,0]\nlane: [2,0] [0,1]\nwarp:\nblock:\nonto dim1 4 x dim0 2\n");
    let shown = printed(&["layout", "op", "reshape_outs", &blocked, "outs=dim0:8", "--shape", "2x4"]);
    assert!(shown.ends_with("onto dim0 8\n"), "{shown}");
    let requests = [
        json!({"id": 1, "op": "rank", "inputs": {"layout": {"params": text, "shape": [2, 4]}}}),
        json!({"id": 2, "op": "rank", "inputs": {"layout": {"params": text}}}),
    ];
    let answers = batch(lines(&requests));
    assert_eq!(answers[0]["result"], json!({"value": 3}), "{}", answers[0]);
    assert!(answers[1]["error"]["message"].as_str().is_some_and(|text| text.contains("shape")), "{}", answers[1]);
}

/// Unknown names, keys in `camelCase` and missing shapes get a message with the remedy.
#[test]
fn messages_name_the_remedy() {
    let blocked = json!({
        "kind": "blocked", "sizePerThread": [1], "threads_per_warp": [32], "warps_per_cta": [4], "order": [0],
    });
    let own = json!({
        "kind": "blocked", "size_per_thread": [1], "threads_per_warp": [32], "warps_per_cta": [4], "order": [0],
        "cgaLayout": [],
    });
    let cases = [
        (json!({"op": "flaten_outs"}), "unknown operation `flaten_outs`; did you mean `flatten_outs`?"),
        (json!({"op": "convrt"}), "unknown operation `convrt`; did you mean `convert`?"),
        (json!({"op": "cute.coalesc", "inputs": []}), "did you mean `coalesce`?"),
        (
            json!({"op": "zeros_1d", "inputs": {"outDimSize": 1}}),
            "`outDimSize` is not an input of `zeros_1d`: write `out_dim_size`",
        ),
        (
            json!({"op": "layout", "shape": [128], "params": blocked}),
            "`sizePerThread` must be written `size_per_thread`",
        ),
        (json!({"op": "layout", "shape": [128], "params": own}), "parameter `cgaLayout`: must be written `cga_layout`"),
        (json!({"op": "reduce", "elementBits": 32}), "`elementBits` must be written `element_bits`"),
        (
            json!({"op": "invert", "inputs": {"layout": {"inDims": [], "outDims": [], "bases": {}}}}),
            "`inDims` must be written `in_dims`",
        ),
        (
            json!({"op": "layout", "shape": [128], "params": "gl.BlokedLayout([1], [32], [4], [0])"}),
            "did you mean `BlockedLayout`?",
        ),
        (
            json!({"op": "layout", "shape": [128], "params": "gl.BlockedLayout([1], [32], [4], ordr=[0])"}),
            "did you mean `order`?",
        ),
        (
            json!({"op": "layout", "shape": [128], "params": "gl.BlockedLayout([1], [32], [4], [0], order=[0])"}),
            "`order`: is given twice",
        ),
        (
            json!({"op": "layout", "shape": [128], "params": "gl.SliceLayout(0, gl.BlockedLayout([1], [32], [4], [0]), 2)"}),
            "at most: dim, parent",
        ),
    ];
    let requests: Vec<_> = cases.iter().map(|(request, _)| request.clone()).collect();
    for (answer, (request, expected)) in batch(lines(&requests)).iter().zip(&cases) {
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{answer}\nfor {request}");
    }
}

/// Calls of Gluon's classes are read as the attributes that Triton 3.9 makes of them.
#[test]
fn calls_of_gluon_are_layouts() {
    let blocked =
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let mma = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>";
    let cases: [(&str, String, &[u64]); 24] = [
        ("ttgl.BlockedLayout([1,4],[8,4],[4,1],[1,0])", blocked.to_owned(), &[64, 64]),
        ("BlockedLayout([1, 4], [8, 4], warps_per_cta=[4, 1], order=(1, 0,),)", blocked.to_owned(), &[64, 64]),
        (
            "gluon.language.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0], cga_layout=[[1, 0]])",
            blocked.replace("}>", ", CGALayout = [[1, 0]]}>"),
            &[64, 64],
        ),
        (
            "gl.SliceLayout(1, gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]))",
            format!("#ttg.slice<{{dim = 1, parent = {blocked}}}>"),
            &[64],
        ),
        (
            "gl.SliceLayout(dim=0, parent=gl.NVMMADistributedLayout([3, 0], [4, 1], instr_shape=[16, 64, 16]))",
            format!("#ttg.slice<{{dim = 0, parent = {mma}}}>"),
            &[64],
        ),
        (
            "gl.DotOperandLayout(0, gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]), k_width=2)",
            format!("#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = 2}}>"),
            &[64, 64],
        ),
        (
            "gl.DotOperandLayout(operand_index=1, parent=gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]), k_width=0)",
            format!("#ttg.dot_op<{{opIdx = 1, parent = {blocked}}}>"),
            &[64, 64],
        ),
        (
            "gl.DistributedLinearLayout([[0, 1]], [[0, 2], [1, 0]], [], [], [2, 4])",
            "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], block = []}>".to_owned(),
            &[2, 4],
        ),
        (
            "gl.SwizzledSharedLayout(8, 1, max_phase=8, order=[1, 0])",
            "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>".to_owned(),
            &[64, 64],
        ),
        (
            "gl.NVMMASharedLayout(128, 16, rank=2, transposed=True)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>".to_owned(),
            &[64, 64],
        ),
        // The swizzles are those that Gluon chooses.
        (
            "gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>".to_owned(),
            &[128, 64],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([64, 16], dtype=gl.float16)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>".to_owned(),
            &[64, 16],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([4, 64], gl.float16)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>".to_owned(),
            &[4, 64],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([16, 64], gl.float32, transposed=True)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 32}>".to_owned(),
            &[16, 64],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([64, 32], gl.float8e5)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>".to_owned(),
            &[64, 32],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([128, 64], gl.uint8, fp4_padded=True)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>".to_owned(),
            &[128, 64],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([2, 8, 64], gl.bfloat16)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, rank = 3}>".to_owned(),
            &[2, 8, 64],
        ),
        (
            "gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16, cga_layout=[[0, 1]])",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>".to_owned(),
            &[128, 64],
        ),
        (
            "gl.PaddedSharedLayout.with_identity_for([[128, 4]], [64, 64], [1, 0])",
            "#ttg.padded_shared<[128:+4] {order = [1, 0], shape = [64, 64]}>".to_owned(),
            &[64, 64],
        ),
        (
            "gl.PaddedSharedLayout([[4, 2]], [[0, 1], [0, 2], [1, 0]], [], [2, 4])",
            "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], block = []}>".to_owned(),
            &[2, 4],
        ),
        (
            "gl.SharedLinearLayout([[0, 1], [1, 1]])",
            "#ttg.shared_linear<{offset = [[0, 1], [1, 1]]}, alignment = 16>".to_owned(),
            &[2, 2],
        ),
        (
            "gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [4, 1], tiles_per_warp=None)",
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>"
                .to_owned(),
            &[64, 64],
        ),
        (
            "gl.amd.AMDWMMALayout(2, False, [[1, 0], [2, 0]], None, [16, 16, 16])",
            "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[1, 0], [2, 0]]}}>".to_owned(),
            &[64, 64],
        ),
        (
            "TensorMemoryLayout(block=[128, 64], col_stride=1)",
            "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>".to_owned(),
            &[128, 64],
        ),
    ];
    let request = |params: &str, shape: &[u64]| json!({"id": params, "op": "layout", "params": params, "shape": shape});
    let requests: Vec<_> =
        cases.iter().flat_map(|(call, text, shape)| [request(call, shape), request(text, shape)]).collect();
    for pair in batch(lines(&requests)).chunks(2) {
        assert!(pair[1]["result"].is_object(), "{}", pair[1]);
        let mut written = pair[1]["result"].clone();
        // The request by attribute has the alignment, so its answer omits it.
        if pair[0]["id"].as_str().is_some_and(|call| call.contains("SharedLinear")) {
            written["alignment"] = pair[0]["result"]["alignment"].clone();
        }
        assert_eq!(pair[0]["result"], written, "{}", pair[0]);
    }
    let (call, text, _) = &cases[3];
    assert_eq!(printed(&["layout", call, "--shape", "64", "--as", "text"]).trim_end(), text);
}

/// The table of the page lists the operations, and rustdoc finds each method under Triton's names.
#[test]
fn the_page_and_the_aliases_follow_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let input = |input: &LayoutOperationParameter| match input.default {
        None => format!("`{}`", input.name),
        Some(default) => format!("`{}` (default `{default}`)", input.name),
    };
    let mut page = "| `op` | Triton's names | inputs | result | Rust |\n|---|---|---|---|---|\n".to_owned();
    for operation in LAYOUT_OPERATIONS {
        let aliases: Vec<_> = operation.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let inputs: Vec<_> = operation.inputs.iter().map(input).collect();
        let result = if operation.gives_layout() { "the layout" } else { operation.result };
        let (aliases, inputs) = (aliases.join(", "), inputs.join(", "));
        page += &format!("| `{}` | {aliases} | {inputs} | {result} | `{}` |\n", operation.name, operation.rust);
    }
    golden::check_section(&root.join("docs/layouts.md"), "operations", &page);
    let sources =
        ["linear", "algebra", "shape", "fit", "contiguity", "column_action", "index_arithmetic", "families/tile"];
    let source: String = sources
        .iter()
        .map(|file| {
            std::fs::read_to_string(root.join(format!("framework/layout/src/{file}.rs"))).expect("a source file")
        })
        .collect();
    for operation in LAYOUT_OPERATIONS {
        let method = operation.rust.rsplit("::").next().unwrap_or_default();
        for alias in operation.aliases.iter().filter(|alias| alias.starts_with(|c: char| c.is_ascii_lowercase())) {
            let marked = format!("#[doc(alias = \"{alias}\")]");
            let is_snake_case = !alias.contains(|c: char| c.is_ascii_uppercase());
            assert!(is_snake_case || source.contains(&marked), "{method} lacks {marked}");
        }
    }
}
