// rule: tt.elementwise_inline_asm: pure is said
tt.func public @k(%a: tensor<32xi32>) {
  %0 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32} %a : tensor<32xi32> -> tensor<32xi32>
  tt.return
}
