package vectors

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lowerPriority gives the calling thread the lowest priority. On Linux niceness is
// a property of threads. A failure is harmless.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) }

// newSystemLoad returns a function that reads the load since its last call.
func newSystemLoad() func() Load {
	s := &systemLoad{proc: "/proc", power: "/sys/class/power_supply", now: time.Now}
	return s.read
}

// systemLoad reads pressure stall information, or the load average of kernels without
// it.
type systemLoad struct {
	proc, power string // folders
	now         func() time.Time
	waited      time.Duration // the total at the last call
	at          time.Time     // time of the last call
}

func (s *systemLoad) read() Load {
	return Load{Pressure: s.pressure(), Battery: battery(s.power)}
}

func (s *systemLoad) pressure() float64 {
	// some avg10=0.31 avg60=0.11 avg300=0.03 total=2157862
	line, _, _ := strings.Cut(content(s.proc, "pressure/cpu"), "\n")
	_, total, ok := strings.Cut(line, "total=")
	micros, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	if !ok || err != nil {
		return s.average()
	}
	now, waited := s.now(), time.Duration(micros)*time.Microsecond
	before, since := s.waited, now.Sub(s.at)
	first := s.at.IsZero()
	s.waited, s.at = waited, now
	if first || since <= 0 {
		return 0
	}
	return min(1, max(0, float64(waited-before)/float64(since)))
}

// average returns how far the load average exceeds the processors.
func (s *systemLoad) average() float64 {
	fields := strings.Fields(content(s.proc, "loadavg"))
	if len(fields) == 0 {
		return -1
	}
	average, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return -1
	}
	return min(1, max(0, average/float64(runtime.NumCPU())-1))
}

// battery returns the charge of the first battery if the machine runs on it.
func battery(folder string) float64 {
	supplies, err := os.ReadDir(folder)
	if err != nil {
		return -1
	}
	for _, supply := range supplies {
		dir := filepath.Join(folder, supply.Name())
		if content(dir, "type") != "Battery" || content(dir, "scope") == "Device" || content(dir, "status") != "Discharging" {
			continue // scope is Device for the battery of a mouse
		}
		percent, err := strconv.Atoi(content(dir, "capacity"))
		if err != nil {
			return 1
		}
		return float64(percent) / 100
	}
	return -1
}

// content returns the text of a file, or "" if it cannot be read.
func content(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
