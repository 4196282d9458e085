// shows: tti: operations of sanitizers
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<i32>, %x: i32, %f: f32, %m: i1) {
    %0 = tti.experimental_gsan_atomic_cas relaxed, gpu, %p, %x, %x : (!tt.ptr<i32>, i32, i32) -> i32
    %1 = tti.experimental_gsan_atomic_rmw add, acquire, sys, %p, %x, %m : (!tt.ptr<i32>, i32, i1) -> i32
    %2 = tti.experimental_fpsan_embed %f : (f32) -> i32
    %3 = tti.experimental_fpsan_unembed %2 : (i32) -> f32
    tti.experimental_gsan_tensor_access %p, true : !tt.ptr<i32>
    tt.return
  }
}
