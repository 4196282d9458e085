// rule: ttg.warp_specialize: a partition sees captures alone
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
    ttg.warp_specialize(%p)
    default {
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<i32>) num_warps(4) {
      tt.store %q, %x : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}
