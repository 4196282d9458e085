// rule: nvws.create_token: loadType is said
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = nvws.create_token {numBuffers = 2 : i32} : tensor<2x!nvws.token>
    tt.return
  }
}
