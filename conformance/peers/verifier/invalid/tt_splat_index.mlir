// rule: tt.splat: index is no type of tt
tt.func public @k(%a: index) {
  %0 = tt.splat %a : index -> tensor<64xindex>
  tt.return
}
