package place

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestConfigGolden(t *testing.T) {
	const run = "/var/lib/nativ/runs/R"
	c := lxcConfig{
		Rootfs: run + "/rootfs", Binary: run + "/nativ", Alive: run + "/alive",
		Files: []lxcFile{{Source: run + "/bench/nativ-0.dat", Target: "bench/nativ-0.dat"}},
		IDs:   &defaultIDs, Unconfined: true, Seccomp: commonSeccomp, CPUs: "0,2", Memory: 4 << 30, Group: "nativ/R",
	}
	plain := c
	plain.IDs, plain.Unconfined, plain.Seccomp, plain.CPUs, plain.Memory = nil, false, "", "", 0
	for name, c := range map[string]*lxcConfig{"unprivileged": &c, "privileged": &plain} {
		file := filepath.Join("testdata", name+".golden.conf")
		if *update {
			if err := os.WriteFile(file, []byte(c.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), c.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCheckPlain(t *testing.T) {
	if err := checkPlain("/var/lib/nativ-1.0_x/runs"); err != nil {
		t.Error(err)
	}
	for _, p := range []string{"/a b", "/a\nlxc.hook.start = /x", "/a#b", `/a\040`, "/a=b", "/a\x7f"} {
		if err := checkPlain(p); err == nil {
			t.Errorf("%q was not refused", p)
		}
	}
}

func TestParseSubIDs(t *testing.T) {
	for _, test := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"", 0, false},
		{"joe:100000:65536\n", 0, false},
		{"# root\nroot:1000:10\nroot:200000:65536\nroot:300000:65536\n", 200000, true},
		{"0:165536:1000000\n", 165536, true},
		{"root:0:65536\n", 0, false},          // the host's own users
		{"root:4294901760:65536\n", 0, false}, // beyond the last ID
		{"root:x:65536\nroot:-1:65536\n", 0, false},
	} {
		if got, ok := parseSubIDs(strings.NewReader(test.in)); got != test.want || ok != test.ok {
			t.Errorf("parseSubIDs(%q) = %d, %v; want %d, %v", test.in, got, ok, test.want, test.ok)
		}
	}
}

const failedStart = `lxc-start nativ-R 20261130221900.100 WARN     cgfsng - ../src/lxc/cgroups/cgfsng.c:fchowmodat:1611 - No such file or directory - Failed to fchownat(65, memory.oom.group)
lxc-start nativ-R 20261130221900.123 ERROR    cgfsng - ../src/lxc/cgroups/cgfsng.c:__cgfsng_monitor_enter:1547 - No space left on device - Failed to enter cgroup 26
lxc-start nativ-R 20261130221900.124 ERROR    start - ../src/lxc/start.c:__lxc_start:2000 - Failed to enter monitor cgroup
lxc-start nativ-R 20261130221900.125 ERROR    lxccontainer - ../src/lxc/lxccontainer.c:wait_on_daemonized_start:878 - Received container state "ABORTING" instead of "RUNNING"
lxc-start nativ-R 20261130221900.126 ERROR    lxc_start - ../src/lxc/tools/lxc_start.c:main:306 - The container failed to start
`

func TestParseLog(t *testing.T) {
	got := parseLog(strings.NewReader(failedStart))
	want := []string{
		"No space left on device - Failed to enter cgroup 26",
		"Failed to enter monitor cgroup",
		`Received container state "ABORTING" instead of "RUNNING"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func FuzzParseText(f *testing.F) {
	f.Add(failedStart)
	f.Add("root:100000:65536\n")
	f.Add(" ERROR  - a - b - c")
	f.Fuzz(func(t *testing.T, s string) {
		if got := parseLog(strings.NewReader(s)); len(got) > 3 {
			t.Fatalf("%d reasons", len(got))
		}
		if id, ok := parseSubIDs(strings.NewReader(s)); ok && (id <= 0 || id+defaultIDs.Count > 1<<32-1) {
			t.Fatalf("id %d", id)
		}
	})
}
