// Command guest is what runs in the virtual machine of test/vm: its init, and
// the agent that starts programs for the tests and tells what they say.
//
// It is one static file in the initramfs, so that the root image has nothing
// of ours in it and a change here needs no new image.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/test/vm/wire"
)

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		err = agent()
	} else {
		err = boot()
	}
	if err != nil {
		fmt.Println("guest:", err) // the console, which a failed test prints
	}
	if os.Getpid() == 1 {
		unix.Sync()
		unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	}
}

// ours is where the programs under test are, on every root.
const ours = "/run/vm"

// A mountPoint is one of the kernel's filesystems, below the new root.
type mountPoint struct{ fstype, dir string }

// boot mounts the root image, moves into it as switch_root(8) does, starts the
// agent and reaps whatever has no parent any more until the agent ends.
func boot() error {
	for _, m := range []mountPoint{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := mount(m); err != nil {
			return err
		}
	}
	modules, err := filepath.Glob("/mod/*.ko")
	if err != nil {
		return err
	}
	for _, m := range modules {
		if err := insmod(m); err != nil {
			return err
		}
	}
	if err := await("/dev/vda"); err != nil {
		return err
	}
	if err := os.MkdirAll("/root", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("/dev/vda", "/root", "ext4", 0, ""); err != nil {
		return fmt.Errorf("mount the root image: %w", err)
	}
	for _, m := range []mountPoint{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"devpts", "/dev/pts"}, {"tmpfs", "/dev/shm"},
		{"tmpfs", "/run"}, {"tmpfs", "/tmp"}, {"cgroup2", "/sys/fs/cgroup"}, {"securityfs", "/sys/kernel/security"},
	} {
		m.dir = "/root" + m.dir
		if err := mount(m); err != nil {
			return err
		}
	}
	for _, name := range []string{"guest", "nativ"} {
		if err := copyFile("/"+name, "/root"+ours+"/"+name); err != nil {
			return err
		}
	}
	// pivot_root is not possible from an initramfs, and LXC does not work in a
	// mere chroot.
	if err := os.Chdir("/root"); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := errors.Join(unix.Chroot("."), os.Chdir("/"), unix.Sethostname([]byte("vm"))); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(ours+"/guest", []string{"guest", "agent"}, &syscall.ProcAttr{
		Env: []string{
			"PATH=" + ours + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "TERM=dumb",
			"DM_DISABLE_UDEV=1", // there is none: LVM would wait for it
		},
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	for {
		switch who, err := unix.Wait4(-1, nil, 0, nil); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case who == pid:
			return nil
		}
	}
}

func mount(m mountPoint) error {
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(m.fstype, m.dir, m.fstype, 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", m.dir, err)
	}
	return nil
}

func insmod(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

// await waits for a file that a driver is about to make.
func await(path string) error {
	for range 200 {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s did not come", path)
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// agent serves requests until the tests have none any more.
func agent() error {
	port, err := openPort()
	if err != nil {
		return err
	}
	a := &server{out: json.NewEncoder(port), procs: map[int]*os.Process{}}
	in := json.NewDecoder(port)
	if err := a.say(wire.Reply{}); err != nil { // the guest is up
		return err
	}
	for {
		var r wire.Request
		if err := in.Decode(&r); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		switch {
		case r.PowerOff:
			return nil
		case r.Signal != 0:
			a.signal(r.ID, syscall.Signal(r.Signal))
		default:
			a.start(r)
		}
	}
}

// openPort opens the port to the tests. Its name is in sysfs; links to devices
// by name would need udev.
func openPort() (*os.File, error) {
	for range 200 {
		names, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil && strings.TrimSpace(string(b)) == wire.Port {
				return os.OpenFile("/dev/"+filepath.Base(filepath.Dir(n)), os.O_RDWR, 0)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.New("the port to the tests did not come")
}

// A server is the state of the agent.
type server struct {
	mu    sync.Mutex
	out   *json.Encoder
	procs map[int]*os.Process
}

func (a *server) say(r wire.Reply) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out.Encode(r)
}

func (a *server) signal(id int, s syscall.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.procs[id]; p != nil {
		p.Signal(s)
	}
}

// start starts a program; its output and its end are told as they come.
func (a *server) start(r wire.Request) {
	c := exec.Command(r.Args[0], r.Args[1:]...)
	c.Env = append(os.Environ(), r.Env...)
	c.Stdin = strings.NewReader(r.Stdin)
	c.Stdout = writer(func(b []byte) error { return a.say(wire.Reply{ID: r.ID, Stdout: b}) })
	c.Stderr = writer(func(b []byte) error { return a.say(wire.Reply{ID: r.ID, Stderr: b}) })
	// What outlives the program with its output open must not be waited for.
	c.WaitDelay = 2 * time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		a.say(wire.Reply{ID: r.ID, Ended: true, Code: 127, Stderr: []byte(err.Error())})
		return
	}
	a.mu.Lock()
	a.procs[r.ID] = c.Process
	a.mu.Unlock()
	go func() {
		c.Wait()
		code := c.ProcessState.ExitCode()
		if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			code = 128 + int(s.Signal())
		}
		a.say(wire.Reply{ID: r.ID, Ended: true, Code: code})
		a.mu.Lock()
		delete(a.procs, r.ID)
		a.mu.Unlock()
	}()
}

// A writer hands on what is written to it.
type writer func([]byte) error

func (w writer) Write(b []byte) (int, error) {
	if err := w(b); err != nil {
		return 0, err
	}
	return len(b), nil
}
