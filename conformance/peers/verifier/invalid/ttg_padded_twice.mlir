// rule: #ttg.padded_shared: an interval once
#smem = #ttg.shared_memory
#x = #ttg.padded_shared<[64:+4, 64:+8] {order = [1, 0], shape = [64, 64]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    tt.return
  }
}
