//! Round trips through text and bytes; errors of malformed input and their positions.
#![allow(clippy::unwrap_used)]

use ciborium::Value as Cbor;
use proptest::prelude::*;
use tilewright_kernel::text::parse_module;
use tilewright_kernel::{
    Atomic, BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, DecodeError, Element, Issuers, Kernel,
    LaunchDerivedTensorMap, LaunchTimeElementCount, MAX_REGION_DEPTH, MathFunction, MemoryOrder, MemoryScope,
    MemorySpace, Module, Op, OutOfBoundsFill, Parameter, Queue, Region, RegisterChange, SharedBuffer, ShuffleMode,
    SpecialRegister, Statement, StaticLaunchConfig, TensorMap, Type, Unary, Value, decode_module, encode_module,
};
use tilewright_target::XorSwizzle;

fn value() -> impl Strategy<Value = Value> {
    any::<u32>().prop_map(Value)
}

fn values() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(value(), 0..4)
}

fn ty() -> impl Strategy<Value = Type> {
    let element = || prop::sample::select(Element::ALL.to_vec());
    prop_oneof![
        element().prop_map(Type::Scalar),
        (element(), any::<u32>()).prop_map(|(element, count)| Type::Vector(element, count)),
        prop::sample::select(MemorySpace::ALL.to_vec()).prop_map(Type::Pointer),
        (element(), any::<u32>()).prop_map(|(element, count)| Type::Pending(element, count)),
    ]
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn special() -> impl Strategy<Value = SpecialRegister> {
    prop_oneof![
        Just(SpecialRegister::Lane),
        Just(SpecialRegister::Warp),
        Just(SpecialRegister::Block),
        any::<u8>().prop_map(SpecialRegister::Program),
        any::<u8>().prop_map(SpecialRegister::Programs)
    ]
}

/// Generates random operations that order asynchronous ones, such as waits and arrivals at mbarriers.
fn asynchronous() -> impl Strategy<Value = Op> {
    prop_oneof![
        one_of(Queue::ALL).prop_map(|queue| Op::Commit { queue }),
        (one_of(Queue::ALL), any::<u32>(), values()).prop_map(|(queue, outstanding, values)| Op::Wait {
            queue,
            outstanding,
            values
        }),
        (value(), any::<u32>()).prop_map(|(pointer, arrivals)| Op::MbarrierInit { pointer, arrivals }),
        (value(), any::<u32>()).prop_map(|(pointer, bytes)| Op::MbarrierArrive { pointer, bytes }),
        (value(), value()).prop_map(|(pointer, phase)| Op::MbarrierWait { pointer, phase }),
        value().prop_map(|pointer| Op::MbarrierInvalidate { pointer }),
        (one_of(Queue::ALL), value()).prop_map(|(queue, pointer)| Op::MbarrierCommit { queue, pointer }),
        (value(), any::<u32>()).prop_map(|(pointer, columns)| Op::TensorAllocate { pointer, columns }),
        (value(), any::<u32>()).prop_map(|(address, columns)| Op::TensorFree { address, columns }),
        (any::<u32>(), any::<u32>()).prop_map(|(number, warps)| Op::NamedBarrier { number, warps }),
        (one_of(BarrierAction::ALL), value(), any::<u32>()).prop_map(|(action, number, warps)| Op::IndexedBarrier {
            action,
            number,
            warps
        }),
        (one_of(RegisterChange::ALL), any::<u32>())
            .prop_map(|(change, registers)| Op::SetMaxRegisters { change, registers }),
        (one_of(Queue::ALL), value()).prop_map(|(queue, value)| Op::ReadyToken { queue, value }),
        Just(Op::ProxyFence {}),
    ]
}

/// Generates random atomics, fences, math functions, assertions, prints and inline assembly.
fn memory_or_output() -> impl Strategy<Value = Op> {
    let memory = || (one_of(MemoryOrder::ALL), one_of(MemoryScope::ALL), prop::option::of(value()));
    prop_oneof![
        (one_of(Atomic::ALL), value(), value(), memory()).prop_map(
            |(op, pointer, value, (order, scope, predicate))| {
                Op::AtomicRmw { op, pointer, value, predicate, order, scope }
            }
        ),
        (value(), value(), value(), memory()).prop_map(|(pointer, expected, value, (order, scope, predicate))| {
            Op::AtomicCompareExchange { pointer, expected, value, predicate, order, scope }
        }),
        one_of(MemoryScope::ALL).prop_map(|scope| Op::Fence { scope }),
        (one_of(MathFunction::ALL), values()).prop_map(|(function, operands)| Op::Math { function, operands }),
        (value(), any::<String>(), prop::option::of(value())).prop_map(|(condition, message, predicate)| Op::Assert {
            condition,
            message,
            predicate
        }),
        (any::<String>(), any::<bool>(), values(), prop::option::of(values()))
            .prop_map(|(prefix, hex, values, index)| Op::Print { prefix, hex, values, index }),
        (any::<String>(), any::<String>(), values()).prop_map(|(text, constraints, operands)| Op::Assembly {
            text,
            constraints,
            operands
        }),
        any::<bool>().prop_map(|wait| Op::GridDependency { wait }),
    ]
}

/// Generates random operations without regions.
fn flat_op() -> impl Strategy<Value = Op> {
    let access = || (value(), prop::option::of(value()), any::<i32>(), any::<u32>());
    prop_oneof![
        any::<u64>().prop_map(|bits| Op::Constant { bits }),
        Just(Op::Unspecified {}),
        special().prop_map(Op::Special),
        one_of(ClockCounter::ALL).prop_map(|counter| Op::Clock { counter }),
        any::<u32>().prop_map(|buffer| Op::SharedAddress { buffer }),
        (value(), value()).prop_map(|(pointer, block)| Op::ClusterAddress { pointer, block }),
        (one_of(Unary::ALL), value()).prop_map(|(op, a)| Op::Unary { op, a }),
        (one_of(Binary::ALL), value(), value()).prop_map(|(op, a, b)| Op::Binary { op, a, b }),
        (value(), value(), value()).prop_map(|(a, b, c)| Op::Fma { a, b, c }),
        (one_of(Compare::ALL), value(), value()).prop_map(|(op, a, b)| Op::Compare { op, a, b }),
        (value(), value(), value()).prop_map(|(condition, a, b)| Op::Select { condition, a, b }),
        (value(), one_of(CollectiveScope::ALL)).prop_map(|(value, scope)| Op::AssumeUniform { value, scope }),
        (one_of(Cast::ALL), value()).prop_map(|(op, a)| Op::Cast { op, a }),
        values().prop_map(|elements| Op::Pack { elements }),
        (value(), any::<u32>()).prop_map(|(vector, index)| Op::Extract { vector, index }),
        (value(), value(), any::<u16>(), prop::option::of((value(), any::<u16>())))
            .prop_map(|(a, b, selector, alternative)| Op::PermuteBytes { a, b, selector, alternative }),
        (value(), value()).prop_map(|(pointer, bytes)| Op::PtrAdd { pointer, bytes }),
        (access(), prop::option::of(value())).prop_map(|((pointer, predicate, offset, alignment), other)| Op::Load {
            pointer,
            predicate,
            offset,
            alignment,
            other
        }),
        (access(), value()).prop_map(|((pointer, predicate, offset, alignment), value)| Op::Store {
            pointer,
            value,
            predicate,
            offset,
            alignment
        }),
        (value(), value()).prop_map(|(value, lane)| Op::Shuffle {
            kind: ShuffleMode::Index,
            value,
            lane,
            issuers: Issuers::All
        }),
        (value(), value(), any::<u32>()).prop_map(|(a, b, lane)| Op::Swap { a, b, lane, issuers: Issuers::All }),
        one_of(CollectiveScope::ALL).prop_map(|scope| Op::Barrier { scope, issuers: Issuers::All }),
        asynchronous(),
        memory_or_output(),
        (any::<String>(), values()).prop_map(|(name, operands)| Op::Instruction { name, operands }),
        values().prop_map(|values| Op::Yield { values }),
    ]
}

fn typed() -> impl Strategy<Value = Vec<(Value, Type)>> {
    prop::collection::vec((value(), ty()), 0..3)
}

fn statement() -> impl Strategy<Value = Statement> {
    let flat = (typed(), flat_op()).prop_map(|(results, op)| Statement::new(results, op));
    flat.prop_recursive(4, 24, 4, |inner| {
        let statements = prop::collection::vec(inner, 0..4);
        let region =
            || (typed(), statements.clone()).prop_map(|(arguments, statements)| Region { arguments, statements });
        let branch = (value(), region(), region()).prop_map(|(condition, then, otherwise)| Op::If {
            condition,
            then,
            otherwise,
        });
        let for_loop = (value(), value(), value(), values(), region())
            .prop_map(|(from, to, step, carried, body)| Op::For { from, to, step, carried, body });
        let while_loop = (values(), region()).prop_map(|(carried, body)| Op::While { carried, body });
        (typed(), prop_oneof![branch, for_loop, while_loop]).prop_map(|(results, op)| Statement::new(results, op))
    })
}

fn tensor_map() -> impl Strategy<Value = TensorMap> {
    let sizes = prop::collection::vec(any::<u32>(), 1..7);
    let element = prop::option::of(any::<String>());
    let strategy = (any::<u32>(), element, sizes, any::<u32>(), any::<u64>(), one_of(OutOfBoundsFill::ALL));
    strategy.prop_map(|(element_bits, element, box_sizes, shift, mask, outside)| TensorMap {
        element_bits,
        element,
        box_sizes,
        swizzle: XorSwizzle { shift, mask },
        outside,
    })
}

fn kernel() -> impl Strategy<Value = Kernel> {
    let plain = (any::<String>(), ty()).prop_map(|(name, ty)| Parameter::scalar_or_pointer(&name, ty));
    let extent = prop_oneof![
        any::<u64>().prop_map(LaunchTimeElementCount::Number),
        any::<u32>().prop_map(LaunchTimeElementCount::Parameter)
    ];
    let extents = |least| prop::collection::vec(extent.clone(), least..6);
    let rows = (any::<u32>(), extents(1), extents(0)).prop_map(|(pointer, strides, sizes)| LaunchDerivedTensorMap {
        pointer,
        strides,
        sizes,
    });
    let mapped = (any::<String>(), tensor_map(), prop::option::of(rows))
        .prop_map(|(name, map, rows)| Parameter { rows, ..Parameter::tensor_map(&name, map) });
    let parameter = prop_oneof![3 => plain, 1 => mapped];
    let buffer = (any::<u32>(), any::<u32>(), any::<Option<u32>>()).prop_map(|(bytes, alignment, at)| SharedBuffer {
        bytes,
        alignment,
        at,
    });
    let launch =
        (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(lanes, warps, blocks, registers)| {
            StaticLaunchConfig::new(lanes, warps).with_blocks(blocks).with_registers(registers)
        });
    let name = prop_oneof![any::<String>(), "[a-z_][a-z0-9_]{0,8}"];
    let strategy = (
        name,
        launch,
        prop::collection::vec(parameter, 0..3),
        prop::collection::vec(buffer, 0..3),
        prop::collection::vec(statement(), 0..8),
    );
    strategy.prop_map(|(name, launch, parameters, shared, statements)| Kernel {
        name,
        launch,
        parameters,
        shared,
        body: Region { arguments: Vec::new(), statements },
        locations: Vec::new(),
    })
}

fn module() -> impl Strategy<Value = Module> {
    prop::collection::vec(kernel(), 0..3).prop_map(|kernels| Module { kernels })
}

proptest! {
    /// Text is read back exactly, even for modules that the verifier rejects.
    #[test]
    fn text_is_read_back(module in module()) {
        let text = module.to_string();
        let parsed = parse_module(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&parsed, &module, "{}", text);
        prop_assert_eq!(parsed.to_string(), text);
    }

    #[test]
    fn bytes_are_read_back(module in module()) {
        prop_assert_eq!(decode_module(&encode_module(&module)), Ok(module));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        let _ = parse_module(&text);
    }

    /// Text with few errors reaches deeper into the parser than noise.
    #[test]
    fn no_damaged_text_makes_the_parser_panic(module in module(), at in any::<prop::sample::Index>(), with in "[%{}()=:,+x0-9 \n\"-]{0,3}") {
        let text = module.to_string();
        let boundaries: Vec<_> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
        let cut = *at.get(&boundaries);
        let rest = boundaries.iter().copied().find(|&boundary| boundary > cut).unwrap_or(cut);
        if let Err(error) = parse_module(&format!("{}{with}{}", &text[..cut], &text[rest..])) {
            prop_assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
        }
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(module in module(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = encode_module(&module);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = decode_module(&bytes);
        let _ = decode_module(&bytes[..at]);
    }
}

#[test]
fn text_reads_like_this() {
    let text = "\
kernel copy_rows(%0 from: ptr.global, %1 \"the end\": i32) lanes 32 warps 4 {
  shared 0: 1024 bytes align 16
  %2: i32 = special lane
  %3: i32 = special program 0
  %4: f32 = constant 0x3f800000
  %5: i32 = constant 16
  %6: ptr.shared = shared_address 0
  %7: i32 = binary shr_u %2, %5
  %8: i1 = compare lt_u %7, %1
  %9: 4xf16 = load %0 + 16 align 8 if %8
  store %6 - 4, %9 align 8
  barrier block all
  %10: f32 = shuffle index all %4, %2
  %21: f32 = shuffle_xor 15 all %10
  %18: i32, %19: i32 = swap 16 all %5, %7
  %20: i32 = permute_bytes %18, %19, 0x3210 or 0x7654 if %8
  %11: i32, %12: 2xi32 = instruction \"vendor.thing.m8\" %9, %10
  %13: i32 = if %8 {
    %14: i32 = permute_bytes %2, %7, 0x5410
    yield %14
  } else {
    yield %2
  }
  %15: i32 = for %2 to %1 step %5 carry %13 (%16: i32, %17: i32) {
    instruction \"pause\"
    yield %17
  }
}
";
    let module = parse_module(text).unwrap();
    assert_eq!(module.to_string(), text);
    let kernel = &module.kernels[0];
    assert_eq!(kernel.parameters[1].name, "the end");
    assert_eq!(kernel.launch, StaticLaunchConfig::new(32, 4));
    assert_eq!(kernel.statements().len(), 22);
    let Op::Load { predicate, offset, .. } = kernel.body.statements[7].op else { panic!() };
    assert_eq!((predicate, offset), (Some(Value(8)), 16));
}

#[test]
fn the_example_of_the_guide_is_sound() {
    let guide = include_str!("../../../../docs/kernel-ir.md");
    let start = guide.find("    kernel ").unwrap();
    let example: String = guide[start..]
        .lines()
        .take_while(|line| line.starts_with("    "))
        .map(|line| format!("{}\n", &line[4..]))
        .collect();
    let module = parse_module(&example).unwrap();
    tilewright_kernel::verify(&module).unwrap();
    assert_eq!(module.to_string(), example);
}

#[test]
fn the_guide_lists_every_operation() {
    let guide = include_str!("../../../../docs/kernel-ir.md");
    let words = Op::NAMES.into_iter().chain(Binary::ALL.iter().map(|op| op.name()));
    let words = words.chain(Unary::ALL.iter().map(|op| op.name())).chain(Atomic::ALL.iter().map(|op| op.name()));
    let words = words.chain(MathFunction::ALL.iter().map(|function| function.name()));
    let words = words.chain(Compare::ALL.iter().map(|op| op.name())).chain(Cast::ALL.iter().map(|op| op.name()));
    let quoted: Vec<_> = guide.lines().filter(|line| line.starts_with('|')).collect();
    for word in words {
        let listed =
            |line: &&str| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|found| found == word);
        assert!(quoted.iter().any(listed), "{word}");
    }
}

#[test]
fn comments_and_layout_do_not_matter_but_lines_end_what_may_be_left_out() {
    let text = "kernel k ( ) lanes 8 # lanes\nwarps 0x2 { %0:i1=constant 1
        %1: i32 = load %5 align 4 # no predicate
        if %0 { yield } else { yield }
        instruction \"pause\"
        %2: i32 = constant 0 }";
    let statements = parse_module(text).unwrap().kernels.remove(0).body.statements;
    assert_eq!(statements.len(), 5);
    assert!(matches!(&statements[1].op, Op::Load { predicate: None, .. }));
    assert!(matches!(&statements[3].op, Op::Instruction { operands, .. } if operands.is_empty()));
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let body = |line: &str| format!("kernel k() lanes 8 warps 1 {{\n  {line}\n}}\n");
    let table = [
        ("kernal k()".to_owned(), (1, 1, "expected `kernel`, found `kernal`")),
        ("kernel k(%1 a: i32)".to_owned(), (1, 10, "expected `%0`, parameters being numbered from zero")),
        (body("%1: i33 = constant 0"), (2, 7, "expected a type, as `i32`, `4xf16` or `ptr.shared`, found `i33`")),
        (body("%x = constant 0"), (2, 3, "expected a value, as `%3`, found `%x`")),
        (
            body("%1: i32 = cast round %0"),
            (
                2,
                18,
                "expected a cast (truncate, extend_u, extend_s, bits, float_s, float_u, extend_f, round_f, round_z, int_s, \
                 int_u, extend_e4m3, extend_e5m2, extend_fp8_fnuz, extend_bf8_fnuz, round_e4m3, round_e5m2), found `round`",
            ),
        ),
        (body("%1: i32 = binary add %0 %2"), (2, 27, "expected `,`, found `%`")),
        (body("%1: i32 = load %0 + 2147483648 align 4"), (2, 23, "the offset does not fit into 32 bits")),
        (body("%1: i32 = constant 18446744073709551616"), (2, 22, "expected 64 bits, found `18446744073709551616`")),
        (body("%1: i32 = permute_bytes %0, %0, 0x10000"), (2, 35, "`0x10000` is too large for a selector of 16 bits")),
        (body("shared 1: 4 bytes align 4"), (2, 10, "expected `0`, buffers being numbered from zero, found `1`")),
        (body("§"), (2, 3, "expected an operation (")),
        (body("instruction \"a"), (2, 15, "this quote is never closed")),
        ("kernel k() lanes 8 warps 1 {".to_owned(), (1, 29, "expected an operation (")),
    ];
    for (text, (line, column, message)) in table {
        let found = parse_module(&text).expect_err(&text);
        assert_eq!((found.line, found.column), (line, column), "{text}: {found}");
        assert!(found.message.starts_with(message), "{text}: {found}");
    }
    // An offset of -2^31 fits.
    parse_module(&body("%1: i32 = load %0 - 2147483648 align 4")).unwrap();
}

/// A kernel with `depth` nested ifs.
fn nested(depth: usize) -> Module {
    let end = || Region { arguments: vec![], statements: vec![Statement::new(vec![], Op::Yield { values: vec![] })] };
    let mut body = Region::default();
    for _ in 0..depth {
        let op = Op::If { condition: Value(0), then: body, otherwise: end() };
        body = Region { arguments: vec![], statements: vec![Statement::new(vec![], op)] };
    }
    let launch = StaticLaunchConfig::new(8, 1);
    Module {
        kernels: vec![Kernel {
            name: "k".to_owned(),
            launch,
            parameters: vec![],
            shared: vec![],
            body,
            locations: vec![],
        }],
    }
}

#[test]
fn nesting_is_bounded_in_text_and_bytes() {
    let deepest = nested(MAX_REGION_DEPTH);
    assert_eq!(parse_module(&deepest.to_string()).as_ref(), Ok(&deepest));
    assert_eq!(decode_module(&encode_module(&deepest)).as_ref(), Ok(&deepest));
    assert!(parse_module(&nested(MAX_REGION_DEPTH + 1).to_string()).is_err());
    assert!(decode_module(&encode_module(&nested(2 * MAX_REGION_DEPTH))).is_err());
}

#[test]
fn names_in_text_are_names_on_the_wire() {
    fn wire<T: serde::Serialize>(value: T) -> Cbor {
        Cbor::serialized(&value).unwrap()
    }
    let text = |name: &str| Cbor::Text(name.to_owned());
    Unary::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    Binary::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    Compare::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    Cast::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    CollectiveScope::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    BarrierAction::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    RegisterChange::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    Issuers::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    ShuffleMode::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    Queue::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    Atomic::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    MemoryOrder::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    MemoryScope::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
    MathFunction::ALL.iter().for_each(|op| assert_eq!(wire(op), text(op.name())));
}

/// Operations that were renamed: the name in text, and the earlier name that the byte encoding keeps for compatibility.
const EARLIER_NAMES: [(&str, &str); 7] = [
    ("shuffle", "exchange"),
    ("shuffle_xor", "exchange_xor"),
    ("fma", "f_mul_add"),
    ("assume_uniform", "same"),
    ("ptr_add", "advance"),
    ("ready_token", "pend"),
    ("named_barrier", "group_barrier"),
];

#[test]
fn renamed_operations_are_read_by_their_earlier_names() {
    let text = |add: &str| {
        format!(
            "kernel k(%0 \"p\": ptr.global) lanes 32 warps 1 {{\n %1: i32 = constant 4\n %2: ptr.global = {add} %0, %1\n}}"
        )
    };
    assert_eq!(parse_module(&text("advance")), parse_module(&text("ptr_add")));
    assert!(parse_module(&text("advance")).unwrap().to_string().contains("= ptr_add %0, %1"));
}

proptest! {
    #[test]
    fn operations_have_their_names_or_earlier_ones_on_the_wire(statement in statement()) {
        let written = Cbor::serialized(&statement.op).unwrap();
        let name = written.as_map().unwrap()[0].0.as_text().unwrap().to_owned();
        let renamed = EARLIER_NAMES.iter().find(|(name, _)| *name == statement.op.name());
        prop_assert_eq!(name.as_str(), renamed.map_or(statement.op.name(), |(_, earlier)| earlier));
        prop_assert!(Op::NAMES.contains(&statement.op.name()));
    }
}

fn map(entries: &[(&str, Cbor)]) -> Cbor {
    Cbor::Map(entries.iter().map(|(key, value)| (Cbor::Text((*key).to_owned()), value.clone())).collect())
}

fn array(items: &[Cbor]) -> Cbor {
    Cbor::Array(items.to_vec())
}

/// Returns the bytes of a module with one statement in nested regions, as a writer of the format version `version`
/// encodes them.
fn by_hand(version: u32, op: Cbor) -> Vec<u8> {
    let statement = map(&[("results", array(&[])), ("op", op)]);
    let inner = map(&[("arguments", array(&[])), ("statements", array(&[statement]))]);
    let end = map(&[("arguments", array(&[])), ("statements", array(&[]))]);
    let branch = map(&[("if", map(&[("condition", 0.into()), ("then", inner), ("otherwise", end)]))]);
    let outer = map(&[("results", array(&[])), ("op", branch)]);
    let kernel = map(&[
        ("name", "k".into()),
        ("launch", map(&[("lanes", 8.into()), ("warps", 1.into()), ("clusters", 2.into())])),
        ("parameters", array(&[])),
        ("shared", array(&[])),
        ("body", map(&[("arguments", array(&[])), ("statements", array(&[outer]))])),
        ("a field of later versions", array(&[1.into()])),
    ]);
    let module = map(&[("version", version.into()), ("module", map(&[("kernels", array(&[kernel]))]))]);
    let mut bytes = Vec::new();
    ciborium::into_writer(&module, &mut bytes).unwrap();
    bytes
}

#[test]
fn unknown_operations_are_named_and_unknown_fields_skipped() {
    let known = by_hand(1, map(&[("barrier", map(&[("scope", "warp".into()), ("issuers", "all".into())]))]));
    // Bytes from writers that predate clusters have no `blocks`.
    assert_eq!(decode_module(&known).unwrap().kernels[0].launch, StaticLaunchConfig::new(8, 1));

    let binary = |op: &str| map(&[("binary", map(&[("op", op.into()), ("a", 0.into()), ("b", 0.into())]))]);
    assert!(decode_module(&by_hand(1, binary("add"))).is_ok());
    let unknown = |op: Cbor| match decode_module(&by_hand(1, op)) {
        Err(DecodeError::UnknownOperation(name)) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(unknown(map(&[("transpose", map(&[("a", 0.into())]))])), "transpose");
    assert_eq!(unknown("drain".into()), "drain");
    assert_eq!(unknown(binary("f_power")), "binary f_power");
    let function = |name: &str| map(&[("math", map(&[("function", name.into()), ("operands", array(&[0.into()]))]))]);
    assert!(decode_module(&by_hand(1, function("exp2"))).is_ok());
    assert_eq!(unknown(function("versin")), "math versin");
    assert_eq!(unknown(map(&[("atomic_rmw", map(&[("op", "nand".into())]))])), "atomic_rmw nand");
    assert_eq!(unknown(map(&[("cast", map(&[("op", "round".into()), ("a", 0.into())]))])), "cast round");
}

#[test]
fn later_versions_and_noise_are_refused() {
    let op = map(&[("yield", map(&[("values", array(&[]))]))]);
    assert_eq!(decode_module(&by_hand(2, op)), Err(DecodeError::Version { found: 2, known: 1 }));
    for bytes in [&b""[..], b"\xff", b"module", b"\xa0", &[0x9f; 100_000], &[0x81; 100_000]] {
        assert!(matches!(decode_module(bytes), Err(DecodeError::Malformed(_))));
    }
}
