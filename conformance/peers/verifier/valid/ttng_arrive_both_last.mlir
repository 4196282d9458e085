// shows: ttng.arrive_barrier: `fromCTA` of the last block, with `multicastCTA`
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], [2]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<4xi64, #b, #smem, mutable>
    ttng.arrive_barrier %b, 1 {fromCTA = 3 : i32, multicastCTA = 1 : i32} : !ttg.memdesc<4xi64, #b, #smem, mutable>
    tt.return
  }
}
