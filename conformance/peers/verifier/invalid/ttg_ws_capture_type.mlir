// rule: ttg.warp_specialize: a partition's arguments have the captures' types
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    ttg.warp_specialize(%x)
    default {
      ttg.warp_yield
    }
    partition0(%a: i64) num_warps(4) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
