// rule: amdg.init_barrier: the memory is of i64
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi8, #v1, #smem, mutable>
    amdg.init_barrier %b, 1 : !ttg.memdesc<1xi8, #v1, #smem, mutable>
    tt.return
  }
}
