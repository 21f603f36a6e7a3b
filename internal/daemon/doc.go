// Package daemon lets many clients share one process: it decides which process
// that is, starts it, and connects to it. It handles processes, locks and
// sockets; what the connections carry is for package mcp on the daemon's side
// and for package relay on the client's.
//
// # Vocabulary
//
//   - The state directory is the identity of a daemon: one directory, one
//     daemon. Its [Lock] is the truth about who that is; a process id or a
//     socket file is only a hint, because both outlive a crash.
//   - A [Server] accepts connections on the Unix socket. A connection opens with
//     one line each way, [Hello] and [Welcome]; what follows belongs to the
//     session.
//   - A [Connector] connects to the daemon of a state directory and, where there
//     is none, has one started by a short-lived launcher ([Start]),
//     so that the daemon is nobody's child. A launched daemon says through
//     [Startup] whether it came up.
//
// # Stopping without failed calls
//
// A daemon announces that it stops ([ClosingMethod]). A relay then waits for the
// answers to the requests in flight, hangs up, and continues with the next
// daemon. Connections that outlast the drain time are cut before their work is
// cancelled: the relay sees a lost connection and sends the request again, and
// no error that only means "the daemon has ended" reaches a client.
//
// # Concurrency
//
// Server.Serve blocks and owns every goroutine that it starts. Everything else
// that is exported may be used by several goroutines at once unless its comment
// says otherwise.
package daemon
