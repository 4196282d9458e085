// shows: a part for resources at the end
module {
}
{-#
  dialect_resources: {
  }
#-}
