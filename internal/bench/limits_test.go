package bench

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nativ/internal/job"
	"nativ/internal/record"
)

// Whatever may be written: a plan keeps it, with all its spares, and no place and
// no round has more to write than another; or it says why not.
func TestWriteLimitIsKeptAndFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := wish()
		w.Preset = rapid.SampledFrom([]job.Preset{job.Quick(), job.Standard(), job.Thorough()}).Draw(t, "preset")
		w.FileSize = int64(rapid.IntRange(1, 64).Draw(t, "file in GiB")) << 30
		w.WriteLimit = int64(rapid.IntRange(1, 4000).Draw(t, "limit in GiB")) << 30
		p, err := NewPlan(w)
		if err != nil {
			if !strings.Contains(err.Error(), "may be written") {
				t.Fatal(err)
			}
			return
		}
		if MaxWritten(&p, 0) > w.WriteLimit || p.MaxWritten > w.WriteLimit {
			t.Fatalf("%d bytes may be written, of %d", p.MaxWritten, w.WriteLimit)
		}
		type key struct{ phase, role string }
		each := map[key]int64{}
		for _, s := range p.Steps {
			k := key{s.Phase, s.Role}
			if was, ok := each[k]; ok && was != s.MaxBytes {
				t.Fatalf("passes of %v may write %d and %d bytes", k, was, s.MaxBytes)
			}
			each[k] = s.MaxBytes
			if writes := phaseOf(&p, s.Phase).Mode.Writes(); writes != (s.MaxBytes > 0) {
				t.Fatalf("%s has a limit of %d bytes", s.Phase, s.MaxBytes)
			}
		}
	})
}

func TestWriteLimitTooSmall(t *testing.T) {
	w := wish()
	for limit, want := range map[int64]string{8 << 30: "the test file of 16384 MiB alone", 17 << 30: "would be left for a pass"} {
		w.WriteLimit = limit
		if _, err := NewPlan(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d GiB: %v", limit>>30, err)
		}
	}
}

// The rest of a run keeps what the run as a whole may write.
func TestWriteLimitAfterResume(t *testing.T) {
	w := wish()
	w.WriteLimit = 100 << 30
	p, err := NewPlan(w)
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{Plan: p, Prefill: &record.Prefill{Bytes: 16 << 30}, Incomplete: []record.Missing{{Code: record.MissingInterrupted}}}
	wrote := int64(30 << 30)
	rec.Keep(record.Pass{Index: 0, Phase: p.Steps[0].Phase, Place: p.Steps[0].Place, Outcome: &record.Outcome{EndNS: 1, Write: &record.Flow{Bytes: wrote}}})
	next, err := Continue(rec, rec.Started)
	if err != nil {
		t.Fatal(err)
	}
	if rest := MaxWritten(&rec.Plan, next); rest+wrote+16<<30 > w.WriteLimit {
		t.Errorf("%d bytes more, after %d", rest, wrote+16<<30)
	}
	rec = &record.Record{Plan: p, Prefill: &record.Prefill{Bytes: 99 << 30}, Incomplete: []record.Missing{{Code: record.MissingInterrupted}}}
	if _, err := Continue(rec, rec.Started); err == nil || !strings.Contains(err.Error(), "keep the limit") {
		t.Errorf("got %v", err)
	}
}

func TestCapRate(t *testing.T) {
	for _, tt := range []struct {
		name        string
		phase       job.Phase
		rate        int64
		read, write int64
		err         bool
	}{
		{"none", job.Phase{Mode: job.Read, BlockSize: 4096, NumJobs: 1}, 0, 0, 0, false},
		{"reads of four jobs", job.Phase{Mode: job.RandRead, BlockSize: 4096, NumJobs: 4}, 4096 * 4000, 1000, 0, false},
		{"writes", job.Phase{Mode: job.Write, BlockSize: 1 << 20, NumJobs: 1}, 500 << 20, 0, 500, false},
		{"both in proportion", job.Phase{Mode: job.RandRW, BlockSize: 4096, NumJobs: 1, RWMixRead: 75}, 4096 * 1000, 750, 250, false},
		{"a lower one of its own", job.Phase{Mode: job.Read, BlockSize: 4096, NumJobs: 1, ReadIOPS: 10}, 4096 * 1000, 10, 0, false},
		{"less than a block", job.Phase{Mode: job.Write, BlockSize: 4 << 20, NumJobs: 1}, 1 << 20, 0, 0, true},
	} {
		p := tt.phase
		err := capRate(&p, tt.rate)
		if (err != nil) != tt.err || err == nil && (p.ReadIOPS != tt.read || p.WriteIOPS != tt.write) {
			t.Errorf("%s: %d reads, %d writes, %v", tt.name, p.ReadIOPS, p.WriteIOPS, err)
		}
	}
}

// A cap is the same in all places, and bounds what the plan may write.
func TestPlanWithRate(t *testing.T) {
	w := wish()
	w.MaxRate = 100 << 20
	p, err := NewPlan(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, ph := range p.Phases {
		r, wr := ph.BlockSizes()
		if got := (ph.ReadIOPS*r + ph.WriteIOPS*wr) * int64(ph.NumJobs); got <= 0 || got > w.MaxRate {
			t.Errorf("%s may move %d bytes a second", ph.Name, got)
		}
	}
	for _, s := range p.Steps {
		if s.MaxBytes > int64(float64(s.RuntimeNS)/1e9*float64(w.MaxRate)) {
			t.Errorf("%s may write %d bytes in %d ns", s.Phase, s.MaxBytes, s.RuntimeNS)
		}
	}
}

// What happens around the passes ends a run: the record stays, says why, and the
// rest can be measured later.
func TestTroubleEndsARun(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trouble *Trouble
		code    string
		by      string
	}{
		{"reset", &Trouble{Reset: true, Detail: "nvme nvme0: resetting controller"}, record.MissingReset, record.EndReset},
		{"read-only", &Trouble{Detail: "the file system of /x is read-only"}, record.MissingTarget, record.EndTarget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			looks := 0
			f := newFixture(t, &fakePlace{name: "host"})
			f.run.Trouble = func() *Trouble {
				if looks++; looks < 3 { // one in each pass, and one after it
					return nil
				}
				return tt.trouble
			}
			if err := f.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			rec := f.run.Record
			if got := f.codes(); !slices.Equal(got, []string{tt.code}) || rec.Incomplete[0].Detail != tt.trouble.Detail {
				t.Fatalf("incomplete: %+v", rec.Incomplete)
			}
			last := rec.Rounds[len(rec.Rounds)-1]
			pass := last.Passes[len(last.Passes)-1]
			if n := pass.Index + 1; n == len(rec.Plan.Steps) || pass.EndedBy != tt.by {
				t.Errorf("%d of %d passes, the last ended by %q", n, len(rec.Plan.Steps), pass.EndedBy)
			}
			if next, err := Continue(rec, rec.Ended); err != nil || next != pass.Index {
				t.Errorf("goes on with step %d after %d: %v", next, pass.Index, err)
			}
		})
	}
}

// A full disk does not get less full by the next pass.
func TestFullDiskEndsARun(t *testing.T) {
	for errno, ends := range map[string]bool{"ENOSPC": true, "EROFS": true, "ENODEV": true, "EIO": false} {
		place := &fakePlace{name: "host"}
		place.outcome = func(p job.Phase) *record.Outcome {
			return &record.Outcome{EndNS: 1, Errors: []record.IOError{{Op: "write", Errno: errno, Count: 1}}}
		}
		place.run = func(int, job.Phase) *record.Failure { return &record.Failure{Code: record.FailIO, Detail: errno} }
		f := newFixture(t, place)
		if err := f.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(f.codes(), record.MissingTarget); got != ends || ends && place.runs != 1 {
			t.Errorf("%s: incomplete %v after %d passes", errno, f.codes(), place.runs)
		}
	}
}
