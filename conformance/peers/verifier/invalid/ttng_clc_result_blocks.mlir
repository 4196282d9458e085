// rule: ttng.clc_load_result: each block has a response
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%b: !ttg.memdesc<2xi64, #b, #smem, mutable>) {
    %0 = ttng.clc_load_result %b : !ttg.memdesc<2xi64, #b, #smem, mutable> -> i128
    tt.return
  }
}
