// rule: ttng.clc_is_canceled: it takes an i128
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%r: i64) {
    %0 = "ttng.clc_is_canceled"(%r) : (i64) -> i1
    tt.return
  }
}
