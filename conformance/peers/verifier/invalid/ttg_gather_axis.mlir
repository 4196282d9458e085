// rule: ttg.local_gather: axis is below the rank
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: tensor<128xi32, #b1>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<256xf32, #v1, #smem, mutable>
    %0 = ttg.local_gather %m[%i] {axis = 1 : i32} : !ttg.memdesc<256xf32, #v1, #smem, mutable>, tensor<128xi32, #b1> -> tensor<128xf32, #b1>
    tt.return
  }
}
