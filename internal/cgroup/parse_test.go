package cgroup

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMemory(t *testing.T) {
	gib := int64(1 << 30)
	for in, want := range map[string]*int64{
		"max\n":                 nil,
		"1073741824\n":          &gib,
		"9223372036854771712\n": nil, // v1, no limit, 4 KiB pages
		"9223372036854710272\n": nil, // 64 KiB pages
	} {
		got, err := parseMemory(in)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("parseMemory(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-1", "many"} {
		if _, err := parseMemory(in); err == nil {
			t.Errorf("parseMemory(%q): want an error", in)
		}
	}
}

func TestParseKeyed(t *testing.T) {
	got, err := parseKeyed(strings.NewReader("usage_usec 12\nnr_throttled 3\nbad\nneg -1\nlist a=1 b=2\n"))
	want := map[string]int64{"usage_usec": 12, "nr_throttled": 3}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestParsePIDsLeavesOutZero(t *testing.T) {
	got, err := parsePIDs(strings.NewReader("12\n0\n7\n"))
	if err != nil || !slices.Equal(got, []int{12, 7}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parsePIDs(strings.NewReader("-1\n")); err == nil {
		t.Error("-1 was taken for a process")
	}
}

func TestMissingErrorSaysNextStep(t *testing.T) {
	off := (&MissingError{Controller: "memory", Disabled: true}).Error()
	if !strings.Contains(off, "cgroup_enable=memory") || !strings.Contains(off, "reboot") {
		t.Errorf("no next step in %q", off)
	}
	absent := (&MissingError{Controller: "memory"}).Error()
	if strings.Contains(absent, "reboot") || !strings.Contains(absent, "CONFIG_MEMCG") {
		t.Errorf("wrong next step in %q", absent)
	}
}

func FuzzParseFiles(f *testing.F) {
	f.Add("usage_usec 1\nnr_throttled 2\n")
	f.Add("12\n0\n")
	f.Add("#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t3\t4\t1\nmemory\t0\t1\t0\n")
	f.Add("max\n")
	f.Fuzz(func(t *testing.T, s string) {
		m, _ := parseKeyed(strings.NewReader(s))
		for k, v := range m {
			if v < 0 || k == "" {
				t.Fatalf("keyed %q = %d", k, v)
			}
		}
		pids, _ := parsePIDs(strings.NewReader(s))
		for _, p := range pids {
			if p <= 0 {
				t.Fatalf("process %d", p)
			}
		}
		if n, err := parseMemory(s); err == nil && n != nil && *n < 0 {
			t.Fatalf("memory %d", *n)
		}
		_, _ = parseDisabled(strings.NewReader(s))
	})
}
