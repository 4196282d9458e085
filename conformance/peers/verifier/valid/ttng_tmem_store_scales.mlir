// shows: ttng.tmem_alloc of scales with a value
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
#x = #ttg.linear<{register = [[0, 1], [0, 2], [32, 0], [64, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 0], [0, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%v: tensor<128x4xi8, #x>) {
    %0 = ttng.tmem_alloc %v : (tensor<128x4xi8, #x>) -> !ttg.memdesc<128x4xi8, #tms, #tmem>
    tt.return
  }
}
