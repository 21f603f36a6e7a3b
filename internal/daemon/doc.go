// Package daemon lets many clients share one process: it decides who that
// process is, starts it, connects to it and keeps a client's session alive when
// it is replaced. It knows processes, sockets and lines of JSON-RPC; it knows
// nothing of notes.
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
//   - A [Relay] joins a client's standard streams to the daemon. Each daemon
//     that it talks to is a generation: when one ends, the relay connects to the
//     next, replays to it what the session consists of (handshake, log level,
//     subscriptions) and sends again what was unanswered, under the same request
//     key, so that a write that had already happened is answered and not
//     repeated.
//
// # Stopping without failed calls
//
// A daemon that stops first says so ([closingMethod]). A relay then lets what is
// in flight finish, hangs up by itself, and goes on with the next daemon. Only
// connections that outlast the drain time are cut, and they are cut before
// their work is cancelled, so that no error that is merely the daemon's end
// reaches a client: the relay sees a lost connection and sends the request
// again.
//
// # Concurrency
//
// Server.Serve and Relay.Run block and own every goroutine that they start, with
// one exception: reading and writing a client's standard streams cannot be
// interrupted on every system, so Relay.Run does not wait for them. Everything
// else that is exported may be used by several goroutines at once unless its
// comment says otherwise.
package daemon
