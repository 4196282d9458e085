// rule: tt.splat: no vectors
tt.func public @k(%a: vector<4xf32>) {
  %0 = tt.splat %a : vector<4xf32> -> tensor<64xf32>
  tt.return
}
