// shows: tt.elementwise_inline_asm: several operands, several results, packed
tt.func public @k(%a: tensor<64xi32>, %b: tensor<64xi8>) {
  %0 = tt.elementwise_inline_asm "add.s32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %a, %a : tensor<64xi32>, tensor<64xi32> -> tensor<64xi32>
  %1:2 = tt.elementwise_inline_asm "mov.b32 $0, $2; mov.b32 $1, $2;" {constraints = "=r,=r,r", packed_element = 4 : i32, pure = false} %b : tensor<64xi8> -> tensor<64xi8>, tensor<64xi8>
  tt.return
}
