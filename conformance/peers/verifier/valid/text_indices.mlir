// shows: indices of threads and blocks
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = gpu.thread_id x
    %1 = gpu.block_id y
    %2 = nvvm.read.ptx.sreg.laneid : i32
    gpu.barrier
    tt.return
  }
}
