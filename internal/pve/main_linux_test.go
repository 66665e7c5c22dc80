package pve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nativ/internal/pve"
	"nativ/internal/pve/pvetest"
)

// createRole makes the test binary a program that makes a container, to be
// killed while it does. Its value is the directory of the host.
const createRole = "NATIV_PVE_CREATE"

func TestMain(m *testing.M) {
	pvetest.Main()
	if root := os.Getenv(createRole); root != "" {
		_, err := client(root).Create(context.Background(), spec("local-lvm"), func(int) error { return nil }, func(int) {})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	mark     = "20260101-120000-abcd"
	template = "local:vztmpl/nativ-root.tar.gz"
)

func spec(storage string) pve.Spec {
	return pve.Spec{
		Hostname: "nativ-abcd", Template: template, Storage: storage, RootGiB: 0.0625, BenchGiB: 0.0625, BenchPath: "/bench",
		Cores: 1, MemoryMiB: 256, Entrypoint: pvetest.Sleep, Arch: "amd64", Description: "throw-away: 100% of it", Mark: mark,
	}
}

func client(root string) *pve.Client {
	c := pve.New(root)
	c.Poll = 10 * time.Millisecond
	return c
}

// newHost is a host whose containers are only states.
func newHost(t *testing.T) (*pvetest.Host, *pve.Client) {
	t.Helper()
	h := pvetest.New(t, pvetest.Options{})
	h.AddTemplate("nativ-root.tar.gz", pvetest.Template(t, nil))
	return h, client(h.Root)
}

// noted is what a journal would hold.
type noted struct{ will, wont []int }

func (n *noted) Will(id int) error { n.will = append(n.will, id); return nil }
func (n *noted) Wont(id int)       { n.wont = append(n.wont, id) }

func create(t *testing.T, c *pve.Client, s pve.Spec) *pve.CT {
	t.Helper()
	var n noted
	made, err := c.Create(t.Context(), s, n.Will, n.Wont)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.will, []int{made.CT.ID}) || n.wont != nil {
		t.Fatalf("noted %+v for container %d", n, made.CT.ID)
	}
	return made.CT
}

// nothingLeft fails where a guest left anything on the host.
func nothingLeft(t *testing.T, h *pvetest.Host) {
	t.Helper()
	if left := h.Left(); len(left) > 0 {
		t.Errorf("left:\n%s", strings.Join(left, "\n"))
	}
}

// await waits for a file that says that a task has come somewhere.
func await(t *testing.T, h *pvetest.Host, name string) {
	t.Helper()
	eventually(t, name, func() bool {
		_, err := os.Stat(filepath.Join(h.Root, name))
		return err == nil
	})
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// programs are the processes of the host's programs by their names, without
// tasks.
func programs(h *pvetest.Host, name string) []int {
	var out []int
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range found {
		b, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(b), filepath.Join(h.Root, "bin", name)+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			out = append(out, pid)
		}
	}
	return out
}
