package mcp

import (
	"context"
	"crypto/sha256"
)

// readsDifferently reports whether a resource that is no note reads differently
// than when it was last asked, or was never asked before.
func (s *session) readsDifferently(ctx context.Context, uri string) bool {
	content, err := s.content(ctx, uri)
	return s.differs(uri, content, err)
}

// differs is readsDifferently of what reading the resource gave just now.
func (s *session) differs(uri string, content []byte, err error) bool {
	if err != nil {
		content = []byte("cannot be read: " + err.Error()) // the client's own read will tell it why
	}
	sum := sha256.Sum256(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.digests[uri] == sum {
		return false
	}
	s.digests[uri] = sum
	return true
}

// content returns what the client would read.
func (s *session) content(ctx context.Context, uri string) ([]byte, error) {
	switch {
	case isAttachment(uri):
		contents, err := s.attachmentContents(ctx, uri)
		if err != nil {
			return nil, err
		}
		return contents.Blob, nil
	case isTableURI(uri):
		text, err := s.tableText(ctx, uri)
		return []byte(text), err
	}
	text, _, err := s.resourceText(ctx, uri)
	return []byte(text), err
}
