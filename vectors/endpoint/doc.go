// Package endpoint embeds text with a server: Ollama, or any that implements OpenAI's
// embeddings API (llama.cpp, LM Studio, vLLM, …).
//
// # Trust
//
// The text of notes is sent to the server. Unless Options.AllowRemote is set, a [Client]
// connects only to this machine, which it checks on the resolved address. It follows no
// redirects and uses no proxy, whatever the environment says. The size of a response is
// bounded, and its contents are checked: one vector for each text, all of one dimension,
// all numbers finite, no zero vector. The API key is sent only in a header.
//
// # Failures
//
// Errors are of type [*Error], one sentence with the server, the cause and a remedy. The
// caller retries; Error.RetryAfter is the pause requested by the server. A query
// continues for a while after its context has ended, because a server that is loading a
// model starts over if its client disconnects.
//
// # Concurrency
//
// A Client is safe for concurrent use. Its only goroutines are those queries; Close
// cancels them.
package endpoint
