// rule: #ttg.swizzled_shared: its keys are known
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhases = 8, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    tt.return
  }
}
