package job

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type failer interface {
	Fatalf(string, ...any)
	Helper()
}

// stable requires that what is printed is the same jobs again, and printed as
// the same text. It returns the text, or "" where a job file cannot hold it.
func stable(t failer, f *File) string {
	t.Helper()
	var b, again strings.Builder
	if err := Print(&b, f); err != nil {
		return ""
	}
	g, err := Parse(Options{ReadFile: func(string) ([]byte, error) { return []byte(b.String()), nil }}, "printed.fio")
	if err != nil {
		t.Fatalf("what was printed is wrong: %v\n%s", err, b.String())
	}
	if d := cmp.Diff(bare(f), bare(g), cmp.AllowUnexported(Job{})); d != "" {
		t.Fatalf("printed and read again (-before +after):\n%s\n%s", d, b.String())
	}
	if err := Print(&again, g); err != nil || again.String() != b.String() {
		t.Fatalf("printed twice: %v\n%s\n%s", err, b.String(), again.String())
	}
	return b.String()
}

// bare is the jobs without the places at which options were set.
func bare(f *File) []Job {
	var js []Job
	for _, j := range f.Jobs {
		j = j.clone()
		for k := range j.set {
			j.set[k] = Pos{}
		}
		js = append(js, j)
	}
	return js
}

// anyFile draws the text of a valid job file.
func anyFile(t *rapid.T) string {
	of := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }
	size := of("4k", "512", "20%", "1536m", "1g", "0x1000", "7", "(2*4k)")
	time := of("30", "2m", "500ms", "10us", "1h", "0", "1d")
	flag := of("0", "1")
	values := map[string]*rapid.Generator[string]{
		"rw": of(ourModes...), "readwrite": of(ourModes...), "rwmixread": of("0", "30", "100"), "rwmixwrite": of("0", "30", "100"),
		"bs": of("4k", "512,8k", ",16k", "8k,", "1m"), "blocksize": of("64k"), "numjobs": of("1", "4", "(2*2)"),
		"thread": flag, "size": size, "io_size": size, "io_limit": size, "offset": size, "offset_increment": size,
		"filename": of("a", "a:b", `a\:b`, "a b", `x\y`, "/dev/null"), "directory": of(".", ".:."), "direct": flag,
		"ramp_time": time, "rate_iops": of("100", "1,2", ",5"), "thinktime": time, "fsync": of("0", "32"), "fdatasync": of("1"),
		"end_fsync": flag, "sync": of("0", "1", "none", "sync", "dsync"), "group_reporting": flag, "stonewall": flag,
		"wait_for_previous": flag, "randseed": of("1", "0x89"), "norandommap": flag, "refill_buffers": flag, "zero_buffers": flag,
		"buffer_compress_percentage": of("0", "50"), "cpus_allowed": of("0", "0,1"), "fixedbufs": flag, "registerfiles": flag, "hipri": flag,
		"percentile_list": of("50:99", "99.9", "1:5.25:50"), "lat_percentiles": flag, "iodepth": of("1", "32"), "runtime": of("10", "3ms"),
	}
	// In a fixed order, so that a failure can be drawn again.
	var names []string
	for _, o := range options {
		names = append(append(names, o.name), o.aliases...)
	}
	var b strings.Builder
	section := func(name string) {
		b.WriteString("[" + name + "]\n")
		if name == "global" {
			// So that every option may follow.
			b.WriteString("ioengine=io_uring\nruntime=5\n")
		}
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			n := rapid.SampledFrom(names).Draw(t, "option")
			if g := values[n]; g != nil {
				b.WriteString(n + "=" + g.Draw(t, "value") + "\n")
			}
		}
	}
	section("global")
	for range rapid.IntRange(1, 4).Draw(t, "jobs") {
		section(rapid.SampledFrom([]string{"a", "b", "c d", " e ", "x:y"}).Draw(t, "name"))
		if rapid.Bool().Draw(t, "global") {
			section("global")
		}
	}
	section("last")
	return b.String()
}

func TestPrintedIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyFile(t)
		f, err := Parse(Options{ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}, "t.fio")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if stable(t, f) == "" {
			t.Fatalf("cannot be printed:\n%s", text)
		}
	})
}

// fio takes what is printed, and understands it as it does the original.
func TestPrintedRunsInFio(t *testing.T) {
	fio333(t)
	dir := t.TempDir()
	for i := range 20 {
		text := rapid.Custom(anyFile).Example(i)
		f, err := Parse(Options{ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}, "t.fio")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		path := filepath.Join(dir, "t.fio")
		if err := os.WriteFile(path, []byte(stable(t, f)), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := fio(t, "--parse-only", path); strings.TrimSpace(out) != "" {
			t.Fatalf("fio: %s\n%s", out, stable(t, f))
		}
	}
}

func TestPrint(t *testing.T) {
	f, err := ParseArgs(testOptions(), strings.Fields("--direct=1 --bs=4k --stonewall --name=a --rw=read --name=b --rw=write --bs=8k"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Print(&b, f); err != nil {
		t.Fatal(err)
	}
	const want = `[global]
direct=1

[a]
rw=read
bs=4k
stonewall=1

[b]
rw=write
bs=8k
stonewall=1
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What a job file cannot hold is refused, and not printed as something else.
func TestPrintRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--name=a;b"}, {"--name=a]"}, {"--name=a", "--filename=a#b"}, {"--name=a", "--filename=${X}"},
		{"--name=a", "--filename=a$ncpus"}, {"--name=a", "--directory=a "}, {"--name=a\nb"},
	} {
		f, err := ParseArgs(testOptions(), args)
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		var b strings.Builder
		if err := Print(&b, f); err == nil || b.Len() > 0 {
			t.Errorf("%q: %v, printed %q", args, err, b.String())
		}
	}
	if err := Print(&strings.Builder{}, &File{}); err == nil {
		t.Error("no jobs were printed")
	}
}
