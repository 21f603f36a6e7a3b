package endpoint

import "context"

// question is a running query.
type question struct {
	text   string
	done   chan struct{} // closed when vector and err are set
	vector []float32
	err    error
}

// EmbedQuery requests the vector of a query. It returns when ctx ends, but the request
// continues; until it completes, other queries fail at once, so that a server that hangs
// does not delay every search.
func (c *Client) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	q, err := c.question(text)
	if err != nil {
		return nil, err
	}
	select {
	case <-q.done:
		return q.vector, q.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-q.done:
		return q.vector, q.err
	default:
		c.overdue = q
		return nil, ctx.Err()
	}
}

// question starts a request, or joins a running one for the same text.
func (c *Client) question(text string) (*question, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return nil, c.ctx.Err()
	case c.overdue != nil && c.overdue.text == text:
		return c.overdue, nil
	case c.overdue != nil:
		return nil, c.errorf("it has not answered an earlier query yet")
	}
	q := &question{text: text, done: make(chan struct{})}
	c.asking.Go(func() {
		vectors, err := c.ask(c.ctx, []string{c.prefixes.query + text}, c.o.QueryTimeout)
		c.mu.Lock()
		defer c.mu.Unlock()
		if q.err = err; err == nil {
			q.vector = vectors[0]
		}
		if c.overdue == q {
			c.overdue = nil
		}
		close(q.done)
	})
	return q, nil
}
