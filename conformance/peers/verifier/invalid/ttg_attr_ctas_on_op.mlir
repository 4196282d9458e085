// rule: ttg.num-ctas stands on the module
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    %y = arith.cmpi eq, %x, %x : i32
    tt.assert %y, "m" {"ttg.num-ctas" = 1 : i32} : i1
    tt.return
  }
}
