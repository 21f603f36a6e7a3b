// Package endpoint lets a server turn text into vectors: Ollama, or any that
// has the embeddings API of OpenAI (llama.cpp, LM Studio, vLLM, …).
//
// # Trust
//
// The text of notes goes to the server, so a [Client] takes care where that is.
// Unless Options.AllowRemote is set, every connection is checked, after names
// are resolved, to lead to this machine. No redirect is followed and no proxy
// used, whatever the environment says. What comes back is bounded in size and
// checked: as many vectors as texts, all of one dimension, all numbers finite,
// none zero. The API key is in a header and nowhere else.
//
// # When the server does not answer
//
// Errors are of type [*Error]: a sentence that says whom notesd waits for, why,
// and what may be done. Retrying is the caller's business; Error.RetryAfter is
// what the server asked for. A query that its caller has given up goes on for a
// while, because a server that is just loading a model begins again when its
// client goes away; meanwhile other queries fail at once.
//
// # Concurrency
//
// A Client is safe for concurrent use. Its only goroutines are those queries;
// Close ends them and waits.
package endpoint
