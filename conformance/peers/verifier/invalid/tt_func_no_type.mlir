// rule: tt.func: it has a function type
"tt.func"() <{sym_name = "k"}> ({
  tt.return
}) : () -> ()
