package endpoint

import "strings"

// prefixes precede queries and passages in a model's training data. Servers do not add
// them.
type prefixes struct{ query, passage string }

// known lists the prefixes of model families, from their model cards, by a part of the
// model's name. The first match wins.
var known = []struct {
	name string
	prefixes
}{
	{"nomic-embed-text", prefixes{"search_query: ", "search_document: "}},
	{"mxbai-embed", prefixes{"Represent this sentence for searching relevant passages: ", ""}},
	{"snowflake-arctic-embed2", prefixes{"query: ", ""}},
	{"snowflake-arctic-embed", prefixes{"Represent this sentence for searching relevant passages: ", ""}},
	{"multilingual-e5", prefixes{"query: ", "passage: "}},
	{"e5-small", prefixes{"query: ", "passage: "}},
	{"e5-base", prefixes{"query: ", "passage: "}},
	{"e5-large", prefixes{"query: ", "passage: "}},
}

func prefixesOf(model string) prefixes {
	model = strings.ToLower(model)
	for _, k := range known {
		if strings.Contains(model, k.name) {
			return k.prefixes
		}
	}
	return prefixes{}
}
