package pve_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nativ/internal/pve"
	"nativ/internal/pve/pvetest"
)

// neighbours are somebody's guests on a host: a container and a virtual machine
// that look as much like nativ's as they can, their volumes, and volumes that
// nobody names.
type neighbours struct {
	files map[string][]byte
	info  map[string]os.FileInfo
}

func addNeighbours(t *testing.T, h *pvetest.Host, c *pve.Client) *neighbours {
	t.Helper()
	first, err := c.NextID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := &neighbours{map[string][]byte{}, map[string]os.FileInfo{}}
	volume := func(storage string, id int) string {
		t.Helper()
		v, err := c.Alloc(t.Context(), storage, id, "", "", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Path(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		content := make([]byte, 1<<20)
		_, _ = rand.Read(content)
		f, err := os.OpenFile(p, os.O_WRONLY|os.O_SYNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
		n.note(t, p)
		return v
	}
	h.AddCT(first, "#nativ run 20251231-000000-0000\nhostname: nativ-0000\ntags: nativ\n"+
		"rootfs: "+volume("local", first)+",size=1M\nmp0: "+volume("local-lvm", first)+",mp=/bench,size=1M\n")
	h.AddVM(first+1, "name: nativ-abcd\ntags: nativ\nscsi0: "+volume("local-lvm", first+1)+",size=1M\n")
	// Of guests that are gone, under the ID that is next.
	volume("local-lvm", first+2)
	volume("local", first+2)
	n.note(t, filepath.Join(h.Root, "etc/pve/lxc", strconv.Itoa(first)+".conf"))
	n.note(t, filepath.Join(h.Root, "etc/pve/qemu-server", strconv.Itoa(first+1)+".conf"))
	return n
}

func (n *neighbours) note(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n.info[path], err = os.Stat(path); err != nil {
		t.Fatal(err)
	}
	n.files[path] = b
}

// untouched fails where anything of theirs is another file, has other bytes, or
// was written to.
func (n *neighbours) untouched(t *testing.T, after string) {
	t.Helper()
	for path, want := range n.files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("after %s: %v", after, err)
			continue
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, want) || !os.SameFile(st, n.info[path]) || !st.ModTime().Equal(n.info[path].ModTime()) {
			t.Errorf("after %s: %s is not what it was", after, path)
		}
	}
}

// Whatever goes wrong with a container of nativ's, other guests stay as they are,
// to the byte, and once the fault is over all of nativ's can be removed.
func TestNeighbours(t *testing.T) {
	hosts(t, func(t *testing.T, h *pvetest.Host, c *pve.Client) {
		n := addNeighbours(t, h, c)
		c.LockWait = 50 * time.Millisecond
		before := len(h.Left())
		for fault := range pvetest.Faults {
			since := time.Now()
			var noted noted
			if fault == "term-ignored" {
				continue // see TestCreateDoesNotEnd
			}
			value := ""
			if fault == "wipe" {
				value = "100"
			}
			if fault == "id-race" {
				value = "1" // see the end
			}
			h.Fault(fault, value)
			made, err := c.Create(t.Context(), spec("local-lvm"), noted.Will, noted.Wont)
			if err == nil {
				_, _ = made.CT.Start(t.Context())
				_ = made.CT.Trim(t.Context())
				_ = made.CT.Destroy(t.Context())
			}
			n.untouched(t, fault)
			h.Clear(fault)
			for _, id := range noted.will {
				ct, err := c.Adopt(t.Context(), id, mark, since)
				if errors.Is(err, pve.ErrNoSuch) {
					continue
				}
				if errors.Is(err, pve.ErrForeign) && fault == "id-race" {
					// The guest of whoever was faster.
					n.note(t, filepath.Join(h.Root, "etc/pve/lxc", strconv.Itoa(id)+".conf"))
					before++
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", fault, err)
				}
				if err := ct.Destroy(t.Context()); err != nil {
					t.Errorf("%s: %v", fault, err)
				}
			}
			n.untouched(t, fault+" and removing")
			left, err := c.Leftovers(t.Context(), noted.last())
			if err != nil {
				t.Fatal(err)
			}
			// Where PVE says that it removed them and did not, and the container is
			// gone, only their names are left: they are reported, see pveundo.
			for _, v := range left {
				if fault != "destroy-lies" && fault != "free-lies" {
					t.Errorf("%s left %s", fault, v)
				}
				if err := c.Free(t.Context(), v); err != nil {
					t.Error(err)
				}
			}
		}
		if left := h.Left(); len(left) != before {
			t.Errorf("%d things of others and %q", before, left)
		}
	})
}

func (n *noted) last() int {
	if len(n.will) == 0 {
		return 999999
	}
	return n.will[len(n.will)-1]
}
