// shows: scf.for: carries a pointer, a tensor, memory
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%n: i32, %p: !tt.ptr<f32>, %x: tensor<64x64xf32, #b2>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #v2, #smem, mutable>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %x, %c = %m) -> (!tt.ptr<f32>, tensor<64x64xf32, #b2>, !ttg.memdesc<64x64xf32, #v2, #smem, mutable>) : i32 {
      %d = tt.addptr %a, %i : !tt.ptr<f32>, i32
      %e = arith.addf %b, %b : tensor<64x64xf32, #b2>
      scf.yield %d, %e, %c : !tt.ptr<f32>, tensor<64x64xf32, #b2>, !ttg.memdesc<64x64xf32, #v2, #smem, mutable>
    }
    tt.return
  }
}
