// rule: a type belongs to a known dialect
!x = !tile.tensor<4xf32>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    tt.return
  }
}
