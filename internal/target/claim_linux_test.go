package target

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReopenGivesTheVeryFile(t *testing.T) {
	f := newFile(t, realTemp(t), 1<<20)
	for _, tt := range []struct {
		write, direct bool
		flags         int
	}{
		{false, false, unix.O_RDONLY},
		{true, false, unix.O_RDWR},
		{false, true, unix.O_RDONLY | unix.O_DIRECT},
		{true, true, unix.O_RDWR | unix.O_DIRECT},
	} {
		c, err := f.Claim(tt.write, tt.direct)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(c.Fd(), &st); err != nil || st.Ino != f.ino {
			t.Errorf("claim is on inode %d (%v), want %d", st.Ino, err, f.ino)
		}
		flags, err := unix.FcntlInt(uintptr(c.Fd()), unix.F_GETFL, 0)
		if got := flags & (unix.O_ACCMODE | unix.O_DIRECT | unix.O_NONBLOCK); err != nil || got != tt.flags {
			t.Errorf("write %v, direct %v: flags %#x, want %#x (%v)", tt.write, tt.direct, got, tt.flags, err)
		}
		if fd, _ := unix.FcntlInt(uintptr(c.Fd()), unix.F_GETFD, 0); fd&unix.FD_CLOEXEC == 0 {
			t.Error("the descriptor would be handed to children")
		}
		if c.Writable() != tt.write || c.Size() != 1<<20 {
			t.Errorf("claim says writable %v, size %d", c.Writable(), c.Size())
		}
		if direct := c.MemAlign() > 1 && c.OffsetAlign() > 1; direct != tt.direct {
			t.Errorf("direct %v: alignments %d, %d", tt.direct, c.MemAlign(), c.OffsetAlign())
		}
		if _, err := unix.Pwrite(c.Fd(), []byte("x"), 0); !tt.write && err != unix.EBADF {
			t.Errorf("a claim to read lets write: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error("second close:", err)
		}
	}
}

// Each case changes something between the ticket and its use.
func TestReopenRefuses(t *testing.T) {
	tests := []struct {
		name   string
		attack func(t *testing.T, f *File, tk *Ticket)
		what   string // of the Mismatch; "" where the path does not lead to a file
	}{
		{"symbolic link", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Rename(f.path, f.path+".moved"))
			must(t, os.Symlink(f.path+".moved", f.path))
		}, "kind"},
		{"symbolic link in a parent", func(t *testing.T, f *File, tk *Ticket) {
			link := filepath.Join(realTemp(t), "link")
			must(t, os.Symlink(filepath.Dir(f.path), link))
			tk.Path = filepath.Join(link, filepath.Base(f.path))
		}, ""},
		{"magic link", func(t *testing.T, f *File, tk *Ticket) {
			tk.Path = "/proc/self/root" + f.path
		}, ""},
		{"FIFO", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Remove(f.path))
			must(t, unix.Mkfifo(f.path, 0o600))
		}, "kind"},
		{"directory", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Remove(f.path))
			must(t, os.Mkdir(f.path, 0o700))
		}, "kind"},
		{"socket", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Remove(f.path))
			must(t, unix.Mknod(f.path, unix.S_IFSOCK|0o600, 0))
		}, "kind"},
		{"device", func(t *testing.T, f *File, tk *Ticket) {
			needRoot(t)
			must(t, os.Remove(f.path))
			must(t, unix.Mknod(f.path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
		}, "kind"},
		{"replaced", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Remove(f.path))
			must(t, os.WriteFile(f.path, make([]byte, f.size), 0o600))
		}, "inode"},
		{"hard link", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Link(f.path, f.path+".other"))
		}, "links"},
		{"grown", func(t *testing.T, f *File, tk *Ticket) { must(t, os.Truncate(f.path, f.size+512)) }, "size"},
		{"shrunk", func(t *testing.T, f *File, tk *Ticket) { must(t, os.Truncate(f.path, 0)) }, "size"},
		{"renamed", func(t *testing.T, f *File, tk *Ticket) {
			must(t, os.Rename(f.path, f.path+".moved"))
			tk.Path = f.path + ".moved"
		}, "name"},
		{"other nonce", func(t *testing.T, f *File, tk *Ticket) { tk.Nonce = strings.Repeat("0", 32) }, "name"},
		{"no nonce", func(t *testing.T, f *File, tk *Ticket) { tk.Nonce = "" }, "name"},
		{"other device", func(t *testing.T, f *File, tk *Ticket) { tk.DevMinor++ }, "device"},
		{"gone", func(t *testing.T, f *File, tk *Ticket) { must(t, os.Remove(f.path)) }, ""},
		{"relative", func(t *testing.T, f *File, tk *Ticket) { tk.Path = filepath.Base(f.path) }, ""},
		{"not clean", func(t *testing.T, f *File, tk *Ticket) {
			tk.Path = filepath.Dir(f.path) + "/../" + filepath.Base(filepath.Dir(f.path)) + "/" + filepath.Base(f.path)
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFile(t, realTemp(t), 1<<20)
			tk := f.Ticket(f.Path(), true, false)
			tt.attack(t, f, &tk)
			c, err := Reopen(tk)
			if err == nil {
				c.Close()
				t.Fatal("reopened")
			}
			var m *Mismatch
			switch {
			case tt.what == "" && errors.As(err, &m):
				t.Errorf("got %v, want an error that is no mismatch", err)
			case tt.what != "" && (!errors.As(err, &m) || m.What != tt.what):
				t.Errorf("got %v, want a mismatch of the %s", err, tt.what)
			}
			t.Log(err)
		})
	}
}
