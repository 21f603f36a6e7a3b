// Package endpoint embeds text with a server: Ollama, or any with the embeddings API of
// OpenAI (llama.cpp, LM Studio, vLLM, …).
//
// # Trust
//
// The text of notes is sent to the server. Unless Options.AllowRemote is set, a
// [Client] connects to this machine only, which it checks on the resolved address. It
// follows no redirect and uses no proxy, whatever the environment sets. It bounds the
// size of a response and checks it: one vector for each text, all of one dimension,
// all numbers finite, no vector zero. The API key is sent in a header only.
//
// # Failures
//
// Errors are of type [*Error], a sentence with the server, the cause and a remedy. The
// caller retries; Error.RetryAfter is the pause that the server asked for. A query
// continues for a while after its context has ended, because a server that loads a
// model starts again if its client disconnects. Meanwhile other queries fail at once.
//
// # Concurrency
//
// A Client is safe for concurrent use. Its only goroutines are those queries; Close
// cancels them and waits.
package endpoint
