// shows: tti: memory as a number, a lock
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<i32>, %c: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %0 = tti.experimental_memdesc_to_i32 %m : !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    tti.experimental_lock_acquire %p, %c : !tt.ptr<i32>
    tti.experimental_lock_release %p, %c : !tt.ptr<i32>
    tt.return
  }
}
