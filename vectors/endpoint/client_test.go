package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// request is a request received by a server.
type request struct {
	path, key string
	body      map[string]any
}

func (a request) input(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, text := range a.body["input"].([]any) {
		out = append(out, text.(string))
	}
	return out
}

// serve starts a server and returns a client for it.
func serve(t *testing.T, o Options, handler func(w http.ResponseWriter, a request)) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := request{path: r.URL.Path, key: r.Header.Get("Authorization")}
		data, err := io.ReadAll(r.Body)
		if assert.NoError(t, err) && assert.NoError(t, json.Unmarshal(data, &a.body)) {
			handler(w, a)
		}
	}))
	t.Cleanup(server.Close)
	o.URL = server.URL + o.URL
	return connect(t, o)
}

func connect(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Provider == "" {
		o.Provider = Ollama
	}
	if o.Model == "" {
		o.Model = "m"
	}
	c, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// answer writes vectors like Ollama.
func answer(w http.ResponseWriter, vectors string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"model":"m","embeddings":[%s],"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":8}`, vectors)
}

// lengths returns a vector for each text that encodes its length.
func lengths(t *testing.T, a request) string {
	var vectors []string
	for _, text := range a.input(t) {
		vectors = append(vectors, fmt.Sprintf("[%d, -1.5e0]", len(text)))
	}
	return strings.Join(vectors, ",")
}

func embed(t *testing.T, c *Client, texts ...string) ([][]float32, error) {
	t.Helper()
	out := make([][]float32, len(texts))
	err := c.EmbedPassages(t.Context(), texts, 1, func(i int, v []float32) { out[i] = v })
	return out, err
}

func unit(v ...float64) []float32 {
	var squares float64
	for _, x := range v {
		squares += x * x
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(squares))
	}
	return out
}

func TestOllama(t *testing.T) {
	var last request
	requests := 0
	c := serve(t, Options{Model: "all-minilm", APIKey: "k"}, func(w http.ResponseWriter, a request) {
		last = a
		requests++
		answer(w, lengths(t, a))
	})
	assert.Equal(t, "ollama:all-minilm", c.ID())
	assert.Zero(t, c.Dim(), "nobody has said it yet")
	var texts []string
	for i := range batch + 3 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	got, err := embed(t, c, texts...)
	require.NoError(t, err)
	for i, v := range got {
		assert.InDeltaSlice(t, unit(float64(i+1), -1.5), v, 1e-6)
	}
	assert.Equal(t, 2, requests, "in batches")
	assert.Equal(t, "/api/embed", last.path)
	assert.Equal(t, "Bearer k", last.key)
	assert.Equal(t, "all-minilm", last.body["model"])
	assert.Equal(t, 2, c.Dim())

	v, err := c.EmbedQuery(t.Context(), "four")
	require.NoError(t, err)
	assert.InDeltaSlice(t, unit(4, -1.5), v, 1e-6)
}

func TestOpenAI(t *testing.T) {
	for url, path := range map[string]string{"": "/v1/embeddings", "/": "/v1/embeddings", "/api/v3/": "/api/v3/embeddings"} {
		c := serve(t, Options{Provider: OpenAI, Model: "text-embedding-3-small", URL: url}, func(w http.ResponseWriter, a request) {
			assert.Equal(t, path, a.path)
			assert.Empty(t, a.key)
			assert.Equal(t, "float", a.body["encoding_format"])
			// Out of order: the index must be used.
			fmt.Fprint(w, `{"object":"list","data":[
				{"object":"embedding","index":1,"embedding":[0.0, 1.0]},
				{"object":"embedding","index":0,"embedding":[1.0, 0.0]}],
				"model":"text-embedding-3-small","usage":{"prompt_tokens":5,"total_tokens":5}}`)
		})
		got, err := embed(t, c, "a", "b")
		require.NoError(t, err)
		assert.Equal(t, [][]float32{{1, 0}, {0, 1}}, got)
	}
}

func TestPrefixesOfKnownModels(t *testing.T) {
	var last request
	c := serve(t, Options{Model: "nomic-embed-text:v1.5"}, func(w http.ResponseWriter, a request) {
		last = a
		answer(w, lengths(t, a))
	})
	_, err := embed(t, c, "p")
	require.NoError(t, err)
	assert.Equal(t, []string{"search_document: p"}, last.input(t))
	_, err = c.EmbedQuery(t.Context(), "q")
	require.NoError(t, err)
	assert.Equal(t, []string{"search_query: q"}, last.input(t))
}

func TestEmbed_InvalidResponses(t *testing.T) {
	big := strings.Repeat("1,", maxDimension) + "1"
	cases := []struct{ name, body, want string }{
		{"fewer vectors", `{"embeddings":[[1,2]]}`, "it returned 1 vectors for 2 texts"},
		{"more vectors", `{"embeddings":[[1,2],[1,2],[1,2]]}`, "it returned 3 vectors for 2 texts"},
		{"none", `{"embeddings":null}`, "it returned 0 vectors for 2 texts"},
		{"another shape", `{"embedding":[1,2]}`, "it returned 0 vectors for 2 texts"},
		{"two dimensions", `{"embeddings":[[1,2],[1,2,3]]}`, "vectors of 2 and 3 numbers in one answer"},
		{"NaN", `{"embeddings":[[1,NaN],[1,2]]}`, "cannot be read"},
		{"text", `{"embeddings":[[1,"2"],[1,2]]}`, "cannot be read"},
		{"nested", `{"embeddings":[[1,[2]],[1,2]]}`, "cannot be read"},
		{"base64", `{"embeddings":["AACAPw==",[1,2]]}`, "cannot be read"},
		{"beyond float32", `{"embeddings":[[1e39,1],[1,2]]}`, "cannot be read"},
		{"null", `{"embeddings":[null,[1,2]]}`, "a vector of 0 numbers"},
		{"zeros", `{"embeddings":[[0,0],[1,2]]}`, "without a direction"},
		{"empty vectors", `{"embeddings":[[],[]]}`, "a vector of 0 numbers"},
		{"too many numbers", `{"embeddings":[[` + big + `],[1]]}`, "a vector of 8193 numbers"},
		{"no JSON", `<html>hello</html>`, "cannot be read"},
		{"cut off", `{"embeddings":[[1,2],[1`, "cannot be read"},
		{"nothing", ``, "cannot be read"},
		{"too large", `{"embeddings":[[1` + strings.Repeat(" ", maxAnswer) + `]]}`, "larger than 8 MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client := serve(t, Options{}, func(w http.ResponseWriter, _ request) { fmt.Fprint(w, c.body) })
			_, err := embed(t, client, "a", "b")
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, "waiting for ollama at http://127.0.0.1:")
			assert.Zero(t, client.Dim(), "nothing is learnt from it")
		})
	}
}

func TestOpenAI_InvalidIndexes(t *testing.T) {
	for _, indexes := range [][2]int{{0, 0}, {1, 2}, {-1, 0}} {
		c := serve(t, Options{Provider: OpenAI}, func(w http.ResponseWriter, _ request) {
			fmt.Fprintf(w, `{"data":[{"index":%d,"embedding":[1]},{"index":%d,"embedding":[1]}]}`, indexes[0], indexes[1])
		})
		_, err := embed(t, c, "a", "b")
		assert.ErrorContains(t, err, "is repeated or out of range", "%v", indexes)
	}
}

func TestEmbed_DimensionChange(t *testing.T) {
	vector := "[1,2,3]"
	c := serve(t, Options{}, func(w http.ResponseWriter, _ request) { answer(w, vector) })
	c.Expect(3) // from an earlier run
	_, err := embed(t, c, "a")
	require.NoError(t, err)
	vector = "[1,2]"
	_, err = embed(t, c, "a")
	require.ErrorContains(t, err, "its vectors now have 2 numbers instead of 3")
	_, err = c.EmbedQuery(t.Context(), "a")
	assert.ErrorContains(t, err, "notesd index --rebuild")
}

func TestEmbed_StatusCodes(t *testing.T) {
	cases := []struct {
		provider string
		status   int
		body     string
		want     string
	}{
		{Ollama, 404, `{"error":"model \"m\" not found, try pulling it first"}`, `does not have the model "m", or its API has another URL (status 404); run ollama pull m: model "m" not found`},
		{OpenAI, 404, `{"error":{"message":"The model m does not exist","type":"invalid_request_error"}}`, "check semantic.url, which usually ends in /v1, and semantic.model: The model m does not exist"},
		{OpenAI, 404, `<h1>Not found</h1>`, "usually ends in /v1"},
		{OpenAI, 403, `{"error":{"message":"Country not supported"}}`, "it rejected the API key (status 403); see semantic.api_key_file: Country not"},
		{Ollama, 500, `{"error":"llama runner\n\u001b[31mhas exited"}`, "it failed with status 500: llama runner [31mhas exited"},
		{Ollama, 400, `{"error":"this model does not support embeddings"}`, "rejects the text (status 400): this model does not support embeddings"},
		{OpenAI, 422, `{"message":"bad value: the secret diary of a text that was sent"}`, "rejects the text (status 422)"},
		{OpenAI, 403, "", "it rejected the API key (status 403)"},
		{OpenAI, 405, "", "its API has another URL (status 405)"},
		{OpenAI, 413, `{"object":"error","message":"too\tlong"}`, "rejects the text (status 413): too long"},
		{OpenAI, 503, strings.Repeat(" ", 9) + `{"error":"` + strings.Repeat("x", 300) + `"}`, "it is busy (status 503): " + strings.Repeat("x", 200) + "…"},
	}
	for _, c := range cases {
		client := serve(t, Options{Provider: c.provider}, func(w http.ResponseWriter, _ request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		_, err := embed(t, client, "the secret diary of a text that was sent")
		require.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error(), "diary", "no log may hold the text of notes")
		assert.NotContains(t, err.Error(), "\n")
	}
}

func TestEmbed_TruncatesLongTexts(t *testing.T) {
	var sent []int
	c := serve(t, Options{}, func(w http.ResponseWriter, a request) {
		for _, text := range a.input(t) {
			sent = append(sent, len(text))
			if len(text) > 300 {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":"the input length exceeds the context length"}`)
				return
			}
		}
		answer(w, lengths(t, a))
	})
	got, err := embed(t, c, "short", strings.Repeat("ä", 500))
	require.NoError(t, err)
	assert.InDeltaSlice(t, unit(5, -1.5), got[0], 1e-6)
	assert.InDeltaSlice(t, unit(250, -1.5), got[1], 1e-6)
	assert.Equal(t, []int{5, 1000, 5, 5, 1000, 500, 250}, sent)

	v, err := c.EmbedQuery(t.Context(), strings.Repeat("ä", 500))
	require.NoError(t, err)
	assert.InDeltaSlice(t, unit(250, -1.5), v, 1e-6)
}

// Models return NaN for some texts, which servers report in different ways. The other texts
// get their vectors, and so does that text.
func TestEmbedPassages_TextThatFails(t *testing.T) {
	for name, fail := range map[string]func(w http.ResponseWriter, n int){
		"status 500": func(w http.ResponseWriter, _ int) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"error":"failed to encode response: json: unsupported value: NaN"}`)
		},
		"NaN":        func(w http.ResponseWriter, _ int) { answer(w, "[NaN,NaN]") },
		"null":       func(w http.ResponseWriter, n int) { answer(w, strings.Repeat("[null,null],", n-1)+"[null,null]") },
		"status 400": func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusBadRequest) },
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, Options{}, func(w http.ResponseWriter, a request) {
				if texts := a.input(t); strings.Contains(strings.Join(texts, ""), "#!") {
					fail(w, len(texts))
					return
				}
				answer(w, lengths(t, a))
			})
			got, err := embed(t, c, "good", strings.Repeat("ok", 50)+"#!", "#!")
			require.NoError(t, err)
			assert.InDeltaSlice(t, unit(4, -1.5), got[0], 1e-6)
			assert.InDeltaSlice(t, unit(51, -1.5), got[1], 1e-6, "its beginning")
			assert.InDeltaSlice(t, unit(5, -1.5), got[2], 1e-6, "that of a neutral word")
		})
	}
}

// A server that was restarted, say, may fail with status 500 for other reasons than the text.
func TestEmbedPassages_UnrelatedFailures(t *testing.T) {
	long := strings.Repeat("x", 200)
	failures := 2 // the batch, and the long text alone
	c := serve(t, Options{}, func(w http.ResponseWriter, a request) {
		if slices.Contains(a.input(t), long) && failures > 0 {
			failures--
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		answer(w, lengths(t, a))
	})
	got, err := embed(t, c, "short", long)
	require.NoError(t, err)
	assert.InDeltaSlice(t, unit(5, -1.5), got[0], 1e-6)
	assert.InDeltaSlice(t, unit(200, -1.5), got[1], 1e-6, "the whole text")
}

func TestEmbed_HonorsRetryAfter(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var requests atomic.Int64
	status := http.StatusTooManyRequests
	c := serve(t, Options{Now: func() time.Time { return now }}, func(w http.ResponseWriter, a request) {
		requests.Add(1)
		if status != http.StatusOK {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(status)
			return
		}
		answer(w, lengths(t, a))
	})
	for range 3 {
		_, err := embed(t, c, "a")
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.ErrorContains(t, err, "it is busy (status 429)")
		assert.Equal(t, 30*time.Second, e.Wait())
	}
	_, err := c.EmbedQuery(t.Context(), "q")
	require.ErrorContains(t, err, "busy")
	assert.EqualValues(t, 1, requests.Load())
	now = now.Add(31 * time.Second)
	status = http.StatusServiceUnavailable
	_, err = embed(t, c, "a")
	require.ErrorContains(t, err, "status 503")
	now = now.Add(31 * time.Second)
	status = http.StatusOK
	_, err = embed(t, c, "a")
	require.NoError(t, err)
	assert.EqualValues(t, 3, requests.Load())
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-3": 0, "soon": 0, "99999999999": longestWait, "86400": longestWait,
		"Sat, 21 Nov 2026 12:00:20 GMT": 20 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0,
	} {
		assert.Equal(t, want, retryAfter(header, now), header)
	}
}

func TestEmbedQuery_ContinuesAfterItsContext(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	c := serve(t, Options{}, func(w http.ResponseWriter, a request) {
		arrived <- struct{}{}
		<-release
		answer(w, lengths(t, a))
	})
	impatient, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := c.EmbedQuery(impatient, "first")
	require.ErrorIs(t, err, context.Canceled)
	joined := c.queries.DoChan("first", func() (any, error) { return nil, errors.New("the request has ended") })
	close(release) // the model is loaded
	got := <-joined
	require.NoError(t, got.Err)
	assert.InDeltaSlice(t, unit(5, -1.5), got.Val, 1e-6)
}

func TestClose_CancelsQueries(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	c := serve(t, Options{}, func(http.ResponseWriter, request) { close(arrived); <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := c.EmbedQuery(ctx, "q")
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	_, err = c.EmbedQuery(t.Context(), "q")
	assert.ErrorIs(t, err, context.Canceled)
}

func TestEmbed_Timeouts(t *testing.T) {
	release := make(chan struct{})
	c := serve(t, Options{}, func(http.ResponseWriter, request) { <-release })
	c.queryTimeout, c.batchTimeout = 20*time.Millisecond, 20*time.Millisecond
	defer close(release)
	_, err := embed(t, c, "a")
	require.ErrorContains(t, err, "it did not answer within 20ms")
	_, err = c.EmbedQuery(t.Context(), "a")
	require.ErrorContains(t, err, "it did not answer within 20ms")
}

// slowServer takes the given time for each text.
type slowServer struct {
	perText time.Duration
	sent    []int // texts per request
}

func (s *slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	var body ollamaRequest
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	n := len(body.Input)
	s.sent = append(s.sent, n)
	select {
	case <-time.After(time.Duration(n) * s.perText):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	answer(w, "[1,2]"+strings.Repeat(",[1,2]", n-1))
	return w.Result(), nil
}

func TestEmbedPassages_SlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slowServer{perText: 25 * time.Second}
		c := connect(t, Options{})
		c.http.Transport = server
		for left := 16; left > 0; {
			texts := slices.Repeat([]string{"text"}, min(c.Batch(1), left))
			if _, err := embed(t, c, texts...); err != nil {
				require.ErrorContains(t, err, "it did not answer within 2m0s")
				require.Less(t, len(server.sent), 4, "requests of %v texts", server.sent)
				continue
			}
			left -= len(texts)
		}
		_, err := c.EmbedQuery(t.Context(), "query")
		require.NoError(t, err)
		_, err = embed(t, c, "a", "new", "note")
		require.NoError(t, err)
		assert.Equal(t, 4, c.Batch(1), "a short batch is no proof that longer ones succeed")
		assert.Equal(t, []int{16, 8, 4, 4, 4, 4, 1, 3}, server.sent)

		server.perText, server.sent = time.Second, nil // it was busy with other work
		_, err = embed(t, c, slices.Repeat([]string{"text"}, 28+16)...)
		require.NoError(t, err)
		assert.Equal(t, []int{4, 8, 16, 16}, server.sent)
	})
}

func TestEmbed_ConnectionErrors(t *testing.T) {
	c := serve(t, Options{}, func(w http.ResponseWriter, _ request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"embeddings":[[1,`)
		panic(http.ErrAbortHandler)
	})
	_, err := embed(t, c, "a")
	require.ErrorContains(t, err, "it closed the connection")

	for _, answer := range []string{"SSH-2.0-" + strings.Repeat("x", maxHeader/2) + "\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader)} {
		c = serve(t, Options{}, func(w http.ResponseWriter, _ request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if assert.NoError(t, err) {
				_, _ = io.WriteString(conn, answer) // the client closes the connection
				_ = conn.Close()
			}
		})
		_, err = embed(t, c, "a")
		require.ErrorContains(t, err, "HTTP/1.x transport connection broken")
		assert.NotContains(t, err.Error(), "Post", "the message has the URL already")
		assert.Less(t, len(err.Error()), 300, "the answer is not quoted whole")
	}

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c = connect(t, Options{URL: server.URL})
	_, err = embed(t, c, "a")
	require.ErrorContains(t, err, "nothing listens there; start the server")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, c.EmbedPassages(ctx, []string{"a"}, 1, nil), context.Canceled)
}

func TestClient_RefusesRemoteServers(t *testing.T) {
	urls := []string{"http://192.0.2.7:11434", "https://192.0.2.7", "http://[2001:db8::1]:1"}
	if runtime.GOOS != "windows" { // where net dials 127.0.0.1 instead
		urls = append(urls, "http://0.0.0.0:1")
	}
	for _, url := range urls {
		c := connect(t, Options{URL: url})
		_, err := embed(t, c, "a")
		assert.ErrorContains(t, err, "it is another machine, and semantic.allow_remote is not set", url)
	}
}

func TestClient_FollowsNoRedirects(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		c := serve(t, Options{APIKey: "k"}, func(w http.ResponseWriter, _ request) {
			w.Header().Set("Location", other.URL+"/api/embed")
			w.WriteHeader(status)
		})
		_, err := embed(t, c, "a")
		require.ErrorContains(t, err, "it redirects to "+other.URL)
	}
	assert.False(t, reached)
}

func TestClient_UsesNoProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy received a request") }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("ALL_PROXY", proxy.URL)
	c := serve(t, Options{}, func(w http.ResponseWriter, a request) { answer(w, lengths(t, a)) })
	_, err := embed(t, c, "a")
	require.NoError(t, err)
	assert.Nil(t, c.http.Transport.(*http.Transport).Proxy, "also for addresses that the environment's rules would not except")
}

func TestClient_SendsKeyOnlyInHeader(t *testing.T) {
	status := http.StatusForbidden
	c := serve(t, Options{APIKey: "sk-secret"}, func(w http.ResponseWriter, a request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"unknown key: %s"}`, a.key)
	})
	_, err := embed(t, c, "a")
	require.ErrorContains(t, err, "unknown key: Bearer …")
	for _, shown := range []string{err.Error(), c.ID()} {
		assert.NotContains(t, shown, "sk-secret")
	}
	status = http.StatusUnauthorized // servers repeat the beginning and end of a rejected key
	_, err = embed(t, c, "a")
	assert.EqualError(t, err, "waiting for "+c.server+": it rejected the API key (status 401); see semantic.api_key_file")
}

func TestNew_InvalidOptions(t *testing.T) {
	for _, o := range []Options{{Provider: "x", Model: "m"}, {Provider: OpenAI, Model: "m"}, {Provider: OpenAI, URL: "http://localhost"}, {Provider: Ollama, URL: ":"}} {
		_, err := New(o)
		assert.Error(t, err, "%+v", o)
	}
	c := connect(t, Options{})
	assert.Equal(t, "http://127.0.0.1:11434/api/embed", c.url)
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"embeddings":[[1,2],[3,4]]}`))
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`))
	f.Add([]byte(`{"embeddings":[[1e308,-1e-308],[ ]]}`))
	f.Add([]byte(`{"error":{"message":"x"}}`))
	c, err := New(Options{Provider: Ollama, Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = serverWords(body)
		for _, a := range apis {
			vectors, err := a.vectors(body)
			if err != nil || c.check(vectors, len(vectors)) != nil {
				continue
			}
			for _, v := range vectors {
				var squares float64
				for _, x := range v {
					squares += float64(x) * float64(x)
				}
				if math.Abs(squares-1) > 1e-3 {
					t.Fatalf("%v is not of length one", v)
				}
			}
		}
	})
}

// A query is not shortened to the words that precede it for the model.
func TestEmbedQuery_KeepsTheQuery(t *testing.T) {
	c := serve(t, Options{Model: "mxbai-embed-large"}, func(w http.ResponseWriter, a request) {
		if strings.Contains(a.input(t)[0], "harbour") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		answer(w, lengths(t, a))
	})
	_, err := c.EmbedQuery(t.Context(), "when is the harbour open")
	require.ErrorContains(t, err, "status 500")
}
