// rule: ttg.warp_specialize: not within another
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttg.warp_specialize()
    default {
      ttg.warp_specialize()
      default {
        ttg.warp_yield
      }
      partition0() num_warps(4) {
        ttg.warp_return
      } : () -> ()
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
