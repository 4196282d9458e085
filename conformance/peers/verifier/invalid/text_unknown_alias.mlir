// rule: a layout's alias is said
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #nobody>) {
    tt.return
  }
}
