package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
	"nativ/internal/journal"
	"nativ/internal/record"
	"nativ/internal/target"
)

func parse(t *testing.T, text string) *job.File {
	t.Helper()
	f, err := job.Parse(job.Options{ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}, "x.fio")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func own(j *job.Job) string {
	if j.IOEngine == "" {
		return "io_uring"
	}
	return string(j.IOEngine)
}

// exist answers for a set of files and their sizes.
func exist(sizes map[string]int64) func(string) (int64, bool) {
	return func(path string) (int64, bool) { n, ok := sizes[path]; return n, ok }
}

func TestPlanJobs(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	type unit struct {
		name, engine string
		group, jobs  int
		files        []int
	}
	for _, tt := range []struct {
		name, text string
		there      map[string]int64
		units      []unit
		files      []FileNeed
		results    [][]int
	}{
		{
			name:  "one file for all clones",
			text:  "[a]\nfilename=/d/f\nsize=8m\nnumjobs=4\noffset_increment=1m\n",
			units: []unit{{"a", "io_uring", 0, 4, []int{0}}},
			files: []FileNeed{{Given: "/d/f", Dir: "/d", Size: 11 << 20}}, results: [][]int{{0}},
		},
		{
			name:  "a file for each clone, dealt out to directories",
			text:  "[a]\ndirectory=/d:/e\nsize=1m\nnumjobs=3\nioengine=libaio\n",
			units: []unit{{"a", "libaio", 0, 1, []int{0}}, {"a#2", "libaio", 0, 1, []int{1}}, {"a#3", "libaio", 0, 1, []int{2}}},
			files: []FileNeed{{Dir: "/d", Size: 1 << 20}, {Dir: "/e", Size: 1 << 20}, {Dir: "/d", Size: 1 << 20}}, results: [][]int{{0}, {1}, {2}},
		},
		{
			name:  "sections share a file and a result",
			text:  "[global]\nfilename=/d/f\ngroup_reporting\n[a]\nsize=1m\n[b]\nsize=3m\noffset=2m\n[c]\nstonewall\nsize=2m\n",
			units: []unit{{"a", "io_uring", 0, 1, []int{0}}, {"b", "io_uring", 0, 1, []int{0}}, {"c", "io_uring", 1, 1, []int{0}}},
			files: []FileNeed{{Given: "/d/f", Dir: "/d", Size: 5 << 20}}, results: [][]int{{0, 1}, {2}},
		},
		{
			name:  "what is there is read, several files share the size",
			text:  "[a]\nfilename=/d/f:g\nsize=3m\n[a]\nfilename=/d/f\n",
			there: map[string]int64{"/d/f": 9 << 20},
			units: []unit{{"a", "io_uring", 0, 1, []int{0, 1}}, {"a#2", "io_uring", 0, 1, []int{0}}},
			files: []FileNeed{{Given: "/d/f", Dir: "/d", Existing: true, Size: 9 << 20}, {Given: here + "/g", Dir: here, Size: 3 << 19}}, results: [][]int{{0}, {1}},
		},
		{
			name:  "the directory goes before absolute names, too",
			text:  "[a]\ndirectory=/d\nfilename=/f\nsize=1m\nrw=write\n",
			there: map[string]int64{"/f": 1},
			units: []unit{{"a", "io_uring", 0, 1, []int{0}}},
			files: []FileNeed{{Given: "/d/f", Dir: "/d", Size: 1 << 20}}, results: [][]int{{0}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := PlanJobs(parse(t, tt.text), 1, own, exist(tt.there))
			if err != nil {
				t.Fatal(err)
			}
			var units []unit
			seeds := map[uint64]bool{}
			for _, u := range p.Units {
				units = append(units, unit{u.Phase.Name, u.Phase.Engine, u.Group, u.Phase.NumJobs, u.Files})
				if seeds[u.Phase.RandSeed] {
					t.Errorf("seed %d twice", u.Phase.RandSeed)
				}
				seeds[u.Phase.RandSeed] = true
			}
			if d := cmp.Diff(tt.units, units, cmp.AllowUnexported(unit{})); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.files, p.Files); d != "" {
				t.Error(d)
			}
			var results [][]int
			for _, r := range p.Results {
				results = append(results, r.Phases)
			}
			if d := cmp.Diff(tt.results, results); d != "" {
				t.Error(d)
			}
		})
	}
}

// Nothing that is there is ever written, and nothing is guessed.
func TestPlanJobsRefuses(t *testing.T) {
	there := exist(map[string]int64{"/d/f": 1 << 20})
	for text, want := range map[string]struct {
		refused bool
		says    string
	}{
		"[a]\nfilename=/d/f\nrw=write\nsize=4k\n":                     {true, "writes only to files that it made"},
		"[a]\nfilename=/d/f\nrw=randrw\nsize=4k\n":                    {true, "writes only to files that it made"},
		"[a]\nfilename=/d/../d/f\n[b]\nfilename=/d/f\nrw=write\n":     {true, "[b] /d/f"},
		"[a]\nfilename=/d/new:/d/f\nrw=randwrite\nsize=1m\n":          {true, "/d/f"},
		"[a]\nfilename=/d/f\nsize=2m\n":                               {true, "does not change"},
		"[a]\nfilename=/d/f\n[b]\nfilename=/d/f\nsize=1m\noffset=1\n": {true, "does not change"},
		"[a]\nfilename=/d/new\n":                                      {false, "size="},
		"[a]\ndirectory=/d\nsize=50%\n":                               {false, "size="},
	} {
		_, err := PlanJobs(parse(t, text), 1, own, there)
		var need *NeedError
		if !errors.As(err, &need) || need.Refused != want.refused || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := PlanJobs(parse(t, "[a]\ndirectory=/d\nsize=1m\nnumjobs=65\n"), 1, own, there); err == nil {
		t.Error("65 workers side by side")
	}
}

func TestPresetOf(t *testing.T) {
	engine := func(*job.Job) string { return "" }
	for _, name := range append(job.PresetNames(), "quick") {
		p, err := PresetByName(name, engine)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w := wish()
		w.Preset = p
		plan, err := NewPlan(w)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range plan.Steps {
			if s.RuntimeNS == 0 {
				t.Errorf("%s: a pass of %s without end", name, s.Phase)
			}
		}
	}
	if _, err := PresetByName("quack", engine); err == nil || !strings.Contains(err.Error(), "latency") {
		t.Errorf("an unknown preset: %v", err)
	}
	p, err := PresetOf("x", parse(t, "[global]\nstonewall\n[a]\nruntime=4\ntime_based\nsize=3000k\n[b]\nrw=write\nsize=1m\n"), engine)
	if err != nil || p.FileSize != 3<<20 || len(p.Phases) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	w := wish()
	w.Preset = p
	plan, err := NewPlan(w)
	if err != nil || plan.Phases[0].RuntimeNS != 2e9 || plan.Phases[1].RuntimeNS != 0 || !plan.Phases[1].Once {
		t.Errorf("%+v, %v", plan.Phases, err)
	}
	for text, want := range map[string]string{
		"[a]\nsize=1m\n[b]\nsize=1m\n":    "[b] runs beside [a]",
		"[a]\nfilename=x\n":               "x.fio:2: filename",
		"[a]\ndirectory=/d\n":             "--dir",
		"[global]\nstonewall\n[a]\n[a]\n": "twice",
	} {
		if _, err := PresetOf("x", parse(t, text), engine); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A jobPlace says ready for each pass, and notes what runs at the same time.
type jobPlace struct {
	mu      sync.Mutex
	log     []string
	run     func(p job.Phase) *record.Failure
	refuses string // the phase that ends before it is ready
}

func (f *jobPlace) Name() string   { return record.PlaceHost }
func (f *jobPlace) Cgroup() string { return "" }
func (f *jobPlace) Prepare(context.Context, []*target.File) (record.Place, error) {
	return record.Place{Name: record.PlaceHost}, nil
}

func (f *jobPlace) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *jobPlace) Run(ctx context.Context, p job.Phase, files []*target.File, sink func(record.Event)) (*record.Outcome, *record.Failure) {
	if p.Name == "prefill" {
		n := files[0].Facts().Size
		if err := fillAll(files[0].Path(), n); err != nil {
			return nil, &record.Failure{Code: record.FailIO, Detail: err.Error()}
		}
		return &record.Outcome{EndNS: 1e9, Write: &record.Flow{IOs: n >> 20, Bytes: n, Lat: &record.Histogram{}}}, nil
	}
	if p.Name == f.refuses {
		return nil, &record.Failure{Code: record.FailEngine, Detail: "no rings"}
	}
	f.note("ready")
	sink(record.Event{Type: record.EventReady, Worker: &record.Worker{PID: 1}})
	f.note("go")
	sink(record.Event{Type: record.EventStarted})
	sink(record.Event{Type: record.EventInterval, Interval: &record.Interval{EndNS: 1e9, LenNS: 1e9, ReadIOs: 10}})
	sink(record.Event{Type: record.EventTrace, Trace: []record.TraceIO{{Op: "read", Len: 4096}}})
	sink(record.Event{Type: record.EventEnded})
	out := &record.Outcome{EndNS: 1e9, Read: &record.Flow{IOs: 10, Bytes: 40960, Lat: &record.Histogram{}}}
	if f.run != nil {
		return out, f.run(p)
	}
	return out, nil
}

// jobsRun makes a run over real files: mine is there, the rest is made.
func jobsRun(t *testing.T, text string, p *jobPlace) (*JobsRun, string, *fakeWatch) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "nativ-jobs-test-")
	if err != nil {
		t.Skip("needs a directory on a disk: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "mine"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	plan, err := PlanJobs(parse(t, strings.ReplaceAll(text, "DIR", dir)), 1, own, func(path string) (int64, bool) {
		st, err := os.Stat(path)
		if err != nil {
			return 0, false
		}
		return st.Size(), true
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(filepath.Join(dir, "state"), journal.Header{RunID: "20260101-000000-test01"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	w := &fakeWatch{}
	rec := &record.Record{}
	plan.Into(rec, record.PlaceHost)
	n := 0
	r := &JobsRun{
		Record: rec, Plan: plan, Place: p, Watch: func(Place) Watcher { return w }, Emit: func(Event) {}, Now: time.Now,
		OpenFile: func(f FileNeed) (*target.File, error) {
			if f.Existing {
				return target.OpenExisting(f.Given)
			}
			n++
			return target.Create(f.Dir, f.Size, fmt.Sprintf("%032x", n), j)
		},
		Undo: func(ctx context.Context) []string {
			for _, l := range j.Undo(ctx, map[journal.Kind]journal.Undoer{journal.KindFile: target.UndoFile}) {
				t.Error(l)
			}
			return nil
		},
	}
	t.Cleanup(func() {
		list, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(list) != 2 { // mine and state
			t.Errorf("left: %v", list)
		}
	})
	return r, dir, w
}

const twoGroups = "[global]\nsize=1m\n[a]\nfilename=DIR/mine\n[b]\ndirectory=DIR\nrw=write\nnumjobs=2\n[c]\nstonewall\nfilename=DIR/mine\n"

func TestJobsRun(t *testing.T) {
	p := &jobPlace{}
	r, _, w := jobsRun(t, twoGroups, p)
	traced := map[int]int{}
	r.Trace = func(unit int, ios []record.TraceIO) { traced[unit] += len(ios) }
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec := r.Record
	if !rec.Complete || len(rec.Rounds) != 2 || len(rec.Rounds[0].Passes) != 3 || len(rec.Rounds[1].Passes) != 1 {
		t.Fatalf("incomplete %v, rounds %+v", rec.Incomplete, rec.Rounds)
	}
	// Nobody goes before all are ready, and the second group not before the
	// first has ended.
	if want := strings.Fields("ready ready ready go go go ready go"); !slices.Equal(p.log, want) {
		t.Errorf("ran as %v, want %v", p.log, want)
	}
	if want := strings.Fields("sample start sample stop sample start sample stop"); !slices.Equal(w.log, want) {
		t.Errorf("watched as %v, want %v", w.log, want)
	}
	for i, round := range rec.Rounds {
		for k, pass := range round.Passes {
			if (pass.Watch.Before != nil) != (k == 0) || len(pass.Intervals) != 1 {
				t.Errorf("pass %d of group %d: %+v", k, i, pass)
			}
		}
	}
	if rec.Prefill == nil || rec.Prefill.Bytes != 2<<20 {
		t.Errorf("prefill %+v", rec.Prefill)
	}
	if fs := rec.Jobs.Files; len(fs) != 3 || fs[0].Made || !fs[1].Made || !fs[2].Made {
		t.Errorf("files %+v", fs)
	}
	if len(traced) != 4 {
		t.Errorf("traced %v", traced)
	}
}

// One that fails on its way does not hold the others, and the numbers of the
// others stay.
func TestJobsRunFails(t *testing.T) {
	p := &jobPlace{refuses: "b"}
	r, _, _ := jobsRun(t, twoGroups, p)
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec := r.Record
	if rec.Complete || len(rec.Rounds) != 2 || !rec.Rounds[0].Passes[0].OK() || rec.Rounds[0].Passes[1].OK() || !rec.Rounds[1].Passes[0].OK() {
		t.Errorf("incomplete %v, rounds %+v", rec.Incomplete, rec.Rounds)
	}
}

func TestJobsRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &jobPlace{run: func(job.Phase) *record.Failure { cancel(); return nil }}
	r, _, _ := jobsRun(t, twoGroups, p)
	if err := r.Do(ctx); err != nil {
		t.Fatal(err)
	}
	rec := r.Record
	if len(rec.Rounds) != 1 || rec.Rounds[0].Passes[0].Outcome == nil || rec.Rounds[0].Passes[0].OK() ||
		len(rec.Incomplete) != 1 || rec.Incomplete[0].Code != record.MissingInterrupted {
		t.Errorf("incomplete %v, rounds %+v", rec.Incomplete, rec.Rounds)
	}
}

func TestJobsRunFullDisk(t *testing.T) {
	r, _, _ := jobsRun(t, twoGroups, &jobPlace{})
	open := r.OpenFile
	r.OpenFile = func(f FileNeed) (*target.File, error) {
		if !f.Existing {
			return nil, &target.Refusal{Code: target.RefuseSpace, Dir: f.Dir}
		}
		return open(f)
	}
	var refusal *target.Refusal
	if err := r.Do(t.Context()); !errors.As(err, &refusal) || len(r.Record.Rounds) > 0 {
		t.Errorf("got %v", err)
	}
}
