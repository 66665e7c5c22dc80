package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
	"nativ/test/vm/wire"
)

const (
	// bootLimit and the limits of programs are for a machine that hangs; a
	// boot takes four seconds.
	bootLimit    = 2 * time.Minute
	programLimit = 4 * time.Minute
	machineMiB   = 768
)

// A config is the hardware of a machine beside its processor and root disk.
type config struct {
	// disks are the sizes of empty disks in bytes, named disk0, disk1 and so on
	// for -device's drive=.
	disks []int64
	// devices are arguments of -device, in order.
	devices []string
	// alone keeps other machines away, for a test that looks at speeds.
	alone bool
}

// nvmeDrive is the usual hardware: one NVMe drive, nvme0, in a slot
// from which it can be pulled.
func nvmeDrive() config {
	return config{
		disks:   []int64{16 << 30},
		devices: []string{"pcie-root-port,id=slot0,chassis=1", "nvme,id=nvme0,serial=TEST0001,bus=slot0,drive=disk0"},
	}
}

// A machine is a virtual machine that belongs to one test.
type machine struct {
	t    *testing.T
	cmd  *exec.Cmd
	gone chan struct{} // QEMU has ended
	qmpc *qmpConn
	// disks are the files behind the empty disks of its config.
	disks []*os.File
	// sensors are where QEMU keeps the temperature of each NVMe drive.
	sensors map[string]int64

	sending  sync.Mutex
	requests *json.Encoder

	mu      sync.Mutex
	nextID  int
	procs   map[int]*program
	console strings.Builder
}

// boot starts a machine and waits until its agent answers. The machine ends
// with the test.
func boot(t *testing.T, c config) *machine {
	t.Helper()
	if skipReason != "" {
		t.Skip(skipReason)
	}
	if !c.alone {
		t.Parallel() // a machine has one processor, and a memory of its own
	}
	began := time.Now()
	m := &machine{t: t, gone: make(chan struct{}), procs: map[int]*program{}}
	args := []string{
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-machine", "q35,hpet=off", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", "1", "-m", fmt.Sprint(machineMiB),
		"-kernel", filepath.Join(image, "vmlinuz"),
		// TCG's counter is no stable clock, and the guest would spend its first
		// seconds on finding out.
		"-append", "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off tsc=unstable no_timer_check",
		"-drive", "if=none,id=root,format=raw,snapshot=on,cache=unsafe,file=" + filepath.Join(image, "root.img"),
		"-device", "virtio-blk-pci,drive=root",
	}
	m.cmd = exec.Command(qemu)
	inherit := func(f *os.File) int {
		m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, f)
		return 2 + len(m.cmd.ExtraFiles)
	}
	var closing []io.Closer // what QEMU alone needs
	args = append(args, "-initrd", fmt.Sprintf("/proc/self/fd/%d", inherit(initramfs)))
	channel := func(name string) net.Conn {
		ours, theirs := socketPair(t)
		closing = append(closing, theirs)
		args = append(args, "-chardev", fmt.Sprintf("socket,id=%s,fd=%d", name, inherit(theirs)))
		return ours
	}
	console, qmp, agent := channel("console"), channel("qmp"), channel("agent")
	args = append(args, "-serial", "chardev:console", "-mon", "chardev=qmp,mode=control",
		"-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name="+wire.Port)
	for i, size := range c.disks {
		f := emptyDisk(t, size)
		m.disks = append(m.disks, f)
		args = append(args, "-drive", fmt.Sprintf("if=none,id=disk%d,format=raw,cache=unsafe,discard=unmap,file=/proc/self/fd/%d", i, inherit(f)))
	}
	for _, d := range c.devices {
		args = append(args, "-device", d)
	}
	m.cmd.Args = append(m.cmd.Args, args...)
	var said strings.Builder
	m.cmd.Stdout, m.cmd.Stderr = &said, &said
	m.cmd.Env = append(os.Environ(), "TMPDIR=/var/tmp") // of snapshot=on, unlinked at once
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := m.cmd.Start(); err != nil {
		t.Fatalf("start qemu: %v", err)
	}
	for _, f := range closing {
		f.Close()
	}
	go func() {
		m.cmd.Wait()
		close(m.gone)
	}()
	go m.readConsole(console)
	t.Cleanup(func() {
		m.end()
		for _, c := range []net.Conn{console, qmp, agent} {
			c.Close()
		}
		for _, f := range m.disks {
			f.Close()
		}
		if t.Failed() {
			for _, p := range m.procs {
				if r := p.result(); p.args[0] == "nativ" {
					t.Logf("%v: ended %v with %d\n%s", p.args, p.over, r.code, r.stderr)
				}
			}
			t.Logf("console:\n%s\nqemu: %s", m.readConsoleText(), said.String())
		}
	})
	m.requests = json.NewEncoder(agent)
	up := make(chan struct{})
	go m.readReplies(agent, up)
	m.qmpc = newQMP(t, qmp)
	select {
	case <-up:
	case <-m.gone:
		t.Fatal("qemu ended before the guest was up")
	case <-time.After(bootLimit):
		t.Fatalf("the guest was not up after %v", bootLimit)
	}
	t.Logf("booted in %.1f s", time.Since(began).Seconds())
	return m
}

// socketPair returns two connected ends; the second is for QEMU.
func socketPair(t *testing.T) (net.Conn, *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[0]), "ours")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	return c, os.NewFile(uintptr(fds[1]), "theirs")
}

// emptyDisk returns a sparse file without a name on a real disk, where there is
// more room than in memory.
func emptyDisk(t *testing.T, size int64) *os.File {
	t.Helper()
	fd, err := unix.Open("/var/tmp", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatalf("make a disk in /var/tmp: %v", err)
	}
	f := os.NewFile(uintptr(fd), "disk")
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return f
}

// end switches the machine off, hard where it does not listen.
func (m *machine) end() {
	m.send(wire.Request{PowerOff: true})
	select {
	case <-m.gone:
	case <-time.After(20 * time.Second):
		m.cmd.Process.Kill()
		<-m.gone
	}
}

func (m *machine) send(r wire.Request) error {
	m.sending.Lock()
	defer m.sending.Unlock()
	return m.requests.Encode(r)
}

func (m *machine) readConsole(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		m.mu.Lock()
		m.console.Write(buf[:n])
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (m *machine) readConsoleText() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.ReplaceAll(m.console.String(), "\r", "")
}

// readReplies hands what the agent says to the programs until QEMU ends.
func (m *machine) readReplies(r io.Reader, up chan struct{}) {
	in := json.NewDecoder(r)
	for {
		var reply wire.Reply
		if err := in.Decode(&reply); err != nil {
			break
		}
		if reply.ID == 0 {
			close(up)
			continue
		}
		m.mu.Lock()
		p := m.procs[reply.ID]
		m.mu.Unlock()
		p.take(reply)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.take(wire.Reply{Ended: true, Code: -1, Stderr: []byte("\nthe machine ended")})
	}
}

// A program runs in the guest.
type program struct {
	m    *machine
	id   int
	args []string

	mu       sync.Mutex
	out, err strings.Builder
	code     int
	over     bool
	ended    chan struct{}
}

// A result is what a program came to.
type result struct {
	args           []string
	code           int
	stdout, stderr string
}

func (p *program) take(r wire.Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Write(r.Stdout)
	p.err.Write(r.Stderr)
	if r.Ended && !p.over {
		p.code, p.over = r.Code, true
		close(p.ended)
	}
}

// start starts a program in the guest.
func (m *machine) start(args ...string) *program {
	m.t.Helper()
	if args[0] != "bash" {
		m.t.Logf("in the guest: %s", strings.Join(args, " "))
	}
	m.mu.Lock()
	m.nextID++
	p := &program{m: m, id: m.nextID, args: args, ended: make(chan struct{})}
	m.procs[p.id] = p
	m.mu.Unlock()
	if err := m.send(wire.Request{ID: p.id, Args: args}); err != nil {
		m.t.Fatalf("start %v in the guest: %v", args, err)
	}
	return p
}

func (p *program) result() result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return result{p.args, p.code, p.out.String(), p.err.String()}
}

// wait waits for the end, for four minutes at most.
func (p *program) wait() result {
	p.m.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(programLimit):
		r := p.result()
		p.m.t.Fatalf("%v did not end within %v\nstdout:\n%.4000s\nstderr:\n%s", p.args, programLimit, r.stdout, r.stderr)
	}
	return p.result()
}

func (p *program) signal(n int) {
	p.m.t.Helper()
	if err := p.m.send(wire.Request{ID: p.id, Signal: n}); err != nil {
		p.m.t.Fatal(err)
	}
}

// untilSaid waits until the program has written the text to stderr.
func (p *program) untilSaid(text string) {
	p.m.t.Helper()
	for deadline := time.Now().Add(programLimit); ; time.Sleep(10 * time.Millisecond) {
		r := p.result()
		if strings.Contains(r.stderr, text) {
			return
		}
		select {
		case <-p.ended:
			p.m.t.Fatalf("%v ended with %d before it said %q\nstdout:\n%.4000s\nstderr:\n%s", p.args, r.code, text, r.stdout, r.stderr)
		default:
		}
		if time.Now().After(deadline) {
			p.m.t.Fatalf("%v did not say %q\nstderr:\n%s", p.args, text, r.stderr)
		}
	}
}

// run runs a program in the guest to its end.
func (m *machine) run(args ...string) result {
	m.t.Helper()
	return m.start(args...).wait()
}

// sh runs a shell script that must succeed and returns what it printed.
func (m *machine) sh(script string) string {
	m.t.Helper()
	return strings.TrimSpace(m.run("bash", "-euc", script).want(m.t, 0).stdout)
}

// want checks an exit code.
func (r result) want(t *testing.T, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("%v: exit code %d, want %d\nstdout:\n%.6000s\nstderr:\n%s", r.args, r.code, code, r.stdout, r.stderr)
	}
	return r
}

// says checks that stdout or stderr has each of the texts.
func (r result) says(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(r.stderr+r.stdout, s) {
			t.Errorf("%v: nothing says %q\nstdout:\n%.6000s\nstderr:\n%s", r.args, s, r.stdout, r.stderr)
		}
	}
}

// record decodes stdout of a call with --json.
func (r result) record(t *testing.T) *record.Record {
	t.Helper()
	rec, err := record.Decode(strings.NewReader(r.stdout))
	if err != nil {
		t.Fatalf("%v: %v\nstdout:\n%.2000s\nstderr:\n%s", r.args, err, r.stdout, r.stderr)
	}
	return rec
}

// decode reads JSON that a program printed.
func decode[T any](t *testing.T, r result) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("%v: %v\nstdout:\n%.2000s\nstderr:\n%s", r.args, err, r.stdout, r.stderr)
	}
	return v
}

// nothingLeft checks that what runs of nativ make is gone.
func (m *machine) nothingLeft(dir string) {
	m.t.Helper()
	left := m.sh(`
		ls -A ` + dir + ` | grep -vx lost+found || true
		find /sys/fs/cgroup -mindepth 1 -type d \( -name '20*' -o -name 'lxc.*' \)
		ls /var/lib/nativ/journal /var/lib/nativ/runs /run/lxc/lock 2>/dev/null | grep -v ':$' || true
		grep nativ /proc/self/mountinfo || true
		pgrep -a -f 'nativ (worker|init)' || true`)
	if left = strings.TrimSpace(left); left != "" {
		m.t.Errorf("left behind:\n%s", left)
	}
}

// A qmpConn speaks the QEMU Machine Protocol.
type qmpConn struct {
	mu      sync.Mutex
	out     *json.Encoder
	replies chan qmpReply

	evMu   sync.Mutex
	events []qmpReply
}

type qmpReply struct {
	Return json.RawMessage `json:"return"`
	Error  *struct{ Desc string }
	Event  string
	Data   map[string]any
}

func newQMP(t *testing.T, c net.Conn) *qmpConn {
	t.Helper()
	q := &qmpConn{out: json.NewEncoder(c), replies: make(chan qmpReply, 1)}
	go func() {
		in := json.NewDecoder(c)
		defer close(q.replies)
		for {
			var r qmpReply
			switch err := in.Decode(&r); {
			case err != nil:
				return
			case r.Event != "":
				q.evMu.Lock()
				q.events = append(q.events, r)
				q.evMu.Unlock()
			case r.Return != nil || r.Error != nil: // and not the greeting
				q.replies <- r
			}
		}
	}()
	if _, err := q.do("qmp_capabilities", nil); err != nil {
		t.Fatal(err)
	}
	return q
}

func (q *qmpConn) do(command string, args map[string]any) (json.RawMessage, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if args == nil {
		args = map[string]any{}
	}
	if err := q.out.Encode(map[string]any{"execute": command, "arguments": args}); err != nil {
		return nil, fmt.Errorf("qmp %s: %w", command, err)
	}
	select {
	case r, ok := <-q.replies:
		if !ok {
			return nil, fmt.Errorf("qmp %s: qemu ended", command)
		}
		if r.Error != nil {
			return nil, fmt.Errorf("qmp %s: %s", command, r.Error.Desc)
		}
		return r.Return, nil
	case <-time.After(30 * time.Second):
		return nil, fmt.Errorf("qmp %s: %w", command, errors.New("no answer"))
	}
}

// happened reports whether QEMU has sent such an event about the device.
func (q *qmpConn) happened(event, device string) bool {
	q.evMu.Lock()
	defer q.evMu.Unlock()
	for _, e := range q.events {
		if e.Event == event && e.Data["device"] == device {
			return true
		}
	}
	return false
}

// qmp carries out one command that must succeed.
func (m *machine) qmp(command string, args map[string]any) json.RawMessage {
	m.t.Helper()
	r, err := m.qmpc.do(command, args)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}
