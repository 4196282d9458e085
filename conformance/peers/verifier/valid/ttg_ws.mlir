// shows: ttg.warp_specialize: no partition, one, two, captures, results
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    %0 = ttg.warp_specialize(%x, %p)
    default {
      ttg.warp_yield %x : i32
    }
    partition0(%a: i32, %b: !tt.ptr<i32>) num_warps(4) {
      tt.store %b, %a : !tt.ptr<i32>
      ttg.warp_return
    }
    partition1(%c: i32, %d: !tt.ptr<i32>) num_warps(1) {
      ttg.warp_return
    } : (i32, !tt.ptr<i32>) -> i32
    tt.return
  }
}
