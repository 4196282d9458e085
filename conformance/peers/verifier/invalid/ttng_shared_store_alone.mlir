// rule: ttng.async_shared_store: there is a cluster
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%v: tensor<64x64xf32, #b2>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #v2, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.async_shared_store %v, %m, %b : tensor<64x64xf32, #b2> -> !ttg.memdesc<64x64xf32, #v2, #smem, mutable>, !ttg.memdesc<1xi64, #v1, #smem, mutable>
    tt.return
  }
}
