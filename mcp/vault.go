package mcp

import (
	"context"

	"notesd/notes"
	"notesd/search"
)

// Reader finds and reads notes. A ref is a path, URI, title, alias or
// unambiguous name.
type Reader interface {
	Lookup(ctx context.Context, ref string, scope notes.Scope) (notes.Meta, error)
	Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error)
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
}

// Writer makes notes and changes their text.
type Writer interface {
	Create(ctx context.Context, r notes.CreateRequest) (notes.Written, error)
	Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error)
}

// Mover gives notes another place, or none. Repeated reports whether a request
// was carried out already.
type Mover interface {
	Repeated(ctx context.Context, requestKey string) (bool, error)
	Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error)
	Delete(ctx context.Context, r notes.DeleteRequest) (notes.Deletion, error)
}

// Historian knows what notes were before.
type Historian interface {
	History(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error)
	Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error)
}

// Linker knows how notes hang together.
type Linker interface {
	Links(ctx context.Context, ref string, q notes.LinkQuery) (notes.LinkReport, error)
}

// Attacher has the files that are no notes and that notes link to. A ref of
// Attachment is a path or URI.
type Attacher interface {
	Attachment(ctx context.Context, ref string, scope notes.Scope) (notes.Attachment, error)
	Attachments(ctx context.Context, note string, scope notes.Scope) ([]notes.Attachment, error)
}

// Surveyor tells what there is, in numbers.
type Surveyor interface {
	Status(ctx context.Context) (notes.Status, error)
	Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error)
	Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error)
	// WhyNothing says why a filter selects no note, where that can be said.
	WhyNothing(ctx context.Context, f notes.Filter) ([]string, error)
}

// Vault is all that tools and resources ask of the notes; *notes.Vault is one.
type Vault interface {
	Reader
	Writer
	Mover
	Historian
	Linker
	Attacher
	Surveyor
	// Ready reports whether the first scan has finished. It never blocks.
	Ready() bool
	// Ignored reports whether no note can be at a path. It never blocks.
	Ignored(path string) bool
}

// Searcher answers queries; *search.Engine is one.
type Searcher interface {
	Search(ctx context.Context, q search.Query) (search.Result, error)
}
