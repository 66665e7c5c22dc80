package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
	"nativ/internal/pve"
)

// PVEUndoers returns how what a run makes of Proxmox VE is removed. They change only
// what carries the run's own marks, read again right before each change, and wait
// first for whatever an earlier run left working.
func PVEUndoers(client *pve.Client) map[journal.Kind]journal.Undoer {
	u := undoPVE{client}
	return map[journal.Kind]journal.Undoer{
		journal.KindPVETemplate:  undoTemplate,
		journal.KindPVEContainer: u.container,
		journal.KindPVEVolume:    u.volume,
		journal.KindPVEInside:    u.inside,
	}
}

type undoPVE struct{ client *pve.Client }

// undoTemplate removes nativ's own template of a run.
func undoTemplate(_ context.Context, e journal.Entry) (bool, error) {
	name := filepath.Base(e.Path)
	if !strings.HasPrefix(name, pve.HostPrefix+"-") || !strings.HasSuffix(name, ".tar.gz") {
		return false, fmt.Errorf("remove template %s: it is not named as nativ names its templates", e.Path)
	}
	switch err := os.Remove(e.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove template: %w", err)
	}
	return true, nil
}

// container removes a container of a run with its volumes.
func (u *undoPVE) container(ctx context.Context, e journal.Entry) (bool, error) {
	ct, err := u.client.Adopt(ctx, e.VMID, e.Mark, e.Since)
	switch {
	case errors.Is(err, pve.ErrNoSuch):
		return false, u.nothingLeft(ctx, e)
	case errors.Is(err, pve.ErrForeign):
		// The ID went to another guest, so that the run never had it, or its
		// container is gone.
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove container %d: %w", e.VMID, err)
	}
	// While it runs, what is free in it can be given back. It goes either way.
	if s, err := u.client.Status(ctx, e.VMID); err == nil && s.Running {
		u.emptyBench(ctx, e.VMID, s.PID)
		_ = ct.Trim(ctx)
	}
	err = ct.Destroy(ctx)
	if errors.Is(err, pve.ErrWiping) {
		err = nil // it is gone, and only its blocks are still written over
	}
	return err == nil, err
}

// emptyBench removes the test files that a killed run left on the volume of its
// container, so that their space is free when it is trimmed.
func (u *undoPVE) emptyBench(ctx context.Context, id, pid int) {
	dir, err := u.client.OpenInside(ctx, id, insideBench, os.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer dir.Close()
	// Had it ended meanwhile, another process could have its number.
	if s, err := u.client.Status(ctx, id); err != nil || s.PID != pid {
		return
	}
	names, _ := dir.Readdirnames(-1)
	for _, n := range names {
		if isTestFile(n) {
			_ = unix.Unlinkat(int(dir.Fd()), n, 0)
		}
	}
}

// isTestFile reports whether a name is one that nativ gives its files.
func isTestFile(name string) bool {
	return strings.HasPrefix(name, "nativ-") && strings.HasSuffix(name, ".dat")
}

// nothingLeft reports volumes that still carry the ID of a container that is gone.
// By their names alone nobody can tell whose they are, so that none is touched.
func (u *undoPVE) nothingLeft(ctx context.Context, e journal.Entry) error {
	left, err := u.client.Leftovers(ctx, e.VMID)
	if err != nil {
		return fmt.Errorf("look for volumes of container %d: %w", e.VMID, err)
	}
	if len(left) > 0 {
		return fmt.Errorf("container %d is gone, but %s still carries its ID: look whose it is with pvesm list, and remove it with pvesm free",
			e.VMID, strings.Join(left, ", "))
	}
	return nil
}

// volume removes a volume of a run that no container has. Its blocks go back to
// storage and drive first.
func (u *undoPVE) volume(ctx context.Context, e journal.Entry) (bool, error) {
	if err := u.client.AwaitIdle(ctx, e.VMID); err != nil {
		return false, err
	}
	if path, err := u.client.Path(ctx, e.Name); err == nil {
		discardAll(ctx, path) // a file or a directory has nothing to discard
	}
	if err := u.client.Free(ctx, e.Name); err != nil && !errors.Is(err, pve.ErrWiping) {
		return false, err
	}
	return true, nil
}

// discardAll discards a block device of nativ's. blkdiscard(8) opens it exclusively,
// which fails while anybody has it.
func discardAll(ctx context.Context, path string) {
	program, err := exec.LookPath("blkdiscard")
	if err != nil {
		return
	}
	cmd := exec.Command(program, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_, _ = runShort(ctx, cmd)
}
