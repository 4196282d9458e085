// shows: ttg.barrier: each memory, several, all
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttg.barrier local
    ttg.barrier global_read
    ttg.barrier global_write
    ttg.barrier local|global_read
    ttg.barrier all
    ttg.barrier none
    tt.return
  }
}
