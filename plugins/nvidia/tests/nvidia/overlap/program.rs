//! Programs that multiply two matrices tile by tile, exactly, and what they give.

use crate::targets::target;
use tilewright_nvidia::object;
use tilewright_vendor_testkit::prelude::*;

/// Tiles of K that there are; one more is copied.
const TILES: usize = 6;

/// The kernel as text.
pub fn text(kernel: &Kernel) -> String {
    Module { kernels: vec![kernel.clone()] }.to_string()
}

/// `c = a * b` of 64 x K by K x 64, K in tiles of 32; elements are small integers, so that every order of sums gives the same.
pub struct Matrices;

impl Matrices {
    /// Pointers to the first tiles, for so many warps; names end as given.
    pub fn pointers(warps: u32) -> String {
        let pitch = 32 * (TILES + 1);
        format!(
            "
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #pa{warps}}}>>
    %j = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #pa{warps}}}>>
    %row = tt.expand_dims %i {{axis = 1 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #pa{warps}}}>> -> tensor<64x1xi32, #pa{warps}>
    %col = tt.expand_dims %j {{axis = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #pa{warps}}}>> -> tensor<1x32xi32, #pa{warps}>
    %pitch = arith.constant dense<{pitch}> : tensor<64x1xi32, #pa{warps}>
    %begin = arith.muli %row, %pitch : tensor<64x1xi32, #pa{warps}>
    %begins = tt.broadcast %begin : tensor<64x1xi32, #pa{warps}> -> tensor<64x32xi32, #pa{warps}>
    %cols = tt.broadcast %col : tensor<1x32xi32, #pa{warps}> -> tensor<64x32xi32, #pa{warps}>
    %offsets = arith.addi %begins, %cols : tensor<64x32xi32, #pa{warps}>
    %start = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #pa{warps}>
    %from_a = tt.addptr %start, %offsets : tensor<64x32x!tt.ptr<f16>, #pa{warps}>, tensor<64x32xi32, #pa{warps}>
    %i_b = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #pb{warps}}}>>
    %j_b = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #pb{warps}}}>>
    %row_b = tt.expand_dims %i_b {{axis = 1 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #pb{warps}}}>> -> tensor<32x1xi32, #pb{warps}>
    %col_b = tt.expand_dims %j_b {{axis = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #pb{warps}}}>> -> tensor<1x64xi32, #pb{warps}>
    %pitch_b = arith.constant dense<64> : tensor<32x1xi32, #pb{warps}>
    %begin_b = arith.muli %row_b, %pitch_b : tensor<32x1xi32, #pb{warps}>
    %begins_b = tt.broadcast %begin_b : tensor<32x1xi32, #pb{warps}> -> tensor<32x64xi32, #pb{warps}>
    %cols_b = tt.broadcast %col_b : tensor<1x64xi32, #pb{warps}> -> tensor<32x64xi32, #pb{warps}>
    %offsets_b = arith.addi %begins_b, %cols_b : tensor<32x64xi32, #pb{warps}>
    %start_b = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #pb{warps}>
    %from_b = tt.addptr %start_b, %offsets_b : tensor<32x64x!tt.ptr<f16>, #pb{warps}>, tensor<32x64xi32, #pb{warps}>
"
        )
    }

    /// A program of so many warps whose body gives `%all`, the sums, and takes the pointers.
    pub fn text(warps: u32, body: &str) -> String {
        Self::around(warps, &format!("{}{body}", Self::pointers(warps)), "")
    }

    /// A program of so many warps whose body gives `%all`; aliases of layouts for other groups of warps come with it.
    pub fn around(warps: u32, body: &str, aliases: &str) -> String {
        let (mma, pointers) = if warps == 4 {
            ("versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]".to_owned(), "")
        } else {
            (format!("versionMajor = 2, versionMinor = 0, warpsPerCTA = [{warps}, 1], instrShape = [16, 8]"), "")
        };
        let own = Self::aliases(warps);
        format!(
            "{own}{aliases}{pointers}#mma = #ttg.nvidia_mma<{{{mma}}}>
#sa = #ttg.nvmma_shared<{{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}}>
#sb = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
#flat = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#out = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = {warps} : i32, \"ttg.threads-per-warp\" = 32 : i32}} {{
  tt.func public @product(%a: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %b: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %c: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %turns: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %c2048 = arith.constant 2048 : i32
{body}
    %m = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #out}}>>
    %n = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #out}}>>
    %row_c = tt.expand_dims %m {{axis = 1 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #out}}>> -> tensor<64x1xi32, #out>
    %col_c = tt.expand_dims %n {{axis = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #out}}>> -> tensor<1x64xi32, #out>
    %pitch_c = arith.constant dense<64> : tensor<64x1xi32, #out>
    %begin_c = arith.muli %row_c, %pitch_c : tensor<64x1xi32, #out>
    %begins_c = tt.broadcast %begin_c : tensor<64x1xi32, #out> -> tensor<64x64xi32, #out>
    %cols_c = tt.broadcast %col_c : tensor<1x64xi32, #out> -> tensor<64x64xi32, #out>
    %offsets_c = arith.addi %begins_c, %cols_c : tensor<64x64xi32, #out>
    %start_c = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #out>
    %to = tt.addptr %start_c, %offsets_c : tensor<64x64x!tt.ptr<f32>, #out>, tensor<64x64xi32, #out>
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

    /// The layouts of pointers for so many warps.
    pub fn aliases(warps: u32) -> String {
        format!(
            "#pa{warps} = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#pb{warps} = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
"
        )
    }

    pub fn kernel(product: &str, text: &str) -> Result<Kernel, ProgramError> {
        let (target, dialects, imports) = (target(product), tilewright_dialects::all(), tilewright_dialects::imports());
        let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
        compiler.kernel(text, &ProgramOptions::default(), &mut |_| {})
    }

    /// The elements of `a` and `b`, from -3 to 3.
    fn element(number: usize) -> f32 {
        ((number * 5 + number / 7) % 7) as f32 - 3.0
    }

    /// The bytes of both factors.
    pub fn factors() -> [Vec<u8>; 2] {
        let (of_a, of_b) = (64 * 32 * (TILES + 1), 32 * (TILES + 1) * 64);
        [0..of_a, of_a..of_a + of_b].map(|numbers| numbers.flat_map(|n| half(Self::element(n)).to_le_bytes()).collect())
    }

    /// What the sums must be after so many turns.
    pub fn expected(turns: usize) -> Vec<f32> {
        let pitch = 32 * (TILES + 1);
        let at = |m: usize, n: usize| -> f32 {
            (0..32 * turns).map(|k| Self::element(m * pitch + k) * Self::element(64 * pitch + k * 64 + n)).sum()
        };
        (0..64 * 64).map(|place| at(place / 64, place % 64)).collect()
    }

    /// Runs the kernel on the emulator; its sums are exact.
    pub fn is_right(product: &str, kernel: &Kernel, turns: u32) -> Result<(), Fault> {
        let (target, mut memory) = (target(product), GlobalMemory::new());
        let [a, b] = Self::factors().map(|bytes| memory.allocate_with(&bytes));
        let c = memory.allocate(4 * 64 * 64);
        let meanings = Meanings::of_rows(target.instructions());
        let arguments = [a, b, c].map(Argument::Buffer).into_iter().chain([Argument::Scalar(turns.into())]);
        let emulator = Emulator::new(kernel, target.description())?.with_meanings(&meanings);
        emulator.run([1, 1, 1], &arguments.collect::<Vec<_>>(), &mut memory, &RunLimits::default())?;
        Self::are_right(memory.read_all(c).unwrap(), turns as usize);
        Ok(())
    }

    /// Whether these are the sums after so many turns.
    pub fn are_right(bytes: &[u8], turns: usize) {
        let found: Vec<f32> = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        assert_eq!(found, Self::expected(turns));
    }
}

/// A small integer as binary16.
fn half(number: f32) -> u16 {
    if number == 0.0 {
        return 0;
    }
    let bits = number.to_bits();
    let exponent = (bits >> 23 & 0xff) + 15 - 127;
    (bits >> 16 & 0x8000) as u16 | (exponent << 10) as u16 | (bits >> 13 & 0x3ff) as u16
}

/// The kernel's code, which the vendor's assembler takes where it is at hand.
pub fn assembles(product: &str, kernel: Kernel) -> String {
    let emit = if object::assembler().is_ok() { vec![Emit::Assembly, Emit::Object] } else { vec![Emit::Assembly] };
    let options = CompileOptions { emit, ..CompileOptions::default() };
    let artifact = target(product).compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    artifact.text(Emit::Assembly).unwrap().to_owned()
}
