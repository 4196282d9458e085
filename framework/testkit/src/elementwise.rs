//! Builds and emulates a kernel that applies a function to buffers element by element, for tests of math functions and
//! casts.

use tilewright_emulator::{Argument, GlobalMemory, RunLimits, run_kernel};
use tilewright_kernel::{
    Binary, Builder, Element, Kernel, MemorySpace, Module, SpecialRegister, StaticLaunchConfig, Type, Value, verify,
};

use crate::emulator_target::target;

const LANES: u32 = 8;
const WARPS: u32 = 8;

/// Emits the address of element number `index` of the buffer whose address is parameter number `parameter`.
fn emit_address(builder: &mut Builder, parameter: u32, element: Element, index: Value) -> Value {
    let bytes = builder.binary_const(Binary::Mul, index, element.bits() / 8);
    let pointer = builder.parameter(parameter);
    builder.ptr_add(pointer, bytes)
}

/// Builds a kernel that reads one buffer of each element type in `from` and writes one of type `to`. Each lane computes
/// the result at one index with `body`.
pub fn kernel(from: &[Element], to: Element, body: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Kernel {
    let mut parameters = ["a", "b", "c"][..from.len()]
        .iter()
        .map(|name| (*name, Type::Pointer(MemorySpace::Global)))
        .collect::<Vec<_>>();
    parameters.push(("to", Type::Pointer(MemorySpace::Global)));
    let mut builder = Builder::new("elementwise", StaticLaunchConfig::new(LANES, WARPS), &parameters);
    let lane = builder.special(SpecialRegister::Lane);
    let warp = builder.special(SpecialRegister::Warp);
    let block = builder.special(SpecialRegister::Program(0));
    let warps = builder.binary_const(Binary::Mul, block, WARPS);
    let warps = builder.binary(Binary::Add, warps, warp);
    let lanes = builder.binary_const(Binary::Mul, warps, LANES);
    let index = builder.binary(Binary::Add, lanes, lane);
    let mut values = Vec::new();
    for (parameter, &element) in (0..).zip(from) {
        let pointer = emit_address(&mut builder, parameter, element, index);
        values.push(builder.load(Type::Scalar(element), pointer, 0, None));
    }
    let value = body(&mut builder, &values);
    let pointer = emit_address(&mut builder, from.len() as u32, to, index);
    builder.store(pointer, 0, value, None);
    builder.finish()
}

/// Emulates a kernel built by [`kernel`]. `arguments` has the elements' bits, one list for each input buffer; returns
/// the bits of the results.
pub fn results(kernel: &Kernel, from: &[Element], to: Element, arguments: &[Vec<u64>]) -> Vec<u64> {
    let module = Module { kernels: vec![kernel.clone()] };
    verify(&module).unwrap_or_else(|error| panic!("{error}"));
    let count = arguments[0].len();
    let blocks = count.div_ceil((LANES * WARPS) as usize);
    let padded_count = blocks * (LANES * WARPS) as usize;
    let mut memory = GlobalMemory::new();
    let mut buffers = Vec::new();
    for (own, element) in arguments.iter().zip(from) {
        let bytes = (element.bits() / 8) as usize;
        let mut data: Vec<u8> = own.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
        data.resize(padded_count * bytes, 0);
        buffers.push(Argument::Buffer(memory.allocate_with(&data)));
    }
    let bytes = (to.bits() / 8) as usize;
    let result = memory.allocate(padded_count * bytes);
    buffers.push(Argument::Buffer(result));
    let limits = RunLimits::default();
    run_kernel(kernel, &target(true), [blocks as u32, 1, 1], &buffers, &mut memory, &limits)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let data = memory.read_all(result).expect("every lane wrote");
    let packed = |own: &[u8]| own.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
    data.chunks(bytes).take(count).map(packed).collect()
}
