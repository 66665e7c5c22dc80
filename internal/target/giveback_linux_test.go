package target

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// A loop file takes discards by making holes in itself: what is given back is what
// its blocks shrink by. (There is no device mapper here; test/vm has the pool.)
func TestTrimFile(t *testing.T) {
	for _, fs := range []struct {
		name string
		size int64
	}{{"ext4", 128 << 20}, {"xfs", 320 << 20}, {"btrfs", 256 << 20}} {
		t.Run(fs.name, func(t *testing.T) {
			dir := mountNew(t, fs.name, fs.size)
			used := func() int64 {
				unix.Sync()
				var st unix.Stat_t
				must(t, unix.Stat(filepath.Join(filepath.Dir(dir), "image"), &st))
				return st.Blocks * 512
			}
			other := filepath.Join(dir, "other")
			must(t, os.WriteFile(other, make([]byte, 4<<20), 0o600))
			must(t, os.Remove(other)) // free, and none of ours
			const size = 32 << 20
			f := newFile(t, dir, size)
			c, err := f.Claim(true, false)
			must(t, err)
			fill(t, c, size)
			must(t, c.Close())
			before := used()
			n, err := trimFile(f.fd, f.dirFd, fs.name)
			must(t, err)
			if n < size/10*9 {
				t.Errorf("%d of %d bytes were trimmed", n, size)
			}
			if fs.name != "btrfs" && n > size+1<<20 {
				t.Errorf("%d bytes were trimmed, more than the file had", n)
			}
			freed := before - used()
			for end := time.Now().Add(20 * time.Second); freed < size/10*9 && time.Now().Before(end); freed = before - used() {
				time.Sleep(50 * time.Millisecond) // XFS does not wait for its discards
			}
			if freed < size/10*9 {
				t.Errorf("the image shrank by %d of %d bytes", freed, size)
			}
			if parts, err := sys.Extents(f.fd); err != nil || len(parts) != 0 {
				t.Errorf("the file still has %v, %v", parts, err)
			}
			if n, err := trimFile(f.fd, f.dirFd, fs.name); err != nil || fs.name != "btrfs" && n != 0 {
				t.Errorf("a second time: %d, %v", n, err)
			}
		})
	}
}

// Nothing is done to files that lie in no pool, or belong to others.
func TestGiveBackNothing(t *testing.T) {
	dir := realTemp(t)
	f := newFile(t, dir, 1<<20)
	if g := f.GiveBack(&record.Target{}, Roots{}); g != nil {
		t.Errorf("got %+v", g)
	}
	name := filepath.Join(dir, "foreign")
	must(t, os.WriteFile(name, []byte("precious"), 0o600))
	foreign, err := OpenExisting(name)
	must(t, err)
	pool := &record.Target{FSType: "ext4", Storage: &record.Storage{Pools: []record.ThinPool{{Name: "p"}}}}
	if g := foreign.GiveBack(pool, Roots{}); g != nil {
		t.Errorf("got %+v of a foreign file", g)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "precious" {
		t.Errorf("the foreign file holds %q, %v", b, err)
	}
	pool.Storage.Pools[0].Discards = new(false)
	if g := f.GiveBack(pool, Roots{}); g == nil || g.Failed != "the pool takes no discards" {
		t.Errorf("got %+v", g)
	}
}

func TestJoined(t *testing.T) {
	got := joined([]sys.Extent{{At: 100, Length: 10}, {Offset: 10, At: 110, Length: 5}, {Offset: 15, At: 200, Length: 5}, {Offset: 20, At: 205, Length: 1}})
	if len(got) != 2 || got[0] != (sys.Extent{Offset: 0, At: 100, Length: 15}) || got[1] != (sys.Extent{Offset: 15, At: 200, Length: 6}) {
		t.Errorf("got %v", got)
	}
}

func fill(t *testing.T, c *Claim, size int64) {
	t.Helper()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i*7 + 1)
	}
	for off := int64(0); off < size; off += int64(len(block)) {
		if _, err := unix.Pwrite(c.fd, block, off); err != nil {
			t.Fatal(err)
		}
	}
	must(t, unix.Fsync(c.fd))
}
