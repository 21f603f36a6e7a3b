package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// printCall prints a tool's whole result as JSON.
func (a *app) printCall(ctx context.Context, c *client, tool string, args map[string]any) error {
	var res any
	if err := c.call(ctx, tool, args, &res); err != nil {
		return err
	}
	return a.out.json(res)
}

// note prints a remark beside the result, on standard error.
func (a *app) note(text string) {
	if !a.json {
		fmt.Fprintln(a.err, a.err.dim(a.err.line(commandNames.Replace(text))))
	}
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", thousands(n), noun)
}

// thousands separates groups of digits by narrow spaces, as in 10 000.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	if len(digits) < 5 {
		return digits
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// size is a number of bytes in the unit that keeps it short.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= 1024 && unit < 4 {
		f /= 1024
		unit++
	}
	format := "%.0f %s"
	if f < 10 {
		format = "%.1f %s"
	}
	return fmt.Sprintf(format, f, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// columns is how wide text may be.
func (s *screen) columns() int {
	if s.width <= 0 {
		return 100
	}
	return min(s.width, 120)
}

// wrap breaks text, which is one line, at spaces into lines of at most width
// characters; a longer word stays whole.
func wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+1+n > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += n
	}
	if used > 0 {
		lines = append(lines, line)
	}
	return lines
}

// highlight marks the words of the text that begin like one of the terms: terms
// are shown as they matched, which may be in another form of the word.
func highlight(s *screen, text string, terms []string) string {
	if !s.colour || len(terms) == 0 {
		return text
	}
	terms = slices.Clone(terms)
	slices.SortFunc(terms, func(a, b string) int { return len(b) - len(a) })
	for i, t := range terms {
		terms[i] = regexp.QuoteMeta(t)
	}
	found, err := regexp.Compile(`(?i)(` + strings.Join(terms, "|") + `)`)
	if err != nil {
		return text
	}
	return found.ReplaceAllStringFunc(text, s.mark)
}
