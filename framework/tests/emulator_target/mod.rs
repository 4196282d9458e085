//! A small invented target: 4 or 8 lanes, 8 banks of 4 bytes.
#![allow(dead_code)]

use tilewright::emulator::{Argument, Fault, GlobalMemory, Limits, Report, run};
use tilewright::kernel::{Kernel, text};
use tilewright::target::{
    BankRow, Cost, CostTable, Direction, Evidence, ExchangeKind, ExchangeRow, Global, Lanes, Limits as TargetLimits,
    Shared, TargetDescription,
};

fn row(directions: &[Direction], access_bits: &[u32], phase: &[u64], instruction: Option<&str>) -> BankRow {
    BankRow {
        directions: directions.to_vec(),
        access_bits: access_bits.to_vec(),
        instruction: instruction.map(str::to_owned),
        banks: 8,
        bank_bytes: 4,
        phase: phase.to_vec(),
        evidence: Evidence::Assumed,
        source: "invented".to_owned(),
    }
}

fn cost(cycles: f64) -> Cost {
    Cost { cycles, latency: 10.0, evidence: Evidence::Assumed, source: "invented".to_owned() }
}

/// The target; loads and stores of a warp are seen in program order iff `warp_ordered`.
pub fn target(warp_ordered: bool) -> TargetDescription {
    use Direction::{Load, Store};
    TargetDescription {
        name: "invented".to_owned(),
        aliases: Vec::new(),
        product: "Invented 8".to_owned(),
        architecture: "none".to_owned(),
        lanes: Lanes { default: 8, choices: vec![4, 8], evidence: Evidence::Assumed, source: "invented".to_owned() },
        limits: TargetLimits {
            lanes_per_block: 64,
            registers_per_lane: 256,
            registers_per_block: 4096,
            blocks_per_cluster: 4,
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        },
        shared: Shared {
            bytes: 4096,
            static_bytes: 4096,
            grain_bytes: 128,
            access_bits: vec![8, 16, 32, 64, 128],
            banks: vec![
                row(&[Load, Store], &[8, 16, 32], &[1, 2, 4], None),
                row(&[Load, Store], &[64], &[1, 2], None),
                // Lanes l and l + 4 load together; neighbours store together.
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
            access_bits: vec![8, 16, 32, 64, 128],
            transaction_bytes: 32,
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        },
        exchanges: vec![ExchangeRow {
            kind: ExchangeKind::Index,
            bits: 32,
            lanes: Vec::new(),
            evidence: Evidence::Assumed,
            source: "invented".to_owned(),
        }],
        costs: CostTable {
            shared_store_wavefront: cost(1.0),
            shared_load_wavefront: cost(1.0),
            exchange: cost(1.0),
            exchange_xor: None,
            permute: cost(0.5),
            select: cost(0.5),
            block_barrier: cost(10.0),
            warp_barrier: cost(1.0),
            cluster_barrier: None,
        },
        matrix: None,
        tensor: None,
        functions: Vec::new(),
    }
}

/// The one kernel of a module's text.
pub fn kernel(text: &str) -> Kernel {
    let module = text::parse(text).expect("the test's text parses");
    assert_eq!(module.kernels.len(), 1);
    module.kernels.into_iter().next().expect("one kernel")
}

/// A kernel of 8 lanes and the given warps without parameters, whose body begins with the values
/// `%0` (lane), `%1` (warp), `%2` = 0, `%3` = 1, `%4` = 4, `%5` (address of the first shared buffer,
/// 256 bytes) and `%6` (of the second, 64 bytes).
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

/// Runs one block of a kernel of [`body`].
pub fn run_body(warps: u32, text: &str, warp_ordered: bool) -> Result<Report, Fault> {
    let limits = Limits { steps: 10_000, ..Limits::default() };
    run(&body(warps, text), &target(warp_ordered), [1, 1, 1], &[], &mut GlobalMemory::new(), &limits)
}

/// Runs one block of a kernel whose only parameter is a buffer to write, and gives what it wrote.
pub fn written(text: &str, bytes: usize) -> Vec<u8> {
    let mut memory = GlobalMemory::new();
    let buffer = memory.allocate(bytes);
    let arguments = [Argument::Buffer(buffer)];
    let done = run(&kernel(text), &target(true), [1, 1, 1], &arguments, &mut memory, &Limits::default());
    done.unwrap_or_else(|fault| panic!("{fault}"));
    memory.read_all(buffer).expect("all is written").to_vec()
}
