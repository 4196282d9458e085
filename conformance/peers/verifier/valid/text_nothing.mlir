// shows: an empty module
module {
}
