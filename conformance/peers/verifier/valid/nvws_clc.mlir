// shows: nvws.clc_try_cancel: into memory
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %r = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #v1, #smem, mutable>
    nvws.clc_try_cancel %r : !ttg.memdesc<2xi64, #v1, #smem, mutable>
    tt.return
  }
}
