package place

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nativ/internal/journal"
	"nativ/internal/target"
)

// A twin is a volume for the host, made as Proxmox VE makes that of the container.
type twin struct {
	volume string // its ID
	dir    string // where the host has it
	file   *target.File
}

// Twin is the ID of the host's own volume, "" where it has none.
func (p *PVE) Twin() string {
	if p.twin == nil {
		return ""
	}
	return p.twin.volume
}

// MakeTwin makes a second volume on the storage, formats and mounts it as the
// container's was, and makes a test file of the same size there.
func (p *PVE) MakeTwin(ctx context.Context, size int64, nonce string) (*target.File, error) {
	f, err := p.makeTwin(ctx, size, nonce)
	if err != nil {
		return nil, fmt.Errorf("make a volume for the host: %w", err)
	}
	p.files = append(p.files, f)
	return f, nil
}

func (p *PVE) makeTwin(ctx context.Context, size int64, nonce string) (*target.File, error) {
	c, s := p.opt.Client, &p.opt.Storage
	name, format, volume, err := twinName(s.Name, s.Type, p.facts.VMID, p.RunID)
	if err != nil {
		return nil, err
	}
	if _, err := p.will(journal.Entry{Kind: journal.KindPVEVolume, VMID: p.facts.VMID, Mark: p.RunID, Name: volume}); err != nil {
		return nil, err
	}
	got, err := c.Alloc(ctx, s.Name, p.facts.VMID, name, format, p.opt.Bytes)
	if err != nil {
		return nil, err
	}
	if got != volume {
		return nil, fmt.Errorf("pvesm made %s where %s was asked for; remove it with pvesm free", got, volume)
	}
	p.twin = &twin{volume: volume}
	path, err := c.Path(ctx, volume)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if p.twin.dir = path; !st.IsDir() { // a dataset of ZFS is made whole
		if p.twin.dir, err = p.mountTwin(ctx, path, st.Mode().IsRegular()); err != nil {
			return nil, err
		}
	}
	f, err := target.CreateUnlisted(p.twin.dir, size, nonce)
	if err == nil {
		p.twin.file = f
	}
	return f, err
}

// twinName is what the storage's type wants a volume of the run to be called, its
// format, and its ID (the names of pve-storage's plugins).
func twinName(storage, kind string, id int, run string) (name, format, volume string, err error) {
	name = fmt.Sprintf("vm-%d-nativ-%s", id, run)
	switch kind {
	case "lvm", "lvmthin", "rbd":
		return name, "", storage + ":" + name, nil
	case "zfspool":
		name = "sub" + strings.Replace(name, "vm-", "vol-", 1)
		return name, "subvol", storage + ":" + name, nil
	case "dir", "nfs", "cifs", "btrfs":
		name += ".raw"
		return name, "raw", fmt.Sprintf("%s:%d/%s", storage, id, name), nil
	}
	return "", "", "", fmt.Errorf("storage %s is of type %s, of which nativ does not know how volumes are named; leave --separate-volumes out", storage, kind)
}

// mkfsPatience bounds mkfs, which writes all inode tables of a volume: of one of a
// terabyte 16 GB.
const mkfsPatience = 30 * time.Minute

// mountTwin formats what is at path, with the options of Proxmox VE (LXC.pm, mkfs)
// but for what would go on in the background after the first mount, and mounts it.
func (p *PVE) mountTwin(ctx context.Context, path string, isFile bool) (dir string, err error) {
	uid, gid, _, err := p.idMap()
	if err != nil {
		return "", err
	}
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(mkfs, "-q", "-O", "mmp",
		"-E", fmt.Sprintf("root_owner=%d:%d,lazy_itable_init=0,lazy_journal_init=0", uid, gid), path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if _, err := runWithin(ctx, mkfsPatience, cmd); err != nil {
		return "", err
	}
	run := filepath.Join(p.opt.StateDir, "runs", p.RunID)
	dir = filepath.Join(run, "twin")
	if _, err := p.will(journal.Entry{Kind: journal.KindTree, Path: run}); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if _, err := p.will(journal.Entry{Kind: journal.KindMount, Path: dir}); err != nil {
		return "", err
	}
	device := path
	if isFile {
		loop, err := attachLoop(path)
		if err != nil {
			return "", err
		}
		defer loop.Close() // from here on the mount keeps it
		device = loop.Name()
	}
	if err := unix.Mount(device, dir, "ext4", 0, ""); err != nil {
		return "", fmt.Errorf("mount %s: %w", device, err)
	}
	return dir, nil
}

// attachLoop gives a file a loop device that goes with its last user, through the
// page cache of the host as Proxmox VE's losetup does.
func attachLoop(file string) (*os.File, error) {
	backing, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		c := unix.LoopConfig{Fd: uint32(backing.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
		copy(c.Info.File_name[:len(c.Info.File_name)-1], file)
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &c)
		if err == nil {
			return loop, nil
		}
		loop.Close()
		if err != unix.EBUSY { // else somebody was faster
			return nil, fmt.Errorf("attach %s to %s: %w", file, loop.Name(), err)
		}
	}
}
