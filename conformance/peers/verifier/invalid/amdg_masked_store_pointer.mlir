// rule: amdg.masked_store: LLVM's pointer
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: i32, %c: i1, %p: !tt.ptr<i32>) {
    amdg.masked_store %p, %x, %c : !tt.ptr<i32>, i32, i1
    tt.return
  }
}
