// shows: tensor memory: allocated, stored, loaded, with tokens
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
#tl = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%v: tensor<128x128xf32, #tl>, %t: i1) {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    ttng.tmem_store %v, %m, %t : tensor<128x128xf32, #tl> -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %0 = ttng.tmem_load %m : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> tensor<128x128xf32, #tl>
    %n, %k = ttng.tmem_alloc %v : (tensor<128x128xf32, #tl>) -> (!ttg.memdesc<128x128xf32, #tm, #tmem, mutable>, !ttg.async.token)
    %l = ttng.tmem_store %v, %n[%k], %t : tensor<128x128xf32, #tl> -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %1, %j = ttng.tmem_load %n[%l] : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> tensor<128x128xf32, #tl>
    ttng.tmem_wait load
    ttng.tmem_wait store
    tt.return
  }
}
