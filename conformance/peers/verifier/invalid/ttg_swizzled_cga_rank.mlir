// rule: #ttg.swizzled_shared: CGALayout has order's rank
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    tt.return
  }
}
