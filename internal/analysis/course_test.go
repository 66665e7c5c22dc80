package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/job"
	"nativ/internal/record"
)

// runsOf makes runs of one drive with these IOPS on the host. They are invented.
func runsOf(iops ...float64) []record.RunSummary {
	var runs []record.RunSummary
	for i, v := range iops {
		runs = append(runs, record.RunSummary{
			ID: fmt.Sprint(i), Started: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Origin: record.OriginMeasured,
			Tool: "nativ 1", Preset: "quick", Kernel: "6.8.12-1-pve", Filesystem: "ext4",
			Drives: []record.DriveSummary{{Key: "S1", Firmware: "1", LinkMTs: new(16000), LinkWidth: new(4)}},
			Numbers: []record.Number{{
				Setting: record.Setting{Phase: job.Phase{Name: job.RandWrite4K, Mode: job.RandWrite, BlockSize: 4096}, Place: record.PlaceHost},
				Passes:  2, Planned: 2, IOPS: new(v), BytesPerSec: new(v * 4096),
			}},
		})
	}
	return runs
}

func TestCourseSaysWhatChangedAtTheSameTime(t *testing.T) {
	var iops []float64
	for i := range 12 {
		iops = append(iops, 100_000+float64(i%3)*400)
	}
	for i := range 6 {
		iops = append(iops, 93_000+float64(i%3)*400)
	}
	runs := runsOf(iops...)
	for i := 12; i < len(runs); i++ {
		runs[i].Kernel, runs[i].Drives[0].LinkWidth = "6.14.11-2-pve", new(2)
	}
	runs[15].Kernel = "7.0" // not where the level changes
	courses, left := Courses(runs, "S1")
	if len(courses) != 1 || left != 0 || len(courses[0].Points) != 18 {
		t.Fatalf("%d courses, %d left", len(courses), left)
	}
	l := courses[0].Levels
	if len(l) != 2 || l[0].To != 12 || l[1].From != 12 || l[1].To != 18 || l[0].Change != nil {
		t.Fatalf("levels %+v", l)
	}
	if got := *l[1].Change; math.Abs(got+0.07) > 0.002 {
		t.Errorf("changed by %f", got)
	}
	if math.Abs(l[1].BytesPerSec/l[1].IOPS-4096) > 1e-6 {
		t.Errorf("%f bytes an I/O", l[1].BytesPerSec/l[1].IOPS)
	}
	want := []Difference{{DiffersKernel, "6.8.12-1-pve", "6.14.11-2-pve"}, {DiffersLink, "16000 4", "16000 2"}}
	if d := cmp.Diff(want, l[1].Differs); d != "" {
		t.Error(d)
	}
	// Nine runs are too few.
	few, _ := Courses(runs[8:17], "S1")
	if len(few[0].Levels) != 1 {
		t.Errorf("levels %+v", few[0].Levels)
	}
}

// TestWhatHasNoPartInACourse.
func TestWhatHasNoPartInACourse(t *testing.T) {
	runs := runsOf(100, 100, 100, 100, 100, 100, 100)
	runs[0].Origin = record.OriginSimulated
	runs[1].Origin = record.OriginImported
	runs[2].Drives = append(runs[2].Drives, record.DriveSummary{Key: "S2"}) // a stack of two
	runs[3].Numbers[0].Passes = 1                                           // a pass failed
	runs[4].Numbers[0].IOPS = nil
	runs[5].Numbers[0].Setting.FileSize = 1 << 30 // another course
	courses, left := Courses(runs, "S1")
	if len(courses) != 2 || left != 5 || len(courses[0].Points) != 1 || len(courses[1].Points) != 1 {
		t.Errorf("%d courses, %d left", len(courses), left)
	}
	if courses, left := Courses(runs, "S2"); len(courses) != 0 || left != 7 {
		t.Errorf("%d courses, %d left", len(courses), left)
	}
}

// TestCoursesOfNoise holds what levelRisk says: without a change, courses of
// independent runs hardly ever show one; a change of 7 % is found where the runs
// scatter by 1.5 %.
func TestCoursesOfNoise(t *testing.T) {
	const repeat = 400
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 15, 25, 50, 100} {
		wrong, found := 0, 0
		for range repeat {
			x := make([]float64, n)
			for i := range x {
				x[i] = 0.015 * r.NormFloat64()
			}
			if len(runLevels(x)) > 0 {
				wrong++
			}
			for i := n / 2; i < n; i++ {
				x[i] -= 0.07
			}
			if at := runLevels(x); len(at) == 1 && at[0] >= n/2-1 && at[0] <= n/2+1 {
				found++
			}
		}
		t.Logf("%3d runs: a change where there is none in %d of %d, one of 7 %% found in %d", n, wrong, repeat, found)
		if wrong > repeat/100 {
			t.Errorf("%d runs: a change where there is none in %d of %d", n, wrong, repeat)
		}
		if n >= 15 && found < repeat*9/10 {
			t.Errorf("%d runs: found %d of %d changes", n, found, repeat)
		}
	}
	// A change below the margin is none, however certain.
	x := slices.Concat(slices.Repeat([]float64{0}, 20), slices.Repeat([]float64{0.02}, 20))
	if at := runLevels(x); len(at) > 0 {
		t.Errorf("a change of 2 %% is named at %v", at)
	}
}
