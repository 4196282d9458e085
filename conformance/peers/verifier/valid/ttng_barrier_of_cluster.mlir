// shows: one mbarrier for two blocks
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #x, #smem, mutable>
    ttng.init_barrier %b, 2 : !ttg.memdesc<1xi64, #x, #smem, mutable>
    ttng.wait_barrier %b, %i : !ttg.memdesc<1xi64, #x, #smem, mutable>
    tt.return
  }
}
