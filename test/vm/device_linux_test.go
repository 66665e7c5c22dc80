package vm

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// A refused device: what is put on the drive, and what must be said.
type refusal struct {
	name string
	// lay puts something on $d; use brings it into use; undo ends that.
	lay, use, undo string
	// device is what is named, "" for /dev/nvme0n1; serial what is typed, "" for
	// the drive's own.
	device, serial string
	says           []string
}

const deviceSerial = "DEVICE01"

var refusals = []refusal{
	{name: "mounted whole disk", lay: "mkfs.ext4 -q $d", use: "mount -r $d /mnt/x", undo: "umount /mnt/x",
		says: []string{"it is mounted: /mnt/x", "ext4", "holds it exclusively"}},
	{name: "mounted partition", lay: "printf 'label: gpt\\n,256M\\n' | sfdisk -q $d; mdev; mkfs.ext4 -q ${d}p1", use: "mount -r ${d}p1 /mnt/x", undo: "umount /mnt/x",
		says: []string{"it is mounted: /mnt/x (nvme0n1p1)", "it has partitions: nvme0n1p1", "gpt (at byte 512)", "holds it exclusively"}},
	{name: "a partition itself", lay: "printf 'label: gpt\\n,256M\\n' | sfdisk -q $d; mdev", device: "/dev/nvme0n1p1",
		says: []string{"it is a partition of nvme0n1"}},
	{name: "ext4 signature", lay: "mkfs.ext4 -q $d", says: []string{"there is something on it: ext4"}},
	{name: "ext4 in fstab by UUID", lay: "mkfs.ext4 -q -U 11111111-2222-4333-8444-555555555555 $d",
		use: "cp /etc/fstab /tmp/fstab; echo UUID=11111111-2222-4333-8444-555555555555 /data ext4 noauto 0 0 >>/etc/fstab", undo: "cp /tmp/fstab /etc/fstab",
		says: []string{"/etc/fstab names it: UUID=11111111", "there is something on it: ext4"}},
	{name: "empty, in fstab by path", use: "cp /etc/fstab /tmp/fstab; echo $d /data xfs noauto 0 0 >>/etc/fstab", undo: "cp /tmp/fstab /etc/fstab",
		says: []string{"/etc/fstab names it: /dev/nvme0n1"}},
	{name: "xfs signature", lay: "mkfs.xfs -q $d", says: []string{"there is something on it: xfs"}},
	{name: "btrfs of two devices, mounted by the other", lay: "mkfs.btrfs -q -m raid1 -d raid1 $d $e", use: "btrfs device scan $d $e; mount -r $e /mnt/x", undo: "umount /mnt/x; wipefs -qa $e",
		says: []string{"btrfs", "which is mounted", "it is mounted: /mnt/x", "holds it exclusively"}},
	{name: "btrfs member that is not mounted", lay: "mkfs.btrfs -q -m raid1 -d raid1 $d $e; wipefs -qa $e", says: []string{"there is something on it: btrfs"}},
	{name: "swap signature", lay: "mkswap -q $d", says: []string{"there is something on it: swap"}},
	{name: "swap in use", lay: "mkswap -q $d", use: "swapon $d", undo: "swapoff $d",
		says: []string{"it is used for swapping: /dev/nvme0n1", "holds it exclusively"}},
	{name: "LVM physical volume", lay: "pvcreate -qq $d", says: []string{"there is something on it: LVM2_member"}},
	{name: "LVM volume group in use", lay: "vgcreate -qq some-vg $d; lvcreate -qq -y -an -Zn -n lv -L 64M some-vg", use: "vgchange -qq -ay some-vg", undo: "vgchange -qq -an some-vg",
		says: []string{"other devices lie on it: dm-", "(lvm some--vg-lv)", `LVM2_member "some-vg"`, "holds it exclusively"}},
	{name: "volume group of a Proxmox storage", lay: "vgcreate -qq pve $d",
		use: "mkdir -p /etc/pve; printf 'dir: local\\n\\tpath /var/lib/vz\\n\\nlvmthin: local-lvm\\n\\tthinpool data\\n\\tvgname pve\\n' >/etc/pve/storage.cfg", undo: "rm -r /etc/pve",
		says: []string{"it belongs to storage of Proxmox VE: local-lvm", `LVM2_member "pve"`}},
	{name: "md member", lay: "mdadm -q --create /dev/md7 --run --assume-clean --level=1 --raid-devices=2 $d missing 2>/dev/null; mdadm -q --stop /dev/md7",
		says: []string{"there is something on it: linux_raid_member"}},
	{name: "md member in use, superblock at the end", lay: "true", use: "mdadm -q --create /dev/md7 --run --assume-clean --metadata=1.0 --level=1 --raid-devices=2 $d missing 2>/dev/null; sleep 1", undo: "mdadm -q --stop /dev/md7",
		says: []string{"other devices lie on it: md7 (md raid1)", "linux_raid_member", "holds it exclusively"}},
	{name: "LUKS header", lay: luks, says: []string{"there is something on it: crypto_LUKS"}},
	{name: "LUKS open", lay: luks, use: "echo -n secret | cryptsetup open --key-file - $d plain", undo: "cryptsetup close plain",
		says: []string{"other devices lie on it: dm-", "(crypt plain)", "crypto_LUKS", "holds it exclusively"}},
	{name: "GPT alone", lay: "printf 'label: gpt\\n' | sfdisk -q $d", says: []string{"gpt (at byte 512)", "dos (at byte 510)"}},
	{name: "backup GPT alone", lay: "printf 'label: gpt\\n' | sfdisk -q $d; dd if=/dev/zero of=$d bs=1M count=1 conv=notrunc status=none", says: []string{"there is something on it: gpt (at byte 536870400)"}},
	{name: "MBR alone", lay: "printf 'label: dos\\n' | sfdisk -q $d", says: []string{"there is something on it: dos (at byte 510)"}},
	{name: "ZFS label", lay: "printf '\\014\\261\\272\\000\\000\\000\\000\\000' | dd of=$d bs=1 seek=$((131072+4096)) conv=notrunc status=none", says: []string{"there is something on it: zfs_member"}},
	{name: "bcache superblock", lay: "printf '\\306\\205\\163\\366\\116\\032\\105\\312\\202\\145\\365\\177\\110\\272\\155\\201' | dd of=$d bs=1 seek=4120 conv=notrunc status=none", says: []string{"there is something on it: bcache"}},
	{name: "held exclusively by a loop device", lay: "true", use: "losetup -r /dev/loop5 $d; dmsetup create held --table '0 2048 linear '$d' 0'", undo: "dmsetup remove held; losetup -d /dev/loop5",
		says: []string{"holds it exclusively", "(dm held)"}},
	{name: "wrong serial number", serial: "DEVICE02", says: []string{`its serial number is not "DEVICE02"`}},
	{name: "serial number in other letters", serial: "device01", says: []string{`its serial number is not "device01"`}},
	{name: "read-only", use: "blockdev --setro $d", undo: "blockdev --setrw $d", says: []string{"it is set read-only"}},
	{name: "the disk of the system, which has no serial number", device: "/dev/vda", says: []string{"the running system lies on it: /", "it has no serial number", "ext4"}},
	{name: "loop device", use: "truncate -s 64M /mnt/loop; losetup /dev/loop6 /mnt/loop", undo: "losetup -d /dev/loop6; rm /mnt/loop", device: "/dev/loop6",
		says: []string{"it is no drive but a device of kind loop", "it has no serial number"}},
	{name: "path that does not exist", device: "/dev/nvme9n1", says: []string{"find device /dev/nvme9n1: file does not exist"}},
	{name: "character device", device: "/dev/nvme0", says: []string{"it is a character device, not a block device"}},
	{name: "symbolic link to a file", use: "echo precious >/mnt/precious; ln -s /mnt/precious /mnt/link", undo: "grep -qx precious /mnt/precious; rm /mnt/link /mnt/precious", device: "/mnt/link",
		says: []string{"it is a regular file, not a block device"}},
	{name: "symbolic link to a mounted drive", lay: "mkfs.ext4 -q $d", use: "mount -r $d /mnt/x; ln -s $d /mnt/link", undo: "umount /mnt/x; rm /mnt/link", device: "/mnt/link",
		says: []string{"write to /dev/nvme0n1", "it is mounted: /mnt/x"}},
}

const luks = "echo -n secret | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file - $d"

// deviceShell defines what the scripts of refusals use: d and e are the drives,
// and mdev makes the nodes of new partitions, which devtmpfs does by itself.
const deviceShell = `
	d=/dev/nvme0n1; e=/dev/nvme1n1; mkdir -p /mnt/x
	mdev() { for i in $(seq 100); do [ -b ${d}p1 ] && return; sleep 0.05; done; return 1; }
`

// Whatever is on a drive or uses it, nothing is written to it: each case names
// its reasons, all at once, and the drive's bytes are the same afterwards.
func TestDeviceRefusals(t *testing.T) {
	m := bootDevices(t)
	m.sh("touch /etc/fstab; modprobe -a loop dm_mod dm_crypt raid1 btrfs xfs")
	for i, r := range refusals {
		m.sh(deviceShell + "wipefs -qa $d; blkdiscard -f $d; " + orTrue(r.lay))
		m.sh(deviceShell + orTrue(r.use))
		before := m.hashes()
		device, serial := r.device, r.serial
		if device == "" {
			device = "/dev/nvme0n1"
		}
		if serial == "" {
			serial = deviceSerial
		}
		for _, dry := range []bool{true, false} {
			if dry && i%6 > 0 { // the same gate: some cases will do
				continue
			}
			args := []string{"nativ", "bench", "--device", device, "--destroy-data", serial, "--yes", "--lang", "en", "--places", "host", "--size", "64M"}
			if dry {
				args = append(args, "--dry-run")
			}
			got := m.run(args...)
			if got.code != 3 {
				t.Errorf("%s: exit code %d (dry run %v), want 3\n%s", r.name, got.code, dry, got.stderr)
			}
			for _, want := range r.says {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("%s: nothing says %q (dry run %v)\n%s", r.name, want, dry, got.stderr)
				}
			}
		}
		if after := m.hashes(); after != before {
			t.Errorf("%s: the drive is another: %s, was %s", r.name, after, before)
		}
		if device == "/dev/nvme9n1" && m.sh("test ! -e /dev/nvme9n1 && echo none") != "none" {
			t.Errorf("%s: something was made at %s", r.name, device)
		}
		m.sh(deviceShell + orTrue(r.undo))
	}
	m.nothingLeft("/mnt/x")
}

func orTrue(script string) string {
	if script == "" {
		return "true"
	}
	return script
}

// bootDevices boots a machine with two small drives; the first is nvme0.
func bootDevices(t *testing.T) *machine {
	m := boot(t, config{
		disks: []int64{512 << 20, 512 << 20},
		devices: []string{
			"pcie-root-port,id=slot0,chassis=1", "nvme,id=nvme0,serial=" + deviceSerial + ",bus=slot0,drive=disk0",
			"pcie-root-port,id=slot1,chassis=2,slot=1", "nvme,id=nvme1,serial=OTHER001,bus=slot1,drive=disk1",
		},
	})
	m.loadNVMe("", "nvme0n1", "nvme1n1")
	if s := m.sh("cat /sys/class/nvme/nvme0/serial"); s != deviceSerial { // the kernel numbers them as they answer
		t.Skipf("the kernel numbered the drives the other way round")
	}
	return m
}

// hash is that of all bytes of a drive that are not zero and where they lie, in
// the file behind it: what the drive has, and no cache of the guest.
func (m *machine) hash(disk int) string {
	m.t.Helper()
	m.sh("sync")
	h := sha256.New()
	f := m.disks[disk]
	block := make([]byte, 64<<10)
	zeros := make([]byte, len(block))
	for off := int64(0); ; off += int64(len(block)) {
		data, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA)
		if err == unix.ENXIO {
			break
		}
		if err != nil {
			m.t.Fatal(err)
		}
		off = data / int64(len(block)) * int64(len(block))
		n, err := f.ReadAt(block, off)
		if n == 0 && err != nil {
			m.t.Fatal(err)
		}
		if !bytes.Equal(block[:n], zeros[:n]) {
			fmt.Fprintf(h, "%d:", off)
			h.Write(block[:n])
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// hashes is hash for both drives.
func (m *machine) hashes() string { return m.hash(0) + " " + m.hash(1) }

// deviceBench is a call of nativ bench on the empty drive.
func (m *machine) deviceBench(more ...string) []string {
	m.write("/tmp/device.fio", "[randread]\nrw=randread\nbs=4k\niodepth=4\ndirect=1\ntime_based\nruntime=8\n[randwrite]\nstonewall\nrw=randwrite\nbs=4k\niodepth=4\ndirect=1\ntime_based\nruntime=8\n")
	return append([]string{"nativ", "bench", "--yes", "--device", "/dev/nvme0n1", "--job", "/tmp/device.fio",
		"--places", "host", "--runtime", "8s", "--cool-down", "0", "--lang", "en", "--json"}, more...)
}

// What is allowed works: a run that only reads leaves every byte as it was, and
// one with consent writes over the drive it was given and no other, which nobody
// can mount meanwhile.
func TestDeviceRuns(t *testing.T) {
	m := bootDevices(t)
	m.sh("wipefs -qa /dev/nvme0n1; dd if=/dev/urandom of=/dev/nvme0n1 bs=1M count=128 oflag=direct status=none; mkfs.ext4 -q -F /dev/nvme1n1")
	before := m.hashes()
	p := m.start(m.deviceBench("--read-only")...)
	p.untilSaid("1/2") // the second pass runs, or is about to
	modes := m.sh(`for p in $(pgrep -x nativ); do
		for f in /proc/$p/fd/*; do
			[ "$(readlink $f)" = /dev/nvme0n1 ] && sed -n 's/^flags:\t//p' /proc/$p/fdinfo/${f##*/}
		done
	done; true`)
	rec := p.wait().want(t, 0).record(t)
	if modes == "" {
		t.Error("no process had the drive open")
	}
	for f := range strings.FieldsSeq(modes) {
		if last := f[len(f)-1]; last != '0' && last != '4' { // O_ACCMODE is the lowest two bits
			t.Errorf("a descriptor of a run that only reads has the flags %s", f)
		}
	}
	if after := m.hashes(); after != before {
		t.Errorf("a run that only reads changed a drive: %s, was %s", after, before)
	}
	d := rec.Target.Device
	if d == nil || d.Consent != "" || len(d.LeftOut) != 1 || d.LeftOut[0] != "randwrite" || rec.Prefill != nil {
		t.Errorf("device %+v, prefill %+v", d, rec.Prefill)
	}
	if d.Sampled == nil || d.Blank == nil || *d.Blank < *d.Sampled/2 || *d.Blank == *d.Sampled {
		t.Errorf("of a drive whose first quarter was written %v of %v samples are blank", d.Blank, d.Sampled)
	}
	if !hasWarning(rec, record.WarnBlank) {
		t.Errorf("no doubt about blocks that were never written in %+v", rec.Warnings)
	}

	other := m.hash(1)
	p = m.start(m.deviceBench("--destroy-data", deviceSerial)...)
	p.untilSaid("1/4")
	if r := m.run("mount", "/dev/nvme0n1", "/mnt"); r.code == 0 || !strings.Contains(r.stderr, "busy") {
		t.Errorf("somebody can mount the drive in mid-run: %+v", r)
	}
	if r := m.run("mkfs.ext4", "-q", "-F", "/dev/nvme0n1"); r.code == 0 {
		t.Error("somebody can make a filesystem in mid-run")
	}
	rec = p.wait().want(t, 0).record(t)
	if d := rec.Target.Device; d == nil || d.Consent != deviceSerial || rec.Prefill == nil || rec.Prefill.Bytes != 512<<20 {
		t.Errorf("device %+v, prefill %+v", d, rec.Prefill)
	}
	if !hasWarning(rec, record.WarnDeviceOverwritten) {
		t.Errorf("nothing says that the drive holds random data in %+v", rec.Warnings)
	}
	for _, round := range rec.Rounds {
		for _, p := range round.Passes {
			if !p.OK() {
				t.Errorf("pass %d: %+v", p.Index, p.Failed)
			}
		}
	}
	if now := m.hash(1); now != other {
		t.Error("the other drive is another")
	}
	if blank := m.sh("dd if=/dev/nvme0n1 bs=1M skip=300 count=1 iflag=direct status=none | tr -d '\\0' | wc -c"); blank == "0" {
		t.Error("the drive holds zeros where the prefill should have written")
	}
	m.nothingLeft("/mnt")

	// Killed at any moment, nothing is left, nothing else was touched, and the
	// drive is free again.
	for i := range 20 {
		p := m.start(m.deviceBench("--destroy-data", deviceSerial, "--size", "128M")...)
		wait := time.Duration(300+i*350+rand.IntN(350)) * time.Millisecond
		t.Logf("killed after %v", wait)
		time.Sleep(wait)
		m.sh("pkill -9 -o -x nativ || true")
		p.wait()
		m.run("nativ", "clean").want(t, 0)
		m.nothingLeft("/mnt")
		if n := m.sh("pgrep -c -x nativ || true"); n != "0" {
			t.Errorf("%s processes are left", n)
		}
	}
	if now := m.hash(1); now != other {
		t.Error("the other drive is another after the kills")
	}
	m.sh("mkfs.ext4 -q -F /dev/nvme0n1; mount /dev/nvme0n1 /mnt; umount /mnt")
}

// The drive is exchanged for another while the question is on the terminal: the
// answer comes too late, and the other drive stays as it is.
func TestDeviceExchanged(t *testing.T) {
	m := bootDevices(t)
	m.sh("blkdiscard -f /dev/nvme0n1; blkdiscard -f /dev/nvme1n1")
	args := m.deviceBench("--destroy-data", deviceSerial)
	command := strings.Replace(strings.Join(args, " "), " --yes", "", 1)
	// script(1) gives it a terminal to ask on.
	p := m.start("bash", "-c", "(until [ -e /tmp/go ]; do sleep 0.1; done; echo y) | script -qefc '"+command+"' /tmp/said")
	m.sh("for i in $(seq 600); do grep -qs 'Start?' /tmp/said && exit; sleep 0.1; done; cat /tmp/said; exit 1")
	m.pull("nvme0")
	m.qmp("device_add", map[string]any{"driver": "nvme", "id": "nvme0", "serial": "DEVICE02", "bus": "slot0", "drive": "disk0"})
	m.await("-b /dev/nvme0n1")
	before := m.hashes()
	m.sh("touch /tmp/go")
	p.wait().want(t, 3).says(t, "it is not the device of the plan any more: its serial number was DEVICE01 and is DEVICE02")
	if after := m.hashes(); after != before {
		t.Errorf("the drive is another: %s, was %s", after, before)
	}
	m.nothingLeft("/mnt")
}

func hasWarning(rec *record.Record, code string) bool {
	for _, w := range rec.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}
