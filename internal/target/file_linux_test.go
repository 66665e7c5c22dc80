package target

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
)

func TestCreate(t *testing.T) {
	for _, fs := range []struct {
		name      string
		size      int64
		allocates bool // the space is taken at creation
	}{
		{"ext4", 64 << 20, true}, {"xfs", 320 << 20, true}, {"btrfs", 128 << 20, false}, {"tmpfs", 16 << 20, true},
	} {
		t.Run(fs.name, func(t *testing.T) {
			dir := mountNew(t, fs.name, fs.size)
			const size = 8 << 20
			f := newFile(t, dir, size)
			var st unix.Stat_t
			must(t, unix.Lstat(f.Path(), &st))
			if st.Size != size || st.Mode != unix.S_IFREG|0o600 {
				t.Errorf("size %d, mode %#o", st.Size, st.Mode)
			}
			if got := st.Blocks*512 >= size; got != fs.allocates {
				t.Errorf("%d blocks are allocated", st.Blocks)
			}
			facts := f.Facts()
			if facts.Ino != st.Ino || facts.DevMajor != unix.Major(st.Dev) || facts.DevMinor != unix.Minor(st.Dev) || facts.Size != size {
				t.Errorf("facts %+v do not fit %+v", facts, st)
			}
			if facts.MemAlign < 1 || facts.OffsetAlign < 1 {
				t.Errorf("alignments %d and %d", facts.MemAlign, facts.OffsetAlign)
			}

			// Only allocated: reads would not ask the drive.
			if err := f.SyncAndCheckWritten(); err == nil && fs.name != "tmpfs" {
				t.Error("a file that was never written passes as written")
			}
			c, err := f.Claim(true, fs.name != "tmpfs")
			must(t, err)
			defer c.Close()
			write(t, c, 0, size-1<<20)
			if err := f.SyncAndCheckWritten(); err == nil && fs.name != "tmpfs" {
				t.Error("a file whose end was never written passes as written")
			}
			write(t, c, size-1<<20, size)
			if err := f.SyncAndCheckWritten(); err != nil {
				t.Error("a file that was written whole:", err)
			}

			must(t, f.Remove())
			if _, err := os.Lstat(f.Path()); !errors.Is(err, os.ErrNotExist) {
				t.Error("the file is still there:", err)
			}
			if err := f.Remove(); err != nil {
				t.Error("second remove:", err)
			}
		})
	}
}

// write fills the claim from one offset to another, aligned for direct I/O.
func write(t *testing.T, c *Claim, from, to int64) {
	t.Helper()
	buf, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	must(t, err)
	defer unix.Munmap(buf)
	copy(buf, bytes.Repeat([]byte{0xa5}, len(buf)))
	for off := from; off < to; off += int64(len(buf)) {
		if n, err := unix.Pwrite(c.Fd(), buf, off); err != nil || n != len(buf) {
			t.Fatalf("write at %d: %d, %v", off, n, err)
		}
	}
}

func TestCreateIsJournalled(t *testing.T) {
	j, dir := newJournal(t), realTemp(t)
	f, err := Create(dir, 4096, testNonce, j)
	must(t, err)
	e := j.Entries()
	if len(e) != 1 || e[0].Kind != journal.KindFile || e[0].Path != f.Path() || e[0].Ino != f.ino {
		t.Fatalf("journal holds %+v", e)
	}
	// As after SIGKILL.
	if left := undo(j); len(left) > 0 {
		t.Fatal(left)
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
	must(t, f.Remove())
}

func TestCreateOnFullDisk(t *testing.T) {
	dir, j := mountNew(t, "ext4", 16<<20), newJournal(t)
	_, err := Create(dir, 1<<30, testNonce, j)
	var r *Refusal
	if !errors.As(err, &r) || r.Code != RefuseSpace || !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v, want a refusal for space", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, fileName(testNonce))); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file is left:", err)
	}
	if left := j.Entries(); len(left) > 0 {
		t.Errorf("the journal still lists %v", left)
	}
}

func TestCreateNeverTouchesWhatIsThere(t *testing.T) {
	outside := filepath.Join(realTemp(t), "precious")
	must(t, os.WriteFile(outside, []byte("precious"), 0o600))
	for name, plant := range map[string]func(path string) error{
		"file":          func(p string) error { return os.WriteFile(p, []byte("precious"), 0o600) },
		"symbolic link": func(p string) error { return os.Symlink(outside, p) },
		"dangling link": func(p string) error { return os.Symlink(outside+".not", p) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, j := realTemp(t), newJournal(t)
			p := filepath.Join(dir, fileName(testNonce))
			must(t, plant(p))
			if _, err := Create(dir, 4096, testNonce, j); !errors.Is(err, os.ErrExist) {
				t.Errorf("got %v", err)
			}
			if len(j.Entries()) > 0 {
				t.Error("the journal lists what nativ did not make")
			}
			if _, err := os.Lstat(p); err != nil {
				t.Error(err)
			}
			if b, _ := os.ReadFile(outside); string(b) != "precious" {
				t.Errorf("the link's target holds %q", b)
			}
		})
	}
}

func TestCreateRefusesArguments(t *testing.T) {
	dir := realTemp(t)
	link := filepath.Join(realTemp(t), "link")
	must(t, os.Symlink(dir, link))
	for _, tt := range []struct {
		dir, nonce string
		size       int64
	}{
		{dir, "../../etc/x", 4096}, {dir, "", 4096}, {dir, testNonce, 0}, {dir, testNonce, -1},
		{link, testNonce, 4096}, {dir + "/none", testNonce, 4096}, {"relative", testNonce, 4096},
	} {
		j := newJournal(t)
		if f, err := Create(tt.dir, tt.size, tt.nonce, j); err == nil {
			t.Errorf("Create(%q, %d, %q) made %s", tt.dir, tt.size, tt.nonce, f.Path())
		}
		if len(j.Entries()) > 0 {
			t.Errorf("Create(%q, %d, %q) left an entry", tt.dir, tt.size, tt.nonce)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
}

func TestRemoveLeavesAnotherFile(t *testing.T) {
	f := newFile(t, realTemp(t), 4096)
	must(t, os.Rename(f.Path(), f.Path()+".moved"))
	must(t, os.WriteFile(f.Path(), []byte("precious"), 0o600))
	if err := f.Remove(); err == nil {
		t.Error("removed another file without an error")
	}
	if b, err := os.ReadFile(f.Path()); err != nil || string(b) != "precious" {
		t.Errorf("the other file holds %q, %v", b, err)
	}
}

// The directory was moved and another put in its place.
func TestRemoveFollowsTheDirectory(t *testing.T) {
	dir := filepath.Join(realTemp(t), "dir")
	must(t, os.Mkdir(dir, 0o755))
	f := newFile(t, dir, 4096)
	must(t, os.Rename(dir, dir+".moved"))
	must(t, os.Mkdir(dir, 0o755))
	must(t, f.Remove())
	if names, _ := os.ReadDir(dir + ".moved"); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
}

func TestChown(t *testing.T) {
	needRoot(t)
	f := newFile(t, realTemp(t), 4096)
	must(t, f.Chown(100000, 100001))
	var st unix.Stat_t
	must(t, unix.Stat(f.Path(), &st))
	if st.Uid != 100000 || st.Gid != 100001 {
		t.Errorf("owner is %d:%d", st.Uid, st.Gid)
	}
}

func TestUndoFile(t *testing.T) {
	boot, err := journal.BootID()
	must(t, err)
	for _, tt := range []struct {
		name    string
		change  func(t *testing.T, e *journal.Entry)
		removed bool
		wrong   bool
	}{
		{"as made", func(*testing.T, *journal.Entry) {}, true, false},
		{"not recorded", func(_ *testing.T, e *journal.Entry) { e.Dev, e.Ino = 0, 0 }, true, false},
		{"device numbers of another boot", func(_ *testing.T, e *journal.Entry) {
			e.Dev, e.BootID = e.Dev+1, "00000000-0000-4000-8000-000000000000"
		}, true, false},
		{"another device", func(t *testing.T, e *journal.Entry) { e.Dev = otherDevice(t, e.Dev) }, false, true},
		{"another inode", func(_ *testing.T, e *journal.Entry) { e.Ino++ }, false, true},
		{"gone", func(t *testing.T, e *journal.Entry) { must(t, os.Remove(e.Path)) }, false, false},
		{"directory gone", func(t *testing.T, e *journal.Entry) { must(t, os.RemoveAll(filepath.Dir(e.Path))) }, false, false},
		{"link", func(t *testing.T, e *journal.Entry) {
			e.Dev, e.Ino = 0, 0
			must(t, os.Remove(e.Path))
			must(t, os.Symlink("/etc/passwd", e.Path))
		}, false, true},
		{"link in a parent", func(t *testing.T, e *journal.Entry) {
			dir := filepath.Dir(e.Path)
			must(t, os.Rename(dir, dir+".moved"))
			must(t, os.Symlink(dir+".moved", dir))
		}, false, true},
		{"another name", func(t *testing.T, e *journal.Entry) {
			p := filepath.Join(filepath.Dir(e.Path), "precious.dat")
			must(t, os.Rename(e.Path, p))
			e.Path = p
		}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(realTemp(t), "dir")
			must(t, os.Mkdir(dir, 0o755))
			p := filepath.Join(dir, fileName(testNonce))
			must(t, os.WriteFile(p, nil, 0o600))
			var st unix.Stat_t
			must(t, unix.Stat(p, &st))
			e := journal.Entry{Kind: journal.KindFile, Path: p, Dev: st.Dev, Ino: st.Ino, BootID: boot}
			tt.change(t, &e)
			before := tree(t, filepath.Dir(dir))
			removed, err := UndoFile(t.Context(), e)
			if removed != tt.removed || (err != nil) != tt.wrong {
				t.Errorf("got %v, %v", removed, err)
			}
			if after := tree(t, filepath.Dir(dir)); !removed && !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
		})
	}
}

// otherDevice returns the number of a block device that is here and is not dev.
func otherDevice(t *testing.T, dev uint64) uint64 {
	t.Helper()
	list, err := os.ReadDir("/sys/dev/block")
	must(t, err)
	for _, e := range list {
		var major, minor uint32
		if _, err := fmt.Sscanf(e.Name(), "%d:%d", &major, &minor); err == nil && unix.Mkdev(major, minor) != dev {
			return unix.Mkdev(major, minor)
		}
	}
	t.Skip("needs a second block device")
	return 0
}

// What is on a drive that was pulled is not gone, whatever a filesystem in
// memory says; one that is back under another number is the same.
func TestUndoFilePulled(t *testing.T) {
	boot, err := journal.BootID()
	must(t, err)
	for _, tt := range []struct {
		name    string
		change  func(t *testing.T, e *journal.Entry)
		removed bool
		says    string
	}{
		{"still mounted", func(*testing.T, *journal.Entry) {}, false, "was removed from this machine"},
		{"unmounted", func(t *testing.T, e *journal.Entry) { must(t, os.RemoveAll(filepath.Dir(e.Path))) }, false, "was removed from this machine"},
		{"back again", func(_ *testing.T, e *journal.Entry) { e.Dev = unix.Mkdev(259, 1<<19) }, true, ""},
		{"of another boot", func(_ *testing.T, e *journal.Entry) {
			e.BootID = "00000000-0000-4000-8000-000000000000"
		}, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(realTemp(t), "dir")
			must(t, os.Mkdir(dir, 0o755))
			p := filepath.Join(dir, fileName(testNonce))
			must(t, os.WriteFile(p, nil, 0o600))
			var st unix.Stat_t
			must(t, unix.Stat(p, &st))
			if unix.Major(st.Dev) == 0 {
				t.Skip("needs a filesystem on a block device")
			}
			sysfs := t.TempDir() // with no block device in it
			must(t, os.MkdirAll(sysfs+"/dev/block", 0o755))
			e := journal.Entry{Kind: journal.KindFile, Path: p, Dev: st.Dev, Ino: st.Ino, BootID: boot}
			tt.change(t, &e)
			removed, err := undoFile(sysfs, e)
			if removed != tt.removed || (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, %v", removed, err)
			}
		})
	}
}

func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		names = append(names, p)
		return err
	}))
	return names
}

func TestUndoDir(t *testing.T) {
	dir := filepath.Join(realTemp(t), "dir")
	e := journal.Entry{Kind: journal.KindDir, Path: dir}
	check := func(want bool, wrong bool) {
		t.Helper()
		if got, err := UndoDir(t.Context(), e); got != want || (err != nil) != wrong {
			t.Errorf("got %v, %v", got, err)
		}
	}
	check(false, false)
	must(t, os.Mkdir(dir, 0o755))
	check(true, false)
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "report.md"), nil, 0o600))
	check(false, false)
	must(t, os.WriteFile(filepath.Join(dir, fileName(testNonce)), nil, 0o600))
	check(false, true)
	if len(tree(t, dir)) != 3 {
		t.Error("something was removed")
	}
}

func TestClaimUnnamed(t *testing.T) {
	for fs, size := range map[string]int64{"ext4": 32 << 20, "xfs": 320 << 20, "btrfs": 128 << 20} {
		t.Run(fs, func(t *testing.T) {
			dir := mountNew(t, fs, size)
			before := tree(t, dir)
			c, err := ClaimUnnamed(dir, 1<<20)
			must(t, err)
			defer c.Close()
			if after := tree(t, dir); !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
			write(t, c, 0, 1<<20)
			if err := unix.Linkat(c.Fd(), "", unix.AT_FDCWD, filepath.Join(dir, "name"), unix.AT_EMPTY_PATH); err == nil {
				t.Error("the file can be given a name")
			}
		})
	}
	t.Run("no permission", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may write everywhere")
		}
		_, err := ClaimUnnamed("/", 4096)
		var r *Refusal
		if !errors.As(err, &r) || r.Code != RefusePermission {
			t.Errorf("got %v, want a refusal for permission", err)
		}
		if _, err := Create("/", 4096, testNonce, newJournal(t)); !errors.As(err, &r) || r.Code != RefusePermission {
			t.Errorf("Create: got %v, want a refusal for permission", err)
		}
	})
	t.Run("no O_TMPFILE", func(t *testing.T) {
		needRoot(t) // others may not write there, which comes first
		if _, err := ClaimUnnamed("/proc", 4096); !errors.Is(err, ErrNoTmpfile) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		if _, err := ClaimUnnamed(realTemp(t)+"/none", 4096); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no direct I/O", func(t *testing.T) {
		// ext4 with data journalling has none (ext4_should_use_dio).
		dir := mountNew(t, "ext4", 32<<20, "data=journal")
		_, err := ClaimUnnamed(dir, 4096)
		var r *Refusal
		if !errors.As(err, &r) || r.Code != RefuseDirect {
			t.Errorf("got %v, want a refusal for direct I/O", err)
		}
		f, err := Create(dir, 1<<20, testNonce, newJournal(t))
		if !errors.As(err, &r) || r.Code != RefuseDirect {
			t.Errorf("Create: %v, %v", f, err)
		}
		if len(tree(t, dir)) != 2 { // with lost+found
			t.Error("a file is left")
		}
	})
}
