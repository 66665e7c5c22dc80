package target

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func existing(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "mine")
	must(t, os.WriteFile(name, []byte(strings.Repeat("not nativ's ", 1000)), 0o644))
	return name
}

// A file that was there is read, also by a second name, and never more.
func TestOpenExisting(t *testing.T) {
	dir := mountNew(t, "ext4", 64<<20)
	name := existing(t, dir)
	must(t, os.Link(name, name+".2"))
	must(t, os.Symlink(name, name+".link"))
	f, err := OpenExisting(name + ".link")
	must(t, err)
	if !f.Foreign() || f.Path() != name || f.Facts().Size != 12000 || !f.CanDirect() || f.Sparse() {
		t.Errorf("got %+v", f)
	}
	before := *f
	c, err := f.Claim(false, false)
	must(t, err)
	defer c.Close()
	if c.Writable() {
		t.Error("the claim allows writing")
	}
	buf := make([]byte, 12)
	if n, err := unix.Pread(c.Fd(), buf, 12); err != nil || n != 12 || string(buf) != "not nativ's " {
		t.Errorf("read %q: %v", buf[:n], err)
	}
	if _, err := unix.Pwrite(c.Fd(), buf, 0); err != unix.EBADF {
		t.Errorf("write through the claim: %v", err)
	}
	if _, err := f.Claim(true, false); err == nil || !strings.Contains(err.Error(), "only to files of its own") {
		t.Errorf("a claim to write: %v", err)
	}
	if err := f.Chown(1, 1); err == nil {
		t.Error("its owner may be changed")
	}
	must(t, f.Remove())
	must(t, f.Remove())
	if b, err := os.ReadFile(name); err != nil || len(b) != 12000 {
		t.Errorf("after Remove: %d bytes, %v", len(b), err)
	}
	f = &before

	// Tickets that say more than they may.
	for name, change := range map[string]func(*Ticket){
		"write":      func(k *Ticket) { k.Write = true },
		"not ours":   func(k *Ticket) { k.Foreign = false },
		"with nonce": func(k *Ticket) { k.Nonce = strings.Repeat("0f", 16) },
		"nonce, not foreign, to write": func(k *Ticket) {
			k.Nonce, k.Foreign, k.Write = strings.Repeat("0f", 16), false, true
		},
		"inode":  func(k *Ticket) { k.Ino++ },
		"device": func(k *Ticket) { k.DevMinor++ },
		"size":   func(k *Ticket) { k.Size-- },
		"link":   func(k *Ticket) { k.Path += ".link" },
	} {
		k := f.Ticket(f.path, false, false)
		change(&k)
		if c, err := Reopen(k); err == nil {
			c.Close()
			t.Errorf("a ticket with another %s was taken", name)
		}
	}
}

// A ticket for one of nativ's own files does not pass as one of a foreign file,
// nor does a file of nativ's name become writable by it.
func TestForeignTicketOfOwnFile(t *testing.T) {
	dir := mountNew(t, "ext4", 64<<20)
	f := newFile(t, dir, 1<<20)
	k := f.Ticket(f.Path(), true, false)
	k.Foreign = true
	if c, err := Reopen(k); err == nil {
		c.Close()
		t.Error("a foreign ticket to write was taken")
	}
}

func TestOpenExistingRefuses(t *testing.T) {
	dir := mountNew(t, "ext4", 64<<20)
	empty := filepath.Join(dir, "empty")
	must(t, os.WriteFile(empty, nil, 0o644))
	fifo := filepath.Join(dir, "fifo")
	must(t, unix.Mkfifo(fifo, 0o644))
	for name, kind := range map[string]string{dir: "a directory", empty: "an empty file", fifo: "a FIFO", "/dev/null": "a device"} {
		_, err := OpenExisting(name)
		var r *Refusal
		if !errors.As(err, &r) || r.Code != RefuseKind || r.Kind != kind || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenExisting(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	name := filepath.Join(dir, "hole")
	must(t, os.WriteFile(name, []byte("x"), 0o644))
	must(t, os.Truncate(name, 1<<20))
	f, err := OpenExisting(name)
	must(t, err)
	defer f.Remove()
	if !f.Sparse() {
		t.Error("a hole was not seen")
	}
	// Shrunk since: its ticket no longer fits.
	must(t, os.Truncate(name, 1<<10))
	if _, err := f.Claim(false, false); err == nil || !strings.Contains(err.Error(), "when the run began") {
		t.Errorf("a file that shrank: %v", err)
	}
}
