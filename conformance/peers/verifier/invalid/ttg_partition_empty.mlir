// rule: ttg.warp_specialize: a partition has a block
tt.func @k() {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
  } : () -> ()
  tt.return
}
