// rule: ttng.clc_try_cancel_sync: the answer is of two numbers
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.clc_try_cancel_sync : tensor<4xi64>
    tt.return
  }
}
