//! Instructions defined by table rows: the values that carry their operands, their execution on the emulator, and their
//! faults. The rows are of a fictional GPU with eight lanes.

use tilewright_testkit::emulator_target;

use emulator_target::{kernel, target};
use tilewright_emulator::{Argument, Emulator, Fault, FaultKind, GlobalMemory, RunLimits, SemanticsTable};
use tilewright_kernel::{
    Element, InstructionSignature, MemorySpace, Type, ValueTypeRequirement, Violation, verify,
    verify_vendor_instructions,
};
use tilewright_layout::{Dim, DimBases, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};
use tilewright_verify::check_instruction_emulated;

fn row(name: &str, semantics: Semantics, operands: Vec<InstructionOperand>) -> Instruction {
    let (kind, source) = (InstructionKind::Matrix, "invented".to_owned());
    Instruction {
        name: name.to_owned(),
        kind,
        operands,
        cycles: None,
        semantics,
        completion: Completion::Immediate,
        numerics: None,
        source,
    }
}

fn register(
    role: &str,
    element: &str,
    bits: u32,
    registers: DimBases,
    lanes: DimBases,
    shape: [u64; 2],
) -> InstructionOperand {
    let outs = [(Dim::tensor(0), shape[0]), (Dim::tensor(1), shape[1])];
    let layout = LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &outs);
    let layout = layout.expect("bases fit");
    InstructionOperand::Register { role: role.to_owned(), element: element.to_owned(), bits, layout }
}

/// The row of an MMA: `d` of 4 x 4 has two registers in eight lanes, the operands 4 x 2 and 2 x 4 have one register;
/// narrower operands have as many more elements of K as fit into a register.
fn mma_instruction(name: &str, [d, a, b]: [(&str, u32); 3]) -> Instruction {
    let together = |bits: u32| if bits < 8 { 8 / bits } else { 1 };
    let inner = u64::from(together(a.1));
    let along = |axis: usize| -> DimBases {
        let unit = |k: u64| if axis == 1 { vec![0, k] } else { vec![k, 0] };
        (0..inner.trailing_zeros()).map(|bit| unit(1 << bit)).collect()
    };
    let k = 2 * inner;
    let left = vec![vec![0, inner], vec![1, 0], vec![2, 0]];
    let right = vec![vec![inner, 0], vec![0, 1], vec![0, 2]];
    let accumulator =
        |role| register(role, d.0, d.1, vec![vec![0, 2]], vec![vec![0, 1], vec![1, 0], vec![2, 0]], [4, 4]);
    let operands = vec![
        accumulator("d"),
        register("a", a.0, a.1, along(1), left, [4, k]),
        register("b", b.0, b.1, along(0), right, [k, 4]),
        accumulator("c"),
    ];
    row(name, Semantics::Contract, operands)
}

/// The row of a load with eight slots (runs of bytes) of eight bytes: lane l gives the address of slot l, and receives
/// the slot whose index has l's bits reversed.
fn rows_load(name: &str) -> Instruction {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let lanes = vec![vec![4, 0], vec![2, 0], vec![1, 0]];
    let bytes = vec![vec![0, 1], vec![0, 2], vec![0, 4]];
    let data = LinearLayout::from_bases(
        &[(Dim::REGISTER, vec![]), (Dim::LANE, lanes), (byte, bytes)],
        &[(segment, 8), (byte, 8)],
    );
    let address = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![1], vec![2], vec![4]])], &[(segment, 8)]);
    let access = InstructionOperand::Access {
        data: data.expect("bases fit"),
        address: address.expect("bases fit"),
        alignment: 8,
    };
    let d = register("d", "b64", 64, vec![], vec![vec![4, 0], vec![2, 0], vec![1, 0]], [8, 1]);
    row(name, Semantics::Move, vec![d, access])
}

/// Runs statements in a kernel of eight lanes. `text` may use these values: `%2` is the address of 64 bytes of shared
/// memory, `%5` that of this lane's eight bytes, `%6` that of this lane's output.
fn run(rows: &[Instruction], lanes: u32, text: &str) -> Result<Vec<u8>, Fault> {
    let text = format!(
        "kernel tested(%0 to: ptr.global) lanes {lanes} warps 1 {{
           shared 0: 64 bytes align 16
           %1: i32 = special lane
           %2: ptr.shared = shared_address 0
           %3: i32 = constant 8
           %4: i32 = binary mul %1, %3
           %5: ptr.shared = ptr_add %2, %4
           %6: ptr.global = ptr_add %0, %4
           {text}
         }}"
    );
    let (kernel, target) = (kernel(&text), target(false));
    let semantics = SemanticsTable::from_instructions(rows);
    let mut memory = GlobalMemory::new();
    let output = memory.allocate(64);
    let emulator = Emulator::new(&kernel, &target)?.with_semantics(&semantics);
    emulator.run([1, 1, 1], &[Argument::Buffer(output)], &mut memory, &RunLimits::default())?;
    Ok(memory.read_all(output).expect("all is written").to_vec())
}

fn fault(rows: &[Instruction], lanes: u32, text: &str) -> (FaultKind, Option<u32>) {
    let fault = run(rows, lanes, text).expect_err("the kernel does something wrong");
    let lane = fault.location.as_ref().and_then(|location| location.lane);
    (fault.kind, lane)
}

/// Statements that fill shared memory: the words of lane l are l and ten times l.
const FILL: &str = "%10: i32 = constant 10
    %11: i32 = binary mul %1, %10
    %12: 2xi32 = pack %1, %11
    store %5, %12 align 8
    barrier warp all\n";

#[test]
fn values_of_as_many_bits_carry_an_operand() {
    let row = mma_instruction("p", [("f32", 32), ("f16", 16), ("f16", 16)]);
    let signature = InstructionSignature::from_instruction(&row);
    assert_eq!(signature.results, [ValueTypeRequirement::Bits(64)]);
    assert_eq!(
        signature.operands,
        [ValueTypeRequirement::Bits(16), ValueTypeRequirement::Bits(16), ValueTypeRequirement::Bits(64)]
    );
    assert_eq!(signature.lanes, Some(8));
    let of = |element, count| Type::vector_or_scalar(element, count);
    for (ty, fits) in [
        (of(Element::F32, 2), true),
        (of(Element::I32, 2), true),
        (of(Element::F16, 4), true),
        (of(Element::F64, 1), true),
        (of(Element::F32, 1), false),
        (of(Element::I1, 64), false),
        (Type::Pointer(MemorySpace::Global), false),
    ] {
        assert_eq!(ValueTypeRequirement::Bits(64).accepts_type(ty), fits, "{ty}");
    }
    assert_eq!(ValueTypeRequirement::Bits(64).default_type(), Some(of(Element::I32, 2)));
    assert_eq!(ValueTypeRequirement::Bits(16).default_type(), Some(of(Element::I16, 1)));
    let load = InstructionSignature::from_instruction(&rows_load("l"));
    assert_eq!(
        (load.operands, load.results),
        (vec![ValueTypeRequirement::SharedAddress], vec![ValueTypeRequirement::Bits(64)])
    );
}

#[test]
fn a_kernel_is_checked_against_the_rows() {
    let rows = [mma_instruction("p", [("f32", 32), ("f16", 16), ("f16", 16)])];
    let checked = |lanes: u32, statement: &str| {
        let text = format!(
            "kernel k(%0 a: f16, %1 w: i32) lanes {lanes} warps 1 {{
               %2: 2xi32 = pack %1, %1
               %3: i1 = constant 1
               if %3 {{
                 {statement}
                 yield
               }} else {{
                 yield
               }}
             }}"
        );
        let module = tilewright_kernel::text::parse_module(&text).expect("it parses");
        verify(&module).expect("the kernel by itself is valid");
        match verify_vendor_instructions(&module.kernels[0], &rows).map_err(|error| (error.operation, error.violation))
        {
            Ok(()) => None,
            Err((Some(3), Violation::Instruction { message, .. })) => Some(message),
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(checked(8, "%4: 2xf32 = instruction \"p\" %0, %0, %2"), None);
    for (lanes, statement, words) in [
        (8, "%4: 2xf32 = instruction \"q\" %0, %0, %2", "no instruction of this name"),
        (8, "%4: 2xf32 = instruction \"p\" %0, %0", "3 operands, 2 were passed"),
        (8, "instruction \"p\" %0, %0, %2", "1 results, 0 were passed"),
        (8, "%4: 2xf32 = instruction \"p\" %0, %1, %2", "operand 1 is i32; expected a scalar or vector of 16 bits"),
        (8, "%4: f32 = instruction \"p\" %0, %0, %2", "result 0 is f32"),
        (16, "%4: 2xf32 = instruction \"p\" %0, %0, %2", "warps of 8 lanes"),
    ] {
        let message = checked(lanes, statement).expect("it does not fit");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn mmas_of_every_type_are_correct() {
    let target = target(false);
    for types in [
        [("f32", 32), ("f16", 16), ("f16", 16)],
        [("f16", 16), ("f16", 16), ("f16", 16)],
        [("f16", 32), ("f16", 16), ("f16", 16)],
        [("f32", 32), ("bf16", 16), ("bf16", 16)],
        [("bf16", 16), ("bf16", 16), ("bf16", 16)],
        [("f32", 32), ("tf32", 32), ("tf32", 32)],
        [("f32", 32), ("xf32", 32), ("xf32", 32)],
        [("f32", 32), ("f32", 32), ("f32", 32)],
        [("f64", 64), ("f64", 64), ("f64", 64)],
        [("f32", 32), ("e4m3", 8), ("e5m2", 8)],
        [("f16", 16), ("e5m2", 8), ("e4m3", 8)],
        [("f32", 32), ("fp8", 8), ("bf8", 8)],
        [("f32", 32), ("fp8_fnuz", 8), ("bf8_fnuz", 8)],
        [("f32", 32), ("fp4", 4), ("fp4", 4)],
        [("s32", 32), ("s8", 8), ("u8", 8)],
        [("i32", 32), ("iu8", 8), ("i8", 8)],
        [("s32", 32), ("u4", 4), ("s4", 4)],
        [("i32", 32), ("iu4", 4), ("iu4", 4)],
        [("s32", 32), ("u2", 2), ("s2", 2)],
    ] {
        let proved = check_instruction_emulated(&mma_instruction("p", types), &target);
        proved.unwrap_or_else(|error| panic!("{types:?}: {error}"));
    }
}

#[test]
fn a_row_that_contradicts_itself_is_refused() {
    let mut wrong = mma_instruction("p", [("f32", 32), ("f16", 16), ("f16", 16)]);
    wrong.operands[1] = register("a", "f16", 16, vec![], vec![vec![0, 1], vec![1, 0], vec![1, 0]], [4, 2]);
    let error = check_instruction_emulated(&wrong, &target(false)).expect_err("rows 2 and 3 are nowhere");
    assert!(error.to_string().contains("an element of an operand is in no lane"), "{error}");
}

#[test]
fn products_accumulate_one_by_one_in_the_result_type() {
    // c = 2048 and two products of one: `f16` has no 2049, and the tie rounds to the even 2048, twice.
    let statement = |one: &str, c: u64, ty: &str, scalar: &str| {
        format!(
            "%7: {scalar} = constant {one}
             %8: {ty} = constant {c}
             %9: {ty} = instruction \"p\" %7, %7, %8
             store %6, %9 align 4"
        )
    };
    let narrow = mma_instruction("p", [("f16", 16), ("f16", 16), ("f16", 16)]);
    let text = statement("0x3c00", 0x6800, "2xf16", "f16") + "\n store %6 + 4, %9 align 4";
    let f16_bytes = run(&[narrow], 8, &text).expect("it runs");
    assert!(f16_bytes.chunks_exact(2).all(|half| half == [0x00, 0x68]), "{f16_bytes:?}");
    // `f32` represents 2049 and 2050.
    let wide = mma_instruction("p", [("f32", 32), ("f16", 16), ("f16", 16)]);
    let text = statement("0x3c00", u64::from(2048f32.to_bits()), "2xf32", "f16");
    let words = run(&[wide], 8, &text).expect("it runs");
    assert!(words.chunks_exact(4).all(|word| word == 2050f32.to_le_bytes()), "{words:?}");
}

#[test]
fn integer_accumulators_wrap() {
    let row = mma_instruction("p", [("s32", 32), ("s8", 8), ("s8", 8)]);
    // 2^31 - 1 + 2 * (-128)^2.
    let text = "%7: i8 = constant 0x80
        %8: 2xi32 = constant 0x7fffffff
        %9: 2xi32 = instruction \"p\" %7, %7, %8
        store %6, %9 align 4";
    let words = run(&[row], 8, text).expect("it runs");
    assert!(words.chunks_exact(4).all(|word| word == 0x8000_7fff_u32.to_le_bytes()), "{words:?}");
}

#[test]
fn copies_of_an_element_must_agree() {
    let mut row = mma_instruction("p", [("s32", 32), ("s8", 8), ("s8", 8)]);
    // Two rows of two elements in four lanes; lanes 4 to 7 hold replicas.
    row.operands[1] = register("a", "s8", 8, vec![], vec![vec![0, 1], vec![1, 0], vec![0, 0]], [2, 2]);
    for (index, role) in [(0, "d"), (3, "c")] {
        row.operands[index] = register(role, "s32", 32, vec![], vec![vec![0, 1], vec![0, 2], vec![1, 0]], [2, 4]);
    }
    let text = |mask: u32| {
        format!(
            "%7: i32 = constant {mask}
             %8: i32 = binary and %1, %7
             %9: i8 = cast truncate %8
             %10: i32 = instruction \"p\" %9, %9, %1
             store %6, %10 align 4
             store %6 + 4, %10 align 4"
        )
    };
    run(&[row.clone()], 8, &text(3)).expect("lanes l and l + 4 hold the same");
    let (kind, _) = fault(&[row], 8, &text(7));
    let FaultKind::Instruction { message, .. } = kind else { panic!("{kind}") };
    assert!(message.contains("lanes 0 and 4 have different values"), "{message}");
}

#[test]
fn a_load_brings_segments_to_the_lanes_that_receive_them() {
    let text = format!("{FILL} %13: 2xi32 = instruction \"rows\" %5\n store %6, %13 align 8");
    let bytes = run(&[rows_load("rows")], 8, &text).expect("it runs");
    let expected: Vec<u8> = [0u32, 4, 2, 6, 1, 5, 3, 7]
        .iter()
        .flat_map(|&from| [from.to_le_bytes(), (10 * from).to_le_bytes()].concat())
        .collect();
    assert_eq!(bytes, expected);
}

#[test]
fn faults_of_an_access_are_those_of_the_lane_that_addresses() {
    let rows = [rows_load("rows")];
    // Lane 5's address is offset by this many bytes.
    let moved = |bytes: u32| {
        format!(
            "{FILL} %13: i32 = constant 5
             %14: i1 = compare eq %1, %13
             %15: i32 = constant {bytes}
             %16: i32 = constant 0
             %17: i32 = select %14, %15, %16
             %18: ptr.shared = ptr_add %5, %17
             %19: 2xi32 = instruction \"rows\" %18
             store %6, %19 align 8"
        )
    };
    run(&rows, 8, &moved(0)).expect("it runs");
    let (kind, lane) = fault(&rows, 8, &moved(4));
    assert!(matches!(kind, FaultKind::Misaligned { address: 44, alignment: 8, .. }), "{kind}");
    assert_eq!(lane, Some(5));
    let (kind, lane) = fault(&rows, 8, &moved(24));
    assert!(matches!(kind, FaultKind::OutOfBounds { address: 64, bytes: 8, .. }), "{kind}");
    assert_eq!(lane, Some(5));
    let (kind, _) = fault(&rows, 8, "%7: 2xi32 = instruction \"rows\" %5\n store %6, %7 align 8");
    assert!(matches!(kind, FaultKind::Uninitialised { address: 0, .. }), "{kind}");
}

#[test]
fn addresses_that_no_segment_needs_are_ignored() {
    let mut row = rows_load("rows");
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    // Four slots; lanes 4 to 7 receive their upper halves and give no addresses.
    let lanes = vec![vec![1, 0], vec![2, 0], vec![0, 4]];
    let bytes = vec![vec![0, 1], vec![0, 2]];
    let bases = [(Dim::REGISTER, vec![]), (Dim::LANE, lanes), (byte, bytes)];
    let data = LinearLayout::from_bases(&bases, &[(segment, 4), (byte, 8)]).expect("bases fit");
    let address = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![1], vec![2], vec![0]])], &[(segment, 4)]);
    let d = register("d", "b32", 32, vec![], vec![vec![1, 0], vec![2, 0], vec![0, 1]], [4, 2]);
    row.operands = vec![d, InstructionOperand::Access { data, address: address.expect("bases fit"), alignment: 8 }];
    // These lanes give addresses beyond the end, which must be ignored.
    let text = format!(
        "{FILL} %13: i32 = constant 4
         %14: i1 = compare lt_u %1, %13
         %15: i32 = constant 1000
         %16: i32 = select %14, %4, %15
         %17: ptr.shared = ptr_add %2, %16
         %18: i32 = instruction \"rows\" %17
         store %6, %18 align 4
         store %6 + 4, %18 align 4"
    );
    let bytes = run(&[row], 8, &text).expect("it runs");
    let words: Vec<u32> = (0..4).chain((0..4).map(|lane| 10 * lane)).collect();
    let expected: Vec<u8> = words.iter().flat_map(|word| [word.to_le_bytes(); 2].concat()).collect();
    assert_eq!(bytes, expected);
}

#[test]
fn an_instruction_that_does_not_fit_its_row_is_a_fault() {
    let rows = [rows_load("rows"), mma_instruction("odd", [("f32", 32), ("e3m4", 8), ("e3m4", 8)])];
    for (lanes, text, words) in [
        (8, "%7: i32 = instruction \"rows\" %5", "expected a scalar or vector of 64 bits"),
        (8, "%7: 2xi32 = instruction \"rows\" %1", "expected ptr.shared"),
        (4, "%7: 2xi32 = instruction \"rows\" %5", "warps of 8 lanes"),
        (
            8,
            "%7: i8 = constant 0\n %8: 2xi32 = constant 0\n %9: 2xi32 = instruction \"odd\" %7, %7, %8",
            "elements of type `e3m4` are not supported",
        ),
    ] {
        let (kind, _) = fault(&rows, lanes, text);
        let FaultKind::Instruction { message, .. } = kind else { panic!("{kind}") };
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn wavefronts_are_counted_by_the_instructions_own_row_or_that_of_plain_accesses() {
    // Eight slots of eight bytes fill the eight banks twice: two wavefronts, for any grouping of adjacent lanes.
    let counts = |name: &str| check_instruction_emulated(&rows_load(name), &target(false)).expect("it runs").counts;
    let plain = counts("rows");
    assert_eq!((plain.matrix_loads, plain.wavefronts_loaded), (1, 2));
    // The instruction's bank row serves slots 0, 1, 4 and 5 together, two of which conflict.
    let own = counts("move_rows");
    assert_eq!((own.matrix_loads, own.wavefronts_loaded), (1, 4));
}
