// shows: ttg.async_copy_global_to_local, its groups and waits
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<64x64x!tt.ptr<f16>, #b2>, %k: tensor<64x64xi1, #b2>, %o: tensor<64x64xf16, #b2>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    %0 = ttg.async_copy_global_to_local %p, %m : tensor<64x64x!tt.ptr<f16>, #b2> -> <64x64xf16, #w2, #smem, mutable>
    %1 = ttg.async_copy_global_to_local %p, %m mask %k : tensor<64x64x!tt.ptr<f16>, #b2> -> <64x64xf16, #w2, #smem, mutable>
    %2 = ttg.async_copy_global_to_local %p, %m mask %k other %o {contiguity = 8 : i32} : tensor<64x64x!tt.ptr<f16>, #b2> -> <64x64xf16, #w2, #smem, mutable>
    %3 = ttg.async_commit_group tokens %0, %1, %2
    %4 = ttg.async_wait %3 {num = 0 : i32}
    %5 = ttg.async_commit_group
    %6 = ttg.async_wait {num = 1 : i32}
    tt.return
  }
}
