// rule: ttg.num-warps stands on the module or a function
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    %0 = arith.addi %x, %x {"ttg.num-warps" = 4 : i32} : i32
    tt.return
  }
}
