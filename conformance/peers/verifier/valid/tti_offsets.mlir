// shows: tti: offsets of memory as numbers
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = tti.experimental_memory_offset_to_i32 64, shared_mem
    tt.return
  }
}
