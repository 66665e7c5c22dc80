package fiojson

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nativ/internal/fio/fiotest"
)

// What fio 3.33 wrote comes out again, value by value.
func TestEveryFieldOfFio(t *testing.T) {
	files, err := filepath.Glob("testdata/fio-3.33-*.json")
	if err != nil || len(files) < 15 {
		t.Fatal(len(files), err)
	}
	// Not the result of a job: rests of an idle direction, or unknown and written
	// by fio as zero.
	expected := func(diff string) bool {
		key, what, _ := strings.Cut(diff, ": ")
		switch {
		case strings.HasSuffix(key, ".elapsed"), strings.HasSuffix(key, ".eta"), strings.Contains(key, ".latency_") && what == "gone":
			return true // latency_target and the like repeat options
		case what == "12 became 0": // each: an IOPS log makes each I/O a sample of 1
			return strings.HasSuffix(key, ".iops_samples")
		case key == "0.read.short_ios" || key == "0.sync.total_ios": // sync: fio 3.33 counts fdatasyncs so
			return true
		case what == "gone":
			for _, k := range []string{".bw_min", ".bw_max", ".bw_agg", ".bw_mean", ".bw_dev", ".iops_min", ".iops_max", ".iops_mean"} {
				if strings.HasSuffix(key, k) {
					return true // of no sample
				}
			}
		}
		return false
	}
	for _, f := range files {
		name := filepath.Base(f)
		switch name {
		case "fio-3.33-client.json", "fio-3.33-empty.json", "fio-3.33-error.json", "fio-3.33-status.json", "fio-3.33-mixed.json", "fio-3.33-both.json", "fio-3.33-group-mixed.json":
			continue // hosts, several objects, no I/O, or counted in another way
		}
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := FromRecord(&b, toRecord(t, name)); err != nil {
				t.Fatal(err)
			}
			want, got := fiotest.Jobs(t, open(t, name)), fiotest.Jobs(t, b.Bytes())
			if len(want) != len(got) {
				t.Fatalf("%d jobs became %d", len(want), len(got))
			}
			for i := range want {
				for _, d := range fiotest.Differences(fmt.Sprint(i), want[i], got[i]) {
					if !expected(d) {
						t.Error(d)
					}
				}
			}
		})
	}
}
