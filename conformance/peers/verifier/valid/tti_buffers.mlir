// shows: tti.experimental_buffer_descriptors: places and lengths
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = tti.experimental_buffer_descriptors [0, 64], [64, 64], shared_mem : tensor<2xi64>
    tt.return
  }
}
