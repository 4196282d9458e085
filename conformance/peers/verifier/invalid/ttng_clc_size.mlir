// rule: ttng.clc_try_cancel: the answer is of two numbers
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %r = ttg.local_alloc : () -> !ttg.memdesc<4xi64, #v1, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.clc_try_cancel %r, %b : !ttg.memdesc<4xi64, #v1, #smem, mutable>, !ttg.memdesc<1xi64, #v1, #smem, mutable>
    tt.return
  }
}
