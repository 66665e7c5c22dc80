package vm

import (
	"slices"
	"strings"
	"testing"

	"nativ/internal/record"
)

// drives returns the drives' names.
func drives(rec *record.Record) []string {
	var out []string
	for _, d := range rec.Target.Drives {
		out = append(out, d.Name)
	}
	slices.Sort(out)
	return out
}

// wantTemperatures checks that every drive has a source of temperature, and that
// those of the controllers were read in the only pass.
func wantTemperatures(t *testing.T, rec *record.Record, controllers ...string) {
	t.Helper()
	for _, d := range rec.Target.Drives {
		if d.Transport != "nvme" {
			t.Errorf("%s: transport %q, want nvme", d.Name, d.Transport)
		}
		if !d.TemperatureFound {
			t.Errorf("%s: no source of temperature", d.Name)
		}
	}
	after := rec.Rounds[0].Passes[0].Watch.After
	if after == nil {
		t.Fatal("nothing was read after the pass")
	}
	for _, c := range controllers {
		if mc, ok := after.Temperatures[c+" Composite"]; !ok || mc != 49850 { // QEMU's 323 K
			t.Errorf("the temperature of %s is %d m°C (%v), want 49850; there are %v", c, mc, ok, after.Temperatures)
		}
	}
}

// A subsystem with two controllers: one block device whose own directory in
// sysfs has neither hwmon nor PCI address.
func TestMultipath(t *testing.T) {
	m := boot(t, config{
		disks: []int64{16 << 30},
		devices: []string{
			"nvme-subsys,id=sub0,nqn=sub0", "nvme,id=nvme0,serial=MULTI,subsys=sub0", "nvme,id=nvme1,serial=MULTI,subsys=sub0",
			"nvme-ns,drive=disk0,bus=nvme0,nsid=1,shared=on",
		},
	})
	m.loadNVMe("")
	// The subsystem has the number of the controller that answered first.
	m.await("-b /dev/nvme0n1 -o -b /dev/nvme1n1")
	device := m.sh("basename /dev/nvme*n1")
	m.await("2 = $(ls -d /sys/class/nvme/nvme*/" + strings.TrimSuffix(device, "n1") + "c*n1 | wc -l)")
	m.ext4("/dev/"+device, "/mnt/d")
	rec := m.run(fio("/mnt/d")...).want(t, 0).record(t)
	if got := drives(rec); !slices.Equal(got, []string{device}) {
		t.Fatalf("drives %v, want %s", got, device)
	}
	controller := rec.Target.Drives[0].Controller
	if controller == nil || !slices.Contains([]string{"nvme0", "nvme1"}, *controller) {
		t.Fatalf("controller %v, want nvme0 or nvme1", controller)
	}
	wantTemperatures(t, rec, *controller)
	p := rec.Rounds[0].Passes[0]
	if before, after := p.Watch.Before.Devices[device], p.Watch.After.Devices[device]; 10*(after.ReadIOs-before.ReadIOs) < 9*p.Outcome.Read.IOs {
		t.Errorf("the drive counted %d reads, far fewer than the %d of the pass", after.ReadIOs-before.ReadIOs, p.Outcome.Read.IOs)
	}
	m.nothingLeft("/mnt/d")
}

// Two drives under one volume group, and a controller with two namespaces.
func TestVolumeGroupAndNamespaces(t *testing.T) {
	m := boot(t, config{
		disks: []int64{8 << 30, 8 << 30, 8 << 30},
		devices: []string{
			"nvme,id=nvme0,serial=TWO", "nvme-ns,drive=disk0,bus=nvme0,nsid=1", "nvme-ns,drive=disk1,bus=nvme0,nsid=2",
			"nvme,id=nvme1,serial=ONE,drive=disk2",
		},
	})
	m.loadNVMe("", "nvme0n1", "nvme1n1")
	two, one := "nvme0", "nvme1"
	if m.sh("cat /sys/class/nvme/nvme0/serial") != "TWO" { // the kernel numbers them as they answer
		two, one = one, two
	}
	m.await("-b /dev/" + two + "n2")
	m.sh("modprobe dm_mod; vgcreate -qq vg /dev/" + two + "n1 /dev/" + one + "n1; lvcreate -qq -y -n lv -i 2 -I 64k -L 14g vg")
	m.ext4("/dev/vg/lv", "/mnt/lv")
	rec := m.run(fio("/mnt/lv")...).want(t, 0).record(t)
	if got, want := drives(rec), []string{"nvme0n1", "nvme1n1"}; !slices.Equal(got, want) {
		t.Errorf("drives of the volume %v, want %v", got, want)
	}
	wantTemperatures(t, rec, "nvme0", "nvme1")
	m.nothingLeft("/mnt/lv")

	m.ext4("/dev/"+two+"n2", "/mnt/ns2")
	rec = m.run(fio("/mnt/ns2")...).want(t, 0).record(t)
	if got, want := drives(rec), []string{two + "n2"}; !slices.Equal(got, want) {
		t.Errorf("drives of the second namespace %v, want %v", got, want)
	}
	wantTemperatures(t, rec, two)
	m.nothingLeft("/mnt/ns2")
}
