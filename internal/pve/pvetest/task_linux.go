package pvetest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// taskPrefix is before the name that a task gives itself.
const taskPrefix = "task UPID:"

// fork runs a task as PVE does: a process of its own session, what it prints
// passed on to stdout, its end told apart from that. A signal to this process is
// passed on to the task; if this process is killed, the task goes on.
func (h *host) fork(kind, id string, args []string) int {
	exe, err := os.Executable()
	if err != nil {
		return end(err)
	}
	status, statusW, err := os.Pipe()
	if err != nil {
		return end(err)
	}
	out, outW, err := os.Pipe()
	if err != nil {
		return end(err)
	}
	upid := fmt.Sprintf("%spve:%08X:%08X:%08X:%s:%s:root@pam:", taskPrefix, os.Getpid(), time.Now().UnixMilli()&0xffffffff, time.Now().Unix(), kind, id)
	cmd := &exec.Cmd{
		Path: exe, Args: append([]string{upid, kind, id}, args...), Env: os.Environ(), Stdout: outW, Stderr: outW,
		ExtraFiles: []*os.File{statusW}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if err := cmd.Start(); err != nil {
		return end(err)
	}
	outW.Close()
	statusW.Close()
	go func() {
		for range signals {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		}
	}()
	_, _ = io.Copy(os.Stdout, out)
	said, _ := io.ReadAll(status)
	_ = cmd.Wait()
	var n int
	switch s := strings.TrimSpace(string(said)); {
	case s == "OK":
		return 0
	case s == "":
		return end(die(255, "unexpected status"))
	default:
		if _, err := fmt.Sscanf(s, "WARNINGS: %d", &n); err == nil {
			fmt.Fprintf(os.Stderr, "Task finished with %d warning(s)!\n", n)
			return 0
		}
		return end(die(255, "%s", s))
	}
}

// task is the process that fork starts.
func task(h *host, args []string) int {
	// A program such as lxc-start must not inherit it: fork waits for its end.
	syscall.CloseOnExec(3)
	status := os.NewFile(3, "status")
	listen()
	if h.fault("term-ignored") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	}
	work := map[string]func(*host, string, []string) (int, error){
		"vzcreate": create, "vzstart": start, "vzstop": stop, "vzdestroy": destroy,
	}
	warned, err := work[args[0]](h, args[1], args[2:])
	switch {
	case err != nil:
		fmt.Fprintln(status, err)
		return 255
	case warned > 0:
		fmt.Fprintf(status, "WARNINGS: %d\n", warned)
	default:
		fmt.Fprintln(status, "OK")
	}
	return 0
}
