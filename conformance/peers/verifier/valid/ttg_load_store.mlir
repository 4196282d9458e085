// shows: ttg.local_load and ttg.local_store, a token
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    %t = ttg.async_commit_group
    %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #w2, #smem, mutable> -> tensor<64x64xf16, #b2>
    %1 = ttg.local_load %m token %t : !ttg.memdesc<64x64xf16, #w2, #smem, mutable> -> tensor<64x64xf16, #b2t>
    ttg.local_store %0, %m : tensor<64x64xf16, #b2> -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    tt.return
  }
}
