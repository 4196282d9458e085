//! Test programs that multiply two matrices of small integers tile by tile, and their exact results.

use crate::layouts::mma;
use crate::prelude::*;

/// Number of tiles along K; the programs copy one more.
const TILES: usize = 6;

/// Returns a kernel as text.
pub fn text(kernel: &Kernel) -> String {
    Module { kernels: vec![kernel.clone()] }.to_string()
}

/// The problem `c = a * b` of 64 x K by K x 64, with tiles of 32 along K. Elements are small integers, so the results
/// are exact in any order of summation.
pub struct Matrices;

impl Matrices {
    /// Returns statements that compute the addresses of the first tiles for `warps` warps, `%from_a` and `%from_b`,
    /// from the pointers named `a` and `b`.
    pub fn pointers(warps: u32, [a, b]: [&str; 2]) -> String {
        let [of_a, of_b] = [format!("#pa{warps}"), format!("#pb{warps}")];
        let pitch = 32 * (TILES as u64 + 1);
        let tile_a = TileAddressText { name: "_a", rows: 64, columns: 32, pitch, layout: Some(&of_a) };
        let tile_b = TileAddressText { name: "_b", rows: 32, columns: 64, pitch: 64, layout: Some(&of_b) };
        [tile_a.offsets(), tile_a.addresses("from_a", a, "f16"), tile_b.offsets(), tile_b.addresses("from_b", b, "f16")]
            .concat()
    }

    /// Returns a program for `warps` warps. Its body `body` uses the pointers and defines the accumulator as `%all`.
    pub fn text(warps: u32, body: &str) -> String {
        Self::around(warps, &format!("{}{body}", Self::pointers(warps, ["a", "b"])), "")
    }

    /// Returns a program as [`Self::text`] does, with further layout aliases for warp-specialized partitions.
    pub fn around(warps: u32, body: &str, aliases: &str) -> String {
        let mma = if warps == 4 { mma(3, &[4, 1], &[16, 64, 16]) } else { mma(2, &[warps.into(), 1], &[16, 8]) };
        let own = Self::aliases(warps);
        let tile = TileAddressText { name: "_c", rows: 64, columns: 64, pitch: 64, layout: Some("#out") };
        let address_ops = tile.offsets() + &tile.addresses("to", "c", "f32");
        format!(
            "{own}{aliases}#mma = {mma}
#sa = #ttg.nvmma_shared<{{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}}>
#sb = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
#flat = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#out = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = {warps} : i32, \"ttg.threads-per-warp\" = 32 : i32}} {{
  tt.func public @product(%a: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %b: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %c: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %iterations: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %c2048 = arith.constant 2048 : i32
{body}
    {address_ops}
    %given = ttg.convert_layout %all : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #out>
    tt.store %to, %given : tensor<64x64x!tt.ptr<f32>, #out>
    tt.return
  }}
}}
"
        )
        .replace("#pa,", &format!("#pa{warps},"))
        .replace("#pa>", &format!("#pa{warps}>"))
        .replace("#pb,", &format!("#pb{warps},"))
        .replace("#pb>", &format!("#pb{warps}>"))
    }

    /// Returns the layout aliases of pointers for `warps` warps.
    pub fn aliases(warps: u32) -> String {
        format!(
            "#pa{warps} = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#pb{warps} = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
"
        )
    }

    pub fn kernel(gpu_model: &str, text: &str) -> Result<Kernel, ProgramError> {
        program_kernel(&target(gpu_model), text)
    }

    /// Returns element `number` of `a` or `b`, from -3 to 3.
    fn element(number: usize) -> f32 {
        ((number * 5 + number / 7) % 7) as f32 - 3.0
    }

    /// Returns the bytes of both operands.
    pub fn operand_bytes() -> [Vec<u8>; 2] {
        let (of_a, of_b) = (64 * 32 * (TILES + 1), 32 * (TILES + 1) * 64);
        [0..of_a, of_a..of_a + of_b].map(|numbers| numbers.flat_map(|n| half(Self::element(n)).to_le_bytes()).collect())
    }

    /// Returns the expected accumulator after `iterations` iterations of the loop.
    pub fn expected(iterations: usize) -> Vec<f32> {
        let pitch = 32 * (TILES + 1);
        let at = |m: usize, n: usize| -> f32 {
            (0..32 * iterations).map(|k| Self::element(m * pitch + k) * Self::element(64 * pitch + k * 64 + n)).sum()
        };
        (0..64 * 64).map(|index| at(index / 64, index % 64)).collect()
    }

    /// Runs the kernel on the emulator and checks its results, which are exact.
    pub fn is_right(gpu_model: &str, kernel: &Kernel, iterations: u32) -> Result<(), Fault> {
        let buffers =
            Self::operand_bytes().map(InitialBuffer::Bytes).into_iter().chain([InitialBuffer::Empty(4 * 64 * 64)]);
        let (left, _) = run_block(&target(gpu_model), kernel, &buffers.collect::<Vec<_>>(), &[iterations.into()])?;
        Self::are_right(&left[2], iterations as usize);
        Ok(())
    }

    /// Checks that the bytes are the accumulator after `iterations` iterations of the loop.
    pub fn are_right(bytes: &[u8], iterations: usize) {
        let found: Vec<f32> = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        assert_eq!(found, Self::expected(iterations));
    }
}

/// Returns a small integer as binary16.
fn half(number: f32) -> u16 {
    if number == 0.0 {
        return 0;
    }
    let bits = number.to_bits();
    let exponent = (bits >> 23 & 0xff) + 15 - 127;
    (bits >> 16 & 0x8000) as u16 | (exponent << 10) as u16 | (bits >> 13 & 0x3ff) as u16
}

/// Compiles the kernel and returns its PTX, which `ptxas` must accept if it is installed.
pub fn assembles(gpu_model: &str, kernel: Kernel) -> String {
    assembled(&target(gpu_model), vec![kernel])
}
