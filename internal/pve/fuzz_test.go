package pve

import (
	"strings"
	"testing"
)

func FuzzParseConfig(f *testing.F) {
	f.Add("arch: amd64\ndescription: a%0Ab\nmp0: l:vm-1-disk-0,mp=/b,size=50G\nlxc.a: b\n")
	f.Add("rootfs: volume=l:x,size=0.5T\nscsi0: none\nunused0: l:y\ntags: a;b\nlock: create")
	f.Add(":\n a: b\ndescription: %")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text)
		if err != nil {
			return
		}
		for _, m := range append(c.Mounts(), c.Disks()...) {
			if m.Size < 0 {
				t.Errorf("%s has %d bytes", m.Key, m.Size)
			}
		}
		for _, l := range c.Raw {
			if !strings.HasPrefix(l.Key, "lxc.") || strings.Contains(l.Value, "\n") {
				t.Errorf("raw line %+v", l)
			}
		}
		for k, v := range c.Keys {
			if k == "" || strings.ContainsAny(k, " \t\n") || strings.Contains(v, "\n") {
				t.Errorf("key %q: %q", k, v)
			}
		}
		// Whoever's it is, a container without the mark is never ours.
		if ct := (&CT{Mark: "m"}); ct.foreign(c) == "" && !strings.Contains(c.Description, "nativ run m") {
			t.Error("it has no mark and passes for the run's")
		}
	})
}

func FuzzParseStorageCfg(f *testing.F) {
	f.Add(storageCfg)
	f.Add("dir: local\n path /x\n\n#c\n\tdisable 0\n")
	f.Add("vzdump: a\n\tschedule mon..fri 3:00\n\tvmid 1,2;3 x\n\tenabled 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseStorageCfg(text)
		if err == nil && len(list) == 0 {
			t.Error("there is always the storage local")
		}
		for _, s := range list {
			if s.Name == "" || s.Type == "" {
				t.Errorf("%+v", s)
			}
		}
		if _, jerr := parseJobs(text); (jerr == nil) != (err == nil) {
			t.Errorf("the form is the same, but %v and %v", err, jerr)
		}
	})
}

func FuzzParsePvesm(f *testing.F) {
	f.Add(storageStatus)
	f.Add(volumeList)
	f.Add("  Logical volume \"x\" created.\nsuccessfully created 'a:b'\n")
	f.Add("a:b raw images ~1 2")
	f.Add("a dir active 9223372036854775807 1 1 1%")
	f.Fuzz(func(t *testing.T, text string) {
		status, _ := parseStorageStatus(text)
		for name, s := range status {
			if s.Active != (s.Total != nil) || s.Total != nil && *s.Total < 0 || s.Name != name {
				t.Errorf("%+v", s)
			}
		}
		volumes, _ := parseVolumes(text)
		for _, v := range volumes {
			if !strings.Contains(v.ID, ":") || v.VMID < 0 || v.Size != nil && *v.Size < 0 {
				t.Errorf("%+v", v)
			}
		}
		if id, err := parseAlloc(text); err == nil && (!strings.Contains(id, ":") || !strings.Contains(text, id)) {
			t.Errorf("allocated %q", id)
		}
	})
}

func FuzzParsePveam(f *testing.F) {
	f.Add("NAME   SIZE\nlocal:vztmpl/ubuntu-24.04-standard_24.04-2_amd64.tar.zst 123.81MB\n", "ubuntu-24.04")
	f.Add("a:vztmpl/b9 1\na:vztmpl/b10 1\na:vztmpl/b010 1", "b")
	f.Fuzz(func(t *testing.T, text, name string) {
		list := parseTemplates(text)
		got, ok := pickTemplate(list, name)
		if ok && got.VolID != name && !strings.HasPrefix(got.Name, name) {
			t.Errorf("%q for %q", got.Name, name)
		}
		for _, a := range list {
			for _, b := range list {
				if x, y := compareVersions(a.Name, b.Name), compareVersions(b.Name, a.Name); x != -y {
					t.Errorf("%q and %q: %d, %d", a.Name, b.Name, x, y)
				}
			}
		}
	})
}

func FuzzParseStatus(f *testing.F) {
	f.Add("cpus: 4\nname: x\npid: 12\nstatus: running\n")
	f.Add(`[{"vmid":100,"type":"lxc","template":0}]`)
	f.Add(`{"report":[{"lv":[{"lv_name":"a"}]}]}`)
	f.Add(`{"report":[{"pv":[{"pv_name":"/dev/a","vg_name":"pve"}]}]}`)
	f.Add("pve-manager/9.1.1/42db4a6cf33dac83 (running kernel: 6.17.2-1-pve)")
	f.Add("task UPID:a:b:c:d:vz:1:")
	f.Add("perl\x00/usr/sbin/pct\x00create\x001\x00")
	f.Add("pvesm\x00free\x00l:vm-1-x\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseStatus(text); err == nil && s.PID != 0 && (!s.Running || s.PID < 2) {
			t.Errorf("%+v", s)
		}
		guests, _ := parseGuests(text)
		for _, g := range guests {
			if g.ID < 1 {
				t.Errorf("%+v", g)
			}
		}
		_, _ = parseLVs(text)
		if devices, err := parsePVs(text, "pve"); err == nil && len(devices) == 0 {
			t.Error("a volume group lies on nothing")
		}
		if n := parseUpperID(text); n < 1 {
			t.Errorf("IDs end at %d", n)
		}
		_, _ = parseVersion(text)
		if (taskOf(text, 1) || changes(text, 1)) && !strings.Contains(text, "1") {
			t.Errorf("%q works on guest 1", text)
		}
	})
}
