package notes_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/notes"
)

// pick returns one of the values.
func pick[T any](rng *rand.Rand, values ...T) T { return values[rng.IntN(len(values))] }

// title returns a random text of fragments that are difficult in file names.
func title(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(9) {
		b.WriteString(pick(rng, "Plan", "ärger", "a\u0308", "ẞ", "I", "ı", "日記", "👩\u200d👧", "e\u0301\u0302", " ", "  ", ".", "..", "-", "/", `\`, ":", "#", "[[", "]]", "|", "^", "?", "*", `"`, "<", "\t", "\n", "\x00", "\u202e", "con", ".md", "%2F", "'", "&", "ﬁ", "Ω", "Å"))
	}
	return b.String()
}

// TestNames_AnyTitle checks that the file name for any title is portable, is a fixed
// point of FileName, and survives every way of writing a path.
func TestNames_AnyTitle(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for range 20_000 {
		text := title(rng)
		name := notes.FileName(text)
		require.NoError(t, notes.CheckNewPath("create", name), "%q", text)
		if !notes.IsNoteName(notes.BaseName(name)) { // "a.md.md" is the note "a.md", and FileName strips ".md"
			require.Equal(t, name, notes.FileName(notes.BaseName(name)), "%q", text)
		}
		require.NotContains(t, name, "/")
		p := path.Join("Folder Ä", name)
		clean, err := notes.CleanPath(p)
		require.NoError(t, err, "%q", text)
		require.Equal(t, p, clean)
		for _, uri := range []string{notes.URI(p), strings.ReplaceAll(notes.URI(p), "%84/", "%84%2F")} {
			back, err := notes.ParseURI(uri)
			require.NoError(t, err, uri)
			require.Equal(t, p, back)
		}
		first := 1 + rng.IntN(50)
		ref := notes.PassageRef(p, "0123456789abcdef", first, first+3)
		note, anchor := notes.SplitAnchor(ref)
		back, err := notes.ParseURI(note)
		require.NoError(t, err, ref)
		require.Equal(t, p, back)
		require.Equal(t, notes.Anchor{First: first, Last: first + 3}, anchor)
		require.Equal(t, "0123456789ab", notes.RevisionOf(ref))
		require.Equal(t, notes.Stem(notes.Numbered(name, 7)), notes.Stem(name)+" 7")
	}
}

// TestKey_Forms checks that a text has the same key in every Unicode form and case, and
// that a key is its own key.
func TestKey_Forms(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	for range 20_000 {
		text := strings.ToValidUTF8(title(rng), "")
		k := notes.Key(text)
		require.True(t, utf8.ValidString(k))
		require.Equal(t, k, notes.Key(k), "%q", text)
		require.Equal(t, k, notes.Key(norm.NFD.String(text)), "%q", text)
		require.Equal(t, k, notes.Key(norm.NFC.String(text)), "%q", text)
		if !strings.ContainsAny(text, "Iı") { // the dotless i does not fold to another letter
			require.Equal(t, k, notes.Key(strings.ToLower(text)), "%q", text)
		}
		require.Equal(t, norm.NFC.String(text), notes.Nfc(text))
	}
}

// Logseq derives the title of a page, including its namespaces, from its file name.
func TestLogseqNames_RoundTrip(t *testing.T) {
	for title, name := range map[string]string{"a/b": "a___b", "What? A: B": "What%3F A%3A B", "a%2Fb": "a%252Fb", "foo___bar": "foo%5F%5F%5Fbar", "CON": "CON___", "ends.": "ends.___",
		"x_/y": "x%5F___y", "*": "%2A", "a//b": "a______b"} {
		assert.Equal(t, name, notes.LogseqNames(title, notes.NameFormat{})[0])
	}
	assert.Equal(t, "a%2Fb", notes.LogseqNames("a/b", notes.NameFormat{})[1])
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var title strings.Builder
		for range 1 + r.IntN(9) {
			title.WriteString([]string{"a", "B", "_", "__", "/", "%", "%2F", "é", "#", ":", ".", " ", "con", "|?", "日"}[r.IntN(15)])
		}
		parts := slices.DeleteFunc(strings.Split(title.String(), "/"), func(s string) bool { return s == "" })
		want := strings.Join(parts, "/")
		name := notes.LogseqNames(want, notes.NameFormat{})[0]
		require.Equal(t, want, notes.LogseqTitle(name, notes.NameFormat{}), name)
		require.NotContains(t, name, "/")
		require.False(t, strings.ContainsAny(name, `:*?"<>|#\`), name)
	}
}

// TestCleanPath_Any checks that accepted paths are clean, inside the vault, and fixed
// points of CleanPath.
func TestCleanPath_Any(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	accepted := 0
	for range 20_000 {
		var segments []string
		for range 1 + rng.IntN(4) {
			segments = append(segments, pick(rng, "a", "B", "..", ".", "", "...", "a..b", "ü", "u\u0308", "x.md", "C:", "~", " ", `\`, "\x01"))
		}
		p := strings.Join(segments, "/")
		clean, err := notes.CleanPath(p)
		if err != nil {
			require.ErrorIs(t, err, notes.ErrInvalid, "%q", p)
			continue
		}
		accepted++
		require.NotContains(t, strings.Split(p, "/"), "..", "%q", p)
		again, err := notes.CleanPath(clean)
		require.NoError(t, err, "%q", p)
		require.Equal(t, clean, again)
		for _, s := range strings.Split(clean, "/") {
			require.NotContains(t, []string{"", ".", ".."}, s, "%q", p)
			require.True(t, norm.NFC.IsNormalString(s))
		}
	}
	assert.Greater(t, accepted, 2000)
}

// segmentsOf returns the folded folders and the file name of a path.
func segmentsOf(p string) []string {
	return strings.FieldsFunc(strings.ToLower(norm.NFC.String(p)), func(r rune) bool { return r == '/' })
}

// TestScope_BruteForce checks scopes against a comparison of folders segment by
// segment.
func TestScope_BruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	place := func() string {
		var list []string
		for range 1 + rng.IntN(3) {
			list = append(list, pick(rng, "a", "A", "ab", "ü", "u\u0308", "b c"))
		}
		return pick(rng, "", "/") + strings.Join(list, "/") + pick(rng, "", "/")
	}
	places := func() []string {
		switch rng.IntN(3) {
		case 0:
			return nil
		case 1:
			return []string{place()}
		}
		return []string{place(), place()}
	}
	within := func(p string, folders []string) bool {
		return slices.ContainsFunc(folders, func(f string) bool {
			want, have := segmentsOf(f), segmentsOf(p)
			return len(have) >= len(want) && slices.Equal(have[:len(want)], want)
		})
	}
	reads, writes := 0, 0
	for range 20_000 {
		s := notes.Scope{Read: places(), Write: places(), NoWrite: places(), ReadOnly: rng.IntN(5) == 0}
		p := strings.Trim(place(), "/") + "/N.md"
		canRead := s.Read == nil || within(p, s.Read)
		canWrite := canRead && !s.ReadOnly && (s.Write == nil || within(p, s.Write)) && !within(p, s.NoWrite)
		require.Equal(t, canRead, s.CanRead(p), "%+v %q", s, p)
		require.Equal(t, canWrite, s.CanWrite(p), "%+v %q", s, p)
		if canRead {
			reads++
		}
		if canWrite {
			writes++
		}
	}
	assert.Greater(t, reads, 5000)
	assert.Greater(t, writes, 1000)
}

// TestIgnore_BruteForce compares the patterns with regular expressions written
// according to the documentation.
func TestIgnore_BruteForce(t *testing.T) {
	asRegexp := map[string]string{"*": `[^/]*`, "?": `[^/]`, "[ab]": `[ab]`, "{a,bc}": `(a|bc)`, "a": "a", "b": "b", ".": `\.`, "md": "md"}
	pieces := slices.Sorted(maps.Keys(asRegexp))
	rng := rand.New(rand.NewPCG(11, 5))
	ignored := 0
	for range 5000 {
		var pattern, expr []string
		for range 1 + rng.IntN(3) {
			if rng.IntN(6) == 0 {
				pattern, expr = append(pattern, "**"), append(expr, "**")
				continue
			}
			p, e := "", ""
			for range 1 + rng.IntN(3) {
				piece := pick(rng, pieces...)
				if strings.HasSuffix(p, "*") && piece == "*" {
					continue
				}
				p, e = p+piece, e+asRegexp[piece]
			}
			pattern, expr = append(pattern, p), append(expr, e)
		}
		if pattern[len(pattern)-1] == "**" {
			continue // a trailing "**" matches only paths below, as does a matching folder
		}
		slash := pick(rng, "", "/")
		ig, err := notes.NewIgnore([]string{slash + strings.Join(pattern, "/") + pick(rng, "", "/")})
		require.NoError(t, err)
		matches := func(p string) bool { return matchSegments(expr, strings.Split(p, "/")) }
		if len(pattern) == 1 && slash == "" {
			matches = func(p string) bool { return matchSegments(expr, []string{path.Base(p)}) }
		}
		for range 10 {
			var segments []string
			for range 1 + rng.IntN(4) {
				segments = append(segments, pick(rng, "a", "b", "ab", "bc", "a.md", "b.md", "abc", ".a", "md"))
			}
			want := false
			for i := range segments {
				part := strings.Join(segments[:i+1], "/")
				want = want || strings.HasPrefix(segments[i], ".") || matches(part)
			}
			p := strings.Join(segments, "/")
			require.Equal(t, want, ig.Match(p), "%s%q on %q", slash, pattern, p)
			if want {
				ignored++
			}
		}
	}
	assert.Greater(t, ignored, 5000)
}

// matchSegments reports whether the expressions, in which "**" matches any number of
// segments, match all of the segments.
func matchSegments(exprs, segments []string) bool {
	if len(exprs) == 0 {
		return len(segments) == 0
	}
	if exprs[0] == "**" {
		return matchSegments(exprs[1:], segments) || len(segments) > 0 && matchSegments(exprs, segments[1:])
	}
	return len(segments) > 0 && regexp.MustCompile("^"+exprs[0]+"$").MatchString(segments[0]) && matchSegments(exprs[1:], segments[1:])
}

type object = map[string]any

// TestWhere_Laws checks laws that conditions on random values must satisfy.
func TestWhere_Laws(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 6))
	scalar := func() any {
		return pick[any](rng, 1.0, 2.0, -3.5, "1", "2.0", "open", "Open", "done", "[[Ann]]", "ann", "[[Ann|Annie]]", "2026-02-16", "[[Daily/2026-02-16|Mo]]", "2026-02-17T10:00", "17.02.2026", true, false, "")
	}
	value := func() any {
		switch rng.IntN(6) {
		case 0:
			return nil
		case 1:
			return []any{scalar(), scalar()}
		}
		return scalar()
	}
	holds := func(where, values object) bool {
		require.NoError(t, notes.CheckWhere(where))
		return notes.Periods(nil).WhereMatches(where, values)
	}
	ordered := 0
	for range 20_000 {
		have, want, other := value(), scalar(), scalar()
		values := object{"status": have}
		if have == nil {
			values = object{}
		}
		on := func(op string, operand any) bool { return holds(object{"status": object{op: operand}}, values) }
		is := on("eq", want)
		context := fmt.Sprintf("%#v and %#v", have, want)
		require.Equal(t, is, holds(object{"Status": want}, values), context)
		require.Equal(t, !is, on("ne", want), context)
		require.Equal(t, !is, on("not", object{"eq": want}), context)
		require.Equal(t, !is, holds(object{"not": object{"status": want}}, values), context)
		require.Equal(t, is, on("in", []any{want}), context)
		require.Equal(t, !on("in", []any{want, other}), on("$nin", []any{want, other}), context)
		require.Equal(t, have != nil, on("exists", true), context)
		require.Equal(t, have == nil, on("exists", false), context)
		also := on("eq", other)
		require.Equal(t, is || also, holds(object{"or": []any{object{"status": want}, object{"status": other}}}, values), context)
		require.Equal(t, is && also, holds(object{"and": []any{object{"status": want}, object{"status": other}}}, values), context)
		require.Equal(t, !is && !also, holds(object{"not": []any{object{"status": want}, object{"status": other}}}, values), context)
		if list, ok := have.([]any); ok {
			for _, op := range []string{"lt", "lte", "gt", "gte"} {
				some := slices.ContainsFunc(list, func(v any) bool { return holds(object{"status": object{op: want}}, object{"status": v}) })
				require.Equal(t, some, on(op, want), context)
			}
			continue
		}
		lt, gt := on("lt", want), on("gt", want)
		require.False(t, lt && gt, context)
		if lt || gt || on("lte", want) {
			ordered++
			require.Equal(t, !gt, on("lte", want), context)
			require.Equal(t, !lt, on("gte", want), context)
		}
	}
	assert.Greater(t, ordered, 2000)
}

// TestWhere_Numbers compares conditions on numbers with Go's operators.
func TestWhere_Numbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 7))
	for range 5000 {
		a, b := float64(rng.IntN(7)-3)/2, float64(rng.IntN(7)-3)/2
		have := pick[any](rng, a, fmt.Sprint(a), []any{nil, a})
		for op, want := range map[string]bool{"eq": a == b, "ne": a != b, "lt": a < b, "lte": a <= b, "gt": a > b, "gte": a >= b} {
			operand := pick[any](rng, b, fmt.Sprint(b))
			require.Equal(t, want, notes.Periods(nil).WhereMatches(object{"n": object{op: operand}}, object{"n": have}), "%v %s %v", have, op, operand)
		}
	}
}

// TestWhere_NumericTexts checks that texts are equal if they read the same, not if they are
// the same number: an id may have leading zeros, or more digits than a float64 holds.
func TestWhere_NumericTexts(t *testing.T) {
	for _, texts := range [][2]string{{"007", "7"}, {"1234567890123456789", "1234567890123456788"}, {"1e3", "1000"}} {
		assert.False(t, notes.Periods(nil).WhereMatches(object{"id": texts[0]}, object{"id": texts[1]}), "%v", texts)
		assert.False(t, notes.Periods(nil).WhereMatches(object{"id": object{"in": []any{texts[0]}}}, object{"id": []any{texts[1]}}), "%v", texts)
		assert.True(t, notes.Periods(nil).WhereMatches(object{"id": texts[0]}, object{"id": texts[0]}), "%v", texts)
	}
	assert.True(t, notes.Periods(nil).WhereMatches(object{"n": object{"gt": "9"}}, object{"n": "10"}), "order is by number")
	assert.True(t, notes.Periods(nil).WhereMatches(object{"n": 7.0}, object{"n": "007"}), "a number equals its text")
	for text, value := range map[string]float64{"45%": 45, "$12,500.50": 12500.5, "-€1,000": -1000, "1,234,567": 1234567, "£9": 9} {
		assert.True(t, notes.Periods(nil).WhereMatches(object{"n": object{"gt": value - 1, "lt": value + 1}}, object{"n": text}), text)
	}
	for _, text := range []string{"1,5", "12,50", "5 kg", "%", "$", "1.234,5", "3-4"} {
		assert.False(t, notes.Periods(nil).WhereMatches(object{"n": object{"gt": -1e9}}, object{"n": text}), text)
	}
}

// TestWhere_RangeOfList checks that each bound of a range holds for any element of a list.
func TestWhere_RangeOfList(t *testing.T) {
	n := parse("A.md", "---", "rating: 4.5", "---", "rating:: 9")
	for above, want := range map[float64]bool{4: true, 9: false} {
		f := notes.Filter{Where: object{"rating": object{"gt": above}}}
		assert.Equal(t, want, f.MatchesNote(n, nil), above)
	}
	scores := object{"scores": []any{3.0, 9.0}}
	assert.True(t, notes.Periods(nil).WhereMatches(object{"scores": object{"gt": 4.0, "lt": 8.0}}, scores), "by two elements")
	assert.False(t, notes.Periods(nil).WhereMatches(object{"scores": object{"gt": 4.0, "lt": 3.0}}, scores))
}

// TestWhere_Others checks that null stands for no value, and that a date and a text that is
// not a date are compared as texts.
func TestWhere_Others(t *testing.T) {
	for _, values := range []object{{}, {"due": nil}} {
		assert.True(t, notes.Periods(nil).WhereMatches(object{"due": nil}, values))
		assert.False(t, notes.Periods(nil).WhereMatches(object{"due": "soon"}, values))
	}
	soon, dated := object{"due": "soon"}, object{"due": "2026-02-16"}
	for _, values := range []object{soon, dated} {
		assert.False(t, notes.Periods(nil).WhereMatches(object{"due": nil}, values))
	}
	assert.False(t, notes.Periods(nil).WhereMatches(object{"due": object{"lt": "2026-02-16"}}, soon))
	assert.False(t, notes.Periods(nil).WhereMatches(object{"due": object{"gt": "soon"}}, dated))
}

// TestWhere_Links checks that a link in a field counts as its target, whatever its
// display text, and a link to a daily note as its day.
func TestWhere_Links(t *testing.T) {
	values := object{"due": "[[Daily/2026-02-16|Mo]]", "people": []any{"[[Ann|Annie]]", "[[Bob]]"}, "next": "[[2026-02-17 | Tu]]", "n": "[[3]]", "lead": "[[Team/Ann|Annie]]", "team": []any{"[[Team/Eve]]"}}
	for _, where := range []object{
		{"due": "2026-02-16"}, {"due": object{"gt": "2026-02-15", "lt": "[[2026-02-17]]"}}, {"due": "[[Daily/2026-02-16]]"}, {"due": object{"in": []any{"16.02.2026"}}},
		{"next": "2026-02-17"}, {"people": "Ann"}, {"people": object{"has": "[[ann]]"}}, {"people": object{"in": []any{"BOB"}}}, {"n": 3.0}, {"n": object{"lt": 4.0}},
		{"lead": "Ann"}, {"lead": object{"has": "[[Ann]]"}}, {"lead": "team/ann"}, {"team": object{"has": "Eve"}}, {"team": object{"in": []any{"[[Team/Eve|E]]"}}},
	} {
		assert.True(t, notes.Periods(nil).WhereMatches(where, values), "%v", where)
	}
	for _, where := range []object{{"due": "2026-02-17"}, {"due": "Mo"}, {"people": "Annie"}, {"lead": "Work/Ann"}, {"lead": "[[Team]]"}, {"team": object{"has": "Ev"}}, {"next": object{"lt": "2026-02-16"}}} {
		assert.False(t, notes.Periods(nil).WhereMatches(where, values), "%v", where)
	}
	for _, s := range []string{"[[Daily/2026-02-16|Mo]]", "[[2026-02-16]]", " [[Journal/2026/2026-02-16| Mon ]] "} {
		day, ok := notes.ParseDate(s)
		require.True(t, ok, s)
		assert.Equal(t, "2026-02-16", day.Format(time.DateOnly), s)
	}
	for _, s := range []string{"Daily/2026-02-16", "[[Plan|2026-02-16]]", "[[2026-02-16", "[[]]", "[[|]]"} {
		_, ok := notes.ParseDate(s)
		assert.False(t, ok, s)
	}
}

// TestPeriods_RoundTrip checks that the note of a period, named in any format, has the
// date of the period's first day, and that words for a period yield the one that
// contains that day.
func TestPeriods_RoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 8))
	words := map[notes.Unit]string{notes.Week: "this week", notes.Month: "this month", notes.Quarter: "this quarter", notes.Year: "this year", notes.Day: "today"}
	formats := map[notes.Unit][]string{
		notes.Day:     {"YYYY-MM-DD", "YYYY/MM/YYYY-MM-DD", "DD.MM.YYYY", "MMMM Do, YYYY", "[Day] YYYY-DDDD", "YYYYMMDD"},
		notes.Week:    {"gggg-[W]ww", "[Week] w gggg"},
		notes.Month:   {"YYYY-MM", "YYYY/MMMM"},
		notes.Quarter: {"YYYY-[Q]Q"},
		notes.Year:    {"YYYY", "[Year] YYYY"},
	}
	for range 3000 {
		unit := pick(rng, notes.Day, notes.Week, notes.Month, notes.Quarter, notes.Year)
		p := &notes.Periodic{}
		p.SetWeeks(pick(rng, "", "de", "en", "system-default"), pick(rng, "", "monday", "sunday", "saturday"))
		now := time.Date(2000+rng.IntN(60), time.Month(1+rng.IntN(12)), 1+rng.IntN(31), rng.IntN(24), rng.IntN(60), 0, 0, time.Local)
		period, ok := p.Parse(words[unit], now)
		require.True(t, ok)
		require.Equal(t, unit, period.Unit)
		require.False(t, now.Before(period.Start), "%s %s", unit, now)
		require.True(t, now.Before(period.End()), "%s %s", unit, now)
		named := notes.PeriodicNotes{NameFormat: notes.NameFormat{Folder: pick(rng, "", "Log", "Work/Log/"), Format: pick(rng, formats[unit]...), Weeks: p.Weeks}}
		file := named.Path(period)
		require.NoError(t, notes.CheckNewPath("create", file))
		rules := &notes.DateRules{Names: []notes.NameFormat{named.NameFormat}, Weeks: p.Weeks}
		rules.Compile()
		day, ok := rules.Named(file)
		require.True(t, ok, file)
		require.Equal(t, period.Start.Format(time.DateOnly), day.Format(time.DateOnly), "%s of %s, %+v", file, now, named)
		if unit != notes.Quarter && unit != notes.Year { // these have no numeric form
			again, ok := p.Parse(p.Weeks.Format(period.Start, notes.DefaultNames[unit]), now)
			require.True(t, ok)
			require.Equal(t, period, again)
		}
		last, _ := p.Parse(strings.Replace(words[unit], "this", "last", 1), now)
		next, _ := p.Parse(strings.Replace(words[unit], "this", "next", 1), now)
		if unit != notes.Day {
			require.Equal(t, period.Start, last.End())
			require.Equal(t, period.End(), next.Start)
		}
	}
}

func TestZettelID(t *testing.T) {
	for name, want := range map[string]string{"202602140930 Tides": "202602140930", "20260214093055-moon": "20260214093055", "202602140930_x": "202602140930",
		"202602140930": "", "2026021409301": "", "20260214 Day": "", "202602140930x": "", "202602140930日": "", "x 202602140930 y": "", "": "", " ": ""} {
		assert.Equal(t, want, notes.ZettelID(name), "%q", name)
	}
}
