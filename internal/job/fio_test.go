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

// All that a section sets is in its settings, and what its phase adds comes after.
func TestSettings(t *testing.T) {
	f, err := ParseArgs(testOptions(), strings.Fields("--name=a --rw=randrw --rwmixread=70 --bs=8k --numjobs=2 --directory=/d --size=1g "+
		"--fsync=32 --end_fsync=1 --sync=dsync --thinktime=5us --rate_iops=100 --offset_increment=1m --cpus_allowed=0-1 --norandommap "+
		"--percentile_list=50:99 --invalidate=0 --description=x --stonewall"))
	if err != nil {
		t.Fatal(err)
	}
	j := f.Jobs[0]
	var own []string
	for _, s := range j.Settings() {
		own = append(own, s.String())
	}
	const want = "description=x directory=/d rw=randrw rwmixread=70 bs=8k numjobs=2 size=1g offset_increment=1m invalidate=0 " +
		"rate_iops=100 thinktime=5us fsync=32 end_fsync=1 sync=dsync norandommap=1 cpus_allowed=0-1 percentile_list=50:99"
	if got := strings.Join(own, " "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// A clone that has a worker of its own.
	j.Directory, j.NumJobs = nil, 1
	p, err := ToPhase(j)
	if err != nil {
		t.Fatal(err)
	}
	p.Offset = Size{Bytes: 1 << 20}
	all := AllSettings(f.Jobs[0].Settings(), &p, 0)
	seen := map[string]string{}
	for _, s := range all {
		if v, ok := seen[s.Name]; ok {
			t.Errorf("%s=%s and %s", s.Name, v, s.Value)
		}
		seen[s.Name] = s.Value
	}
	if seen["numjobs"] != "2" || seen["offset"] != "" || seen["iodepth"] != "1" || seen["direct"] != "0" {
		t.Errorf("%v", all)
	}
}
