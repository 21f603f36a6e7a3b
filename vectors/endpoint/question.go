package endpoint

import "context"

// question is a query under way.
type question struct {
	text   string
	done   chan struct{} // closed when vector and err are there
	vector []float32
	err    error
}

// EmbedQuery asks for the vector of what a user is looking for. It returns with
// ctx; the question then goes on, and until it has an answer other queries fail
// at once, so that a server that hangs does not make every search wait.
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

// question starts to ask, or joins the same question that is under way.
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
