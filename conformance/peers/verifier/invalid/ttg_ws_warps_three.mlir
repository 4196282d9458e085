// rule: ttg.warp_specialize: a partition's warps are a power of two
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(3) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
