package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// addPrompts registers the catalogue.
func (s *session) addPrompts(server *sdk.Server) {
	catalogue := s.core.opts.Prompts
	if catalogue == nil {
		return
	}
	for _, p := range catalogue.List() {
		def := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			def.Arguments = append(def.Arguments, &sdk.PromptArgument{
				Name: a.Name, Title: strings.ToUpper(a.Name[:1]) + strings.ReplaceAll(a.Name[1:], "_", " "),
				Description: a.Description, Required: a.Required,
			})
		}
		server.AddPrompt(def, s.getPrompt)
	}
}

func (s *session) getPrompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	r, err := s.core.opts.Prompts.Render(ctx, req.Params.Name, req.Params.Arguments, s.bounds().scope())
	if err != nil {
		return nil, err
	}
	messages := make([]*sdk.PromptMessage, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = &sdk.PromptMessage{Role: "user", Content: promptContent(m)}
	}
	return &sdk.GetPromptResult{Description: r.Description, Messages: messages}, nil
}

func promptContent(m prompts.Message) sdk.Content {
	if m.Resource == nil {
		return &sdk.TextContent{Text: m.Text}
	}
	contents := &sdk.ResourceContents{URI: m.Resource.URI, MIMEType: markdownType, Text: m.Resource.Text}
	if contents.Text == "" {
		contents.Blob = []byte{} // the SDK would leave an empty text out, and contents need one or the other
	}
	return &sdk.EmbeddedResource{Resource: contents}
}

// checkPrompt refuses an unknown prompt and a missing argument, which the SDK
// does not check.
func (s *session) checkPrompt(params *sdk.GetPromptParams) error {
	catalogue := s.core.opts.Prompts
	if catalogue == nil {
		return invalidParams("there are no prompts here")
	}
	p, ok := catalogue.Find(params.Name)
	if !ok {
		names := make([]string, 0)
		for _, known := range catalogue.List() {
			names = append(names, known.Name)
		}
		if near := nearest(snakeCase(params.Name), names); near != "" {
			return invalidParams("unknown prompt %q: did you mean %q?", clip(params.Name, 100), near)
		}
		return invalidParams("unknown prompt %q: there are %s", clip(params.Name, 100), strings.Join(names, ", "))
	}
	for _, a := range p.Arguments {
		if a.Required && strings.TrimSpace(params.Arguments[a.Name]) == "" {
			return invalidParams("the prompt %q needs the argument %q: %s", p.Name, a.Name, a.Description)
		}
	}
	return nil
}

// Passages adapts a search engine for the prompt catalogue.
type Passages struct{ Engine Searcher }

// Passages returns the best passage of each note that matches the text.
func (p Passages) Passages(ctx context.Context, text string, f notes.Filter, limit int) ([]notes.Passage, error) {
	res, err := p.Engine.Search(ctx, search.Query{Text: text, Filter: f, Limit: limit})
	if err != nil {
		return nil, err
	}
	passages := make([]notes.Passage, len(res.Hits))
	for i, h := range res.Hits {
		passages[i] = notes.Passage{NoteID: h.NoteID, Path: h.Path, Title: h.Title, Heading: h.Heading,
			LineStart: h.LineStart, LineEnd: h.LineEnd, Text: h.Snippet}
	}
	return passages, nil
}
