// shows: rocdl: hints for the scheduler
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    rocdl.sched.barrier none
    rocdl.s.setprio 1
    rocdl.s.barrier
    tt.return
  }
}
