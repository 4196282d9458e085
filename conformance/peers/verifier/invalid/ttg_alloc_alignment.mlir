// rule: ttg.local_alloc: the alignment is an i32
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc {alignment = 16 : i64} : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    tt.return
  }
}
