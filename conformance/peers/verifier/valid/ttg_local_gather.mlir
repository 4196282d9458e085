// shows: ttg.local_gather, ttg.local_scatter, ttg.local_atomic_scatter_rmw
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: tensor<128xi32, #b1>, %k: tensor<128xi1, #b1>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<256xi32, #v1, #smem, mutable>
    %t = ttg.async_commit_group
    %0 = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<256xi32, #v1, #smem, mutable>, tensor<128xi32, #b1> -> tensor<128xi32, #b1>
    %1 = ttg.local_gather %m[%i] token %t {axis = 0 : i32} : !ttg.memdesc<256xi32, #v1, #smem, mutable>, tensor<128xi32, #b1> -> tensor<128xi32, #b1>
    ttg.local_scatter %m[%i], %0 {axis = 0 : i32} : !ttg.memdesc<256xi32, #v1, #smem, mutable>, tensor<128xi32, #b1>, tensor<128xi32, #b1>
    %2 = ttg.local_atomic_scatter_rmw add, %m[%i], %0 {axis = 0 : i32} : (!ttg.memdesc<256xi32, #v1, #smem, mutable>, tensor<128xi32, #b1>, tensor<128xi32, #b1>) -> tensor<128xi32, #b1>
    %3 = ttg.local_atomic_scatter_rmw umax, %m[%i], %0, %k {axis = 0 : i32} : (!ttg.memdesc<256xi32, #v1, #smem, mutable>, tensor<128xi32, #b1>, tensor<128xi32, #b1>, tensor<128xi1, #b1>) -> tensor<128xi32, #b1>
    tt.return
  }
}
