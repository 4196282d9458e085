// rule: ttng.init_barrier: an mbarrier for the cluster is made outside of ttg.warp_specialize
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #x, #smem, mutable>
    ttg.warp_specialize(%b)
    default {
      ttg.warp_yield
    }
    partition0(%c: !ttg.memdesc<1xi64, #x, #smem, mutable>) num_warps(4) {
      ttng.init_barrier %c, 1 : !ttg.memdesc<1xi64, #x, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #x, #smem, mutable>) -> ()
    tt.return
  }
}
