// rule: !ttg.memdesc: shared memory is of whole bytes
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xi1, #v2, #smem, mutable>
    tt.return
  }
}
