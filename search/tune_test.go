package search

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes"
)

type jdoc struct{ ID, Title, Text string }
type judged struct {
	name    string
	docs    []jdoc
	queries []jdoc
	qrels   map[string]map[string]int
}

func loadJudged(t testing.TB, dir string) judged {
	j := judged{name: filepath.Base(dir), qrels: map[string]map[string]int{}}
	read := func(name string, each func([]byte)) {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		defer f.Close()
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<26)
		for sc.Scan() {
			each(sc.Bytes())
		}
	}
	read("docs.jsonl", func(b []byte) { var d jdoc; require.NoError(t, json.Unmarshal(b, &d)); j.docs = append(j.docs, d) })
	read("queries.jsonl", func(b []byte) {
		var d jdoc
		require.NoError(t, json.Unmarshal(b, &d))
		j.queries = append(j.queries, d)
	})
	read("qrels.tsv", func(b []byte) {
		p := strings.Split(string(b), "\t")
		if j.qrels[p[0]] == nil {
			j.qrels[p[0]] = map[string]int{}
		}
		var rel int
		fmt.Sscan(p[2], &rel)
		j.qrels[p[0]][p[1]] = rel
	})
	return j
}

func (j judged) index(t testing.TB) *Index {
	x, err := OpenIndex(context.Background(), filepath.Join(t.TempDir(), "x"), IndexOptions{})
	require.NoError(t, err)
	var all []*notes.Note
	for i, d := range j.docs {
		n := &notes.Note{ID: int64(i + 1), Path: d.ID + ".md", Title: d.Title, Content: d.Text}
		if d.Title != "" {
			n.Content = "# " + d.Title + "\n\n" + d.Text
			n.Headings = []notes.Heading{{Level: 1, Text: d.Title, Line: 1}}
		} else {
			n.Title = d.ID
		}
		all = append(all, n)
	}
	require.NoError(t, x.Put(context.Background(), all...))
	return x
}

func (j judged) ndcg(run func(q string) []int64) (float64, time.Duration) {
	sum, n := 0.0, 0
	var took time.Duration
	for _, q := range j.queries {
		rel := j.qrels[q.ID]
		var ideal []int
		for _, r := range rel {
			if r > 0 {
				ideal = append(ideal, r)
			}
		}
		if len(ideal) == 0 {
			continue
		}
		sort.Sort(sort.Reverse(sort.IntSlice(ideal)))
		id := 0.0
		for i, r := range ideal[:min(10, len(ideal))] {
			id += float64(r) / math.Log2(float64(i+2))
		}
		start := time.Now()
		got := run(q.Text)
		took += time.Since(start)
		d := 0.0
		for i, g := range got[:min(10, len(got))] {
			if r := rel[j.docs[g-1].ID]; r > 0 {
				d += float64(r) / math.Log2(float64(i+2))
			}
		}
		sum += d / id
		n++
	}
	return sum / float64(n), took / time.Duration(n)
}

func simplePlan(text string) plan {
	var p plan
	seen := map[string]int{}
	var stops []planTerm
	for s, ok := nextSpan(text, 0); ok; s, ok = nextSpan(text, s.end) {
		for _, t := range expand(nil, text, s) {
			if _, ok := seen[t.text]; ok {
				continue
			}
			seen[t.text] = 1
			if stopWords[strings.ToLower(text[t.start:t.end])] {
				stops = append(stops, planTerm{lookup: lookup{text: t.text}, weight: 1})
				continue
			}
			p.terms = append(p.terms, planTerm{lookup: lookup{text: t.text}, weight: 1})
		}
	}
	if len(p.terms) == 0 {
		p.terms = stops
	}
	return p
}

func TestTune(t *testing.T) {
	root := os.Getenv("JUDGED")
	if root == "" {
		t.Skip()
	}
	for _, name := range []string{"cranfield", "claude-docs", "xquad-en", "cmrc2018-zh"} {
		j := loadJudged(t, filepath.Join(root, name))
		x := j.index(t)
		got, took := j.ndcg(func(q string) []int64 {
			p := simplePlan(q)
			r, err := x.rank(context.Background(), &p, nil, 10)
			require.NoError(t, err)
			var ids []int64
			for _, h := range r.best {
				ids = append(ids, h.note)
			}
			return ids
		})
		st, _ := x.Stats()
		t.Logf("%-12s %.4f  %v  segs %d", name, got, took, st.Segments)
		x.Close()
	}
}

func TestSweep(t *testing.T) {
	root := os.Getenv("SWEEP")
	if root == "" {
		t.Skip()
	}
	var sets []judged
	var xs []*Index
	for _, name := range []string{"cranfield", "claude-docs", "xquad-en", "cmrc2018-zh"} {
		j := loadJudged(t, filepath.Join(root, name))
		if len(j.queries) > 1200 {
			j.queries = j.queries[:1200]
		}
		sets = append(sets, j)
		xs = append(xs, j.index(t))
	}
	eval := func(label string, mk func(string) plan, post func(plan, []ranked) []ranked) {
		line := fmt.Sprintf("%-40s", label)
		sum := 0.0
		for i, j := range sets {
			got, _ := j.ndcg(func(q string) []int64 {
				p := mk(q)
				r, err := xs[i].rank(context.Background(), &p, nil, 100)
				require.NoError(t, err)
				if post != nil {
					r.best = post(p, r.best)
				}
				var ids []int64
				for _, h := range r.best {
					ids = append(ids, h.note)
				}
				return ids
			})
			line += fmt.Sprintf(" %.4f", got)
			sum += got
		}
		fmt.Printf("%s  %.4f\n", line, sum/4)
	}
	eval("base", simplePlan, nil)
	/*cov := func(alpha float64) func(plan, []ranked) []ranked {
		return func(p plan, rs []ranked) []ranked {
			for i := range rs {
				n := bits.OnesCount64(rs[i].terms)
				rs[i].score *= 1 + alpha*float64(n)/float64(len(p.terms))
			}
			sort.SliceStable(rs, func(a, b int) bool { return rs[a].score > rs[b].score })
			return rs
		}
	}*/
	cur := 0
	type toks struct {
		term  []string
		exact []string
	}
	cache := map[string]toks{}
	tokens := func(text string) toks {
		if c, ok := cache[text]; ok {
			return c
		}
		var k toks
		for s, ok := nextSpan(text, 0); ok; s, ok = nextSpan(text, s.end) {
			for _, t := range expand(nil, text, s) {
				if t.part {
					continue
				}
				k.term = append(k.term, t.text)
				k.exact = append(k.exact, string(fold(nil, text[t.start:t.end])))
			}
		}
		cache[text] = k
		return k
	}
	idfOf := func(r *ranking, n int) float64 { return float64(idf(n, r.total)) }
	_ = idfOf
	resc := func(top int, beta, gamma, delta float64, window int) func(string, plan, ranking) []ranked {
		return func(q string, p plan, r ranking) []ranked {
			rs := r.best
			n := len(sets[cur].docs)
			qi := map[string]int{}
			var w []float64
			for i, t := range p.terms {
				qi[t.text] = i
				w = append(w, float64(idf(n, r.with[i])))
			}
			// ordered pairs
			type pair struct{ a, b int }
			pairs := map[pair]float64{}
			prev, gap := -1, 0
			qt := tokens(q)
			exact := map[string]string{}
			for k, t := range qt.term {
				i, ok := qi[t]
				if !ok || t[0] >= 0x80 {
					gap++
					continue
				}
				exact[t] = qt.exact[k]
				if prev >= 0 && gap <= 2 && prev != i {
					pairs[pair{prev, i}] = min(w[prev], w[i])
				}
				prev, gap = i, 0
			}
			for c := range rs {
				if c >= top {
					break
				}
				d := sets[cur].docs[rs[c].note-1]
				tk := tokens(d.Title + "\n" + d.Text)
				lastPos := make([]int, len(w))
				for i := range lastPos {
					lastPos[i] = -1000
				}
				seen := map[pair]bool{}
				ex := map[string]bool{}
				var hits [][2]int
				for pos, t := range tk.term {
					i, ok := qi[t]
					if !ok || t[0] >= 0x80 {
						continue
					}
					hits = append(hits, [2]int{pos, i})
					if tk.exact[pos] == exact[t] {
						ex[t] = true
					}
					for j := range w {
						if pos-lastPos[j] <= 3 && j != i {
							if _, ok := pairs[pair{j, i}]; ok {
								seen[pair{j, i}] = true
							}
						}
					}
					lastPos[i] = pos
				}
				bonus := 0.0
				for pr := range seen {
					bonus += beta * pairs[pr]
				}
				for t := range ex {
					bonus += delta * w[qi[t]]
				}
				// best window
				cnt := make([]int, len(w))
				best, sum, lo := 0.0, 0.0, 0
				for _, h := range hits {
					if cnt[h[1]] == 0 {
						sum += w[h[1]]
					}
					cnt[h[1]]++
					for h[0]-hits[lo][0] > window {
						k := hits[lo][1]
						cnt[k]--
						if cnt[k] == 0 {
							sum -= w[k]
						}
						lo++
					}
					best = max(best, sum)
				}
				rs[c].score += bonus + gamma*best
			}
			if len(rs) > top {
				rs = rs[:top]
			}
			sort.SliceStable(rs, func(a, b int) bool { return rs[a].score > rs[b].score })
			return rs
		}
	}
	eval2 := func(label string, f func(string, plan, ranking) []ranked) {
		line := fmt.Sprintf("%-40s", label)
		sum := 0.0
		for i, j := range sets {
			cur = i
			got, _ := j.ndcg(func(q string) []int64 {
				p := simplePlan(q)
				r, err := xs[i].rank(context.Background(), &p, nil, 100)
				require.NoError(t, err)
				var ids []int64
				for _, h := range f(q, p, r) {
					ids = append(ids, h.note)
				}
				return ids
			})
			line += fmt.Sprintf(" %.4f", got)
			sum += got
		}
		fmt.Printf("%s  %.4f\n", line, sum/4)
	}
	for _, b := range []float64{.2, .3, .4} {
		for _, g := range []float64{0, .1, .2} {
			for _, d := range []float64{0, .1} {
				eval2(fmt.Sprintf("top 16 pairs %v win20 %v ex %v", b, g, d), resc(16, b, g, d, 20))
			}
		}
	}
}

func TestThai(t *testing.T) {
	root := os.Getenv("THAI")
	if root == "" {
		t.Skip()
	}
	conv := func(s string) string {
		var b strings.Builder
		for _, r := range strings.ToLower(s) {
			switch {
			case r >= 'a' && r <= 'z':
				b.WriteRune(0x0E01 + (r - 'a'))
			case r == ' ':
			default:
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	for _, n := range []int{2, 3, 4, 5, 6} {
		runOnLength = n
		line := fmt.Sprint("n ", n)
		for _, name := range []string{"cranfield", "claude-docs", "xquad-en"} {
			j := loadJudged(t, filepath.Join(root, name))
			for i := range j.docs {
				j.docs[i].Title = conv(j.docs[i].Title)
				j.docs[i].Text = conv(j.docs[i].Text)
			}
			for i := range j.queries {
				j.queries[i].Text = conv(j.queries[i].Text)
			}
			x := j.index(t)
			got, took := j.ndcg(func(q string) []int64 {
				p := simplePlan(q)
				terms := p.terms[:0]
				for _, t := range p.terms {
					if len([]rune(t.text)) == n || t.text[0] < 0x80 {
						terms = append(terms, t)
					}
				}
				p.terms = terms
				r, err := x.rank(context.Background(), &p, nil, 10)
				require.NoError(t, err)
				var ids []int64
				for _, h := range r.best {
					ids = append(ids, h.note)
				}
				return ids
			})
			st, _ := x.Stats()
			line += fmt.Sprintf("  %.4f (%v, %d KB)", got, took.Round(time.Microsecond), st.Bytes>>10)
			x.Close()
		}
		fmt.Println(line)
	}
	runOnLength = 4
}
