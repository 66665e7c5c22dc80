package target

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// newLoop attaches a new file of size bytes until the test ends.
func newLoop(t *testing.T, size int64) string {
	t.Helper()
	needRoot(t)
	image := filepath.Join(realTemp(t), "image")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, size))
	return attach(t, image)
}

func attach(t *testing.T, image string, options ...string) string {
	t.Helper()
	out, err := exec.Command("losetup", append(append([]string{"--find", "--show"}, options...), image)...).Output()
	if err != nil {
		t.Skipf("needs a loop device: %v", err)
	}
	loop := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", loop).Run() })
	return loop
}

// asDrive is a sysfs in which a loop device is a drive of its own with a serial
// number, which no loop device has; what lies on the device is real.
func asDrive(t *testing.T, loop, serial string) Roots {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(loop, &st))
	root := fakeTree(t, fmt.Sprintf(`
dev/block/%s -> ../../block/nvme7n1
class/block/nvme7n1 -> ../../block/nvme7n1
block/nvme7n1/ro = 0
block/nvme7n1/queue/zoned = none
block/nvme7n1/device/serial = %s
proc/self/mountinfo = 1 1 0:1 / / rw - tmpfs none rw
proc/swaps = Filename Type Size Used Priority
root/etc/hostname = here
`, devString(st.Rdev), serial))
	if serial == "" {
		must(t, os.Remove(filepath.Join(root, "block/nvme7n1/device/serial")))
	}
	return Roots{Sys: root, Proc: filepath.Join(root, "proc"), Root: filepath.Join(root, "root")}
}

func hashOf(t *testing.T, path string) [32]byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	must(t, err)
	return [32]byte(h.Sum(nil))
}

func put(t *testing.T, o Roots, name, text string) {
	t.Helper()
	p := filepath.Join(o.Sys, name)
	must(t, os.MkdirAll(filepath.Dir(p), 0o755))
	must(t, os.WriteFile(p, []byte(text+"\n"), 0o644))
}

// Each reason alone, on a real block device whose bytes stay as they are.
func TestGateRefusesDevice(t *testing.T) {
	const size = 64 << 20
	for _, tt := range []struct {
		name   string
		serial string // typed
		need   int64
		lay    []string // a program that puts something on DEV
		change func(t *testing.T, o Roots, dev string)
		want   []string
		says   string
	}{
		{name: "nothing speaks against it"},
		{name: "another serial number", serial: "S2", want: []string{ReasonSerial}, says: `"S2"`},
		{name: "an empty one", serial: " ", want: []string{ReasonSerial}},
		{name: "no serial number", change: func(t *testing.T, o Roots, _ string) {
			must(t, os.Remove(filepath.Join(o.Sys, "block/nvme7n1/device/serial")))
		}, want: []string{ReasonNoSerial}},
		{name: "too small", need: size + 1, want: []string{ReasonSmall}},
		{name: "read-only", change: func(t *testing.T, o Roots, _ string) { put(t, o, "block/nvme7n1/ro", "1") }, want: []string{ReasonReadOnly}},
		{name: "zoned", change: func(t *testing.T, o Roots, _ string) { put(t, o, "block/nvme7n1/queue/zoned", "host-managed") }, want: []string{ReasonZoned}, says: "host-managed"},
		{name: "mounted", change: func(t *testing.T, o Roots, dev string) {
			put(t, o, "proc/self/mountinfo", "1 1 0:1 / / rw - tmpfs none rw\n2 1 "+numberOf(t, dev)+" / /srv/data rw - ext4 "+dev+" rw")
		}, want: []string{ReasonMounted}, says: "/srv/data"},
		{name: "the system's", change: func(t *testing.T, o Roots, dev string) {
			put(t, o, "proc/self/mountinfo", "1 1 "+numberOf(t, dev)+" / / rw - ext4 "+dev+" rw\n2 1 "+numberOf(t, dev)+" / /boot/efi rw - vfat "+dev+" rw")
		}, want: []string{ReasonSystem}, says: "/, /boot/efi"},
		{name: "the system's through LVM and crypt", change: func(t *testing.T, o Roots, _ string) {
			put(t, o, "block/dm-0/dm/uuid", "LVM-x")
			put(t, o, "block/dm-0/slaves/dm-1/x", "")
			put(t, o, "block/dm-1/dm/uuid", "CRYPT-x")
			put(t, o, "block/dm-1/slaves/nvme7n1/x", "")
			for _, n := range []string{"0", "1"} {
				must(t, os.Symlink("../../block/dm-"+n, filepath.Join(o.Sys, "class/block/dm-"+n)))
				must(t, os.Symlink("../../block/dm-"+n, filepath.Join(o.Sys, "dev/block/254:"+n)))
			}
			put(t, o, "proc/self/mountinfo", "1 1 254:0 / / rw - ext4 /dev/dm-0 rw")
		}, want: []string{ReasonSystem}},
		{name: "swap", change: func(t *testing.T, o Roots, dev string) {
			put(t, o, "proc/swaps", "Filename Type Size Used Priority\n"+dev+" partition 1 0 -2")
		}, want: []string{ReasonSwap}},
		{name: "partitions", change: func(t *testing.T, o Roots, _ string) { put(t, o, "block/nvme7n1/nvme7n1p1/partition", "1") }, want: []string{ReasonPartitions}, says: "nvme7n1p1"},
		{name: "multipath on it", change: func(t *testing.T, o Roots, _ string) {
			put(t, o, "block/dm-3/dm/uuid", "mpath-x")
			put(t, o, "block/dm-3/dm/name", "mpatha")
			must(t, os.Symlink("../../block/dm-3", filepath.Join(o.Sys, "class/block/dm-3")))
			put(t, o, "block/nvme7n1/holders/dm-3/x", "")
		}, want: []string{ReasonHolder}, says: "dm-3 (multipath mpatha)"},
		{name: "bcache", change: func(t *testing.T, o Roots, _ string) { put(t, o, "block/nvme7n1/bcache/state", "clean") }, want: []string{ReasonBcache}},
		{name: "btrfs that is mounted", change: func(t *testing.T, o Roots, _ string) { put(t, o, "fs/btrfs/0b-1c/devices/nvme7n1", "") }, want: []string{ReasonBtrfs}, says: "0b-1c"},
		{name: "ext4", lay: []string{"mkfs.ext4", "-q", "DEV"}, want: []string{ReasonSignature}, says: "ext4"},
		{name: "in fstab by UUID", lay: []string{"mkfs.ext4", "-q", "-U", "11111111-2222-4333-8444-555555555555", "DEV"},
			change: func(t *testing.T, o Roots, _ string) {
				put(t, o, "root/etc/fstab", "# ext4\nUUID=11111111-2222-4333-8444-555555555555 /data ext4 noauto 0 0")
			}, want: []string{ReasonFstab, ReasonSignature}, says: "/etc/fstab names it: UUID=11111111"},
		{name: "in fstab by path", change: func(t *testing.T, o Roots, dev string) {
			put(t, o, "root/etc/fstab", dev+" /data ext4 noauto 0 0")
		}, want: []string{ReasonFstab}},
		{name: "in fstab by label", lay: []string{"mkfs.ext4", "-q", "-L", "two words", "DEV"},
			change: func(t *testing.T, o Roots, _ string) {
				put(t, o, "root/etc/fstab", `LABEL=two\040words /data ext4 noauto 0 0`)
			}, want: []string{ReasonFstab, ReasonSignature}},
		{name: "in crypttab", change: func(t *testing.T, o Roots, dev string) {
			put(t, o, "root/etc/crypttab", "plain "+dev+" /dev/urandom swap")
		}, want: []string{ReasonFstab}, says: "/etc/crypttab"},
		{name: "the table cannot be read", change: func(t *testing.T, o Roots, _ string) {
			must(t, os.MkdirAll(filepath.Join(o.Root, "etc/fstab"), 0o755))
		}, want: []string{ReasonUnknown}},
		{name: "everything at once", serial: "S2", lay: []string{"mkswap", "-q", "DEV"}, change: func(t *testing.T, o Roots, dev string) {
			put(t, o, "block/nvme7n1/ro", "1")
			put(t, o, "proc/swaps", "Filename Type Size Used Priority\n"+dev+" partition 1 0 -2")
		}, want: []string{ReasonReadOnly, ReasonSerial, ReasonSignature, ReasonSwap}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dev := newLoop(t, size)
			o := asDrive(t, dev, "S1")
			if tt.lay != nil {
				args := slices.Clone(tt.lay)
				args[slices.Index(args, "DEV")] = dev
				run(t, args[0], args[1:]...)
			}
			if tt.change != nil {
				tt.change(t, o, dev)
			}
			serial, need := tt.serial, tt.need
			if serial == "" {
				serial = "S1"
			}
			if need == 0 {
				need = size
			}
			before := hashOf(t, dev)
			d, err := FindDevice(dev, o)
			must(t, err)
			wantReasons(t, d.Gate(serial, need, o), tt.want, tt.says)
			f, err := d.OpenToDestroy(serial, min(need, size), o)
			if len(tt.want) == 0 || tt.need > size { // which the flags' check refuses alone
				must(t, err)
				must(t, f.Remove())
			} else {
				wantReasons(t, err, tt.want, tt.says)
			}
			if hashOf(t, dev) != before {
				t.Error("the device's bytes changed")
			}
		})
	}
}

func wantReasons(t *testing.T, err error, want []string, says string) {
	t.Helper()
	if len(want) == 0 {
		must(t, err)
		return
	}
	var r *DeviceRefusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal with %v", err, want)
	}
	var got []string
	for _, x := range r.Reasons {
		got = append(got, x.Code)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("refused with %v: %v\nwant %v and %q", got, err, want, says)
	}
	if r.Next() == "" {
		t.Error("no next step")
	}
}

func numberOf(t *testing.T, dev string) string {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(dev, &st))
	return devString(st.Rdev)
}

// A device that is really mounted is held by the kernel, whatever any table says.
func TestGateRefusesMountedDevice(t *testing.T) {
	dev := newLoop(t, 64<<20)
	o := asDrive(t, dev, "S1")
	run(t, "mkfs.ext4", "-q", dev)
	dir := filepath.Join(realTemp(t), "mnt")
	must(t, os.Mkdir(dir, 0o755))
	run(t, "mount", dev, dir)
	t.Cleanup(func() { run(t, "umount", dir) })
	d, err := FindDevice(dev, o)
	must(t, err)
	wantReasons(t, d.Gate("S1", 1<<20, o), []string{ReasonBusy, ReasonSignature}, "exclusively")
	_, err = d.OpenToDestroy("S1", 1<<20, o)
	wantReasons(t, err, []string{ReasonBusy}, "exclusively")
}

// Loop devices, partitions and what is no block device.
func TestFindDevice(t *testing.T) {
	dev := newLoop(t, 16<<20)
	d, err := FindDevice(dev, Roots{})
	must(t, err)
	if d.Size() != 16<<20 || d.Kind != kindLoop || d.Serial() != "" {
		t.Errorf("found %+v", d)
	}
	wantReasons(t, d.Gate("", 1<<20, Roots{}), []string{ReasonNoDrive, ReasonNoSerial}, "loop")
	link := filepath.Join(realTemp(t), "link")
	must(t, os.Symlink(dev, link))
	if d, err := FindDevice(link, Roots{}); err != nil || d.Path != dev {
		t.Errorf("by a link: %+v, %v", d, err)
	}
	file := filepath.Join(realTemp(t), "file")
	must(t, os.WriteFile(file, []byte("precious"), 0o600))
	must(t, os.Remove(link))
	must(t, os.Symlink(file, link))
	for _, p := range []string{file, link, "/dev/null", "/dev"} {
		var r *Refusal
		if _, err := FindDevice(p, Roots{}); !errors.As(err, &r) || r.Code != RefuseNoBlockDevice {
			t.Errorf("%s: %v", p, err)
		}
	}
	none := filepath.Join(realTemp(t), "none")
	if _, err := FindDevice(none, Roots{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a path that does not exist: %v", err)
	}
	if _, err := os.Lstat(none); !errors.Is(err, os.ErrNotExist) {
		t.Error("it was made")
	}
	must(t, unix.Mknod(none, unix.S_IFBLK|0o600, int(unix.Mkdev(240, 77))))
	if _, err := FindDevice(none, Roots{}); err == nil {
		t.Error("a node without a device is one")
	}
}

// The disk is another one between the plan and the claim.
func TestDeviceChanges(t *testing.T) {
	const size = 16 << 20
	for _, tt := range []struct {
		name, what string
		change     func(t *testing.T, o Roots, dev string)
	}{
		{"serial number", "serial number was S1 and is S2", func(t *testing.T, o Roots, _ string) { put(t, o, "block/nvme7n1/device/serial", "S2") }},
		{"another disk in its place", "sequence number", func(t *testing.T, _ Roots, dev string) {
			image := filepath.Join(realTemp(t), "other")
			must(t, os.WriteFile(image, make([]byte, size), 0o600))
			run(t, "losetup", "--detach", dev)
			run(t, "losetup", dev, image)
		}},
		{"size", "size in bytes", func(t *testing.T, _ Roots, dev string) {
			image := filepath.Join(realTemp(t), "larger")
			must(t, os.WriteFile(image, make([]byte, 2*size), 0o600))
			run(t, "losetup", "--detach", dev)
			run(t, "losetup", dev, image)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dev := newLoop(t, size)
			o := asDrive(t, dev, "S1")
			d, err := FindDevice(dev, o)
			must(t, err)
			must(t, d.Gate("S1", size, o))
			tt.change(t, o, dev)
			_, err = d.OpenToDestroy("S1", size, o)
			var r *DeviceRefusal
			if !errors.As(err, &r) || !r.Has(ReasonChanged) || !strings.Contains(err.Error(), tt.what) {
				t.Errorf("claimed for writing: %v", err)
			}
			if _, err := d.OpenToRead(size, o); !errors.As(err, &r) || !r.Has(ReasonChanged) {
				t.Errorf("claimed for reading: %v", err)
			}
		})
	}
}

// Claims of a device: with consent, and only while the run holds it.
func TestDeviceClaims(t *testing.T) {
	const size = 16 << 20
	dev := newLoop(t, size)
	o := asDrive(t, dev, "S1")
	d, err := FindDevice(dev, o)
	must(t, err)
	f, err := d.OpenToDestroy("S1", size/2, o)
	must(t, err)
	if fl, err := unix.FcntlInt(uintptr(f.fd), unix.F_GETFL, 0); err != nil || fl&unix.O_ACCMODE != unix.O_RDONLY {
		t.Errorf("the descriptor that is held has flags %#x (%v)", fl, err)
	}
	claim := func(change func(*Ticket)) (*Claim, error) {
		tk := f.Ticket(dev, true, true)
		dt := *tk.Device
		tk.Device = &dt
		change(&tk)
		fd, err := openPath(tk.Path)
		must(t, err)
		defer unix.Close(fd)
		return claimPath(fd, tk, o.Sys)
	}
	c, err := claim(func(*Ticket) {})
	must(t, err)
	if c.Size() != size/2 || !c.Writable() {
		t.Errorf("claim of %d bytes, writable %v", c.Size(), c.Writable())
	}
	write(t, c, 0, 1<<20)
	must(t, c.Close())
	if err := f.SyncAndCheckWritten(); err != nil {
		t.Error(err)
	}
	other := newLoop(t, size)
	file := filepath.Join(realTemp(t), "file")
	must(t, os.WriteFile(file, make([]byte, size), 0o600))
	before := hashOf(t, other)
	for name, change := range map[string]func(*Ticket){
		"no consent":            func(tk *Ticket) { tk.Device.Consent = "" },
		"consent for another":   func(tk *Ticket) { tk.Device.Consent = "S2" },
		"no serial number":      func(tk *Ticket) { tk.Device.Consent, tk.Device.Serial = "", "" },
		"another serial number": func(tk *Ticket) { tk.Device.Consent, tk.Device.Serial = "S2", "S2" },
		"another disk":          func(tk *Ticket) { tk.Device.DiskSeq++ },
		"another size":          func(tk *Ticket) { tk.Device.Bytes += 512 },
		"more than there is":    func(tk *Ticket) { tk.Size = size + 1 },
		"not foreign":           func(tk *Ticket) { tk.Foreign = false },
		"another device":        func(tk *Ticket) { tk.Path = other },
		"a file":                func(tk *Ticket) { tk.Path = file },
	} {
		if c, err := claim(change); err == nil {
			t.Errorf("%s: claimed", name)
			c.Close()
		}
	}
	if hashOf(t, other) != before {
		t.Error("the other device's bytes changed")
	}
	must(t, f.Remove())
	if _, err := claim(func(*Ticket) {}); err == nil || !strings.Contains(err.Error(), "nobody holds") {
		t.Errorf("claimed for writing after the run let it go: %v", err)
	}

	rf, err := d.OpenToRead(size, o)
	must(t, err)
	defer rf.Remove()
	tk := rf.Ticket(dev, false, true)
	fd, err := openPath(dev)
	must(t, err)
	defer unix.Close(fd)
	c, err = claimPath(fd, tk, o.Sys)
	must(t, err)
	defer c.Close()
	if _, err := unix.Pwrite(c.Fd(), make([]byte, 4096), 0); err != unix.EBADF {
		t.Errorf("a claim to read lets write: %v", err)
	}
	tk.Write = true
	if _, err := claimPath(fd, tk, o.Sys); err == nil {
		t.Error("the ticket of a run that only reads is honoured with write")
	}
}

func TestSampleBlank(t *testing.T) {
	const size = 16 << 20
	dev := newLoop(t, size)
	d, err := FindDevice(dev, Roots{})
	must(t, err)
	if n, blank, err := d.SampleBlank(size); err != nil || n != blankSamples || blank != n {
		t.Errorf("of zeros %d of %d are blank, %v", blank, n, err)
	}
	w, err := os.OpenFile(dev, os.O_WRONLY, 0)
	must(t, err)
	half := make([]byte, size/2)
	for i := range half {
		half[i] = byte(i*7 + i>>8)
	}
	_, err = w.Write(half)
	must(t, errors.Join(err, w.Sync(), w.Close()))
	if n, blank, err := d.SampleBlank(size); err != nil || blank != n/2 {
		t.Errorf("of a half %d of %d are blank, %v", blank, n, err)
	}
}

func TestDeviceTables(t *testing.T) {
	if got := swapPaths("Filename\tType\n/dev/sda2 partition 1 0 -2\n/swap\\040file file 1 0 -3\n/x\\040(deleted) file 1 0 -4\n"); !slices.Equal(got, []string{"/dev/sda2", "/swap file", "/x"}) {
		t.Errorf("swaps %q", got)
	}
	for spec, want := range map[string]string{
		"UUID=ab-1": "/dev/disk/by-uuid/ab-1", `LABEL="two words"`: `/dev/disk/by-label/two\x20words`, "PARTUUID=x": "/dev/disk/by-partuuid/x",
		"/dev/sda": "", "UUID=": "", "UUID=../../sda": "", "tmpfs": "", "server:/export": "",
	} {
		if got := tagLink(spec); got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
	got := parseStorages("dir: local\n\tpath /var/lib/vz\n# x\nlvmthin: local-lvm\n\tthinpool data\n\tvgname pve\n\nzfspool: tank\n pool tank/vms\n")
	if want := []pveStorage{{Type: "dir", ID: "local"}, {"lvmthin", "local-lvm", "pve", ""}, {"zfspool", "tank", "", "tank"}}; !slices.Equal(got, want) {
		t.Errorf("storages %+v", got)
	}
}

func FuzzDeviceTables(f *testing.F) {
	f.Add("UUID=ab /x ext4\nlvmthin: a\n\tvgname b\n/dev/sda2 partition")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range swapPaths(text) {
			if !strings.HasPrefix(p, "/") {
				t.Errorf("swap at %q", p)
			}
		}
		for _, s := range append(tableSpecs(text, 0), tableSpecs(text, 1)...) {
			if l := tagLink(s); l != "" && filepath.Dir(filepath.Dir(l)) != "/dev/disk" {
				t.Errorf("%q leads to %q", s, l)
			}
		}
		for _, s := range parseStorages(text) {
			if strings.ContainsAny(s.ID+s.VG, "\n") {
				t.Errorf("storage %+v", s)
			}
		}
	})
}
