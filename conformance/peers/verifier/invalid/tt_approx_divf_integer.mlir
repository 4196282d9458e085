// rule: tt.approx_divf: floats alone
tt.func public @k(%x: i32) {
  %0 = tt.approx_divf %x, %x : i32
  tt.return
}
