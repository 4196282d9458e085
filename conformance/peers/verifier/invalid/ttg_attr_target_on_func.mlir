// rule: ttg.target stands on the module
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k() attributes {ttg.target = "cuda:90"} {
    tt.return
  }
}
