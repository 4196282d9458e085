// rule: #ttg.shared_linear: the alignment is a power of two
#smem = #ttg.shared_memory
#x = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0]]}, alignment = 24>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x4xf32, #x, #smem, mutable>
    tt.return
  }
}
