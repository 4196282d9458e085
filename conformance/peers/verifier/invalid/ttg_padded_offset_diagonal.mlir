// rule: #ttg.padded_shared: a basis moves along one axis
#smem = #ttg.shared_memory
#x = #ttg.padded_shared<[4:+4] {offset = [[0, 1], [1, 2], [1, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x4xf16, #x, #smem, mutable>
    tt.return
  }
}
