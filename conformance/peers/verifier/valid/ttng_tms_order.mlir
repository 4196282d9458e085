// shows: #ttng.tensor_memory_scales_encoding: each order of blocks
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>
#y = #ttng.tensor_memory_scales_encoding<blockRepOrder = mnThenK>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<256x16xi8, #x, #tmem, mutable>
    %n = ttng.tmem_alloc : () -> !ttg.memdesc<256x16xi8, #y, #tmem, mutable>
    tt.return
  }
}
