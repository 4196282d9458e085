//! A small invented target for tests of the emulator: warps of 4 or 8 lanes, 8 banks of 4 bytes.

use tilewright_emulator::{Argument, Fault, GlobalMemory, RunLimits, RunReport, run_kernel};
use tilewright_kernel::{Kernel, text};
use tilewright_target::{
    BankTableEntry, Cost, CostTable, Direction, Evidence, Global, Limits as TargetLimits, RegisterReallocation, Shared,
    ShuffleKind, ShufflePrimitive, SupportedWarpSizes, TargetDescription,
};

fn row(directions: &[Direction], access_bits: &[u32], phase: &[u64], instruction: Option<&str>) -> BankTableEntry {
    BankTableEntry {
        directions: directions.to_vec(),
        access_bits: access_bits.to_vec(),
        instruction: instruction.map(str::to_owned),
        banks: 8,
        bank_bytes: 4,
        phase: phase.to_vec(),
        idle_phases: false,
        paired: None,
        evidence: Evidence::Assumed,
        source: "invented".to_owned(),
    }
}

fn cost(cycles: f64) -> Cost {
    Cost { cycles, latency: 10.0, evidence: Evidence::Assumed, source: "invented".to_owned() }
}

/// Returns the invented target; a warp observes its own accesses to shared memory in program order iff `warp_ordered`.
pub fn target(warp_ordered: bool) -> TargetDescription {
    use Direction::{Load, Store};
    TargetDescription {
        name: "invented".to_owned(),
        aliases: Vec::new(),
        gpu_model: "Invented 8".to_owned(),
        architecture: "none".to_owned(),
        assembly: None,
        lanes: SupportedWarpSizes {
            default: 8,
            choices: vec![4, 8],
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        },
        limits: TargetLimits {
            lanes_per_block: 64,
            registers_per_lane: 256,
            register_modes: Vec::new(),
            registers_per_block: 4096,
            blocks_per_cluster: 4,
            named_barriers: 4,
            register_reallocation: Some(RegisterReallocation { lanes: 16, least: 8, most: 128, step: 8 }),
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        },
        shared: Shared {
            bytes: 4096,
            static_bytes: 4096,
            granularity_bytes: 128,
            access_bits: vec![8, 16, 32, 64, 128],
            banks: vec![
                row(&[Load, Store], &[8, 16, 32], &[1, 2, 4], None),
                row(&[Load, Store], &[64], &[1, 2], None),
                // Lanes l and l + 4 form a phase of loads; neighbours form a phase of stores.
                row(&[Load], &[128], &[4], None),
                row(&[Store], &[128], &[1], None),
                row(&[Load, Store], &[64], &[1, 4], Some("move_rows")),
            ],
            warp_ordered,
            asynchronous_proxy: true,
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        },
        global: Global {
            unified_cache: None,
            alignment_bytes: None,
            address_unit: None,
            vector_adds: Vec::new(),
            access_bits: vec![8, 16, 32, 64, 128],
            transaction_bytes: 32,
            stages: 3,
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        },
        shuffles: vec![ShufflePrimitive {
            kind: ShuffleKind::Index,
            bits: 32,
            lanes: Vec::new(),
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        }],
        costs: CostTable {
            shared_store_wavefront: cost(1.0),
            shared_load_wavefront: cost(1.0),
            shuffle: cost(1.0),
            shuffle_xor: None,
            swap: None,
            permute: cost(0.5),
            select: cost(0.5),
            multiply_add: None,
            block_barrier: cost(10.0),
            warp_barrier: cost(1.0),
            cluster_barrier: None,
        },
        matrix: None,
        throughput: None,
        tensor: None,
        functions: Vec::new(),
    }
}

/// Parses the text of a module (kernel IR) that has one kernel; returns the kernel.
pub fn kernel(text: &str) -> Kernel {
    let module = text::parse_module(text).expect("the test's text parses");
    assert_eq!(module.kernels.len(), 1);
    module.kernels.into_iter().next().expect("one kernel")
}

/// Builds a kernel with warps of 8 lanes and `warps` warps, without parameters, whose text ends with the statements
/// `body`.
///
/// Before `body`, these values are defined: `%0` (lane), `%1` (warp), `%2` = 0, `%3` = 1, `%4` = 4, `%5` (address of a
/// shared buffer of 256 bytes) and `%6` (address of a shared buffer of 64 bytes).
pub fn body(warps: u32, body: &str) -> Kernel {
    kernel(&format!(
        "kernel tested() lanes 8 warps {warps} {{
           shared 0: 256 bytes align 16
           shared 1: 64 bytes align 16
           %0: i32 = special lane
           %1: i32 = special warp
           %2: i32 = constant 0
           %3: i32 = constant 1
           %4: i32 = constant 4
           %5: ptr.shared = shared_address 0
           %6: ptr.shared = shared_address 1
           {body}
         }}"
    ))
}

/// Emulates one block of the kernel that [`body`] builds from the statements `text`.
pub fn run_body(warps: u32, text: &str, warp_ordered: bool) -> Result<RunReport, Fault> {
    let limits = RunLimits { steps: 10_000, ..RunLimits::default() };
    run_kernel(&body(warps, text), &target(warp_ordered), [1, 1, 1], &[], &mut GlobalMemory::new(), &limits)
}

/// Emulates one block of the kernel `text`, whose only parameter is an output buffer of `bytes` bytes; returns its
/// contents.
pub fn written(text: &str, bytes: usize) -> Vec<u8> {
    let mut memory = GlobalMemory::new();
    let buffer = memory.allocate(bytes);
    let arguments = [Argument::Buffer(buffer)];
    let done = run_kernel(&kernel(text), &target(true), [1, 1, 1], &arguments, &mut memory, &RunLimits::default());
    done.unwrap_or_else(|fault| panic!("{fault}"));
    memory.read_all(buffer).expect("all is written").to_vec()
}

/// Emulates one statement that computes `%8` from `%5` and `%6`, for every pair of inputs. `from` and `to` are the type
/// and the size in bytes of an input and of the result. Uses blocks of 8 lanes, as many as needed. Returns the bits of
/// each result.
pub fn apply(from: (&str, usize), to: (&str, usize), statement: &str, pairs: &[(u64, u64)]) -> Vec<u64> {
    let ((from, from_bytes), (to, to_bytes)) = (from, to);
    let text = format!(
        "kernel tested(%0 a: ptr.global, %1 b: ptr.global, %2 to: ptr.global, %3 count: i32) lanes 8 warps 1 {{
           %10: i32 = special program 0
           %11: i32 = constant 8
           %12: i32 = binary mul %10, %11
           %13: i32 = special lane
           %14: i32 = binary add %12, %13
           %15: i32 = constant {from_bytes}
           %16: i32 = binary mul %14, %15
           %17: ptr.global = ptr_add %0, %16
           %18: ptr.global = ptr_add %1, %16
           %19: i1 = compare lt_u %14, %3
           %5: {from} = load %17 align {from_bytes} if %19
           %6: {from} = load %18 align {from_bytes} if %19
           {statement}
           %20: i32 = constant {to_bytes}
           %21: i32 = binary mul %14, %20
           %22: ptr.global = ptr_add %2, %21
           store %22, %8 align {to_bytes} if %19
           %23: {to} = load %22 align {to_bytes} if %19
         }}"
    );
    let bytes = |values: &mut dyn Iterator<Item = u64>| -> Vec<u8> {
        values.flat_map(|value| value.to_le_bytes()[..from_bytes].to_vec()).collect()
    };
    let mut memory = GlobalMemory::new();
    let a = memory.allocate_with(&bytes(&mut pairs.iter().map(|pair| pair.0)));
    let b = memory.allocate_with(&bytes(&mut pairs.iter().map(|pair| pair.1)));
    let result = memory.allocate(to_bytes * pairs.len());
    let arguments =
        [Argument::Buffer(a), Argument::Buffer(b), Argument::Buffer(result), Argument::Scalar(pairs.len() as u64)];
    let blocks = pairs.len().div_ceil(8) as u32;
    let done =
        run_kernel(&kernel(&text), &target(true), [blocks, 1, 1], &arguments, &mut memory, &RunLimits::default());
    done.unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let read = memory.read_all(result).expect("all is written");
    let packed = |bytes: &[u8]| bytes.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
    read.chunks_exact(to_bytes).map(packed).collect()
}
