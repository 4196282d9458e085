// shows: nvws: tokens of producers and consumers
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32, %c: i1) {
    %0 = nvws.create_token {loadType = 1 : i32, numBuffers = 2 : i32} : tensor<2x!nvws.token>
    nvws.producer_acquire %0, %i, %c : tensor<2x!nvws.token>, i32, i1
    nvws.producer_commit %0, %i : tensor<2x!nvws.token>, i32
    nvws.consumer_wait %0, %i, %c : tensor<2x!nvws.token>, i32, i1
    nvws.consumer_release %0, %i : tensor<2x!nvws.token>, i32
    tt.return
  }
}
