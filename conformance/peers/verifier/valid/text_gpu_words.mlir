// shows: operations of other dialects that are loaded
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = gpu.thread_id x
    %2 = llvm.mlir.constant(1 : i32) : i32
    tt.return
  }
}
