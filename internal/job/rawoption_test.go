package job

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func forFio(t *testing.T, text string) (*File, error) {
	t.Helper()
	return Parse(Options{
		ForFio: true, ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
		FioHas: func(name string) bool { return name == "sprandom" },
	}, "x.fio")
}

// Options that only fio has travel word for word and in their order; the last of
// two that set the same counts.
func TestRawOptions(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"bssplit=4k/50:64k/50\nnice=2\nbs_unaligned", []string{"bssplit=4k/50:64k/50", "nice=2", "bs_unaligned"}},
		{"random_distribution=zipf:1.2\nrandom_distribution=random", []string{"random_distribution=zipf:1.2", "random_distribution=random"}},
		{"startdelay= 3", []string{"startdelay= 3"}},
		{"rw=randread:8", []string{"rw=randread:8"}},
		{"rw=randread:8\nrw=read", nil},
		{"bs=4k,8k,16k", []string{"bs=4k,8k,16k"}},
		{"bsrange=1k-4k\nbs=4k", nil},
		{"bs=4k\nbsrange=1k-4k", []string{"bsrange=1k-4k"}},
		{"cpus_allowed=0:1", []string{"cpus_allowed=0:1"}},
		{"size=4z", []string{"size=4z"}},
		{"ioengine=pvsync2\nhipri", []string{"hipri=1"}},
		{"ioengine=io_uring\nhipri", nil},
		{"sprandom=1", []string{"sprandom=1"}},
		{"mem=mmap", []string{"mem=mmap"}},
		{"kb_base=1024", []string{"kb_base=1024"}},
		{"fallocate=none\nunlink=0\noverwrite=1", []string{"fallocate=none", "unlink=0", "overwrite=1"}},
	} {
		f, err := forFio(t, "[global]\n"+tt.text+"\n[a]\n[b]\nnice=3\n")
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if !slices.Equal(f.Jobs[0].Raw, tt.want) || len(f.Jobs[1].Raw) != len(tt.want)+1 || !slices.Contains(f.Jobs[1].Raw, "nice=3") {
			t.Errorf("%q: %q, %q; want %q", tt.text, f.Jobs[0].Raw, f.Jobs[1].Raw, tt.want)
		}
		p, err := ToPhase(f.Jobs[0])
		if err != nil && !strings.Contains(err.Error(), "runtime") {
			t.Errorf("%q: %v", tt.text, err)
		}
		if !slices.Equal(p.Raw, tt.want) {
			t.Errorf("%q: the phase has %q", tt.text, p.Raw)
		}
		// Printed and read again it is the same job.
		var b strings.Builder
		if err := Print(&b, f); err != nil {
			t.Fatal(err)
		}
		again, err := forFio(t, b.String())
		if err != nil || !slices.Equal(again.Jobs[1].Raw, f.Jobs[1].Raw) {
			t.Errorf("%q: printed as %q, which reads as %v, %v", tt.text, b.String(), again, err)
		}
		// The own engine has none of it.
		if _, err := Parse(Options{ReadFile: func(string) ([]byte, error) { return []byte("[a]\n" + tt.text), nil }}, "x.fio"); len(tt.want) > 0 && err == nil {
			t.Errorf("%q: the own engine takes it", tt.text)
		}
	}
}

// With fio as the engine values mean what they mean to fio.
func TestFiosWay(t *testing.T) {
	for text, check := range map[string]func(*Job) bool{
		"bs = 4k":                      func(j *Job) bool { return j.ReadBS == 4 && j.WriteBS == 4 },
		"bs=4kib,1.5m":                 func(j *Job) bool { return j.ReadBS == 4000 && j.WriteBS == 1 },
		"size=1.5m":                    func(j *Job) bool { return j.Size.Bytes == 1 },
		"size=1mib":                    func(j *Job) bool { return j.Size.Bytes == 1e6 },
		"runtime=2min":                 func(j *Job) bool { return j.RuntimeNS == 2000 },
		"runtime=1.5s":                 func(j *Job) bool { return j.RuntimeNS == 1e9 },
		"iodepth=100000":               func(j *Job) bool { return j.IODepth == 100000 },
		"numjobs=1000":                 func(j *Job) bool { return j.NumJobs == 1000 },
		"buffered=0":                   func(j *Job) bool { return j.Direct && j.Raw == nil },
		"direct=1\nbuffered=1":         func(j *Job) bool { return !j.Direct },
		"time_based":                   func(j *Job) bool { return !j.TimeBased },
		"ioengine=psync\niodepth=32":   func(j *Job) bool { return j.IODepth == 32 && j.IOEngine == PSync },
		"ioengine=mmap":                func(j *Job) bool { return j.IOEngine == "mmap" },
		"filename=/x/a#1":              func(j *Job) bool { return slices.Equal(j.Filename, []string{"/x/a"}) },
		"rate_iops=10,20,30":           func(j *Job) bool { return j.ReadIOPS == 10 && j.WriteIOPS == 20 },
		"rw=readwrite:4k\nrwmixread=1": func(j *Job) bool { return j.RW == ReadWrite && j.RWMixRead == 1 },
	} {
		f, err := forFio(t, "[a]\n"+text+"\n")
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !check(&f.Jobs[0]) {
			t.Errorf("%q: %+v", text, f.Jobs[0])
		}
		if len(f.Warnings) > 0 {
			t.Errorf("%q: %v is not so with fio", text, f.Warnings)
		}
	}
}

// What fio does not get is named with file, line, reason and the way around.
func TestNotPassed(t *testing.T) {
	for _, o := range []string{
		"exec_prerun=touch /x", "exec_postrun=x", "filename_format=a", "opendir=/etc", "unique_filename=0", "nrfiles=4",
		"filesize=1g", "file_append=1", "fill_device=1", "fill_fs", "allow_file_create=1", "create_only=1",
		"create_on_open=1", "unlink=1", "unlink_each_loop=1", "write_iolog=/x", "read_iolog=/x", "replay_redirect=/dev/sda",
		"merge_blktrace_file=/x", "write_bw_log=/x", "write_hist_log", "log_avg_msec=5", "log_store_compressed=1", "per_job_logs=0",
		"stats=0", "unified_rw_reporting=1", "verify_dump=1", "verify_state_load=1", "verify_state_save=1", "trim_percentage=5", "profile=act",
		"ioscheduler=none", "cgroup=x", "cgroup_weight=5", "uid=1", "gid=1", "wait_for=a", "new_group", "flow=3", "exitall", "exit_what=all",
		"kb_base=1000", "mem=mmaphuge:/etc/passwd", "iomem=shm", "rw=trim", "rw=trimwrite:4k", "filename=-",
		"ioengine=external:/x.so", "ioengine=exec", "ioengine=net", "ioengine=rdma", "ioengine=falloc", "ioengine=filedelete", "ioengine=sg", "ioengine=null",
	} {
		_, err := forFio(t, "[a]\nbs=4k\n"+o+"\n")
		var e *Error
		name, _, _ := strings.Cut(o, "=")
		if !errors.As(err, &e) || e.Kind != Unsupported || e.Line != 3 || e.Option != name {
			t.Errorf("%s: %v", o, err)
		}
	}
	for _, o := range []string{"ioengine=io_urin", "ioengine=psync\nhipri", "bs=", "invalidate", "rw=rand", "startdelay="} {
		_, err := forFio(t, "[a]\n"+o+"\n")
		var e *Error
		if !errors.As(err, &e) || e.Kind != Invalid {
			t.Errorf("%s, which fio refuses: %v", o, err)
		}
	}
	_, err := forFio(t, "[a]\nstartdealy=3\n")
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unknown || e.Instead != "startdelay" {
		t.Errorf("a word that is no option: %v", err)
	}
}

// Every job option of fio is either taken by name or refused with a reason.
func TestAllOfFiosOptionsForFio(t *testing.T) {
	for _, name := range fioNames() {
		_, err := forFio(t, "[a]\nioengine=io_uring\n"+name+"=1\n")
		var e *Error
		if errors.As(err, &e) && (e.Kind == Unknown || e.Kind == Unsupported && notPassed(name, "1") == "" && optionByName(name) == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fio reads a job as it is printed for it as it reads the file itself.
func TestRawInFio(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("there is no fio here")
	}
	show := func(name string) string {
		out, err := exec.Command("fio", "--showcmd", name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		words := strings.Fields(string(out))
		slices.Sort(words)
		return strings.Join(words, "\n")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	in := "[a]\nioengine=pvsync2\nhipri=1\nrw=randrw:8\nbssplit=4k/50:64k/50\nrate_process=poisson\nsize=1m\nrandom_distribution=zipf:1.2\n"
	f, err := forFio(t, in)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Print(&b, f); err != nil {
		t.Fatal(err)
	}
	want := show(write("in.fio", in))
	got := show(write("out.fio", b.String()))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// For fio, too, a job that is printed and read again is the same, nothing refused
// slips through, and what the own engine takes means the same.
func FuzzForFio(f *testing.F) {
	for _, seed := range []string{
		"bs = 4k", "rw=randread:8\nbssplit=4k/50:64k/50", "bs=4k,8k,16k\nruntime=2min", "ioengine=pvsync2\nhipri", "cpus_allowed=0:1\nnice=3",
		"filename=a#b\nbuffered=1", "write_bw_log\nexec_prerun=x", "size=20%\nbsrange=1k-4k\nbs=1.5m", "randrepeat= 1\nsize=(1k*4)",
	} {
		f.Add(seed)
	}
	for _, tt := range goodFiles {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := func(text string, fio bool) (*File, error) {
			opts := testOptions()
			opts.ForFio = fio
			opts.ReadFile = func(string) ([]byte, error) { return []byte("[a]\n" + text), nil }
			return Parse(opts, "t.fio")
		}
		own, err := read(text, false)
		file, errFio := read(text, true)
		if err == nil && errFio != nil {
			t.Fatalf("the own engine takes it, but for fio: %v", errFio)
		}
		if errFio != nil {
			return
		}
		for i := range file.Jobs {
			j := &file.Jobs[i]
			for _, o := range j.Raw {
				name, value, _ := strings.Cut(o, "=")
				if notPassed(name, value) != "" {
					t.Errorf("fio gets %s", o)
				}
			}
			if err == nil && len(j.Raw) > 0 {
				t.Errorf("the own engine takes it, and fio gets %q", j.Raw)
			}
			if err == nil && !slices.Equal(mapValues(own.Jobs[i].written()), mapValues(j.written())) {
				t.Errorf("for the own engine it is %v, for fio %v", own.Jobs[i].written(), j.written())
			}
			_, _ = ToPhase(*j)
		}
		var b strings.Builder
		if Print(&b, file) != nil {
			return
		}
		opts := testOptions()
		opts.ForFio, opts.ReadFile = true, func(string) ([]byte, error) { return []byte(b.String()), nil }
		again, err := Parse(opts, "t.fio")
		if err != nil || len(again.Jobs) != len(file.Jobs) {
			t.Fatalf("printed as %q: %v", b.String(), err)
		}
		for i := range again.Jobs {
			p, err := ToPhase(file.Jobs[i])
			q, errAgain := ToPhase(again.Jobs[i])
			if (err == nil) != (errAgain == nil) || err == nil && !cmp.Equal(p, q, cmpopts.EquateEmpty()) {
				t.Errorf("%q printed as %q is another job: %s", text, b.String(), cmp.Diff(p, q))
			}
		}
	})
}

func mapValues(m map[string]string) (list []string) {
	for k, v := range m {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return list
}
