package job

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func fioPhases() map[string]Phase {
	m := map[string]Phase{}
	for _, p := range Quick().Phases {
		p.RuntimeNS = 2_500_000_000
		if p.Mode.Writes() {
			p.MaxBytes = 8 << 30
		}
		m[p.Name] = p
	}
	m["three"] = Phase{Name: "three", Mode: Write, BlockSize: 4096, IODepth: 1, NumJobs: 3, Split: true, Unique: true, Once: true, RandSeed: 1<<64 - 1}
	m["odd"] = Phase{Name: "odd", Mode: RandWrite, BlockSize: 4096, IODepth: 1, NumJobs: 7, Direct: true, RuntimeNS: 1_000_500, MaxBytes: 1000}
	m["long"] = Phase{Name: "long", Mode: Read, BlockSize: 1 << 20, IODepth: 8, NumJobs: 1, Direct: true, RuntimeNS: 60e9, Split: true}
	return m
}

func TestFioOptions(t *testing.T) {
	want := map[string]string{
		RandRead4K:  "ioengine=io_uring rw=randread bs=4k iodepth=32 numjobs=4 direct=1 norandommap=1 time_based=1 runtime=2500ms",
		RandWrite4K: "ioengine=io_uring rw=randwrite bs=4k iodepth=32 numjobs=4 direct=1 norandommap=1 runtime=2500ms io_size=2g",
		Read128K:    "ioengine=io_uring rw=read bs=128k iodepth=32 numjobs=4 direct=1 size=25% offset_increment=25% time_based=1 runtime=2500ms",
		Write128K:   "ioengine=io_uring rw=write bs=128k iodepth=32 numjobs=4 direct=1 size=25% offset_increment=25% runtime=2500ms io_size=2g",
		SyncWrite4K: "ioengine=io_uring rw=write bs=4k iodepth=1 numjobs=1 direct=1 fdatasync=1 runtime=2500ms io_size=8g",
		"three":     "ioengine=io_uring rw=write bs=4k iodepth=1 numjobs=3 direct=0 size=349524k offset_increment=349524k refill_buffers=1 randseed=18446744073709551615",
		"odd":       "ioengine=io_uring rw=randwrite bs=4k iodepth=1 numjobs=7 direct=1 norandommap=1 runtime=1ms io_size=4k",
		"long":      "ioengine=io_uring rw=read bs=1m iodepth=8 numjobs=1 direct=1 time_based=1 runtime=60s",
	}
	for name, p := range fioPhases() {
		if got := FioOptions(&p, 1<<30); got != want[name] {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want[name])
		}
	}
}

// TestFioTakesFioOptions asks fio itself.
func TestFioTakesFioOptions(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	for name, p := range fioPhases() {
		if name == "three" {
			p.RandSeed = 7 // the largest is one more than fio takes
		}
		args := []string{"--parse-only", "--name=" + name, "--filename=" + filepath.Join(t.TempDir(), "file")}
		for o := range strings.FieldsSeq(FioOptions(&p, 1<<30)) {
			args = append(args, "--"+o)
		}
		if out, err := exec.Command(fio, args...).CombinedOutput(); err != nil {
			t.Errorf("fio %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
