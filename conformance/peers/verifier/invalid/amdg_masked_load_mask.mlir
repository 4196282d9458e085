// rule: amdg.masked_load: the mask is i1
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: i32) {
    %0 = llvm.mlir.zero : !llvm.ptr<1>
    %1 = amdg.masked_load %0, %x, %x : (!llvm.ptr<1>, i32, i32) -> i32
    tt.return
  }
}
