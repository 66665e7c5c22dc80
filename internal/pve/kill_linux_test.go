package pve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nativ/internal/pve"
	"nativ/internal/pve/pvetest"
)

// hosts runs a test with states only and, as root, with real volumes.
func hosts(t *testing.T, test func(t *testing.T, h *pvetest.Host, c *pve.Client)) {
	t.Run("states", func(t *testing.T) {
		h, c := newHost(t)
		test(t, h, c)
	})
	t.Run("real", func(t *testing.T) {
		h, c := newRealHost(t)
		test(t, h, c)
	})
}

func newRealHost(t *testing.T) (*pvetest.Host, *pve.Client) {
	t.Helper()
	h := pvetest.New(t, pvetest.Options{Real: true})
	h.AddTemplate("nativ-root.tar.gz", pvetest.Busybox(t))
	return h, client(h.Root)
}

// Asked to end, pct rolls back before Create returns.
func TestCreateEnds(t *testing.T) {
	hosts(t, func(t *testing.T, h *pvetest.Host, c *pve.Client) {
		for _, step := range []string{"alloc", "mkfs", "extract", "conf"} {
			h.Fault("slow-"+step, "60000")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				await(t, h, "at-"+step)
				cancel()
			}()
			var n noted
			_, err := c.Create(ctx, spec("local-lvm"), n.Will, n.Wont)
			if !errors.Is(err, context.Canceled) || len(n.will) != 1 {
				t.Errorf("%s: %v", step, err)
			}
			nothingLeft(t, h)
			h.Clear("slow-" + step)
		}
	})
}

// A pct that does not end when it is asked to is reported, and not killed.
func TestCreateDoesNotEnd(t *testing.T) {
	h, c := newHost(t)
	h.Fault("slow-extract", "3000")
	h.Fault("term-ignored", "1")
	ctx, cancel := context.WithCancel(t.Context())
	c.EndWait = 10 * time.Millisecond
	go func() {
		await(t, h, "at-extract")
		cancel()
	}()
	var n noted
	_, err := c.Create(ctx, spec("local-lvm"), n.Will, n.Wont)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "still runs") {
		t.Error(err)
	}
	if len(programs(h, "pct")) != 1 {
		t.Error("pct was killed")
	}
	var ct *pve.CT
	eventually(t, "the container", func() bool { ct, err = c.Own(t.Context(), n.will[0], mark); return err == nil })
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
}

// When pct is killed, its task goes on, until it says something: what it leaves is
// a configuration with a lock and no mark, or a whole one with no lock, volumes,
// and mounts.
func TestPctKilled(t *testing.T) {
	hosts(t, func(t *testing.T, h *pvetest.Host, c *pve.Client) {
		for _, step := range []string{"alloc", "mkfs", "extract", "conf"} {
			since := time.Now()
			h.Fault("slow-"+step, "500")
			done := make(chan error)
			var n noted
			go func() {
				s := spec("local")
				s.OSType = "ubuntu"
				_, err := c.Create(t.Context(), s, n.Will, n.Wont)
				done <- err
			}()
			killPct(t, h, "at-"+step)
			var e *pve.Error
			if err := <-done; !errors.As(err, &e) || e.Code != 137 {
				t.Errorf("%s: %v", step, err)
			}
			id := n.will[0]
			if _, err := c.Own(t.Context(), id, mark); step != "conf" && !errors.Is(err, pve.ErrForeign) {
				t.Errorf("%s: half made, and %v", step, err)
			}
			c.LockWait = 0
			if _, err := c.Adopt(t.Context(), id, mark, since); !errors.Is(err, pve.ErrLocked) {
				t.Errorf("%s: its task still works, and %v", step, err)
			}
			c.LockWait = time.Minute
			// At the last step it carries the mark.
			if _, err := c.Adopt(t.Context(), id, mark, since.Add(time.Hour)); step != "conf" && !errors.Is(err, pve.ErrForeign) {
				t.Errorf("%s: it was there before the ID was noted, and %v", step, err)
			}
			ct, err := c.Adopt(t.Context(), id, mark, since)
			if err != nil {
				t.Fatal(err)
			}
			if h.Conf(id) == "" {
				t.Errorf("%s: the task finished or rolled back, and nothing was tried", step)
			}
			if err := ct.Destroy(t.Context()); err != nil {
				t.Errorf("%s: %v", step, err)
			}
			nothingLeft(t, h)
			passed(h, step)
		}
	})
}

// killPct waits until a task has come somewhere, and kills the pct above it.
func killPct(t *testing.T, h *pvetest.Host, at string) {
	t.Helper()
	await(t, h, at)
	pids := programs(h, "pct")
	if len(pids) != 1 {
		t.Fatalf("processes of pct: %v", pids)
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// passed takes back that tasks are held up at a step.
func passed(h *pvetest.Host, step string) {
	h.Clear("slow-" + step)
	_ = os.Remove(filepath.Join(h.Root, "at-"+step))
}

// Also a pct that removes or starts can be killed. At the end of removing the
// volumes are gone, and what keeps the ID has no mark.
func TestPctKilledLater(t *testing.T) {
	hosts(t, func(t *testing.T, h *pvetest.Host, c *pve.Client) {
		for _, step := range []string{"start", "destroy", "purge"} {
			since := time.Now()
			ct := create(t, c, spec("local"))
			h.Fault("slow-"+step, "300")
			done := make(chan error)
			go func() {
				if step == "start" {
					_, err := ct.Start(t.Context())
					done <- err
				} else {
					done <- ct.Destroy(t.Context())
				}
			}()
			killPct(t, h, "at-"+step)
			var e *pve.Error
			if err := <-done; !errors.As(err, &e) || e.Code != 137 {
				t.Errorf("%s: %v", step, err)
			}
			left, err := c.Adopt(t.Context(), ct.ID, mark, since)
			switch {
			case errors.Is(err, pve.ErrNoSuch) && step == "destroy":
				// Of a state nothing is said, and the task finishes.
			case err != nil:
				t.Errorf("%s: %v", step, err)
			case step == "purge" && h.Conf(ct.ID) != "lock: destroyed\n":
				t.Errorf("at the end of removing there is %q", h.Conf(ct.ID))
			default:
				if err := left.Destroy(t.Context()); err != nil {
					t.Errorf("%s: %v", step, err)
				}
			}
			nothingLeft(t, h)
			passed(h, step)
		}
	})
}

// Killed between unlocking what is half made and removing it, nativ finds a
// configuration without a key, and volumes that none names.
func TestCleanKilled(t *testing.T) {
	hosts(t, func(t *testing.T, h *pvetest.Host, c *pve.Client) {
		id, err := c.NextID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		for _, storage := range []string{"local", "local-lvm"} {
			if _, err := c.Alloc(t.Context(), storage, id, "", "", 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		if h.Real() {
			// It was killed before it mounted it.
			file := filepath.Join(h.Root, "var/lib/vz/images", strconv.Itoa(id), fmt.Sprintf("vm-%d-disk-0.raw", id))
			if err := exec.Command("losetup", "-f", file).Run(); err != nil {
				t.Fatal(err)
			}
		}
		h.AddCT(id, "")
		if _, err := c.Own(t.Context(), id, mark); !errors.Is(err, pve.ErrForeign) {
			t.Error(err)
		}
		if _, err := c.Adopt(t.Context(), id, mark, since.Add(time.Hour)); !errors.Is(err, pve.ErrForeign) {
			t.Errorf("it was there before, and %v", err)
		}
		ct, err := c.Adopt(t.Context(), id, mark, since)
		if err != nil {
			t.Fatal(err)
		}
		if err := ct.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
		nothingLeft(t, h)
	})
}

// A program that was started for a guest and has no task yet is waited for.
func TestAwaitIdle(t *testing.T) {
	h, c := newHost(t)
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & wait", filepath.Join(h.Root, "bin/pct"), "create", "777", "x")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	c.LockWait = 0
	if err := c.AwaitIdle(t.Context(), 777); !errors.Is(err, pve.ErrLocked) {
		t.Error(err)
	}
	if err := c.AwaitIdle(t.Context(), 77); err != nil {
		t.Errorf("of another guest: %v", err)
	}
	end()
	c.LockWait = time.Minute // what was killed is not gone at once
	if err := c.AwaitIdle(t.Context(), 777); err != nil {
		t.Error(err)
	}
}

// A complete container without the mark is nobody's to adopt, nor is one that was
// there before.
func TestAdoptForeign(t *testing.T) {
	h, c := newHost(t)
	since := time.Now().Add(-time.Minute)
	for _, conf := range []string{"hostname: web\nlock: create\n", "lock: backup\n", "#web\nlock: create\n", "lock: create\nlxc.a: b\n", "lxc.a: b\n", "#web\n"} {
		h.AddCT(150, conf)
		if _, err := c.Adopt(t.Context(), 150, mark, since); !errors.Is(err, pve.ErrForeign) {
			t.Errorf("%q: %v", conf, err)
		}
	}
	for _, conf := range []string{"lock: create\n", "lock: destroyed\n", ""} {
		h.AddCT(150, conf)
		if _, err := c.Adopt(t.Context(), 150, mark, since.Add(time.Hour)); !errors.Is(err, pve.ErrForeign) {
			t.Errorf("%q: %v", conf, err)
		}
	}
	if _, err := c.Adopt(t.Context(), 151, mark, since); !errors.Is(err, pve.ErrNoSuch) {
		t.Error(err)
	}
}

// When the caller is killed, pct goes on and finishes: what it prints goes
// nowhere that could break.
func TestCallerKilled(t *testing.T) {
	hosts(t, func(t *testing.T, h *pvetest.Host, c *pve.Client) {
		h.Fault("slow-extract", "300")
		cmd := startCreate(t, h)
		await(t, h, "at-extract")
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		id := onlyCT(t, h)
		var ct *pve.CT
		eventually(t, "pct to finish", func() bool {
			var err error
			ct, err = c.Own(t.Context(), id, mark)
			return err == nil
		})
		if err := ct.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
		nothingLeft(t, h)
	})
}

func startCreate(t *testing.T, h *pvetest.Host) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), createRole+"="+h.Root)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func onlyCT(t *testing.T, h *pvetest.Host) int {
	t.Helper()
	guests, err := client(h.Root).Guests(t.Context())
	if err != nil || len(guests) != 1 {
		t.Fatalf("%+v, %v", guests, err)
	}
	return guests[0].ID
}

// Killed at any moment, all of them: what there is afterwards is nothing, a
// container of the run's, or one to adopt, and can be removed.
func TestKilledAnywhere(t *testing.T) {
	h, c := newRealHost(t)
	h.Fault("slow-mkfs", "10")
	h.Fault("slow-extract", "10")
	for range 10 {
		since := time.Now()
		cmd := startCreate(t, h)
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		_ = cmd.Process.Kill()
		for _, name := range []string{"pct", "pvesm", "pvesh"} {
			for _, pid := range programs(h, name) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = cmd.Wait()
		guests, err := c.Guests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range guests {
			ct, err := c.Adopt(t.Context(), g.ID, mark, since)
			// The task may have rolled back by now.
			if errors.Is(err, pve.ErrNoSuch) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := ct.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
		}
		nothingLeft(t, h)
	}
}
