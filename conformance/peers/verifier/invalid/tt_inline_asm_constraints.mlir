// rule: tt.elementwise_inline_asm: constraints are said
tt.func public @k(%a: tensor<32xi32>) {
  %0 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {packed_element = 1 : i32, pure = true} %a : tensor<32xi32> -> tensor<32xi32>
  tt.return
}
