// rule: #ttg.padded_shared: `offset` and `block` belong together
#x = #ttg.padded_shared<[8:+8] {offset = [[0, 1], [0, 2], [1, 0]]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    tt.return
  }
}
