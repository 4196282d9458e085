// shows: tti: marks of mbarriers
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<i8>, %i: i32, %c: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    tti.experimental_gsan_mbarrier_table_init %p, 16 : !tt.ptr<i8>
    tti.experimental_gsan_mbarrier_init %p, %b, 1 : !tt.ptr<i8>, !ttg.memdesc<1xi64, #v1, #smem, mutable>
    tti.experimental_gsan_mbarrier_wait %p, %b, %i, %c : !tt.ptr<i8>, !ttg.memdesc<1xi64, #v1, #smem, mutable>
    tt.return
  }
}
