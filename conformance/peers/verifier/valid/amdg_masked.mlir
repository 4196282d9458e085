// shows: amdg.masked_load and amdg.masked_store of LLVM's pointers
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: i32, %c: i1) {
    %0 = llvm.mlir.zero : !llvm.ptr<1>
    %1 = amdg.masked_load %0, %c, %x : (!llvm.ptr<1>, i1, i32) -> i32
    amdg.masked_store %0, %1, %c : !llvm.ptr<1>, i32, i1
    tt.return
  }
}
