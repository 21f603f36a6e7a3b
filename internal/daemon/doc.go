// Package daemon lets many clients share one process: it decides which process
// that is, starts it, and connects to it. It handles processes, locks and
// sockets; package mcp on the daemon's side and package relay on the client's
// interpret what the connections carry.
//
// # Vocabulary
//
//   - The state directory is the identity of a daemon: one directory, one
//     daemon. Its [Lock] determines which process that is; a process id or
//     a socket file is only a hint, because both outlive a crash.
//   - A [Server] accepts connections on the Unix socket. A connection opens with
//     one line each way, [Hello] and [Welcome]; what follows belongs to the
//     session.
//   - A [Connector] connects to the daemon of a state directory. If none runs, a
//     short-lived launcher starts one ([Start]), so that the daemon is not a child
//     of the client. A launched daemon reports through [Startup] whether it
//     listens.
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
