package job

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseArgs(t *testing.T) {
	file := write(t, "t.fio", "[global]\nbs=64k\n[f]\niodepth=2\n", "u.fio", "[g]\nrw=write\n[h]\n")
	other := strings.TrimSuffix(file, "t.fio") + "u.fio"
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"forms", []string{"--name=a", "--rw", "randread", "-bs=8k", "-iodepth", "4", "--time_based", "--runtime=1"},
			"[a] rw=randread bs=8k iodepth=4 runtime=1s time_based=1"},
		{"name apart", []string{"--name", "a", "--bs=8k"}, "[a] bs=8k"},
		{"globals", []string{"--bs=8k", "--name=a", "--rw=read", "--name=b", "--bs=4k"}, "[a] rw=read bs=8k [b] bs=4k"},
		{"global by name", []string{"--name=a", "--name=global", "--bs=1k", "--name=b"}, "[a] [b] bs=1k"},
		{"file", []string{"--name=a", "--bs=4k", file}, "[a] bs=4k [f] bs=64k iodepth=2"},
		{"files", []string{file, other}, "[f] bs=64k iodepth=2 [g] rw=write stonewall=1 [h]"},
		{"after a file", []string{file, "--direct=1"}, "[f] bs=64k iodepth=2 direct=1"},
		{"after --", []string{"--name=a", "--", file}, "[a] [f] bs=64k iodepth=2"},
		// What a job file could not hold.
		{"nothing is expanded", []string{"--name=a", "--filename=x;y#z${N}"}, "[a] filename=x;y#z${N}"},
		// fio takes no job of these.
		{"no name", []string{"--rw=randread", "--bs=4k", "--iodepth=32", "--ioengine=io_uring", "--filename=x"},
			"[randread] ioengine=io_uring filename=x rw=randread bs=4k iodepth=32"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := ParseArgs(testOptions(), tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if got := plain(t, f); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseArgsErrors(t *testing.T) {
	for _, tt := range []struct {
		args []string
		kind Kind
		want string
	}{
		{nil, Syntax, "command line: no job"},
		{[]string{"--name=a", "--output=x"}, NotJob, "argument 2: output=x: an option of the fio program and not of a job; where it is needed, run fio"},
		{[]string{"--name=a", "--output-format", "json"}, NotJob, "argument 2: output-format=json"},
		{[]string{"--name=a", "--minimal"}, NotJob, "argument 2: minimal: "},
		{[]string{"--name=a", "--verify=md5"}, Unsupported, "argument 2: verify=md5: this engine does not have"},
		{[]string{"--name=a", "--startdelay", "5"}, Unsupported, "argument 2: startdelay=5"},
		{[]string{"--name=a", "--exitall", "--bs=4k"}, Unsupported, "argument 2: exitall: "},
		{[]string{"--name=a", "--numjob=4"}, Unknown, "the nearest is numjobs"},
		{[]string{"--name=a", "--direct", "--bs=4k"}, Invalid, "argument 2: direct: the option needs a value; fio takes the next argument --bs=4k"},
		{[]string{"--name=a", "--bs"}, Invalid, "argument 2: bs: the option needs a value"},
		{[]string{"--name=a", "--bs= 4k"}, Surprise, "argument 2: bs= 4k: fio takes this as 4 bytes"},
		{[]string{"--name=a", "--size=${N}k"}, Invalid, "size=${N}k"},
		{[]string{"--name=a", "--numjobs=$ncpus"}, Invalid, "numjobs=$ncpus"},
		{[]string{"--name="}, Syntax, "argument 1: name: the option needs a value"},
		{[]string{"--name=a", "--thread", "1"}, Unreadable, "1: read job file: open 1"},
		{[]string{"--name=a", "--include=x"}, Unknown, "include"},
		{[]string{"--direct=1", "x.fio", "y.fio"}, Surprise, "hold for the first job file only"},
	} {
		f, err := ParseArgs(testOptions(), tt.args)
		var e *Error
		if f != nil || !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q of kind %d", tt.args, err, tt.want, tt.kind)
		}
		if es, _ := err.(Errors); len(es) != 1 && !slices.Contains(tt.args, "x.fio") {
			t.Errorf("%q: %d errors: %v", tt.args, len(es), err)
		}
	}
}

// fio's own list of what is not a job's is complete, so that none of it is
// taken for a slip.
func TestProgramOptionsAreFios(t *testing.T) {
	fio333(t)
	n := 0
	for line := range strings.Lines(fio(t, "--help")) {
		o, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
		if !ok {
			continue
		}
		n++
		o = o[:len(o)-len(strings.TrimLeft(o, "abcdefghijklmnopqrstuvwxyz-"))]
		if _, ok := programOptions[o]; !ok {
			t.Errorf("--%s is an option of the fio program", o)
		}
		if knownToFio(o) {
			t.Errorf("--%s is a job's option too", o)
		}
	}
	if n < 30 {
		t.Errorf("fio lists %d options", n)
	}
}

func FuzzParseArgs(f *testing.F) {
	f.Add("--name=a --rw randread --bs=4k t.fio")
	f.Add("--bs=8k --name=global --name b -- -")
	f.Add("-rw=read --output=x --time_based 1")
	f.Fuzz(func(t *testing.T, line string) {
		opts := testOptions()
		opts.ReadFile = func(string) ([]byte, error) { return []byte("[f]\nbs=8k\n"), nil }
		file, err := ParseArgs(opts, strings.Split(line, " "))
		if err == nil {
			stable(t, file)
		}
	})
}

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		args   string
		groups string // of section names
		rows   string // results: names of clones joined by +, / between groups
	}{
		{"--name=a --name=b --name=c --stonewall --numjobs=2", "a b/c", "a b/c c"},
		{"--name=a --numjobs=2 --stonewall --name=b", "a b", "a a b"},
		{"--stonewall --name=a --name=b --numjobs=2 --group_reporting", "a/b", "a/b+b"},
		{"--name=a --group_reporting --numjobs=2 --name=b --numjobs=2 --name=c --stonewall", "a b/c", "a+a b b/c"},
		{"--name=a --name=b --group_reporting", "a b", "a+b"},
		{"--name=a --group_reporting --name=b --name=c --group_reporting", "a b c", "a b+c"},
		{"--group_reporting --name=a --name=b --numjobs=2 --name=c --wait_for_previous", "a b/c", "a+b+b/c"},
	} {
		f, err := ParseArgs(testOptions(), strings.Fields(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		var groups []string
		for _, g := range f.Groups() {
			var names []string
			for _, j := range g {
				names = append(names, j.Name)
			}
			groups = append(groups, strings.Join(names, " "))
		}
		if got := strings.Join(groups, "/"); got != tt.groups {
			t.Errorf("%s: groups %s, want %s", tt.args, got, tt.groups)
		}
		var rows strings.Builder
		at := 0
		for i, r := range f.Results() {
			switch {
			case r.Group != at:
				rows.WriteByte('/')
			case i > 0:
				rows.WriteByte(' ')
			}
			at = r.Group
			for k, c := range r.Clones {
				if k > 0 {
					rows.WriteByte('+')
				}
				rows.WriteString(f.Jobs[c].Name)
			}
		}
		if rows.String() != tt.rows {
			t.Errorf("%s: results %s, want %s", tt.args, rows.String(), tt.rows)
		}
	}
	if g := (&File{}).Groups(); len(g) != 0 {
		t.Errorf("groups of nothing: %v", g)
	}
	// Several files: each further one begins a group.
	a := write(t, "a.fio", "[a]\n[b]\n", "b.fio", "[c]\n[d]\n", "c.fio", "[e]\nstonewall=0\n")
	dir := strings.TrimSuffix(a, "a.fio")
	f, err := Parse(testOptions(), a, dir+"b.fio", dir+"c.fio")
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, g := range f.Groups() {
		sizes = append(sizes, len(g))
	}
	if !slices.Equal(sizes, []int{2, 3}) {
		t.Errorf("groups of %v jobs", sizes)
	}
}

// fio reports the same groups and the same results.
func TestGroupsAreFios(t *testing.T) {
	fio333(t)
	a := write(t, "a.fio", "[global]\nsize=4k\n[a]\n[b]\ngroup_reporting\n", "b.fio", "[global]\nsize=4k\n[c]\nnumjobs=2\n[d]\n",
		"c.fio", "[global]\nsize=4k\n[e]\nnumjobs=2\ngroup_reporting\n[f]\nstonewall=0\n[g]\nstonewall\ngroup_reporting\n")
	dir := strings.TrimSuffix(a, "a.fio")
	f, err := Parse(testOptions(), a, dir+"b.fio", dir+"c.fio")
	if err != nil {
		t.Fatal(err)
	}
	out := runFio(t, "--directory="+dir, a, dir+"b.fio", dir+"c.fio")
	// Where group_reporting differs within a group, fio 3.33 counts one result
	// too many and writes an empty one at the end.
	for n := len(out.Jobs); out.Jobs[n-1].Name == ""; n-- {
		out.Jobs = out.Jobs[:n-1]
	}
	rs := f.Results()
	if len(out.Jobs) != len(rs) {
		t.Fatalf("fio reports %d results, Results %d", len(out.Jobs), len(rs))
	}
	for i, r := range rs {
		j := out.Jobs[i]
		if j.Group != r.Group || j.Name != f.Jobs[r.Clones[0]].Name || j.Read.IOs != len(r.Clones) {
			t.Errorf("result %d: fio says %+v, Results %+v", i, j, r)
		}
	}
}
