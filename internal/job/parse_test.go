package job

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testEnv = map[string]string{"N": "5", "OPT": "bs", "KEY": "$ncpus*2", "NESTED": "${N}", "EMPTY": "", "HASH": "a#b"}

// testOptions know a machine of 8 CPUs, unless fio is to agree.
func testOptions() Options {
	return Options{
		ReadFile:  os.ReadFile,
		LookupEnv: func(n string) (string, bool) { v, ok := testEnv[n]; return v, ok },
		NumCPU:    8, MemoryMB: 16000, PageSize: 4096,
	}
}

// write makes a directory of the files, given as name and text in turn, and
// returns the first one's path.
func write(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		p := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0])
}

var goodFiles = []struct {
	name, text, want string
	// apart is set where fio's --showcmd does not say what fio does.
	apart bool
}{
	{"comments", "; a\n# b\n  # c\n[a] ; d\nbs=8k # e\nfilename=a #b\niodepth=1;\n", "[a] filename=a bs=8k iodepth=1", false},
	{"blanks", "  [a]\t\n\t bs=8k \t\n\n\n\trw=write", "[a] rw=write bs=8k", false},
	{"crlf", "[a]\r\nbs=8k\r\n", "[a] bs=8k", false},
	{"blank before the sign", "[a]\nbs =8k\n", "[a] bs=8k", false},
	{"blanks where fio reads the same", "[a]\niodepth = 2\ndirect = 1\nfilename = f\nruntime = 3\n", "[a] filename=f iodepth=2 direct=1 runtime=3s", true},
	{"the last one holds", "[a]\nbs=4k\nbs=8k\nbs=4k,\nruntime=1\ntimeout=2\n", "[a] bs=4k,8k runtime=2s", false},
	{"names", "[a b]\n[a]\n[a]\nbs=8k\n[Global]\n[xglobal]\n", "[a b] [a] [a] bs=8k [Global] [xglobal]", true},
	{"globals", "[globalfoo]\nbs=8k\niodepth=2\n[a]\niodepth=4\n", "[a] bs=8k iodepth=4", false},
	{"globals later", "[global]\nbs=8k\n[a]\n[global]\nbs=16k\n[b]\n", "[a] bs=8k [b] bs=16k", true},
	{"env", "[a]\nfilename=x${N}y${N}z\nsize=${N}k\n${OPT}=8k\ndirectory=/tmp/${NESTED}${EMPTY}\n",
		"[a] filename=x5y5z directory=/tmp/${N} bs=8k size=5k", true},
	{"no env", "[a]\nfilename=$N\n", "[a] filename=$N", false},
	{"keywords", "[a]\nnumjobs=$ncpus\nsize=2*$pagesize+1\noffset=(1+2)*$ncpus\nbs=$pagesize/3\nio_size=$mb_memorym\nfilename=f$ncpus\n",
		"[a] filename=f8 bs=1365 numjobs=8 size=8193 io_size=16000m offset=24", true},
	{"keyword in env", "[a]\nnumjobs=${KEY}\n", "[a] numjobs=16", true},
	{"flags", "[a]\ntime_based\nthread=0\nruntime=1\nnorandommap\nstonewall\n",
		"[a] runtime=1s time_based=1 thread=0 norandommap=1 stonewall=1", true},
	{"aliases", "[a]\nreadwrite=readwrite\nblocksize=8k\nio_limit=1m\nfileoffset=4k\ntimeout=3\nwait_for_previous\n",
		"[a] rw=rw bs=8k io_size=1m offset=4k runtime=3s stonewall=1", false},
	{"mix", "[a]\nrw=randrw\nrwmixread=70\nrwmixwrite=60\n", "[a] rw=randrw rwmixread=40", false},
	{"escape", "[a]\nfilename=a\\:b:c:d\\e\n", `[a] filename=a\:b:c:d\e`, false},
	{"uring", "[a]\nfixedbufs\nioengine=io_uring\nhipri=1\n", "[a] ioengine=io_uring fixedbufs=1 hipri=1", true},
	{"first of a file", "[a]\nstonewall=0\n", "[a] stonewall=0", false},
}

func TestSyntax(t *testing.T) {
	for _, tt := range goodFiles {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse(testOptions(), write(t, "t.fio", tt.text))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(strings.ReplaceAll(tt.want, "[a b]", "[a_b]"))
			// The order of options does not matter here.
			got := strings.Fields(strings.ReplaceAll(plain(t, f), "[a b]", "[a_b]"))
			if d := cmp.Diff(bySection(want), bySection(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// plain prints each job with all of its options, on one line.
func plain(t testing.TB, f *File) string {
	var all []string
	for _, j := range f.Jobs {
		all = append(all, "["+j.Name+"]")
		for _, o := range options {
			if v, ok := j.written()[o.name]; ok {
				all = append(all, o.name+"="+v)
			}
		}
	}
	return strings.Join(all, " ")
}

func bySection(words []string) []map[string]bool {
	var all []map[string]bool
	for _, w := range words {
		if strings.HasPrefix(w, "[") {
			all = append(all, map[string]bool{})
		}
		all[len(all)-1][w] = true
	}
	return all
}

// fio understands the same of these files: the command line that it makes of
// one is, for us, the same job.
func TestSyntaxIsFios(t *testing.T) {
	fio333(t)
	for _, tt := range goodFiles {
		if tt.apart {
			continue // blanks in values, env of the test, CPUs of the machine
		}
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, "t.fio", tt.text)
			out, complaints := fioApart(t, "--parse-only", "--showcmd", path)
			if complaints != "" {
				t.Fatalf("fio: %s", complaints)
			}
			same(t, path, strings.Fields(out)[1:])
		})
	}
}

// same requires that the file and fio's command line for it are the same jobs.
func same(t *testing.T, path string, args []string) {
	t.Helper()
	f, err := Parse(testOptions(), path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := ParseArgs(testOptions(), args)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(plain(t, f), plain(t, g)); d != "" {
		t.Errorf("%v (-file +fio's command line):\n%s", args, d)
	}
}

// fio's environment and CPUs, where the test can give it the same.
func TestExpansionIsFios(t *testing.T) {
	fio333(t)
	t.Setenv("N", "5")
	path := write(t, "t.fio", "[a]\nfilename=x${N}y${N}z\nsize=${N}k\nbs=2*$pagesize\noffset=7/2+$pagesize\n[b]\nsize=(1+2)*$pagesize\n")
	out := fio(t, "--parse-only", "--showcmd", path)
	if strings.Contains(out, "bc: ") || strings.Contains(out, "failed parsing") {
		t.Skip("bc is not installed, without which fio computes nothing")
	}
	same(t, path, strings.Fields(out)[1:])
}

func TestInclude(t *testing.T) {
	path := write(t, "t.fio", "[global]\ninclude inc/a.inc\n[x]\ninclude=b.inc # c\nrw=write\n",
		"inc/a.inc", "; c\niodepth=2\ninclude sub/c.inc\ninclude sub/c.inc\n", "inc/sub/c.inc", "bs=8k\ninclude ../../b.inc",
		"b.inc", "numjobs=2")
	f, err := Parse(testOptions(), path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plain(t, f), "[x] rw=write bs=8k iodepth=2 numjobs=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	at, ok := f.Jobs[0].Set("blocksize")
	if want := (Pos{filepath.Join(filepath.Dir(path), "inc/sub/c.inc"), 1}); !ok || at != want {
		t.Errorf("bs was set at %v, want %v", at, want)
	}
	if _, ok := f.Jobs[0].Set("size"); ok {
		t.Error("size was never set")
	}
	fio333(t)
	out := fio(t, "--parse-only", "--showcmd", path)
	same(t, path, strings.Fields(out)[1:])
}

// An include that fio does not end is an error here.
func TestIncludeLoops(t *testing.T) {
	for _, files := range [][]string{
		{"t.fio", "[a]\ninclude t.fio\n"},
		{"t.fio", "[a]\ninclude ./x/../u.inc\n", "u.inc", "include u.inc\n", "x/y", ""},
		{"t.fio", "[a]\ninclude u.inc\n", "u.inc", "include v.inc\n", "v.inc", "include u.inc"},
	} {
		_, err := Parse(testOptions(), write(t, files...))
		if err == nil || !strings.Contains(err.Error(), "includes itself") {
			t.Errorf("%v: %v", files, err)
		}
	}
	// Wide instead of deep.
	files := []string{"t.fio", "[a]\ninclude 0\n"}
	for i := range 10 {
		next := strings.Repeat("include "+string(rune('1'+i))+"\n", 9)
		files = append(files, string(rune('0'+i)), next)
	}
	files = append(files, ":", "")
	if _, err := Parse(testOptions(), write(t, files...)); err == nil || !strings.Contains(err.Error(), "included files") {
		t.Errorf("wide: %.200v", err)
	}
}

// Each error names its file and line and says what fio would do, and one file's
// errors come together.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		kind       Kind
		want       string // T stands for the file's path
	}{
		{"no section", "bs=4k\n[a]\n", Syntax, `T:1: "bs=4k" is outside of a section`},
		{"byte order mark", "\ufeff[a]\n", Syntax, "T:1: the file starts with a byte order mark"},
		{"open header", "[a\nbs=4k\n", Syntax, `T:1: "[a": the section's name has no closing ]`},
		{"comment in header", "[a;b]\nbs=4k\n", Syntax, "no closing ]"},
		{"text after header", "[a] bs=4k\n", Syntax, "nothing may follow"},
		{"empty header", "[]\n", Syntax, "needs a name"},
		{"bracket in header", "[a]b]\n", Syntax, "cannot hold a ]"},
		{"variable in header", "[${N}]\n", Syntax, "no variables in a section's name"},
		{"nothing", "", Syntax, "command line: no job"},
		{"only globals", "[global]\nbs=4k\n", Syntax, "no job"},
		{"include outside", "include x\n", Syntax, "include is outside"},
		{"include missing", "[a]\ninclude nowhere\n", Unreadable, "T:2: read job file: open"},
		{"include variable", "[a]\ninclude ${N}\n", Syntax, "no variables in the name of an included"},
		{"include blank", "[a]\ninclude  x\n", Syntax, "second blank"},
		{"include nothing", "[a]\ninclude\n", Syntax, "needs the name"},
		{"includes", "[a]\nincludes x\n", Unknown, `fio has no option "includes x"`},
		{"blank", "[a]\nbs = 4k\n", Surprise,
			"T:2: bs= 4k: fio takes this as 4 bytes (--engine fio does it), but 4096 bytes was probably meant; write bs=4k"},
		{"case", "[a]\nBS=4k\n", Unknown, `T:2: BS=4k: fio has no option "BS"; the nearest is bs`},
		{"slip", "[a]\niodetph=4\n", Unknown, `the nearest is iodepth`},
		{"slip of another", "[a]\nverify_patern=4\n", Unknown, `the nearest is verify_pattern`},
		{"nonsense", "[a]\nqwertyuiop=4\n", Unknown, `T:2: qwertyuiop=4: fio has no option "qwertyuiop"`},
		{"dashes", "[a]\n--bs=4k\n", Unknown, `the nearest is bs`},
		{"no name", "[a]\n=4k\n", Syntax, `an option without a name`},
		{"other option", "[a]\nverify=md5\n", Unsupported, `T:2: verify=md5: this engine does not have fio's option verify; --engine fio takes it`},
		{"way out of one that fio does not get", "[a]\nexec_prerun=x\n", Unsupported,
			"T:2: exec_prerun=x: this engine does not have fio's option exec_prerun, and --engine fio does not pass it on: it starts another program; leave it out, or run fio itself"},
		{"binary", "[a]\nbs=4\x00k\n", Syntax, "T: this is no job file: it holds bytes that no text has"},
		{"other alias", "[a]\nss=iops\n", Unsupported, "fio's option ss"},
		{"other flag", "[a]\nnew_group\n", Unsupported, "T:2: new_group: this engine"},
		{"engine option", "[a]\nsqthread_poll\n", Unsupported, "fio's option sqthread_poll"},
		{"no value", "[a]\nbs\n", Invalid, "T:2: bs: the option needs a value"},
		{"empty value", "[a]\nbs=\n", Invalid, "the value is empty"},
		{"empty flag", "[a]\ntime_based=\n", Invalid, "write time_based alone"},
		{"unset variable", "[a]\nfilename=/dev/${NOPE}\n", Invalid, "T:2: filename=/dev/${NOPE}: the environment variable NOPE is not set"},
		{"open variable", "[a]\nfilename=${N\n", Invalid, "no closing }"},
		{"computed name", "[a]\nfilename=a-$ncpus-b\n", Invalid, "is no arithmetic"},
		{"computed unit", "[a]\nsize=1k*$ncpus\n", Invalid, "knows no units"},
		{"comment in a name", "[a]\nfilename=a#b\n", Surprise, "T:2: filename=a: fio takes ; and # as the start of a comment even within a name"},
		{"in a global", "[global]\n\nsize=1.5m\n[a]\n", Surprise, "T:3: size=1.5m"},
		{"in an include", "[a]\ninclude u.inc\n", Surprise, "u.inc:2: size=4kib"},
		{"section in an include", "[a]\ninclude s.inc\n", Syntax, "s.inc:1: a section in an included file"},
		{"uring's", "[a]\nfixedbufs\n", Invalid, "T:2: fixedbufs: the option belongs to ioengine=io_uring"},
		{"time_based", "[a]\ntime_based\n", Surprise, "T:2: time_based: the option needs a runtime"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, "t.fio", tt.text, "u.inc", "\nsize=4kib", "s.inc", "[b]")
			f, err := Parse(testOptions(), path)
			if f != nil {
				t.Error("a file as well as an error")
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if want := strings.ReplaceAll(tt.want, "T:", path+":"); !strings.Contains(e.Error(), want) || e.Kind != tt.kind {
				t.Errorf("got %q of kind %d, want %q of kind %d", e, e.Kind, want, tt.kind)
			}
			if es := err.(Errors); len(es) != 1 {
				t.Errorf("%d errors: %v", len(es), es)
			}
		})
	}
}

func TestAllErrorsOfAFile(t *testing.T) {
	path := write(t, "t.fio", "[a]\nbs = 4k\nverify=md5\nrw=read\n[b\nfoo=1\n[c]\nsize=1.5m\ninclude nowhere\n")
	_, err := Parse(testOptions(), path)
	es, ok := err.(Errors)
	if !ok {
		t.Fatalf("got %v", err)
	}
	var lines []int
	for _, e := range es {
		lines = append(lines, e.Line)
	}
	if d := cmp.Diff([]int{2, 3, 5, 8, 9}, lines); d != "" {
		t.Errorf("lines (-want +got):\n%s\n%v", d, err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause of the missing file is lost")
	}
	if es[0].Section != "a" || es[3].Section != "c" || es[0].Option != "bs" || es[0].Value != " 4k" {
		t.Errorf("%+v", es[0])
	}
}

// What fio refuses is refused here too.
func TestFioRefusesTheSame(t *testing.T) {
	fio333(t)
	for _, text := range []string{
		"bs=4k\n[a]\n", "\ufeff[a]\n", "include x\n", "[a]\ninclude nowhere\n", "[a]\ninclude  u.inc\n", "[a]\ninclude ${N}\n",
		"[a]\ninclude s.inc\n", "[a]\nBS=4k\n", "[a]\nbsx=4k\n", "[a]\n=4k\n", "[a]\nbs\n", "[a]\nbs=\n", "[a]\ntime_based=\n",
		"[a]\nrw = read\n", "[a]\nrw=READ\n", "[a]\nsync = 1\n", "[a]\ndirect=true\n", "[a]\ndirect=2\n", "[a]\niodepth=0\n", "[a]\nbs=0\n",
		"[a]\nrwmixread=101\n", "[a]\nbuffer_compress_percentage=101\n", "[a]\nfixedbufs\n", "[a]\nfixedbufs\nioengine=libaio\n",
		"[a]\nio_size=200%\n", "[a]\nrandseed=abc\n", "[a]\npercentile_list=abc\n", "[a]\nfilename=\n", "[a]\nsync=2\n",
		"[a]\nsize=1k*$pagesize\n", "[a]\nrandseed=18446744073709551615\n",
	} {
		path := write(t, "t.fio", text, "u.inc", "bs=4k", "s.inc", "[b]")
		stdout, stderr := fioApart(t, "--parse-only", path)
		if stdout+stderr == "" {
			t.Errorf("fio takes %q", text)
		}
		if _, err := Parse(testOptions(), path); err == nil {
			t.Errorf("fio refuses %q and this package does not: %s", text, stderr)
		}
	}
}

func TestWarnings(t *testing.T) {
	path := write(t, "t.fio", "[global]\niodepth=4\n[a]\n[b]\nioengine=io_uring\n")
	f, err := Parse(testOptions(), path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings) != 1 || f.Warnings[0].Section != "a" || f.Warnings[0].Line != 2 {
		t.Errorf("%v", f.Warnings)
	}
}

// The keywords' values may be unknown.
func TestUnknownMachine(t *testing.T) {
	path := write(t, "t.fio", "[a]\nnumjobs=$ncpus\n")
	if _, err := Parse(Options{ReadFile: os.ReadFile}, path); err == nil || !strings.Contains(err.Error(), "$ncpus is not known") {
		t.Errorf("%v", err)
	}
	if _, err := Parse(Options{}, path); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, tt := range goodFiles {
		f.Add(tt.text, "bs=4k")
	}
	f.Add("[a]\ninclude i\ninclude i\n", "[b]\nbs = 4k\ninclude i\nsize=(1")
	for _, n := range PresetNames() {
		b, err := PresetFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), "")
	}
	f.Fuzz(func(t *testing.T, text, included string) {
		opts := testOptions()
		opts.ReadFile = func(name string) ([]byte, error) {
			switch name {
			case "t.fio":
				return []byte(text), nil
			case "i":
				return []byte(included), nil
			}
			return nil, fs.ErrNotExist
		}
		file, err := Parse(opts, "t.fio")
		if err != nil {
			for _, e := range err.(Errors) {
				if e.Text == "" || e.Kind == 0 {
					t.Errorf("no reason: %+v", e)
				}
			}
			return
		}
		stable(t, file)
	})
}

// name and description are as harmless as in fio, whose own examples carry them.
func TestNameAndDescription(t *testing.T) {
	for _, forFio := range []bool{false, true} {
		o := testOptions()
		o.ForFio = forFio
		f, err := Parse(o, write(t, "t.fio", "[global]\nname=all\n[a]\n[b]\nname=mine\ndescription=what it is for\n"))
		if err != nil {
			t.Fatal(err)
		}
		if f.Jobs[0].Name != "all" || f.Jobs[1].Name != "mine" || f.Jobs[1].Description != "what it is for" {
			t.Errorf("%+v", f.Jobs)
		}
		var b strings.Builder
		if err := Print(&b, f); err != nil || !strings.Contains(b.String(), "[all]\n") || !strings.Contains(b.String(), "[mine]\ndescription=what it is for\n") {
			t.Errorf("%v\n%s", err, b.String())
		}
		if p, err := ToPhase(f.Jobs[1]); err != nil || p.Name != "mine" || p.Description != "what it is for" {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

func TestSections(t *testing.T) {
	path := write(t, "t.fio", "[global]\nbs=8k\n[a]\nbs = nonsense\ninclude nowhere\n[b]\nrw=write\n")
	o := testOptions()
	o.Sections = []string{"b"}
	f, err := Parse(o, path)
	if err != nil || len(f.Jobs) != 1 || f.Jobs[0].Name != "b" || f.Jobs[0].WriteBS != 8192 {
		t.Errorf("%+v, %v", f, err)
	}
	o.Sections = []string{"b", "c"}
	if _, err := Parse(o, path); err == nil || !strings.Contains(err.Error(), "no section [c]") {
		t.Errorf("got %v", err)
	}
}

func TestManyErrors(t *testing.T) {
	_, err := Parse(testOptions(), write(t, "t.fio", "[a]\n"+strings.Repeat("bs = 4k\n", 100)))
	if err == nil || strings.Count(err.Error(), "\n") != 20 || !strings.HasSuffix(err.Error(), "\nand 80 more") {
		t.Errorf("got %v", err)
	}
	if n := len(err.(Errors)); n != 100 {
		t.Errorf("%d errors are there", n)
	}
}

// What runs otherwise than in fio, or than it says, is said.
func TestMoreWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"ioengine=psync\niodepth=16":             "ioengine=psync keeps one I/O in flight",
		"rw=randrw\nfsync=16":                    "fsync=16 syncs once after every 16 writes here",
		"rw=rw\nfdatasync=1":                     "fdatasync=1 syncs once",
		"rw=write\nfsync=16":                     "",
		"ioengine=psync\niodepth=1\nrw=randread": "",
	} {
		f, err := Parse(testOptions(), write(t, "t.fio", "[a]\n"+text+"\n"))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, w := range f.Warnings {
			got = append(got, w.String())
		}
		if all := strings.Join(got, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("%q: %q", text, all)
		}
		if p, err := ToPhase(f.Jobs[0]); err != nil || strings.Contains(text, "psync") && p.IODepth != 1 {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

// Options that say no more than whether: each as its phase has it.
func TestPhaseOfOptions(t *testing.T) {
	for text, check := range map[string]func(*Phase) bool{
		"":                         func(p *Phase) bool { return !p.KeepCache && !p.Direct && p.RandSeed == 0 },
		"invalidate=0":             func(p *Phase) bool { return p.KeepCache },
		"invalidate=1":             func(p *Phase) bool { return !p.KeepCache },
		"buffered=0":               func(p *Phase) bool { return p.Direct },
		"direct=1\nbuffered=1":     func(p *Phase) bool { return !p.Direct },
		"randrepeat=0":             func(p *Phase) bool { return p.RandSeed == 0 },
		"randrepeat=1":             func(p *Phase) bool { return p.RandSeed == 0x89 },
		"randrepeat=1\nrandseed=7": func(p *Phase) bool { return p.RandSeed == 7 },
		"clat_percentiles=1":       func(*Phase) bool { return true },
	} {
		f, err := Parse(testOptions(), write(t, "t.fio", "[a]\n"+text+"\n"))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p, err := ToPhase(f.Jobs[0]); err != nil || !check(&p) {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	if _, err := Parse(testOptions(), write(t, "t.fio", "[a]\nclat_percentiles=0\n")); err == nil {
		t.Error("clat_percentiles=0 is taken, and clat reported all the same")
	}
}

// A size that does not hold whole blocks is refused where fio goes beyond it, with
// the number of I/Os that fio does.
func TestWholeBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, refused := range map[string]bool{
		"rw=read\nbs=3k\nsize=10000": true, "rw=write\nbs=4k\nsize=10000": true, "rw=randread\nnorandommap\nbs=4k\nsize=10000": true,
		"rw=randread\nbs=4k\nsize=10000": false, "rw=read\nbs=4k\nsize=12k": false,
	} {
		f, err := Parse(testOptions(), write(t, "t.fio", "[a]\n"+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = ToPhase(f.Jobs[0])
		var e *Error
		if (err != nil) != refused || refused && (!errors.As(err, &e) || e.Kind != Surprise || e.Option != "size") {
			t.Errorf("%q: %v", text, err)
		}
		bs, size := f.Jobs[0].ReadBS, f.Jobs[0].Size.Bytes
		ios := size / bs
		if refused {
			ios++
		}
		fio333(t)
		args := []string{"--name=a", "--filename=" + file, "--ioengine=psync", "--output-format=terse"}
		for o := range strings.FieldsSeq(text) {
			args = append(args, "--"+o)
		}
		fields := strings.Split(fio(t, args...), ";") // terse version 3: KiB and IOPS of reads from 6, of writes from 47
		if len(fields) < 47 {
			t.Fatalf("fio said %q", fields)
		}
		kib, _ := strconv.ParseInt(fields[5], 10, 64)
		if f.Jobs[0].RW.Writes() {
			kib, _ = strconv.ParseInt(fields[46], 10, 64)
		}
		if kib != ios*bs>>10 {
			t.Errorf("%q: fio moved %d KiB, not the %d I/Os that the message says", text, kib, ios)
		}
	}
	f, err := Parse(testOptions(), write(t, "t.fio", "[a]\nbs=16m\nsize=4m\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToPhase(f.Jobs[0]); err == nil || !strings.Contains(err.Error(), "less than one block") {
		t.Errorf("got %v", err)
	}
}
