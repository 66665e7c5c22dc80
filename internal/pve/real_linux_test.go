package pve_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nativ/internal/pve"
	"nativ/internal/pve/pvetest"
)

// A container on either kind of volume, from making to removing it.
func TestContainer(t *testing.T) {
	for _, storage := range []string{"local-lvm", "local"} {
		for _, privileged := range []bool{false, true} {
			name := storage + "/unprivileged"
			if privileged {
				name = storage + "/privileged"
			}
			t.Run(name, func(t *testing.T) {
				h, c := newRealHost(t)
				s := spec(storage)
				s.Privileged = privileged
				ct := create(t, c, s)
				if err := ct.AppendRaw(t.Context(), pve.RawLine{Key: "lxc.cgroup2.cpuset.cpus", Value: "0"}); err != nil {
					t.Fatal(err)
				}
				if _, err := ct.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.Run("exec", func(t *testing.T) { checkExec(t, c, ct.ID) })
				t.Run("push", func(t *testing.T) { checkPush(t, h, c, ct.ID) })
				t.Run("pull", func(t *testing.T) { checkPull(t, h, ct.ID) })
				t.Run("inside", func(t *testing.T) { checkInside(t, c, ct.ID) })
				if err := ct.Trim(t.Context()); err != nil {
					t.Error(err)
				}
				if err := ct.Destroy(t.Context()); err != nil {
					t.Error(err)
				}
				nothingLeft(t, h)
			})
		}
	}
}

func checkExec(t *testing.T, c *pve.Client, id int) {
	t.Setenv("NATIV_OF_THE_HOST", "seen")
	out, err := c.Exec(t.Context(), id, "/bin/busybox", "sh", "-c", "busybox env; busybox nproc; echo --verbose \"$0\"", "--keep-env")
	if err != nil || strings.Contains(out, "NATIV_OF") || !strings.Contains(out, "\n1\n") || !strings.Contains(out, "--verbose --keep-env") {
		t.Errorf("%q, %v: of the environment of the host, the CPU, the arguments", out, err)
	}
	for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137} {
		var e *pve.Error
		if _, err := c.Exec(t.Context(), id, "/bin/busybox", "sh", "-c", script); !errors.As(err, &e) || e.Code != want {
			t.Errorf("%s: %v", script, err)
		}
	}
	var e *pve.Error
	if _, err := c.Exec(t.Context(), id, "/bin/none"); !errors.As(err, &e) || e.Code != 127 {
		t.Errorf("no such program: %v", err)
	}

	cmd, err := c.Command(id, "/bin/busybox", "cat")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader("a\nb\n")
	if out, err := cmd.Output(); err != nil || string(out) != "a\nb\n" {
		t.Errorf("through stdin and stdout came %q, %v", out, err)
	}
	checkKilledExec(t, c, id)
}

// What runs in the container outlives the pct exec that started it.
func checkKilledExec(t *testing.T, c *pve.Client, id int) {
	cmd, err := c.Command(id, "/bin/busybox", "sh", "-c", "echo $$; busybox sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 16)
	n, err := out.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	out.Close()
	_ = cmd.Wait()
	pid := strings.TrimSpace(string(b[:n]))
	if _, err := c.Exec(t.Context(), id, "/bin/busybox", "kill", "-9", pid); err != nil {
		t.Errorf("process %s does not live on: %v", pid, err)
	}
}

func checkPush(t *testing.T, h *pvetest.Host, c *pve.Client, id int) {
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, bytes.Repeat([]byte("#!/bin/sh\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Push(t.Context(), id, file, "/bench/program", 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Exec(t.Context(), id, "/bin/busybox", "stat", "-c", "%a %u %s", "/bench/program"); err != nil || out != "755 0 10000\n" {
		t.Errorf("%q, %v", out, err)
	}
	for _, fault := range []string{"push-fails-rc0", "push-truncates"} {
		h.Fault(fault, "1")
		if err := c.Push(t.Context(), id, file, "/bench/"+fault, 0o755); !errors.Is(err, pve.ErrNotPushed) {
			t.Errorf("%s: %v", fault, err)
		}
	}
	err := c.Push(t.Context(), id, file, "/no/dir/x", 0o755)
	if !errors.Is(err, pve.ErrNotPushed) || !strings.Contains(err.Error(), "failed to create file: /no/dir/x: No such file or directory") {
		t.Error(err)
	}
	if err := c.Push(t.Context(), id, file+"0", "/bench/x", 0o755); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The fake's pull fails as PVE's does: it leaves an empty file and ends well. Which
// is why nativ has no use for it.
func checkPull(t *testing.T, h *pvetest.Host, id int) {
	for _, fault := range []bool{false, true} {
		name, said := "/nope", "failed to open /nope: No such file or directory\n"
		if fault {
			h.Fault("pull-empty-rc0", "1")
			name, said = "/bin/busybox", ""
		}
		file := filepath.Join(t.TempDir(), "pulled")
		var stderr strings.Builder
		cmd := exec.Command("pct", "pull", strconv.Itoa(id), name, file)
		cmd.Stderr = &stderr
		err := cmd.Run()
		if st, serr := os.Stat(file); err != nil || serr != nil || st.Size() != 0 || stderr.String() != said {
			t.Errorf("pull of %s: %v, %v, %q", name, err, serr, stderr.String())
		}
	}
}

// A file of the container is opened as it sees it, and no link leads out of it.
func checkInside(t *testing.T, c *pve.Client, id int) {
	if _, err := c.Exec(t.Context(), id, "/bin/busybox", "sh", "-c",
		"echo here > /bench/file; busybox ln -s /bench/file /tmp/link; busybox ln -s ../../../../../../etc/passwd /tmp/out; busybox ln -s /proc/1/root/etc /tmp/magic; busybox mkfifo /tmp/fifo"); err != nil {
		t.Fatal(err)
	}
	f, err := c.OpenInside(t.Context(), id, "/tmp/link", os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "here\n" {
		t.Errorf("%q, %v", b, err)
	}
	for _, path := range []string{"/tmp/out", "/tmp/magic/passwd", "/../../etc/passwd"} {
		if f, err := c.OpenInside(t.Context(), id, path, os.O_RDONLY); err == nil {
			f.Close()
			t.Errorf("%s led out of the container", path)
		}
	}
	if f, err := c.OpenInside(t.Context(), id, "/tmp/fifo", os.O_RDONLY); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}

// The fake mounts a file as PVE does: through the host's page cache, unless it
// has a loop device already, which is then taken.
func TestLoop(t *testing.T) {
	h, c := newRealHost(t)
	s := spec("local")
	ct := create(t, c, s)
	volumes, err := ct.Volumes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path, err := c.Path(t.Context(), volumes[0])
	if err != nil {
		t.Fatal(err)
	}
	dio := func() string {
		out, err := exec.Command("losetup", "-j", path, "-n", "-O", "DIO").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, own := range []bool{false, true} {
		want := "0"
		if own {
			if err := exec.Command("losetup", "--direct-io=on", "-f", path).Run(); err != nil {
				t.Fatal(err)
			}
			want = "1"
		}
		if _, err := ct.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := dio(); got != want {
			t.Errorf("own %v: loop device with dio %q", own, got)
		}
		if err := ct.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("losetup", "-j", path, "-n", "-O", "NAME").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("losetup", "-d", strings.TrimSpace(string(out))).Run(); err != nil {
		t.Fatal(err)
	}
	if err := ct.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, h)
}

// What the fake prints is what the real programs print, to the letter.
func TestFormats(t *testing.T) {
	h, _ := newHost(t)
	h.AddCT(100, "hostname: nativ\nlock: create\nlxc.a: b\nmp0: l:v,mp=/b\n#nativ throw-away\n#50%25%3A\n")
	h.AddCT(101, "cores: 4\n")
	for _, c := range [][2]string{
		{"pct list", "VMID       Status     Lock         Name                \n" +
			"100        stopped    create       nativ               \n101        stopped                 CT101               \n"},
		{"pct status 100", "status: stopped\n"},
		{"pct config 100", "description: nativ throw-away%0A50%25%3A%0A\nhostname: nativ\nlock: create\nmp0: l:v,mp=/b\nlxc.a: b\n"},
		{"pvesh get /cluster/nextid", "102\n"},
		{"pvesh get /cluster/nextid --vmid 103", "103\n"},
		{"pvesm list local-lvm", "Volid Format  Type      Size VMID\n"},
		{"pvesm path local:1/x.raw", filepath.Join(h.Root, "var/lib/vz/images/1/x.raw") + "\n"},
		{"pveam available", "system          ubuntu-24.04-standard_24.04-2_amd64.tar.zst\n"},
		{"pvesm free local:1/x.raw", "Removed volume 'local:1/x.raw'\n"},
		{"pvesm alloc local-lvm 103 vm-103-x 1M", "  Logical volume \"vm-103-x\" created.\n  Logical volume pve/vm-103-x changed.\n" +
			"successfully created 'local-lvm:vm-103-x'\n"},
	} {
		command, want := c[0], c[1]
		words := strings.Fields(command)
		out, err := exec.Command(words[0], words[1:]...).Output()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v\n%q, not\n%q", command, err, out, want)
		}
	}
	for command, want := range map[string]int{"pct config 999": 2, "pct unlock 101": 255, "pvesm alloc none 1 x 1": 25, "pct exec 101 -- x": 255, "pct push 101 a b": 255} {
		words := strings.Fields(command)
		err := exec.Command(words[0], words[1:]...).Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != want {
			t.Errorf("%s: %v, not %s", command, err, strconv.Itoa(want))
		}
	}
}
