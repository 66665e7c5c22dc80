package target

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestQemuName(t *testing.T) {
	for _, tt := range []struct {
		cmdline, name string
		ok            bool
	}{
		{"/usr/bin/kvm\x00-id\x00101\x00-name\x00web,debug-threads=on\x00-no-shutdown\x00", "101", true},
		{"/usr/bin/kvm\x00-name\x00web,debug-threads=on\x00-id\x00101\x00", "101", true},
		{"/usr/bin/qemu-system-x86_64\x00-name\x00guest=win11,debug-threads=on\x00-S\x00", "win11", true},
		{"qemu-system-aarch64\x00--name\x00pi\x00", "pi", true},
		{"/usr/libexec/qemu-kvm\x00-S\x00", "", true},
		{"/usr/bin/kvm\x00-name\x00", "", true},
		{"/usr/bin/kvm\x00-name\x00process=x\x00", "", true},
		{"/usr/bin/kvm\x00", "", true},
		{"qemu-img\x00convert\x00", "", false},
		{"/usr/bin/vim\x00kvm\x00", "", false},
		{"", "", false},
		{"\x00\x00", "", false},
	} {
		if name, ok := qemuName(splitCmdline(tt.cmdline)); name != tt.name || ok != tt.ok {
			t.Errorf("%q: got %q, %v; want %q, %v", tt.cmdline, name, ok, tt.name, tt.ok)
		}
	}
}

func FuzzQemuName(f *testing.F) {
	f.Add("/usr/bin/kvm\x00-id\x00101\x00-name\x00web,debug-threads=on\x00")
	f.Add("qemu-system-x86_64\x00-name\x00guest=a,b=c\x00")
	f.Add("kvm")
	f.Fuzz(func(t *testing.T, s string) {
		argv := splitCmdline(s)
		name, ok := qemuName(argv)
		if name != "" && !ok {
			t.Errorf("%q is no VM and is called %q", s, name)
		}
		if !strings.Contains(s, name) {
			t.Errorf("%q is called %q", s, name)
		}
		job, always := jobName(argv)
		if always && job == "" {
			t.Errorf("%q is always a job without a name", s)
		}
	})
}

func TestContainerName(t *testing.T) {
	id := "3f4e8a1b9c7d6e5f3f4e8a1b9c7d6e5f3f4e8a1b9c7d6e5f3f4e8a1b9c7d6e5f"
	for path, want := range map[string]string{
		"/lxc/104/ns/init.scope":                           "104",
		"/lxc/104":                                         "104",
		"/lxc/104/ns/docker/" + id:                         "104", // the outermost
		"/lxc.payload.web":                                 "web",
		"/lxc.payload.web/init.scope":                      "web",
		"/system.slice/docker-" + id + ".scope":            "3f4e8a1b9c7d",
		"/docker/" + id:                                    "3f4e8a1b9c7d",
		"/machine.slice/libpod-" + id + ".scope/container": "3f4e8a1b9c7d",
		"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope": "3f4e8a1b9c7d",
		`/machine.slice/machine-web\x2d1.scope`:                               "web-1",
		"/machine.slice/systemd-nspawn@deb.service/payload":                   "deb",
		"/":              "",
		"":               "",
		"/lxc":           "",
		"/lxc/":          "",
		"/docker/buildx": "",
		"/user.slice/user-1000.slice/app-org.chromium.Chromium-1.scope": "",
		"/nativ/x/ct":                  "",
		"/lxc.monitor.web":             "",
		"/system.slice/docker.service": "",
	} {
		if got := containerName(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	mixed := "12:cpuset:/\n5:memory:/lxc/104\n1:name=systemd:/init.scope\n0::/\n"
	if got := containerOf(strings.NewReader(mixed)); got != "104" {
		t.Errorf("mixed layout: got %q", got)
	}
}

func FuzzContainerOf(f *testing.F) {
	f.Add("0::/lxc/104/ns\n")
	f.Add("5:memory:/system.slice/docker-3f4e8a1b9c7d6e5f.scope\n0::/\n")
	f.Add(":::\n0::\\x2d\n")
	f.Fuzz(func(t *testing.T, s string) {
		if name := containerOf(strings.NewReader(s)); strings.ContainsAny(name, "/\n") {
			t.Errorf("%q gives the name %q", s, name)
		}
	})
}

func TestNSPIDs(t *testing.T) {
	for status, want := range map[string][]string{
		"Name:\tsystemd\nNSpid:\t4711\t1\nNSpgid:\t4711\t1\n": {"4711", "1"},
		"Name:\tbash\nNSpid:\t12\n":                           {"12"},
		"Name:\tbash\n":                                       nil,
		"":                                                    nil,
	} {
		if got := nspids(strings.NewReader(status)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v", status, got)
		}
	}
}

const mdstat = `Personalities : [raid1] [raid6] [raid5] [raid4]
md2 : active raid5 sdd1[0] sdc1[1] sde1[3]
      1953260544 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      [=>...................]  recovery =  8.9% (87433728/976630272) finish=83.3min speed=177810K/sec
      bitmap: 0/8 pages [0KB], 65536KB chunk

md0 : active raid1 sda1[0] sdb1[1]
      292945152 blocks [2/2] [UU]
      [=>...................]  resync = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec

md1 : active (auto-read-only) raid1 sda2[0] sdb2[1]
      292945152 blocks [2/2] [UU]
        resync=PENDING

md3 : active raid1 sda3[0] sdb3[1]
      292945152 blocks [2/2] [UU]
        resync=DELAYED

md127 : active raid1 sdf1[0] sdg1[1]
      292945152 blocks [2/2] [UU]
      [===================>.]  check = 99.9% (1/2) finish=0.0min speed=1K/sec

unused devices: <none>
`

func TestResyncing(t *testing.T) {
	want := map[string]string{"md2": "recovery", "md0": "resync", "md127": "check"}
	if got := resyncing(strings.NewReader(mdstat)); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := resyncing(strings.NewReader("Personalities :\nunused devices: <none>\n")); len(got) > 0 {
		t.Errorf("got %v without arrays", got)
	}
}

func FuzzResyncing(f *testing.F) {
	f.Add(mdstat)
	f.Add("]  resync = 1%\nmd : x\n]  check = 1%")
	f.Fuzz(func(t *testing.T, s string) {
		for array, action := range resyncing(strings.NewReader(s)) {
			if !strings.HasPrefix(array, "md") || action == "" {
				t.Errorf("%q gives %q: %q", s, array, action)
			}
		}
	})
}

func TestUnitSerial(t *testing.T) {
	for page, want := range map[string]string{
		"\x00\x80\x00\x14     WD-WCC4E0000000": "WD-WCC4E0000000",
		"\x00\x80\x00\x04\x00\x00\x00\x00":     "",
		"\x00\x83\x00\x04abcd":                 "",
		"\x00\x80\x00":                         "",
		"":                                     "",
	} {
		got := unitSerial(page)
		if (got == nil) != (want == "") || got != nil && *got != want {
			t.Errorf("%q: got %v", page, got)
		}
	}
}

func FuzzUnitSerial(f *testing.F) {
	f.Add("\x00\x80\x00\x14     WD-WCC4E0000000")
	f.Fuzz(func(t *testing.T, s string) {
		if got := unitSerial(s); got != nil && *got == "" {
			t.Errorf("%q gives an empty serial", s)
		}
	})
}
