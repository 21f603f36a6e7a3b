// Package markdown parses the text of one note. Its functions are pure (no files,
// no clock, no state between calls) and safe for concurrent use.
//
// # Vocabulary
//
// A note is UTF-8 text (any bytes are accepted) with optional front matter, a
// YAML block between "---" lines or a TOML block between "+++" lines, followed
// by the body. The dialect is CommonMark with the extensions of note-taking programs:
//
//   - wikilinks and embeds, [[target#anchor|alias]] and ![[target]];
//   - tags, #word or #nested/word, and Logseq's #[[several words]];
//   - block ids, "^id" at the end of a paragraph or list item;
//   - tasks, "- [ ] text" and Logseq's "- TODO text";
//   - comments, %%hidden%%, and math, $inline$ and $$block$$;
//   - the tags of Hugo's, Jekyll's and MDX's templates, {{< figure … >}}, {% include … %}
//     and {/* comment */}, and the code blocks of the first two, which are not Markdown,
//     except that [text]({{< ref "path" >}}) is a link;
//   - the boxes and tabs of MkDocs, !!! note, ??? note and === "Tab", with indented text;
//   - Logseq page properties, "key:: value" lines that open the note;
//   - Logseq's outlines, in which "- " after tabs is a list item and not code,
//     even outside a list.
//
// A section is a heading with everything up to the next heading of the same or
// a higher level, or up to the rule (thematic break) above that heading, if it
// is not on the line below a heading itself; a heading inside a list item (as
// Logseq writes them) ends with its item. Nothing inside code, HTML
// blocks or math is a heading, link, tag, task or block id; in a comment, only links
// and tags count, as in Obsidian. A chunk is a passage of the body, split at sections
// and paragraphs, of a size suitable for search results and embeddings.
//
// # Reading
//
// [Parse] makes one pass over the lines, keeping the stack of block quotes and
// list items that CommonMark prescribes but building no tree, and scans the
// inline text of each paragraph as it closes. Its time is linear in the size of
// the note for any input. [Chunks] reuses the result of Parse.
package markdown
