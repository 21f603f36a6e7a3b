package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// Options name a server and a model.
type Options struct {
	Provider    string           // Ollama or OpenAI
	URL         string           // base of the API; empty: the provider's default
	Model       string           // its name on the server; empty: the provider's default
	AllowRemote bool             // the server may be another machine
	APIKey      string           // sent as a bearer token; empty: none
	Now         func() time.Time // nil: time.Now
}

const (
	// queryTimeout bounds one request for a query, even after its context has ended. It is
	// enough for a server to load a model.
	queryTimeout = 30 * time.Second
	// batchTimeout bounds one batch of passages. It is enough for a large model on a slow CPU.
	batchTimeout = 2 * time.Minute
)

// The providers.
const (
	Ollama = "ollama"
	OpenAI = "openai"
)

// batch is the number of passages per request, unless the server is slow. A shutdown loses
// at most one batch, and a batch keeps a GPU busy.
const batch = 16

// weight is the share of the semantic score, measured with the built-in model; see
// docs/retrieval.md.
const weight = 0.55

// Client requests vectors of one model from one server.
type Client struct {
	o        Options
	api      api
	url      string // of the request
	server   string // for messages
	prefixes prefixes
	http     *http.Client

	queryTimeout, batchTimeout time.Duration // tests shorten them

	dim  atomic.Int64 // 0: not known yet
	size atomic.Int64 // passages per request, 1 to batch

	mu      sync.Mutex
	until   time.Time // no request is sent before this time
	because *Error    // the reason for until

	queries singleflight.Group
	ctx     context.Context //nolint:containedctx // of the queries, which continue after their callers' contexts
	cancel  context.CancelFunc
}

// New returns a client. It does not connect. An error names the invalid option.
func New(o Options) (*Client, error) {
	api, ok := apis[o.Provider]
	if !ok {
		return nil, fmt.Errorf("there is no provider %q", o.Provider)
	}
	o.URL, o.Model = cmp.Or(o.URL, api.url), cmp.Or(o.Model, api.model)
	if o.URL == "" || o.Model == "" {
		return nil, fmt.Errorf("%s needs a URL and the name of a model", o.Provider)
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of %s: %w", o.Provider, err)
	}
	if strings.Trim(base.Path, "/") == "" {
		base.Path = api.base
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{o: o, api: api, url: base.JoinPath(api.path).String(), prefixes: prefixesOf(o.Model), http: newHTTPClient(o.AllowRemote), queryTimeout: queryTimeout, batchTimeout: batchTimeout}
	c.server = fmt.Sprintf("%s at %s", o.Provider, base.Scheme+"://"+base.Host)
	c.size.Store(batch)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// ID returns the provider and the model without the address, so that moving the server
// does not change it.
func (c *Client) ID() string { return c.o.Provider + ":" + c.o.Model }

// Dim returns the dimension of the vectors, or 0 before the first response.
func (c *Client) Dim() int { return int(c.dim.Load()) }

// Expect sets the dimension that vectors of an earlier run have. After Expect, or after
// the first vector, a different dimension is an error.
func (c *Client) Expect(dim int) { c.dim.CompareAndSwap(0, int64(dim)) }

// Batch returns the number of passages per request. It is smaller for a server that did not
// embed as many in time.
func (c *Client) Batch(int) int { return int(c.size.Load()) }

// Weight returns the same weight for every query, because the languages of a model on a
// server are unknown.
func (c *Client) Weight(string) float64 { return weight }

// EmbedQuery requests the vector of a query, or of its beginning if the server rejects it. It
// returns when ctx ends, but the request continues, for the next call with the same text.
func (c *Client) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	answer := c.queries.DoChan(text, func() (any, error) {
		return c.shortened(c.ctx, c.prefixes.query, text, c.queryTimeout)
	})
	select {
	case a := <-answer:
		v, _ := a.Val.([]float32)
		return v, a.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// EmbedPassages requests the vectors of the passages in batches. It ignores threads; the
// server decides.
func (c *Client) EmbedPassages(ctx context.Context, texts []string, _ int, done func(i int, vector []float32)) error {
	for from := 0; from < len(texts); {
		part := texts[from:min(from+c.Batch(0), len(texts))]
		vectors, err := c.passages(ctx, part)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			done(from+i, v)
		}
		from += len(part)
	}
	return nil
}

// passages requests a batch. If that fails because of the texts, passages requests each text
// alone, so that one that the model cannot embed does not exclude the others from search.
func (c *Client) passages(ctx context.Context, texts []string) ([][]float32, error) {
	prefixed := make([]string, len(texts))
	for i, t := range texts {
		prefixed[i] = c.prefixes.passage + t
	}
	began := c.o.Now()
	vectors, err := c.ask(ctx, prefixed, c.batchTimeout)
	switch took := c.o.Now().Sub(began); {
	case took >= c.batchTimeout:
		c.size.Store(int64(max(1, len(texts)/2)))
	case err == nil && took < c.batchTimeout/4: // twice as many would succeed too
		c.size.Store(int64(min(batch, max(c.Batch(0), 2*len(texts)))))
	}
	if !ofTexts(err) {
		return vectors, err
	}
	neutral, failed := c.ask(ctx, []string{c.prefixes.passage + "notes"}, c.batchTimeout)
	if failed != nil {
		return nil, err // whatever the texts
	}
	vectors = make([][]float32, len(texts))
	for i, t := range texts {
		if vectors[i], err = c.shortened(ctx, c.prefixes.passage, t, c.batchTimeout); ofTexts(err) {
			vectors[i], err = neutral[0], nil // without a vector, it would be requested forever
		}
		if err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// leastText is the length below which a failure is not about the length.
const leastText = 64

// shortened requests the vector of a text after its prefix. The text is truncated until the
// server accepts it: it is too long for the model, or some word makes it return NaN. After the first error whose
// cause is unclear, shortened sends the same text again, because the vector of a truncated
// text is kept. limit bounds each request.
func (c *Client) shortened(ctx context.Context, prefix, text string, limit time.Duration) ([]float32, error) {
	repeated := false
	for {
		vectors, err := c.ask(ctx, []string{prefix + text}, limit)
		if err == nil {
			return vectors[0], nil
		}
		e, ok := errors.AsType[*Error](err)
		switch {
		case !ok || !e.ofTexts:
			return nil, err
		case e.unclear && !repeated:
			repeated = true
		case len(text) <= leastText:
			return nil, err
		default:
			text = strings.ToValidUTF8(text[:len(text)/2], "")
		}
	}
}

// ask sends one request unless the server has asked for a pause.
func (c *Client) ask(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	c.mu.Lock()
	until, because := c.until, c.because
	c.mu.Unlock()
	if wait := until.Sub(c.o.Now()); wait > 0 {
		again := *because
		again.RetryAfter = wait
		return nil, &again
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	vectors, err := c.request(limited, texts)
	if err == nil {
		err = c.check(vectors, len(texts))
	}
	if err == nil {
		return vectors, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if limited.Err() != nil {
		return nil, c.errorf("it did not answer within %v", limit)
	}
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 { // the server has asked for a pause
		c.mu.Lock()
		c.until, c.because = c.o.Now().Add(e.RetryAfter), e
		c.mu.Unlock()
	}
	return nil, err
}

// maxDimension is twice the largest dimension of a published model.
const maxDimension = 8192

// check verifies that there are n vectors of the same dimension, and normalises them.
func (c *Client) check(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return c.errorf("it returned %d vectors for %d texts", len(vectors), n)
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) > maxDimension {
			return c.errorf("it returned a vector of %d numbers; 1 to %d are supported", len(v), maxDimension)
		}
		if !normalise(v) {
			return c.errorf("it returned a vector without a direction: all zeros, or numbers too large").aboutTexts()
		}
	}
	if n == 0 {
		return nil
	}
	dim := len(vectors[0])
	if i := slices.IndexFunc(vectors, func(v []float32) bool { return len(v) != dim }); i >= 0 {
		return c.errorf("it returned vectors of %d and %d numbers in one answer", dim, len(vectors[i]))
	}
	if c.Expect(dim); c.Dim() != dim {
		return c.errorf("its vectors now have %d numbers instead of %d; if the model was replaced, run notesd index --rebuild", dim, c.Dim())
	}
	return nil
}

// normalise scales v to length one and reports whether that is possible.
func normalise(v []float32) bool {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return false
	}
	inverse := 1 / math.Sqrt(squares)
	for i, x := range v {
		v[i] = float32(float64(x) * inverse)
	}
	return true
}

// Close cancels running queries and closes the connections.
func (c *Client) Close() error {
	c.cancel()
	c.http.CloseIdleConnections()
	return nil
}
