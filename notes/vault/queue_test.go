package vault_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"notesd/notes/vault"
)

func TestQueue(t *testing.T) {
	q := vault.NewQueue(3)
	take := func() []string {
		paths, all := q.Take()
		if all {
			return []string{"all"}
		}
		return paths
	}
	woken := func() bool {
		select {
		case <-q.Signal():
			return true
		default:
			return false
		}
	}
	q.Add("b", "a")
	q.Add("b")
	assert.True(t, woken())
	assert.False(t, woken(), "any number of calls wake the reader once")
	assert.Equal(t, []string{"a", "b"}, take())
	assert.Empty(t, take())

	q.Put([]string{"a"}, false)
	assert.False(t, woken(), "what failed waits for its time")
	q.Wake()
	assert.True(t, woken())
	q.Add("b", "c")
	assert.Equal(t, []string{"a", "b", "c"}, take())
	q.Add("a", "b", "c")
	q.Add("d")
	assert.Equal(t, []string{"all"}, take(), "more than are kept apart")
	assert.Empty(t, take(), "and once only")
	q.AddAll()
	q.Add("a")
	assert.True(t, woken())
	assert.Equal(t, []string{"all"}, take())
}

// Paths added while a reader takes from the queue are delivered, and wake the reader.
func TestQueue_Concurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := vault.NewQueue(1000)
		const each = 50
		var writers sync.WaitGroup
		for _, name := range []string{"a", "b", "c", "d"} {
			writers.Go(func() {
				for n := range each {
					q.Add(name + string(rune('0'+n)))
				}
			})
		}
		done := make(chan []string)
		go func() {
			var got []string
			for len(got) < 4*each {
				<-q.Signal()
				paths, _ := q.Take()
				got = append(got, paths...)
			}
			done <- got
		}()
		got := <-done
		writers.Wait()
		slices.Sort(got)
		assert.Len(t, slices.Compact(got), 4*each)
	})
}
