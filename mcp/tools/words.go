package tools

// This file lists the words that models use for arguments and their values. The schemas, which
// take up context in every client, do not have them.

// aliases maps the arguments of tools to other names that models use for them. An alias
// applies if the tool has the argument and no argument with the alias as its name. If two
// arguments of a tool share an alias, the first by name gets it.
var aliases = map[string][]string{
	"query":         {"q", "text", "search", "search_query", "keywords", "term", "question"},
	"note":          {"path", "file", "name", "title", "uri", "note_path", "old_path", "note_id", "file_path", "filepath", "filename", "file_name", "note_name", "id", "source"},
	"notes":         {"paths", "files", "note_paths", "uris"},
	"limit":         {"max_results", "max", "count", "n", "k", "top_k", "num_results", "page_size", "size"},
	"cursor":        {"next_cursor", "page_token", "next", "page"},
	"folder":        {"dir", "directory", "in", "path_prefix", "folder_path", "path"},
	"tags":          {"tag", "labels", "label"},
	"content":       {"body", "text", "markdown", "value"},
	"title":         {"name", "heading"},
	"path":          {"file", "file_path", "filepath", "filename", "note"},
	"heading":       {"section", "header"},
	"lines":         {"line_range", "range", "view_range", "line"},
	"max_bytes":     {"max_chars", "max_length", "budget", "max_size"},
	"front_matter":  {"frontmatter", "metadata", "properties", "yaml"},
	"glob":          {"pattern", "filter"},
	"after":         {"since", "from", "start_date", "date_from", "from_date", "modified_after"},
	"since":         {"after", "from", "start_date"},
	"before":        {"until", "to", "end_date", "date_to", "to_date", "modified_before"},
	"sort":          {"sort_by", "order_by"},
	"mode":          {"search_mode", "search_type", "type"},
	"direction":     {"kind", "type"},
	"depth":         {"hops", "levels"},
	"to":            {"new_path", "destination", "dest", "target", "new_name", "new", "new_tag"},
	"tag":           {"old", "old_tag", "from", "name"},
	"text":          {"query", "q", "search", "contains"},
	"anchor":        {"note", "path", "uri", "source"},
	"quote":         {"text", "content"},
	"expected_hash": {"hash", "if_match", "etag"},
	"edits":         {"edit", "changes", "operations"},
	"revision":      {"version", "rev"},
	"op":            {"operation", "action", "type", "command"},
	"old":           {"old_text", "old_str", "old_string", "find", "search", "from"},
	"new":           {"new_text", "new_str", "new_string", "replace", "replacement", "replace_with", "with", "new_heading"},
	"key":           {"field", "property", "name"},
	"dry_run":       {"preview", "simulate"},
	"redirect":      {"redirect_to", "redirect_links_to"},
	"line":          {"line_number"},
	"status":        {"state"},
	"due":           {"due_date", "deadline"},
	"table_name":    {"table", "name", "collection", "index"},
	"dimension":     {"dim", "dimensions", "size"},
	"metric":        {"distance", "distance_metric", "similarity", "type"},
	"vector":        {"embedding", "values"},
	"query_vector":  {"vector", "embedding", "query_embedding"},
	"query_text":    {"query", "text", "q"},
	"metadata":      {"payload", "properties", "meta"},
	"filter":        {"where", "conditions", "metadata_filter"},
	"rows":          {"vectors", "items", "points", "records"},
	"ids":           {"id", "row_ids"},
}

// enumWords maps the values of enums to other words that models use for them.
var enumWords = map[string][]string{
	"in":               {"incoming", "backlinks", "inbound"},
	"out":              {"outgoing", "outlinks", "outbound"},
	"text":             {"keyword", "keywords", "lexical", "full_text"},
	"semantic":         {"vector"},
	"date":             {"_date", "newest", "recent"}, // -date
	"modified":         {"_modified", "modified_desc", "updated", "mtime"},
	"created":          {"_created", "created_desc", "ctime"},
	"title":            {"name"},
	"l2":               {"euclidean"},
	"dot":              {"dot_product", "inner_product"},
	"replace_text":     {"replace", "str_replace"},
	"append":           {"append_text"},
	"prepend":          {"prepend_text"},
	"tags":             {"tag"},
	"folders":          {"folder"},
	"set_front_matter": {"set_frontmatter", "set_property"},
}

// flags maps flags that models pass to the argument and the value that they mean. A flag
// applies if the tool has the argument; without a value for true or false, it is as if the
// flag were missing.
var flags = map[string]struct{ name, on, off string }{
	"overdue":           {"due", "overdue", ""},
	"done":              {"status", "done", "open"},
	"is_done":           {"status", "done", "open"},
	"completed":         {"status", "done", "open"},
	"is_completed":      {"status", "done", "open"},
	"include_done":      {"status", "all", ""},
	"include_completed": {"status", "all", ""},
	"show_done":         {"status", "all", ""},
	"show_completed":    {"status", "all", ""},
	"exclude_done":      {"status", "open", ""},
	"exclude_completed": {"status", "open", ""},
	"backlinks":         {"direction", "in", ""},
	"incoming":          {"direction", "in", ""},
	"outgoing":          {"direction", "out", ""},
}

// implied are the values of arguments that others imply: an edit that has an old and a new
// text needs no op, as in the editing tools of many hosts.
var implied = []struct {
	name, value string
	by          []string
}{
	{"op", "replace_text", []string{"old", "new"}},
	{"op", "set_front_matter", []string{"key", "value"}},
}

// unlike has advice on arguments whose name has one of the words, for a tool with the parameter
// has: the parameter that the name resembles would do something else.
var unlike = []struct {
	words  []string
	has    string
	advice string
}{
	{[]string{"exclude", "excluded", "without", "except"}, "where", `a condition excludes notes: where {"path":{"not":{"contains":"Archive/"}}}`},
	{[]string{"exclude", "excluded", "without", "except"}, "query", "write -path:Archive/, -tag:x or -word into the query"},
	{[]string{"exclude", "excluded", "without", "except"}, "priority", "no tasks can be excluded; list one folder, note or tag at a time"},
	{[]string{"order", "descending", "ascending", "reverse"}, "sort", "each sort has one order, the newest notes or next due tasks first"},
	{[]string{"query", "keyword", "keywords"}, "orphans", "search_notes finds by content; here, glob *word* finds by name"},
	{[]string{"folder", "directory", "dir"}, "diff", "pass the folder as note, with a slash at its end"},
}
