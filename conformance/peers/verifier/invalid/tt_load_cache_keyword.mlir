// rule: tt.load: the policy is the attribute cachePolicy, no clause cacheModifier
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p cacheModifier = ca : !tt.ptr<f32>
  tt.return
}
