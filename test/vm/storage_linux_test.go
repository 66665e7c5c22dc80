package vm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nativ/internal/record"
)

// layers are the effects of a target as "layer code", the kernel's numbers left out.
func layers(in record.Info) []string {
	var all []string
	for _, e := range in.Effects {
		all = append(all, strings.TrimRight(e.Layer, "0123456789")+" "+e.Code)
	}
	return all
}

// info is nativ info --target --json.
func (m *machine) info(path string) record.Info {
	m.t.Helper()
	return decode[record.Info](m.t, m.run("nativ", "info", "--target", path, "--json").want(m.t, 0))
}

// storageOf is what info says of the storage under its only target, never nil.
func storageOf(t *testing.T, in record.Info) *record.Storage {
	t.Helper()
	if len(in.Targets) == 1 && in.Targets[0].Storage != nil {
		return in.Targets[0].Storage
	}
	t.Errorf("nothing is said of the storage in %+v", in.Targets)
	return &record.Storage{}
}

// chunks is how many chunks of the pool vg/pool are taken, as the device mapper
// itself says after it has written down everything.
func (m *machine) chunks() int64 {
	m.t.Helper()
	used, _, _ := strings.Cut(m.sh("dmsetup status vg-pool-tpool | cut -d' ' -f6"), "/")
	n, err := strconv.ParseInt(used, 10, 64)
	if err != nil {
		m.t.Fatalf("chunks used: %v", err)
	}
	return n
}

// Every stack is found down to the drive, with what each layer does; a thin pool is
// refused above 80 %, and below gets its space back, also from a run that was killed.
func TestStorage(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("", "nvme0n1")
	m.sh("modprobe -a dm_mod dm_thin_pool dm_crypt dm_raid raid1 loop xfs btrfs; vgcreate -qq vg /dev/nvme0n1")
	drive := []string{"nvme0n virtual"} // as QEMU names its model

	t.Run("thin", func(t *testing.T) {
		m.t = t
		m.sh("lvcreate -qq -y --type thin-pool -L 128M -c 64k -n pool vg; lvcreate -qq -y -V 8g --thinpool pool -n thin vg")
		m.ext4("/dev/vg/thin", "/mnt/thin")
		in := m.info("/mnt/thin")
		if got, want := layers(in), slices.Concat([]string{"ext direct", "dm- volume", "dm- thin-pool", "dm- volume", "dm- volume"}, drive); !slices.Equal(got, want) {
			t.Errorf("layers %v, want %v", got, want)
		}
		p := storageOf(t, in).Pools
		chunks := m.chunks()
		if len(p) != 1 || p[0].Name != "vg-pool" || p[0].ChunkBytes == nil || *p[0].ChunkBytes != 64<<10 || p[0].Zeroing == nil || !*p[0].Zeroing ||
			p[0].DataBytes == nil || *p[0].DataBytes != 128<<20 || p[0].DataUsed == nil || *p[0].DataUsed != chunks*64<<10 ||
			p[0].MetadataUsed == nil || *p[0].MetadataUsed <= 0 || p[0].State != "rw" || p[0].Passdown == nil || !*p[0].Passdown || p[0].Unknown != "" {
			t.Errorf("pool %+v, with %d chunks used", p, chunks)
		}
		m.run("nativ", "info", "--target", "/mnt/thin", "--lang", "en").want(t, 0).prints(t, "thin pool vg-pool, chunks of 64 KiB, zeroing on")

		rec := m.run(m.bench("/mnt/thin", "--places", "host", "--runtime", "2s")...).want(t, 0).record(t)
		g := rec.Target.Storage.GivenBack
		if g == nil || g.Failed != "" || g.TrimmedBytes < 60<<20 || g.UsedBefore == nil || g.UsedAfter == nil || *g.UsedBefore-*g.UsedAfter < 60<<20 {
			t.Errorf("given back: %+v", g)
		}
		if now := m.chunks(); now > chunks+64 {
			t.Errorf("%d chunks are taken, there were %d before the run", now, chunks)
		}
		if !hasWarning(rec, record.WarnThinPool) || hasWarning(rec, record.WarnPoolKept) {
			t.Errorf("warnings %+v", rec.Warnings)
		}
		m.nothingLeft("/mnt/thin")

		run := m.start(m.bench("/mnt/thin", "--places", "host", "--runtime", "2s")...)
		run.untilSaid("1/") // the file is written
		if now := m.chunks(); now < chunks+900 {
			t.Errorf("%d chunks are taken with the file, there were %d", now, chunks)
		}
		m.sh("pkill -9 -o -x nativ")
		run.wait()
		m.run("nativ", "clean").want(t, 0)
		if now := m.chunks(); now > chunks+64 {
			t.Errorf("%d chunks are taken after a run that was killed, there were %d", now, chunks)
		}
		m.nothingLeft("/mnt/thin")

		m.sh("dd if=/dev/zero of=/mnt/thin/full bs=1M count=101 oflag=direct status=none")
		full := m.chunks()
		m.run(m.bench("/mnt/thin", "--places", "host")...).want(t, 3).says(t, "it lies in thin pool vg-pool, of which 8", "a full pool stops everything on it; give space back")
		if now := m.chunks(); now != full {
			t.Errorf("a refused run took %d chunks", now-full)
		}
	})

	t.Run("md", func(t *testing.T) {
		m.t = t
		// Slow, so that it is seen at it.
		m.sh("lvcreate -qq -y -n a -L 512M vg; lvcreate -qq -y -n b -L 512M vg; echo 1000 >/proc/sys/dev/raid/speed_limit_max; echo 1000 >/proc/sys/dev/raid/speed_limit_min")
		m.sh("mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 /dev/vg/a /dev/vg/b 2>/dev/null; mkfs.xfs -q -f /dev/md0; mkdir -p /mnt/md; mount /dev/md0 /mnt/md")
		in := m.info("/mnt/md")
		if got, want := layers(in), slices.Concat([]string{"xfs direct", "md array", "dm- volume", "dm- volume"}, drive); !slices.Equal(got, want) {
			t.Errorf("layers %v, want %v", got, want)
		}
		a := storageOf(t, in).Arrays
		if len(a) != 1 || a[0].Level != "raid1" || a[0].Devices == nil || *a[0].Devices != 2 || a[0].Action != "resync" || a[0].Done == nil || *a[0].Done >= 1 {
			t.Errorf("array %+v", a)
		}
		m.sh("echo 2000000 >/proc/sys/dev/raid/speed_limit_max; mdadm --wait /dev/md0 || true; mdadm -q /dev/md0 --fail /dev/vg/b")
		if a := storageOf(t, m.info("/mnt/md")).Arrays; len(a) != 1 || a[0].Rebuilding() || a[0].Degraded == nil || *a[0].Degraded != 1 {
			t.Errorf("array that lacks a device %+v", a)
		}
	})

	t.Run("LVM raid", func(t *testing.T) {
		m.t = t
		// Both legs on one drive, which LVM makes only when told so twice.
		m.sh("dmsetup create raid --table '0 131072 raid raid1 3 0 region_size 1024 2 - '$(lvcreate -qq -y -n r1 -L 64M vg; readlink -f /dev/vg/r1)' - '$(lvcreate -qq -y -n r2 -L 64M vg; readlink -f /dev/vg/r2)")
		if a := storageOf(t, m.info("/dev/mapper/raid")).Arrays; len(a) != 1 || a[0].Level != "raid1" || a[0].Devices == nil || *a[0].Devices != 2 || a[0].Action == "" {
			t.Errorf("array %+v", a)
		}
	})

	t.Run("crypt", func(t *testing.T) {
		m.t = t
		m.sh("lvcreate -qq -y -n c -L 64M vg; d=/dev/vg/c; " + luks + "; echo -n secret | cryptsetup open --key-file - $d plain")
		m.ext4("/dev/mapper/plain", "/mnt/crypt")
		in := m.info("/mnt/crypt")
		if got, want := layers(in), slices.Concat([]string{"ext direct", "dm- crypt", "dm- volume"}, drive); !slices.Equal(got, want) {
			t.Errorf("layers %v, want %v", got, want)
		}
		if c := storageOf(t, in).Crypts; len(c) != 1 || c[0].Format != "LUKS2" {
			t.Errorf("crypt %+v", c)
		}
	})

	t.Run("btrfs", func(t *testing.T) {
		m.t = t
		m.sh("lvcreate -qq -y -n f -L 256M vg; mkfs.btrfs -q /dev/vg/f; mkdir -p /mnt/btrfs; mount -o compress=zstd:1 /dev/vg/f /mnt/btrfs")
		effect := "btrfs copies"
		in := m.info("/mnt/btrfs")
		b := storageOf(t, in).Btrfs
		if b == nil || !b.Checksums || b.Compression != "zstd:1" {
			t.Errorf("btrfs %+v", b)
		} else if b.Buffered {
			effect = "btrfs btrfs-in-place"
		}
		if got, want := layers(in), slices.Concat([]string{effect, "dm- volume"}, drive); !slices.Equal(got, want) {
			t.Errorf("layers %v, want %v", got, want)
		}
	})

	t.Run("loop", func(t *testing.T) {
		m.t = t
		m.sh("lvcreate -qq -y -n l -L 7g vg")
		m.ext4("/dev/vg/l", "/mnt/below")
		m.sh("truncate -s 6G /mnt/below/image; mkfs.ext4 -q -F -N 1000 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /mnt/below/image; losetup /dev/loop3 /mnt/below/image; mkdir -p /mnt/loop; mount /dev/loop3 /mnt/loop")
		want := slices.Concat([]string{"ext direct", "loop loop-cached", "dm- volume"}, drive)
		if got := layers(m.info("/mnt/loop")); !slices.Equal(got, want) {
			t.Errorf("layers %v, want %v", got, want)
		}
		rec := m.run(m.bench("/mnt/loop", "--places", "host", "--runtime", "2s")...).want(t, 0).record(t)
		if !hasWarning(rec, record.WarnLoopCached) {
			t.Errorf("warnings %+v", rec.Warnings)
		}
		m.run("nativ", "report", rec.ID, "--lang", "en").want(t, 0).prints(t, "Verdict: What was measured is a file behind the page cache of the host")
		m.nothingLeft("/mnt/loop")
		m.sh("umount /mnt/loop; losetup -d /dev/loop3; losetup --direct-io=on /dev/loop3 /mnt/below/image")
		if got, want := layers(m.info("/dev/loop3")), slices.Concat([]string{"loop loop-direct", "dm- volume"}, drive); !slices.Equal(got, want) {
			t.Errorf("layers %v, want %v", got, want)
		}
	})
	m.t = t
}

// prints checks that a program printed texts, whatever their line breaks.
func (r result) prints(t *testing.T, texts ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(r.stdout), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			t.Errorf("nothing says %q:\n%s", text, fmt.Sprint(r.stdout))
		}
	}
}
