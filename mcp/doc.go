// Package mcp is the protocol boundary of notesd: it speaks the Model Context
// Protocol and turns its requests into calls on the vault and the search
// engine. It opens no file and no database; it only asks the disk where a
// client's roots lie.
//
// # Vocabulary
//
//   - A [Core] holds what all sessions share: the vault, the search engine, the
//     prompt catalogue, the limits. A program has one.
//   - A session is one client on one connection. Each has an SDK server of its
//     own, so its [Profile] (read-only, tool selection, folders it may see)
//     shapes what it lists as well as what it may call. Its subscriptions, roots
//     and prompts have state of their own; resources, completer and toolbox are
//     views of it that answer one kind of request.
//   - A tool (see mcp/tools) is data; a session gives it an environment for each
//     call and makes a result of its outcome.
//   - An attachment is a file other than a note that a note links to; it has a
//     URI like a note's and is read as a blob.
//   - The roots of a client are the folders its user works on; those within the
//     vault bound a session as its profile does.
//   - A line connection (see mcp/transport) is newline-delimited JSON-RPC over a
//     pair of byte streams: stdio, a Unix socket, a pipe within the process.
//   - A watch is a list of resources whose changes a client asked for. A session
//     has one, and each subscriptions/listen of 2026-07-28 is one.
//   - An outlet is how notifications leave: straight into a line connection's
//     queue, or over HTTP through the SDK from a goroutine.
//   - The [Notifier] follows the vault's change feed and notifies subscribed
//     sessions; it coalesces changes and never waits for a client.
//
// # Two eras
//
// Versions 2024-11-05 to 2025-11-25 of the protocol have sessions that begin
// with initialize; 2026-07-28 has none, and each request carries its version in
// _meta. The SDK tells them apart for each request; the code here calls the
// first "session era" and asks [isModern] where an answer differs.
//
// # Failures
//
// An error of the domain (*notes.Error) is shown as the table in errors.go says.
// Any other error is logged with an id and shown as "internal error (id …)". A
// failure that a model can correct is a tool result with isError, and no protocol
// error.
//
// # Concurrency
//
// The SDK calls every request's handler in a goroutine of its own; a context
// that is cancelled when the client cancels the request or goes away reaches
// down to the vault. A line connection owns two goroutines, which end with
// Close. A session owns what it does beside requests (pings, asking for roots);
// [Core.Serve] blocks and owns all of that, and [HTTP] what its sessions start.
// The Notifier's Run owns its timers.
package mcp
