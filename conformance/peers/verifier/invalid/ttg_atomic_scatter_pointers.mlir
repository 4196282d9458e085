// rule: ttg.local_atomic_scatter_rmw: values are numbers
#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%v: tensor<128x!tt.ptr<f32>, #l>, %i: tensor<128xi32, #l>, %m: !ttg.memdesc<128x!tt.ptr<f32>, #s, #smem, mutable>) {
    %0 = ttg.local_atomic_scatter_rmw exch, %m[%i], %v {axis = 0 : i32} : (!ttg.memdesc<128x!tt.ptr<f32>, #s, #smem, mutable>, tensor<128x!tt.ptr<f32>, #l>, tensor<128xi32, #l>) -> tensor<128x!tt.ptr<f32>, #l>
    tt.return
  }
}
