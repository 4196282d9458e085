// rule: ttg.mask.return: it ends a ttg.mask
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    ttg.mask.return %x : i32
    tt.return
  }
}
