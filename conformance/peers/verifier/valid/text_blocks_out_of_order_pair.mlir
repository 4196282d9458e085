// shows: values of several results used before their block
tt.func public @k(%a: tensor<32x2xf32>, %p: tensor<32x!tt.ptr<f32>>) {
    cf.br ^two
^one:
    tt.store %p, %y#1 : tensor<32x!tt.ptr<f32>>
    tt.return
^two:
    %y:2 = tt.split %a : tensor<32x2xf32> -> tensor<32xf32>
    cf.br ^one
}
