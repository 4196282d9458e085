// shows: scf.while: carries shared memory and an i1
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #v2, #smem, mutable>
    %0:2 = scf.while (%a = %m, %b = %c) : (!ttg.memdesc<64x64xf32, #v2, #smem, mutable>, i1) -> (!ttg.memdesc<64x64xf32, #v2, #smem, mutable>, i1) {
      scf.condition(%b) %a, %b : !ttg.memdesc<64x64xf32, #v2, #smem, mutable>, i1
    } do {
  ^bb0(%d: !ttg.memdesc<64x64xf32, #v2, #smem, mutable>, %e: i1):
      scf.yield %d, %e : !ttg.memdesc<64x64xf32, #v2, #smem, mutable>, i1
    }
    tt.return
  }
}
