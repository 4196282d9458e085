//! Asynchronous operations on the emulator: conflicting accesses are faults that name the operation in flight.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;
mod groups;
mod mbarriers;
mod proxies;
mod queues;

use emulator_target::{kernel, target};
use tilewright_emulator::{
    Argument, Emulator, Fault, FaultKind, GlobalMemory, InstructionCall, LaneFault, RunLimits, SemanticsTable,
};
use tilewright_kernel::Queue;

/// The semantics of the asynchronous instruction `copy`: writes each lane's word to the lane's address, and completes
/// on the queue of copies.
fn copy(call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
    call.set_completion_queue(Queue::Copies);
    for lane in 0..call.lanes() {
        let (address, word) = (call.operand(0, 0, lane)?, call.operand(1, 0, lane)? as u32);
        call.write_shared_asynchronously(lane, address, &word.to_le_bytes(), 4)?;
    }
    Ok(())
}

/// The semantics of an asynchronous MMA: adds the eight words at the first lane's address to the accumulator of each
/// lane, and completes on the MMA queue.
fn sum(call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
    call.set_completion_queue(Queue::Mma);
    let address = call.operand(0, 0, 0)?;
    let bytes = call.read_shared_asynchronously(address, 32, 16)?;
    let words = bytes.chunks_exact(4).map(|word| u64::from(u32::from_le_bytes(word.try_into().unwrap())));
    let total: u64 = words.sum();
    for lane in 0..call.lanes() {
        let accumulator = call.operand(1, 0, lane)?;
        call.set_result(0, 0, lane, total + accumulator)?;
    }
    Ok(())
}

/// The semantics of a bulk copy: writes eight words, the first lane's and its successors, to the first lane's address,
/// and completes on the mbarrier.
fn fetch(call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
    let (address, mbarrier, first) = (call.operand(0, 0, 0)?, call.operand(1, 0, 0)?, call.operand(2, 0, 0)? as u32);
    call.set_completion_mbarrier(mbarrier);
    let words: Vec<u8> = (first..first + 8).flat_map(u32::to_le_bytes).collect();
    call.write_shared_asynchronously(0, address, &words, 16)
}

fn semantics() -> SemanticsTable {
    let mut semantics = SemanticsTable::new();
    semantics.insert("copy", copy);
    semantics.insert("sum", sum);
    semantics.insert("fetch", fetch);
    semantics
}

/// Runs a kernel with eight lanes in a warp, each of 64 registers. `text` may use these values: `%1` is the lane, `%2` the warp; `%5` 256
/// bytes of shared memory, `%6` the lane's word in it and `%7` its first 32 bytes; `%8` eight further bytes of shared
/// memory; `%9` the lane's word of the output, whose first 32 bytes belong to the first warp. Constants: `%10` = 0,
/// `%11` = 1, `%12` = 2, `%13` = 4. Conditions: `%14` in the first warp, `%15` in the others.
fn run(warps: u32, proxy: bool, text: &str) -> Result<Vec<u32>, Fault> {
    let text = format!(
        "kernel tested(%0 to: ptr.global) lanes 8 warps {warps} registers 64 {{
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
           %6: ptr.shared = ptr_add %5, %3
           %7: ptr.shared = shared_address 2
           %8: ptr.shared = shared_address 1
           %14: i1 = compare eq %2, %10
           %15: i1 = compare ne %2, %10
           %16: i32 = binary mul %2, %4
           %17: ptr.global = ptr_add %0, %16
           %9: ptr.global = ptr_add %17, %3
           {text}
         }}"
    );
    let (kernel, mut target) = (kernel(&text), target(false));
    target.shared.asynchronous_proxy = proxy;
    let semantics = semantics();
    let mut memory = GlobalMemory::new();
    let output = memory.allocate_with(&vec![0; 32 * warps as usize]);
    let emulator = Emulator::new(&kernel, &target)?.with_semantics(&semantics);
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

/// Returns the text of the earlier operation whose access conflicts with the faulting one.
fn other(fault: &Fault) -> &str {
    match &fault.kind {
        FaultKind::Race { other, .. }
        | FaultKind::InFlight { other, .. }
        | FaultKind::Unfenced { other, .. }
        | FaultKind::Unfinished { other } => &other.text,
        kind => panic!("names no other access: {kind}"),
    }
}
