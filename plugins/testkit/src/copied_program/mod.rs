//! A program that copies tiles to shared memory while it writes out those before, for targets of every vendor.

use crate::prelude::*;

/// Tiles that are written out; one more is copied.
const TILES: usize = 4;

/// Elements of a tile of 32 rows.
const TILE: usize = 32 * 32;

/// The program, but for what differs.
pub struct Copied {
    /// The layout in which it has pointers.
    pub pointers: &'static str,
    /// The layout in which it reads the tiles.
    pub read: &'static str,
    /// How tiles lie in shared memory.
    pub shared: &'static str,
    pub lanes: u32,
    /// What rows that are not there are instead, where it says which there are.
    pub other: Option<u32>,
    /// What the address of the tiles is a multiple of, in bytes.
    pub divisibility: u32,
    /// Groups that its waits in the loop leave.
    pub outstanding: u32,
    /// Whether it waits for all in the end.
    pub waits_at_end: bool,
}

impl Copied {
    fn text(&self) -> String {
        let Self { pointers, read, shared, lanes, divisibility, outstanding, .. } = self;
        let mask = match self.other {
            Some(_) => " mask %there other %other",
            None => "",
        };
        let other = self.other.unwrap_or(0);
        let end = if self.waits_at_end { "%left = ttg.async_wait {num = 0 : i32}" } else { "" };
        format!(
            "#p = {pointers}
#r = {read}
#shared = {shared}
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = {lanes} : i32}} {{
  tt.func public @tiles(%x: !tt.ptr<i32> {{tt.divisibility = {divisibility} : i32}}, %y: !tt.ptr<i32>, %rows: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %tiles = arith.constant {TILES} : i32
    %size = arith.constant {TILE} : i32
    %other = arith.constant dense<{other}> : tensor<32x32xi32, #p>
    %pitch = arith.constant dense<32> : tensor<32x1xi32, #p>
    %pitch_r = arith.constant dense<32> : tensor<32x1xi32, #r>
    %i = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #p}}>>
    %j = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #p}}>>
    %row = tt.expand_dims %i {{axis = 1 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #p}}>> -> tensor<32x1xi32, #p>
    %col = tt.expand_dims %j {{axis = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #p}}>> -> tensor<1x32xi32, #p>
    %begin = arith.muli %row, %pitch : tensor<32x1xi32, #p>
    %begins = tt.broadcast %begin : tensor<32x1xi32, #p> -> tensor<32x32xi32, #p>
    %cols = tt.broadcast %col : tensor<1x32xi32, #p> -> tensor<32x32xi32, #p>
    %offsets = arith.addi %begins, %cols : tensor<32x32xi32, #p>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>, #p>
    %from = tt.addptr %xs, %offsets : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>
    %all = tt.splat %rows : i32 -> tensor<32x1xi32, #p>
    %below = arith.cmpi slt, %row, %all : tensor<32x1xi32, #p>
    %there = tt.broadcast %below : tensor<32x1xi1, #p> -> tensor<32x32xi1, #p>
    %i_r = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #r}}>>
    %j_r = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #r}}>>
    %row_r = tt.expand_dims %i_r {{axis = 1 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 1, parent = #r}}>> -> tensor<32x1xi32, #r>
    %col_r = tt.expand_dims %j_r {{axis = 0 : i32}} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = #r}}>> -> tensor<1x32xi32, #r>
    %begin_r = arith.muli %row_r, %pitch_r : tensor<32x1xi32, #r>
    %begins_r = tt.broadcast %begin_r : tensor<32x1xi32, #r> -> tensor<32x32xi32, #r>
    %cols_r = tt.broadcast %col_r : tensor<1x32xi32, #r> -> tensor<32x32xi32, #r>
    %offsets_r = arith.addi %begins_r, %cols_r : tensor<32x32xi32, #r>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>, #r>
    %to = tt.addptr %ys, %offsets_r : tensor<32x32x!tt.ptr<i32>, #r>, tensor<32x32xi32, #r>
    %buffers = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xi32, #shared, #smem, mutable>
    %slot = ttg.memdesc_index %buffers[%c0] : !ttg.memdesc<2x32x32xi32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xi32, #shared, #smem, mutable>
    %copy = ttg.async_copy_global_to_local %from, %slot{mask} : tensor<32x32x!tt.ptr<i32>, #p> -> <32x32xi32, #shared, #smem, mutable>
    %group = ttg.async_commit_group tokens %copy
    scf.for %k = %c0 to %tiles step %c1 : i32 {{
      %next = arith.addi %k, %c1 : i32
      %next_slot = arith.remsi %next, %c2 : i32
      %own_slot = arith.remsi %k, %c2 : i32
      %skipped = arith.muli %next, %size : i32
      %skips = tt.splat %skipped : i32 -> tensor<32x32xi32, #p>
      %next_from = tt.addptr %from, %skips : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>
      %into = ttg.memdesc_index %buffers[%next_slot] : !ttg.memdesc<2x32x32xi32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xi32, #shared, #smem, mutable>
      %copy_next = ttg.async_copy_global_to_local %next_from, %into{mask} : tensor<32x32x!tt.ptr<i32>, #p> -> <32x32xi32, #shared, #smem, mutable>
      %group_next = ttg.async_commit_group tokens %copy_next
      %landed = ttg.async_wait %group_next {{num = {outstanding} : i32}}
      %own = ttg.memdesc_index %buffers[%own_slot] : !ttg.memdesc<2x32x32xi32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xi32, #shared, #smem, mutable>
      %tile = ttg.local_load %own token %landed : !ttg.memdesc<32x32xi32, #shared, #smem, mutable> -> tensor<32x32xi32, #r>
      %done = arith.muli %k, %size : i32
      %dones = tt.splat %done : i32 -> tensor<32x32xi32, #r>
      %place = tt.addptr %to, %dones : tensor<32x32x!tt.ptr<i32>, #r>, tensor<32x32xi32, #r>
      tt.store %place, %tile : tensor<32x32x!tt.ptr<i32>, #r>
    }}
    {end}
    tt.return
  }}
}}
"
        )
    }

    /// Its kernel on a target.
    pub fn kernel(&self, target: &dyn Target) -> Kernel {
        let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
        let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
        let kernel = compiler.kernel(&self.text(), &ProgramOptions::default(), &mut |_| {});
        kernel.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs the kernel, with so many rows of each tile that are there; it writes out what the program says.
    pub fn is_right(&self, target: &dyn Target, rows: u32) -> Result<(), Fault> {
        let numbers: Vec<u32> =
            (0..((TILES + 1) * TILE) as u32).map(|number| number.wrapping_mul(0x9e37_79b9)).collect();
        let (kernel, mut memory) = (self.kernel(target), GlobalMemory::new());
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let tiles = memory.allocate_with(&bytes);
        let written = memory.allocate(4 * TILES * TILE);
        let meanings = Meanings::of_rows(target.instructions());
        let arguments = [Argument::Buffer(tiles), Argument::Buffer(written), Argument::Scalar(rows.into())];
        let emulator = Emulator::new(&kernel, target.description())?.with_meanings(&meanings);
        emulator.run([1, 1, 1], &arguments, &mut memory, &RunLimits::default())?;
        let found = memory.read_all(written).unwrap_or_else(|error| panic!("{error}"));
        for (place, found) in found.chunks_exact(4).enumerate() {
            let is_there = (place % TILE / 32) < rows as usize;
            let expected = self.other.filter(|_| !is_there).unwrap_or(numbers[place]);
            assert_eq!(found, expected.to_le_bytes(), "element {place}");
        }
        Ok(())
    }
}

/// The kernel as text.
pub fn text(kernel: &Kernel) -> String {
    Module { kernels: vec![kernel.clone()] }.to_string()
}
