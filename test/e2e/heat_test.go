package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nativ/internal/analysis"
	"nativ/internal/bench"
	"nativ/internal/cgroup"
	"nativ/internal/job"
	"nativ/internal/journal"
	places "nativ/internal/place"
	"nativ/internal/record"
	"nativ/internal/sensor"
	"nativ/internal/sensor/sensortest"
	"nativ/internal/sys"
	"nativ/internal/target"
)

// TestHeatOfRecordedDrive measures the real disk, held by its cgroup to one speed
// and to a quarter of it, while the sensors are those of a recorded NVMe drive.
// Where its temperature does what a throttle makes it do, the drops are heat;
// the same drops at a steady temperature are not.
func TestHeatOfRecordedDrive(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	disk := diskOf(t, w.dir)
	roots, temperature := recordedDrive(t)

	tgt, err := target.Resolve(w.dir, target.Roots{})
	if err != nil {
		t.Fatal(err)
	}
	tgt.Drives = []record.Drive{{Name: "nvme0n1", Transport: "nvme"}}
	rec := &record.Record{SchemaVersion: record.SchemaVersion, ID: record.NewID(time.Now(), 0x4ea7), Target: *tgt}
	none := time.Duration(0)
	rec.Plan, err = bench.NewPlan(bench.Wish{
		Preset: job.Preset{Name: "heat-e2e", Passes: 2, Runtime: 2 * time.Minute, Phases: []job.Phase{{
			Name: "randread", Mode: job.RandRead, BlockSize: 4096, IODepth: 8, NumJobs: 1, Direct: true,
		}}},
		Dir: w.dir, Places: []string{record.PlaceHost}, FileSize: 256 << 20, WantedSize: 256 << 20, Seed: 1, CoolDown: &none,
	})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(w.state, journal.Header{RunID: rec.ID, PID: os.Getpid(), Started: time.Now(), Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	groups, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	undoers := places.Undoers(groups, w.state)
	host := places.NewHost(places.Config{RunID: rec.ID, Journal: j, Cgroups: groups, Exe: bin, Engine: string(job.IOUring), GOMAXPROCS: rec.Plan.GOMAXPROCS})
	sampler := sensor.New(sensor.ForTarget(&rec.Target, roots), sys.MonoNow)

	var hot sync.WaitGroup
	run := &bench.Run{
		Record: rec, Places: []bench.Place{host}, Watch: func(bench.Place) bench.Watcher { return sampler }, Now: time.Now,
		MakeFile: func() (*target.File, error) {
			return target.Create(w.dir, rec.Plan.FileSize, strings.Repeat("4ea7", 8), j)
		},
		Undo: func(ctx context.Context) []string {
			var left []string
			for _, l := range j.Undo(ctx, undoers) {
				left = append(left, l.String())
			}
			return left
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
			return ctx.Err()
		},
		Emit: func(e bench.Event) {
			if e.Kind != bench.EventPass {
				return
			}
			throttle(t, rec.ID, "host", disk, fastIOPS)
			hot.Go(func() {
				throttleByHeat(func(mc int) {
					if e.Step == 1 {
						mc = 61_850 // the same falls, and nothing warms
					}
					temperature(mc)
				}, func(iops int) { throttle(t, rec.ID, "host", disk, iops) })
			})
		},
	}
	if err := run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	hot.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if len(rec.Incomplete) > 0 || len(rec.Cleaned.Left) > 0 {
		t.Fatalf("incomplete %+v, left %v", rec.Incomplete, rec.Cleaned.Left)
	}

	res := analysis.Compute(rec)
	named := map[int]bool{}
	fell := map[int]bool{}
	for i := range res.Drops {
		d := &res.Drops[i]
		t.Logf("pass %d: %d times within %.0f s from %.0f s, -%.0f %%: %+v", d.Pass, d.Cycles, float64(d.UntilNS-d.OnsetNS)/1e9, float64(d.OnsetNS)/1e9, 100*d.Depth, d.Causes)
		fell[d.Pass] = true
		for _, c := range d.Causes {
			if c.Kind == analysis.CauseThermal && c.Confidence != analysis.Weak {
				named[d.Pass] = true
			}
		}
	}
	for pass, want := range map[int]bool{0: true, 1: false} {
		if !fell[pass] {
			t.Errorf("pass %d: no drop was found", pass)
		} else if named[pass] != want {
			t.Errorf("pass %d: named heat: %v, want %v", pass, named[pass], want)
		}
	}
	if len(res.Heat) == 0 || res.Heat[0].Onset == nil || res.Heat[0].Onset.FromMC > throttleMC+2000 || res.Heat[0].Onset.ToMC < throttleMC-2000 {
		t.Errorf("heat %+v, want an onset at %d m°C", res.Heat, throttleMC)
	}
	w.nothingLeft()
}

const (
	fastIOPS   = 1200
	slowIOPS   = fastIOPS / 4
	throttleMC = 83_850 // readings end in .85, as those of kelvin do
)

// throttleByHeat warms a drive by 2 °C a second, slows it down at throttleMC, and
// lets go again 12 °C below, four times.
func throttleByHeat(set func(mc int), limit func(iops int)) {
	step := func(from, to, by int) {
		for mc := from; mc != to; mc += by {
			set(mc)
			time.Sleep(time.Second)
		}
		set(to)
	}
	from := throttleMC - 30_000
	for range 4 {
		step(from, throttleMC, 2000)
		limit(slowIOPS)
		from = throttleMC - 12_000
		step(throttleMC, from, -2000)
		limit(fastIOPS)
	}
}

// recordedDrive builds the recorded sysfs of an NVMe drive anew, and returns what
// sets its composite temperature.
func recordedDrive(t *testing.T) (sensor.Roots, func(mc int)) {
	t.Helper()
	root := sensortest.Recorded(t, filepath.Join("..", "..", "internal", "sensor", "testdata", "nvme.txtar"))
	var input string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "temp1_input" {
			input = path
		}
		return err
	})
	if err != nil || input == "" {
		t.Fatalf("no temp1_input in the recorded tree: %v", err)
	}
	return sensor.Roots{Sys: filepath.Join(root, "sys"), Proc: "/proc", Dev: filepath.Join(root, "dev")}, func(mc int) {
		// As a whole: a reader must never see an empty file.
		if err := errors.Join(os.WriteFile(input+".new", fmt.Appendln(nil, mc), 0o644), os.Rename(input+".new", input)); err != nil {
			t.Error(err)
		}
	}
}
