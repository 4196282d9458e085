// shows: ttg.warp_specialize: several blocks in the default region
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: i1) {
    ttg.warp_specialize()
    default {
      cf.cond_br %c, ^a, ^b
  ^a:
      cf.br ^b
  ^b:
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
