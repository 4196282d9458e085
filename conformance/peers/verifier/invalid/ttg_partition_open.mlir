// rule: ttg.warp_specialize: a partition ends with a terminator
tt.func @k() {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    %c = arith.constant 2 : i64
  } : () -> ()
  tt.return
}
