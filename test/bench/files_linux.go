package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	ticket "nativ/internal/target"
)

// A testFile is one of our own, with the ticket that a worker takes for it.
type testFile struct{ ticket ticket.Ticket }

// newFile writes a file of random bytes, which the page cache then holds.
func newFile(dir string, size int64) (*testFile, error) {
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	t := ticket.Ticket{Size: size, Nonce: hex.EncodeToString(nonce[:])}
	t.Path = filepath.Join(dir, "nativ-"+t.Nonce+".dat")
	f, err := os.OpenFile(t.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	t.DevMajor, t.DevMinor, t.Ino = unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino
	buf, src := make([]byte, 1<<20), mathrand.NewChaCha8([32]byte{})
	for left := size; left > 0; left -= int64(len(buf)) {
		_, _ = src.Read(buf) // never fails
		if _, err := f.Write(buf[:min(left, int64(len(buf)))]); err != nil {
			return nil, errors.Join(err, os.Remove(t.Path))
		}
	}
	if err := f.Sync(); err != nil {
		return nil, errors.Join(err, os.Remove(t.Path))
	}
	return &testFile{t}, nil
}

// run runs a system's command and returns what it printed.
func run(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// A loopDisk is an ext4 on a loop device, and a cgroup in which the device
// gives so many reads a second.
type loopDisk struct {
	file   *testFile
	name   string // loop0
	cgroup string
	undo   []func() error
}

// newLoopDisk needs root and one of the kernel's two I/O controllers.
func newLoopDisk(dir string, iops int) (d *loopDisk, err error) {
	d = new(loopDisk)
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
			d = nil
		}
	}()
	img, mnt := filepath.Join(dir, "img"), filepath.Join(dir, "mnt")
	f, err := os.Create(img)
	if err != nil {
		return d, err
	}
	if err := errors.Join(f.Truncate(256<<20), f.Close()); err != nil {
		return d, err
	}
	if _, err := run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", img); err != nil {
		return d, err
	}
	dev, err := run("losetup", "--find", "--show", img)
	if err != nil {
		return d, err
	}
	d.name = filepath.Base(dev)
	d.undo = append(d.undo, func() error { _, err := run("losetup", "-d", dev); return err })
	if err := os.Mkdir(mnt, 0o755); err != nil {
		return d, err
	}
	if _, err := run("mount", "-t", "ext4", "-o", "noatime", dev, mnt); err != nil {
		return d, err
	}
	d.undo = append(d.undo, func() error {
		// A ring gives its file back some time after its process has ended.
		return again(func() error { _, err := run("umount", mnt); return err })
	})
	if d.file, err = newFile(mnt, 64<<20); err != nil {
		return d, err
	}
	number, err := os.ReadFile(filepath.Join("/sys/block", d.name, "dev"))
	if err != nil {
		return d, err
	}
	return d, d.throttle(strings.TrimSpace(string(number)), iops)
}

func (d *loopDisk) throttle(dev string, iops int) error {
	name := fmt.Sprintf("nativ-bench-%d", os.Getpid())
	group, file, line := filepath.Join("/sys/fs/cgroup/blkio", name), "blkio.throttle.read_iops_device", fmt.Sprintf("%s %d", dev, iops)
	if _, err := os.Stat("/sys/fs/cgroup/blkio"); err != nil {
		group, file, line = filepath.Join("/sys/fs/cgroup", name), "io.max", fmt.Sprintf("%s riops=%d", dev, iops)
		// An error shows when the limit is written.
		_ = os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+io"), 0)
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		return err
	}
	d.undo = append(d.undo, func() error { return again(func() error { return os.Remove(group) }) })
	d.cgroup = group
	return os.WriteFile(filepath.Join(group, file), []byte(line), 0)
}

func (d *loopDisk) close() (err error) {
	for i := len(d.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, d.undo[i]())
	}
	return err
}

func again(f func() error) (err error) {
	for range 100 {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// reads are the reads that the device was asked for and the bytes that it read
// (Documentation/admin-guide/iostats.rst). Requests that were merged on the way
// count as those that they were.
func (d *loopDisk) reads() (ios, bytes int64, err error) {
	b, err := os.ReadFile(filepath.Join("/sys/block", d.name, "stat"))
	if err != nil {
		return 0, 0, err
	}
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return 0, 0, fmt.Errorf("read the counters of %s: %q", d.name, b)
	}
	var n [3]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
			return 0, 0, fmt.Errorf("read the counters of %s: %w", d.name, err)
		}
	}
	return n[0] + n[1], n[2] * 512, nil
}
