// Package daemon lets many clients share one process: it determines which process
// serves, starts it, and connects to it. It handles processes, locks and sockets; the
// contents of the connections are interpreted by package mcp in the daemon and package
// relay in the client.
//
// # Vocabulary
//
//   - The state directory is the identity of a daemon: one directory, one daemon. The
//     process that holds its [Lock] is the daemon; a process id or a socket file is only
//     a hint, because both outlive a crash.
//   - A [Server] accepts connections on the Unix socket. A connection starts with one
//     line in each direction, [Hello] and [Welcome]; the rest belongs to the session.
//   - A [Connector] connects to the daemon of a state directory. If none runs, a
//     short-lived launcher starts one ([Start]), so that the daemon is not a child of the
//     client. A launched daemon reports through [Startup] whether it is listening.
//
// # Stopping without failed calls
//
// A daemon announces that it is stopping ([ClosingMethod]). A relay then waits for the
// answers to the requests in flight, disconnects, and continues with the next daemon.
// Connections that outlast the drain time are closed before their work is cancelled, so
// that the relay sees a lost connection and resends the request, rather than an error
// that only means that the daemon was shut down.
//
// # Concurrency
//
// Server.Serve blocks and owns every goroutine that it starts. All other exported
// functions and methods are safe for concurrent use unless documented otherwise.
package daemon
