// rule: !ttng.tensordesc_im2col: two axes
tt.func public @k(%d: !ttng.tensordesc_im2col<64xf16>) {
  tt.return
}
