// shows: ttg.memdesc_trans: padded memory, by offset
#smem = #ttg.shared_memory
#x = #ttg.padded_shared<[4:+4] {order = [1, 0], shape = [2, 4]}>
#y = #ttg.padded_shared<[4:+4] {offset = [[1, 0], [2, 0], [0, 1]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x4xf32, #x, #smem, mutable>
    %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<2x4xf32, #x, #smem, mutable> -> !ttg.memdesc<4x2xf32, #y, #smem, mutable>
    tt.return
  }
}
