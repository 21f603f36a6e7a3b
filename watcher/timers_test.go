package watcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/fsid"
)

// scene is a watcher with a fake kernel and a fake clock. The files are real; reading
// them takes no time on the bubble's clock.
type scene struct {
	*testing.T
	*kernel
	root  string
	w     *Watcher
	start time.Time
	block chan struct{} // if not nil, emit waits for it

	gotMu sync.Mutex
	got   []arrival
}

// arrival is a batch with the time at which it was emitted.
type arrival struct {
	at time.Duration
	Batch
}

// play runs act in a bubble with a watcher of a new folder, which prepare may fill, after
// the first batch.
func play(t *testing.T, opt Options, prepare func(root string, k *kernel), act func(*scene)) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{T: t, kernel: newKernel(t), root: root, w: New(root, opt)}
		s.install(s.w)
		if prepare != nil {
			prepare(root, s.kernel)
		}
		s.start = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.w.Run(ctx, s.emit) })
		first := s.taken()
		require.Len(t, first, 1)
		require.True(t, first[0].Rescan)
		act(s)
		cancel()
		running.Wait()
	})
}

func (s *scene) emit(b Batch) {
	s.gotMu.Lock()
	s.got = append(s.got, arrival{time.Since(s.start), b})
	s.gotMu.Unlock()
	if s.block != nil {
		<-s.block
	}
}

// taken returns the batches emitted since the last call.
func (s *scene) taken() []arrival {
	synctest.Wait()
	s.gotMu.Lock()
	defer s.gotMu.Unlock()
	got := s.got
	s.got = nil
	return got
}

func (s *scene) write(rel string) {
	require.NoError(s, os.WriteFile(filepath.Join(s.root, rel), fmt.Append(nil, time.Now()), 0o644))
}

func TestFlush_Quiet(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		s.event(fsnotify.Write, s.root, "b.md")
		time.Sleep(30 * time.Millisecond)
		s.event(fsnotify.Write, s.root, "a.md", "b.md")
		time.Sleep(time.Hour)
		assert.Equal(s, []arrival{
			{80 * time.Millisecond, Batch{Paths: []string{"a.md", "b.md"}}},
		}, s.taken(), "one batch, and none in the idle hour after it")
	})
}

func TestFlush_MaxWait(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		for range 30 { // an event every 20 ms, without a quiet period
			s.event(fsnotify.Write, s.root, "log.md")
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second)
		batch := Batch{Paths: []string{"log.md"}}
		assert.Equal(s, []arrival{
			{200 * time.Millisecond, batch},
			{400 * time.Millisecond, batch},
			{600 * time.Millisecond, batch},
		}, s.taken())
	})
}

func TestEmit_SlowOwner(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		s.block = make(chan struct{})
		s.event(fsnotify.Write, s.root, "a.md")
		time.Sleep(time.Second)
		for i := range 1000 { // would deadlock if the drain waited for emit
			s.event(fsnotify.Write, s.root, fmt.Sprintf("%03d.md", i))
		}
		assert.Len(s, s.taken(), 1)
		close(s.block)
		time.Sleep(time.Second)
		got := s.taken()
		require.Len(s, got, 1)
		assert.Len(s, got[0].Paths, 1000)
	})
}

func TestDefaults(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		s.event(fsnotify.Write, s.root, "a.md")
		time.Sleep(time.Second)
		got := s.taken()
		require.Len(s, got, 1)
		assert.Equal(s, Quiet, got[0].at)
		assert.Equal(s, Status{State: StateWatching, Backend: BackendFSNotify, Directories: 1}, s.w.Status())
	})
}

func TestRequestRestart_Backoff(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		for range 120 { // two minutes of a storm
			s.overflow()
			s.event(fsnotify.Write, s.root, "a.md")
			time.Sleep(time.Second)
		}
		var rescans []time.Duration
		for _, a := range s.taken() {
			if a.Rescan {
				assert.Contains(s, a.Reason, "events were lost")
				rescans = append(rescans, a.at)
			}
		}
		assert.Less(s, len(rescans), 10, "walks of the tree: %v", rescans)
		assert.Greater(s, len(rescans), 3)
		assert.Equal(s, 1+len(rescans), s.sources(), "each with a new source")

		time.Sleep(time.Hour)
		s.taken()
		s.overflow()
		time.Sleep(Quiet)
		assert.Len(s, s.taken(), 1, "after a quiet hour the answer is prompt")
	})
}

func TestRequestRestart_PendingPaths(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		s.overflow() // shortly after the last restart
		s.event(fsnotify.Write, s.root, "a.md")
		time.Sleep(2 * time.Second)
		got := s.taken()
		require.Len(s, got, 2)
		assert.Equal(s, arrival{Quiet, Batch{Paths: []string{"a.md"}}}, got[0])
		assert.Equal(s, minRestartGap, got[1].at)
		assert.True(s, got[1].Rescan)
	})
}

func TestFlush_TooManyPaths(t *testing.T) {
	many := func(s *scene, from string, n int) {
		for i := range n {
			s.event(fsnotify.Write, s.root, fmt.Sprintf("%s%05d.md", from, i))
		}
		synctest.Wait()
	}
	t.Run("in a batch", func(t *testing.T) {
		play(t, Options{}, nil, func(s *scene) {
			many(s, "a", maxPaths-1)
			many(s, "b", 2)
			time.Sleep(time.Minute)
			got := s.taken()
			require.Len(s, got, 1)
			assert.True(s, got[0].Rescan)
			assert.Contains(s, got[0].Reason, "more than 10000 paths")
			assert.Equal(s, 1, s.sources(), "no directory event was lost: the watches stand")
		})
	})
	t.Run("in the queue", func(t *testing.T) {
		play(t, Options{}, nil, func(s *scene) {
			s.block = make(chan struct{})
			s.event(fsnotify.Write, s.root, "a.md")
			time.Sleep(time.Minute) // the owner is busy
			many(s, "b", maxPaths+1)
			s.taken()
			close(s.block)
			time.Sleep(time.Minute)
			got := s.taken()
			require.NotEmpty(s, got)
			last := got[len(got)-1]
			assert.True(s, last.Rescan)
			assert.Contains(s, last.Reason, "more than 10000 paths")
			assert.Equal(s, 2, s.sources(), "events of directories may be among the lost")
		})
	})
}

func TestEvents_DirectoryWrites(t *testing.T) {
	play(t, Options{}, func(root string, _ *kernel) {
		_ = os.MkdirAll(filepath.Join(root, "dir"), 0o755)
	}, func(s *scene) {
		s.event(fsnotify.Write, s.root, "dir") // on Windows, an entry of dir changed
		time.Sleep(time.Minute)
		assert.Empty(s, s.taken())
	})
}

func TestWatch_Limit(t *testing.T) {
	play(t, Options{}, func(root string, k *kernel) {
		for i := range 10 {
			_ = os.MkdirAll(filepath.Join(root, fmt.Sprint(i)), 0o755)
		}
		k.limit = 4
	}, func(s *scene) {
		st := s.w.Status()
		assert.Equal(s, StateDegraded, st.State)
		assert.Equal(s, BackendFSNotify, st.Backend)
		assert.Equal(s, 4, st.Directories)
		assert.Equal(s, 7, st.Polled)
		require.Len(s, st.Warnings, 1)
		assert.Contains(s, st.Warnings[0], watchRemedy(11))

		for i := range 10 {
			s.write(fmt.Sprintf("%d/a.md", i))
		}
		time.Sleep(defaultPollInterval + Quiet)
		got := s.taken()
		require.Len(s, got, 1)
		assert.Len(s, got[0].Paths, 7, "the polled ones; the others are the kernel's to report")

		s.kernel.set(func() { s.kernel.limit = 100 })
		time.Sleep(s.w.env.retry + s.w.env.tick)
		assert.Equal(s, Status{State: StateWatching, Backend: BackendFSNotify, Directories: 11}, s.w.Status())
		assert.Empty(s, s.taken(), "nothing changed")
		s.write("3/b.md")
		s.event(fsnotify.Create, s.root, "3/b.md")
		time.Sleep(time.Minute)
		assert.Len(s, s.taken(), 1)
	})
}

// With kqueue, new files are not reported in a folder with an entry that cannot be opened.
func TestList_EntryHidesOthers(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before=%v", before), func(t *testing.T) {
			play(t, Options{Ignore: func(rel string) bool { return rel == "dir/.#lock" }}, func(root string, k *kernel) {
				k.hides = ".#lock"
				_ = os.MkdirAll(filepath.Join(root, "dir"), 0o755)
				if before {
					_ = os.WriteFile(filepath.Join(root, "dir/.#lock"), nil, 0o644)
				}
			}, func(s *scene) {
				if !before {
					s.write("dir/.#lock")
					s.event(fsnotify.Create, s.root, "dir/.#lock")
				}
				s.write("dir/new.md")
				time.Sleep(defaultPollInterval + Quiet)
				got := s.taken()
				require.Len(s, got, 1)
				assert.Equal(s, []string{"dir/new.md"}, got[0].Paths)
				assert.Equal(s, Status{State: StateWatching, Backend: BackendFSNotify, Directories: 2, Polled: 1}, s.w.Status())

				require.NoError(s, os.Remove(filepath.Join(s.root, "dir/.#lock")))
				time.Sleep(time.Minute)
				assert.Empty(s, s.taken())
				assert.Equal(s, Status{State: StateWatching, Backend: BackendFSNotify, Directories: 2}, s.w.Status())
				s.event(fsnotify.Write, s.root, "dir/new.md")
				time.Sleep(time.Minute)
				assert.Len(s, s.taken(), 1, "its events are still reported")
			})
		})
	}
}

func TestRetryWatches_ConcurrentChanges(t *testing.T) {
	play(t, Options{pollInterval: time.Hour}, func(root string, k *kernel) {
		_ = os.MkdirAll(filepath.Join(root, "dir/sub"), 0o755)
		_ = os.WriteFile(filepath.Join(root, "dir/gone.md"), nil, 0o644)
		_ = os.WriteFile(filepath.Join(root, "dir/same.md"), nil, 0o644)
		k.limit = 1
	}, func(s *scene) {
		s.write("dir/new.md")
		require.NoError(s, os.Remove(filepath.Join(s.root, "dir/gone.md")))
		require.NoError(s, os.Mkdir(filepath.Join(s.root, "dir/new"), 0o755))
		s.write("dir/new/a.md")
		s.kernel.set(func() { s.kernel.limit = 100 })
		time.Sleep(time.Minute)
		got := s.taken()
		require.Len(s, got, 1)
		assert.Equal(s, []string{"dir/gone.md", "dir/new", "dir/new.md", "dir/new/a.md"}, got[0].Paths)
		assert.Equal(s, 4, s.w.Status().Directories)
	})
}

// TestRetryWatches_LogsOnce retries for an hour with the same result.
func TestRetryWatches_LogsOnce(t *testing.T) {
	for name, prepare := range map[string]func(root string, k *kernel){
		"limit":     func(root string, k *kernel) { _ = os.Mkdir(filepath.Join(root, "dir"), 0o755); k.limit = 1 },
		"no source": func(_ string, k *kernel) { k.broken = syscall.EMFILE },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			play(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, prepare, func(s *scene) {
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Equal(s, 1, strings.Count(log.String(), "level=WARN"), log.String())
			})
		})
	}
}

func TestOpenSource_Failure(t *testing.T) {
	play(t, Options{}, func(_ string, k *kernel) { k.broken = syscall.EMFILE }, func(s *scene) {
		st := s.w.Status()
		assert.Equal(s, StateDegraded, st.State)
		assert.Equal(s, BackendPoll, st.Backend)
		require.Len(s, st.Warnings, 1)
		assert.Contains(s, st.Warnings[0], instanceRemedy())
		s.write("a.md")
		time.Sleep(defaultPollInterval + Quiet)
		assert.Len(s, s.taken(), 1)

		s.kernel.set(func() { s.kernel.broken = nil })
		time.Sleep(time.Minute)
		assert.Equal(s, StateWatching, s.w.Status().State)
		assert.Empty(s, s.w.Status().Warnings)
	})
}

func TestNetworkFileSystem(t *testing.T) {
	play(t, Options{}, func(_ string, k *kernel) { k.remote = "nfs" }, func(s *scene) {
		st := s.w.Status()
		assert.Equal(s, StatePolling, st.State)
		assert.Equal(s, BackendPoll, st.Backend)
		assert.Contains(s, fmt.Sprint(st.Warnings), "nfs")
	})
}

// noEvents makes a watcher poll only.
func noEvents(_ string, k *kernel) { k.remote, k.broken = "nfs", errors.New("no events here") }

func TestPoll_Interval(t *testing.T) {
	play(t, Options{pollInterval: time.Second}, noEvents, func(s *scene) {
		delay := func() time.Duration {
			s.write("a.md")
			wrote := time.Since(s.start)
			time.Sleep(10 * time.Second)
			got := s.taken()
			require.Len(s, got, 1)
			return got[0].at - wrote
		}
		assert.LessOrEqual(s, delay(), time.Second+Quiet)
		time.Sleep(time.Hour)
		idle := delay()
		assert.LessOrEqual(s, idle, idleFactor*time.Second+Quiet)

		s.write("b.md")
		time.Sleep(idleFactor*time.Second + Quiet)
		s.taken()
		assert.LessOrEqual(s, delay(), 2*time.Second, "prompt again after a change")
	})
}

// TestPoll_RemovedTwice creates a removed file again between two polls, so that the owner
// finds it when it handles the batch of the removal.
func TestPoll_RemovedTwice(t *testing.T) {
	play(t, Options{pollInterval: time.Second}, noEvents, func(s *scene) {
		remove := func(changed time.Time) {
			require.NoError(s, os.Remove(filepath.Join(s.root, "a.md")))
			require.NoError(s, os.Chtimes(s.root, changed, changed))
		}
		s.write("a.md")
		time.Sleep(idleFactor * time.Second)
		s.taken()
		for i := range 2 {
			remove(time.Unix(int64(i), 0))
			time.Sleep(idleFactor * time.Second)
			got := s.taken()
			require.Len(s, got, 1)
			assert.Equal(s, []string{"a.md"}, got[0].Paths)
			s.write("a.md")
		}
	})
}

func TestRoot_Missing(t *testing.T) {
	play(t, Options{}, func(root string, _ *kernel) { _ = os.Remove(root) }, func(s *scene) {
		st := s.w.Status()
		assert.Equal(s, StateLost, st.State)
		require.Len(s, st.Warnings, 1)
		assert.Contains(s, st.Warnings[0], s.root)
		time.Sleep(time.Hour)
		assert.Empty(s, s.taken(), "it was said once")

		require.NoError(s, os.Mkdir(s.root, 0o755))
		time.Sleep(s.w.env.tick)
		got := s.taken()
		require.Len(s, got, 1)
		assert.Contains(s, got[0].Reason, "back")
		assert.NotEqual(s, StateLost, s.w.Status().State)
	})
}

// Run does not wait for a disk that does not answer: it could not end then.
func TestRoot_NoAnswer(t *testing.T) {
	var answer chan struct{}
	play(t, Options{}, func(root string, _ *kernel) {
		answer = make(chan struct{})
		_, err := fsid.InTime("root "+root, fsid.Patience, func() (any, error) { <-answer; return nil, nil })
		require.ErrorIs(t, err, fsid.ErrNoAnswer)
	}, func(s *scene) {
		assert.Equal(s, StateLost, s.w.Status().State)
		assert.Contains(s, s.w.Status().Warnings[0], "its disk does not answer")
		close(answer)
		time.Sleep(s.w.env.tick)
		s.taken()
		assert.Equal(s, StateWatching, s.w.Status().State)
	})
}

func TestRoot_File(t *testing.T) {
	play(t, Options{}, func(root string, _ *kernel) {
		_ = os.Remove(root)
		_ = os.WriteFile(root, nil, 0o644)
	}, func(s *scene) {
		assert.Equal(s, StateLost, s.w.Status().State)
		assert.Contains(s, s.w.Status().Warnings[0], "not a folder")
	})
}

func TestRoot_Replaced(t *testing.T) {
	play(t, Options{}, nil, func(s *scene) {
		require.NoError(s, os.Rename(s.root, s.root+".old"))
		require.NoError(s, os.Mkdir(s.root, 0o755))
		time.Sleep(s.w.env.tick)
		got := s.taken()
		require.Len(s, got, 1)
		assert.Contains(s, got[0].Reason, "replaced")
		assert.Equal(s, 2, s.sources())
	})
}

// TestRoot_Vanished replaces the root by an empty folder between two polls, which must
// not cause a batch of deletions.
func TestRoot_Vanished(t *testing.T) {
	play(t, Options{}, func(root string, k *kernel) {
		noEvents(root, k)
		for i := range 100 {
			_ = os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o644)
		}
	}, func(s *scene) {
		require.NoError(s, os.Rename(s.root, s.root+".mounted"))
		require.NoError(s, os.Mkdir(s.root, 0o755)) // the empty mount point
		time.Sleep(time.Minute)
		for _, a := range s.taken() {
			assert.Empty(s, a.Paths)
			assert.True(s, a.Rescan)
		}
	})
}

func TestRun_Twice(t *testing.T) {
	w := New(t.TempDir(), Options{})
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var reasons []string
		w.Run(ctx, func(b Batch) {
			reasons = append(reasons, b.Reason)
			cancel()
		})
		require.Equal(t, []string{"started"}, reasons)
		require.Equal(t, StateStopped, w.Status().State)
	}
}

// TestRun_StopsGoroutines counts goroutines, including those of fsnotify. The bubbles of
// the other tests check this package's own.
func TestRun_StopsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		New(t.TempDir(), Options{}).Run(ctx, func(Batch) { cancel() })
	}
	asking := 1 // the goroutine of Eventually
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+asking }, patience, time.Millisecond)
}

// TestBudget simulates kqueue, where each entry of a watched directory counts.
func TestBudget(t *testing.T) {
	root := t.TempDir()
	for i := range 10 {
		require.NoError(t, os.MkdirAll(filepath.Join(root, fmt.Sprint(i), "x"), 0o755))
	}
	v := newVault(t, root, Options{pollInterval: 10 * time.Millisecond}, func(w *Watcher) {
		w.env.budget = func() int { return 20 }
	})
	st := v.w.Status()
	assert.Equal(t, StateDegraded, st.State)
	assert.Equal(t, 21, st.Polled+st.Directories)
	assert.LessOrEqual(t, st.Directories, 20-10, "the root alone costs eleven")
	for i := range 10 {
		v.write(fmt.Sprintf("%d/x/a.md", i), "text")
	}
	v.settle()
}
