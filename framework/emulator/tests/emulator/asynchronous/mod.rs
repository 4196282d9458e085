//! Asynchronous operations on the emulator: what is under way may not be touched, and whoever does is named.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;
mod groups;
mod mbarriers;
mod proxies;
mod queues;

use emulator_target::{kernel, target};
use tilewright_emulator::{
    Argument, Call, Emulator, Fault, FaultKind, GlobalMemory, LaneFault, RunLimits, SemanticsTable,
};
use tilewright_kernel::Queue;

/// Each lane's word goes to its address, on the queue of copies.
fn copy(call: &mut Call<'_>) -> Result<(), LaneFault> {
    call.completes_on(Queue::Copies);
    for lane in 0..call.lanes() {
        let (address, word) = (call.operand(0, 0, lane)?, call.operand(1, 0, lane)? as u32);
        call.send_write(lane, address, &word.to_le_bytes(), 4)?;
    }
    Ok(())
}

/// The sum of the eight words at the first lane's address plus the accumulator of each lane, on the queue of
/// products.
fn sum(call: &mut Call<'_>) -> Result<(), LaneFault> {
    call.completes_on(Queue::Products);
    let address = call.operand(0, 0, 0)?;
    let bytes = call.send_read(address, 32, 16)?;
    let words = bytes.chunks_exact(4).map(|word| u64::from(u32::from_le_bytes(word.try_into().unwrap())));
    let total: u64 = words.sum();
    for lane in 0..call.lanes() {
        let accumulator = call.operand(1, 0, lane)?;
        call.set_result(0, 0, lane, total + accumulator)?;
    }
    Ok(())
}

/// Eight words, the first lane's and what follows it, to its address, on the mbarrier.
fn fetch(call: &mut Call<'_>) -> Result<(), LaneFault> {
    let (address, mbarrier, first) = (call.operand(0, 0, 0)?, call.operand(1, 0, 0)?, call.operand(2, 0, 0)? as u32);
    call.completes_on_mbarrier(mbarrier);
    let words: Vec<u8> = (first..first + 8).flat_map(u32::to_le_bytes).collect();
    call.send_write(0, address, &words, 16)
}

fn meanings() -> SemanticsTable {
    let mut meanings = SemanticsTable::new();
    meanings.insert("copy", copy);
    meanings.insert("sum", sum);
    meanings.insert("fetch", fetch);
    meanings
}

/// Runs a kernel of eight lanes, of which `%1` is the lane and `%2` the warp; `%6` is the lane's word and
/// `%7` the first of 32 bytes of shared memory that begins at `%5`, which has 256; `%8` is another eight bytes.
/// `%9` is this lane's word of the output, whose first 32 bytes are the first warp's. Constants: `%10` = 0,
/// `%11` = 1, `%12` = 2, `%13` = 4. Conditions: `%14` in the first warp, `%15` in the others.
fn run(warps: u32, proxy: bool, text: &str) -> Result<Vec<u32>, Fault> {
    let text = format!(
        "kernel tested(%0 to: ptr.global) lanes 8 warps {warps} {{
           shared 0: 256 bytes align 16
           shared 1: 8 bytes align 8
           shared 2: 8 bytes align 8
           %1: i32 = special lane
           %2: i32 = special warp
           %10: i32 = constant 0
           %11: i32 = constant 1
           %12: i32 = constant 2
           %13: i32 = constant 4
           %3: i32 = binary mul %1, %13
           %4: i32 = constant 32
           %5: ptr.shared = shared_address 0
           %6: ptr.shared = advance %5, %3
           %7: ptr.shared = shared_address 2
           %8: ptr.shared = shared_address 1
           %14: i1 = compare eq %2, %10
           %15: i1 = compare ne %2, %10
           %16: i32 = binary mul %2, %4
           %17: ptr.global = advance %0, %16
           %9: ptr.global = advance %17, %3
           {text}
         }}"
    );
    let (kernel, mut target) = (kernel(&text), target(false));
    target.shared.asynchronous_proxy = proxy;
    let meanings = meanings();
    let mut memory = GlobalMemory::new();
    let output = memory.allocate_with(&vec![0; 32 * warps as usize]);
    let emulator = Emulator::new(&kernel, &target)?.with_meanings(&meanings);
    emulator.run([1, 1, 1], &[Argument::Buffer(output)], &mut memory, &RunLimits::default())?;
    let bytes = memory.read_all(output).unwrap();
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

fn passes(warps: u32, text: &str) -> Vec<u32> {
    run(warps, true, text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn fault(warps: u32, text: &str) -> Fault {
    match run(warps, true, text) {
        Err(fault) => fault,
        Ok(_) => panic!("the kernel does something wrong, and nothing is found:\n{text}"),
    }
}

/// The operation that the other access of the fault is, as text.
fn other(fault: &Fault) -> &str {
    match &fault.kind {
        FaultKind::Race { other, .. }
        | FaultKind::InFlight { other, .. }
        | FaultKind::Unfenced { other, .. }
        | FaultKind::Unfinished { other } => &other.text,
        kind => panic!("names no other access: {kind}"),
    }
}
