// shows: #ttg.swizzled_shared: vec, perPhase and maxPhase are not looked at
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 5, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #x, #smem, mutable>
    tt.return
  }
}
