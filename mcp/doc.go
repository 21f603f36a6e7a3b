// Package mcp is the protocol boundary of notesd: it speaks the Model Context
// Protocol and turns its requests into calls to the vault and the search
// engine. It opens no files or databases; it accesses the disk only to locate a
// client's roots.
//
// # Vocabulary
//
//   - A [Core] holds what all sessions share: the vault, the search engine, the
//     prompt catalogue, the limits. A program has one.
//   - A session is one client on one connection. Each has its own SDK server, so
//     its [Profile] (read-only, tool selection, visible folders) determines what
//     it lists as well as what it may call. Its subscriptions, roots and prompts
//     have their own state; resources, completer and toolbox are views of it that
//     each answer one kind of request.
//   - A tool (see mcp/tools) is data; a session passes it an environment for each
//     call and converts its outcome to a result.
//   - An attachment is a file other than a note that a note links to; it has a
//     URI like a note's and is read as a blob.
//   - The roots of a client are the folders its user works on; those within the
//     vault restrict a session as its profile does.
//   - A line connection (see mcp/transport) is newline-delimited JSON-RPC over a
//     pair of byte streams: stdio, a Unix socket, a pipe within the process.
//   - A watch is a list of resources that a client has subscribed to. A session
//     has one, and so does each subscriptions/listen of 2026-07-28.
//   - An outlet delivers notifications: directly to a line connection's queue, or
//     over HTTP through the SDK in a goroutine.
//   - The [Notifier] follows the vault's change feed and notifies subscribed
//     sessions; it coalesces changes and never waits for a client.
//
// # Two eras
//
// Versions 2024-11-05 to 2025-11-25 of the protocol have sessions that begin
// with initialize; 2026-07-28 has none, and each request carries its version in
// _meta. The SDK distinguishes them for each request; this package calls the
// first "session era" and uses [isModern] where responses differ.
//
// # Failures
//
// A domain error (*notes.Error) is mapped by the table in errors.go. Any other
// error is logged with an id and returned as "internal error (id …)". A failure
// that a model can correct is a tool result with isError, not a protocol error.
//
// # Concurrency
//
// The SDK calls every request's handler in its own goroutine. The handler's context
// is cancelled when the client cancels the request or disconnects, and is passed
// down to the vault. A line connection owns two goroutines, which end with Close.
// A session owns its work outside of requests (listing roots); [Core.ServeLines]
// blocks and owns all of that, and [HTTP] owns what its sessions start. The
// Notifier's Run owns its timers.
package mcp
