// shows: cluster launch control: asked for, loaded, read
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %r = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #v1, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.clc_try_cancel %r, %b : !ttg.memdesc<2xi64, #v1, #smem, mutable>, !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %0 = ttng.clc_load_result %r : !ttg.memdesc<2xi64, #v1, #smem, mutable> -> i128
    %1 = ttng.clc_is_canceled %0 : i128 -> i1
    %2 = ttng.clc_get_program_id %0, x : i128 -> i32
    tt.return
  }
}
