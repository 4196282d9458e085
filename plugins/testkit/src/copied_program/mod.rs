//! A tile program for the targets of every vendor. It copies tiles to shared memory asynchronously while it writes
//! earlier tiles to global memory.

use crate::prelude::*;

/// Number of tiles that the program writes to global memory; it copies one more to shared memory.
const TILES: usize = 4;

/// Number of elements of a tile: 32 rows of 32.
const TILE: usize = 32 * 32;

/// The parameters of the test program's text.
pub struct AsyncCopyProgram {
    /// Layout of the tensor of pointers that the copies read through.
    pub pointers: &'static str,
    /// Layout of the tiles in registers, after loads from shared memory.
    pub read: &'static str,
    /// Layout of the tiles in shared memory.
    pub shared: &'static str,
    pub lanes: u32,
    /// The value that elements of masked-off rows get; `None` if the copies have no mask.
    pub other: Option<u32>,
    /// Alignment in bytes of the tiles' address, stated as divisibility of the pointer.
    pub divisibility: u32,
    /// Number of groups of copies that may stay in flight at the wait in the loop.
    pub outstanding: u32,
    /// Whether the program waits for all copies after the loop.
    pub waits_at_end: bool,
}

impl AsyncCopyProgram {
    fn text(&self) -> String {
        let Self { pointers, read, shared, lanes, divisibility, outstanding, .. } = self;
        let mask = match self.other {
            Some(_) => " mask %there other %other",
            None => "",
        };
        let other = self.other.unwrap_or(0);
        let tile = |name, layout| TileAddressText { name, rows: 32, columns: 32, pitch: 32, layout: Some(layout) };
        let (of_p, of_r) = (tile("_p", "#p"), tile("_r", "#r"));
        let address_ops = of_p.offsets() + &of_p.addresses("from", "x", "i32");
        let read_addresses = of_r.offsets() + &of_r.addresses("to", "y", "i32");
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
    {address_ops}
    %all = tt.splat %rows : i32 -> tensor<32x1xi32, #p>
    %below = arith.cmpi slt, %row_p, %all : tensor<32x1xi32, #p>
    %there = tt.broadcast %below : tensor<32x1xi1, #p> -> tensor<32x32xi1, #p>
    {read_addresses}
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

    /// Compiles the program's kernel for a target.
    pub fn kernel(&self, target: &dyn Target) -> Kernel {
        program_kernel(target, &self.text()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Emulates the kernel with a mask that covers `rows` rows of each tile, and checks the output.
    pub fn is_right(&self, target: &dyn Target, rows: u32) -> Result<(), Fault> {
        let numbers: Vec<u32> =
            (0..((TILES + 1) * TILE) as u32).map(|number| number.wrapping_mul(0x9e37_79b9)).collect();
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let buffers = [InitialBuffer::Bytes(bytes), InitialBuffer::Empty(4 * TILES * TILE)];
        let (left, _) = run_block(target, &self.kernel(target), &buffers, &[rows.into()])?;
        for (index, found) in left[1].chunks_exact(4).enumerate() {
            let is_there = (index % TILE / 32) < rows as usize;
            let expected = self.other.filter(|_| !is_there).unwrap_or(numbers[index]);
            assert_eq!(found, expected.to_le_bytes(), "element {index}");
        }
        Ok(())
    }
}

/// Prints the kernel IR of a kernel as text.
pub fn print_kernel(kernel: &Kernel) -> String {
    Module { kernels: vec![kernel.clone()] }.to_string()
}
