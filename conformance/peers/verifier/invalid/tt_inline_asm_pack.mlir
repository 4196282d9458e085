// rule: tt.elementwise_inline_asm: the elements are a multiple of packed_element
tt.func public @k(%a: tensor<2xi8>) {
  %0 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %a : tensor<2xi8> -> tensor<2xi8>
  tt.return
}
