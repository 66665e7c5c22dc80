package pve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CT is a container that a run of nativ made. Its methods look at it again
// before they change anything, and refuse with ErrForeign what has become
// somebody else's.
type CT struct {
	ID   int
	Mark string
	c    *Client
	// since is when the ID was noted, where the container may be half made and
	// have no mark yet; else zero.
	since time.Time
}

// Own returns the container if it carries the run's mark.
func (c *Client) Own(ctx context.Context, id int, mark string) (*CT, error) {
	ct := &CT{ID: id, Mark: mark, c: c}
	if _, err := ct.look(ctx); err != nil {
		return nil, err
	}
	return ct, nil
}

// Adopt returns the container under an ID that a run noted and then lost, because
// pct or nativ was killed while it was made or removed. A task that survived is
// waited for. Then the container carries the mark, or it is half made: its
// configuration holds a lock and nothing else. since is when the ID was noted,
// with no guest and no volume carrying it; an older configuration is another's.
func (c *Client) Adopt(ctx context.Context, id int, mark string, since time.Time) (*CT, error) {
	if err := c.awaitWorker(ctx, id); err != nil {
		return nil, fmt.Errorf("adopt container %d: %w", id, err)
	}
	ct := &CT{ID: id, Mark: mark, c: c, since: since}
	if _, err := ct.look(ctx); err != nil {
		return nil, err
	}
	return ct, nil
}

// look reads the configuration and checks whose it is.
func (ct *CT) look(ctx context.Context) (*Config, error) {
	cfg, err := ct.c.Config(ctx, ct.ID)
	if err != nil {
		return nil, err
	}
	if why := ct.foreign(cfg); why != "" {
		return nil, fmt.Errorf("container %d: %w: %s", ct.ID, ErrForeign, why)
	}
	return cfg, nil
}

// foreign says why the container is not the run's, or "".
func (ct *CT) foreign(cfg *Config) string {
	why := unmarked(cfg, ct.Mark)
	if why == "" || ct.since.IsZero() {
		return why
	}
	if !halfMade(cfg) {
		return why
	}
	st, err := os.Stat(ct.confPath())
	// The cluster's file system keeps whole seconds.
	if err != nil || st.ModTime().Before(ct.since.Truncate(time.Second)) {
		return "it is half made and was there before"
	}
	return ""
}

// unmarked says what of a run's marks a container has not.
func unmarked(cfg *Config, mark string) string {
	switch {
	case !slices.Contains(cfg.Tags(), Tag):
		return "it has no tag " + Tag
	case !strings.HasPrefix(cfg.Keys["hostname"], HostPrefix):
		return fmt.Sprintf("its name is %q", cfg.Keys["hostname"])
	case !slices.Contains(strings.Split(cfg.Description, "\n"), markLine(mark)):
		return "its description does not name the run " + mark
	}
	return ""
}

func (ct *CT) confPath() string {
	return ct.c.path("etc/pve/lxc", strconv.Itoa(ct.ID)+".conf")
}

func (ct *CT) id() string { return strconv.Itoa(ct.ID) }

// Volumes are the IDs of the container's volumes.
func (ct *CT) Volumes(ctx context.Context) ([]string, error) {
	cfg, err := ct.look(ctx)
	if err != nil {
		return nil, err
	}
	return volumesOf(cfg), nil
}

func volumesOf(cfg *Config) []string {
	var out []string
	for _, m := range cfg.Mounts() {
		// What is bound from the host has a path.
		if m.Volume != "" && !strings.HasPrefix(m.Volume, "/") {
			out = append(out, m.Volume)
		}
	}
	return out
}

// AppendRaw adds lines for LXC such as "lxc.cgroup2.cpuset.cpus: 0-3", which
// pct does not take, and reads them back. The container must not run.
func (ct *CT) AppendRaw(ctx context.Context, lines ...RawLine) error {
	cfg, err := ct.look(ctx)
	if err != nil {
		return err
	}
	if cfg.Lock() != "" {
		return fmt.Errorf("configure container %d: %w (%s)", ct.ID, ErrLocked, cfg.Lock())
	}
	if s, err := ct.c.Status(ctx, ct.ID); err != nil {
		return err
	} else if s.Running {
		return fmt.Errorf("configure container %d: %w", ct.ID, ErrRunning)
	}
	err = ct.c.until(ctx, func() (bool, error) {
		err := ct.underLock(func() error { return appendLines(ct.confPath(), lines) })
		return !errors.Is(err, ErrLocked) && !errors.Is(err, ErrBusy), err
	})
	if err != nil {
		return fmt.Errorf("configure container %d: %w", ct.ID, err)
	}
	if cfg, err = ct.look(ctx); err != nil {
		return err
	}
	for _, l := range lines {
		if !slices.Contains(cfg.Raw, l) {
			return fmt.Errorf("configure container %d: %s does not show %s afterwards", ct.ID, ct.confPath(), l.Key)
		}
	}
	return nil
}

// underLock holds the lock under which PVE changes a configuration; ErrLocked
// where another has it.
func (ct *CT) underLock(change func() error) error {
	dir := ct.c.path("run/lock/lxc")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "pve-config-"+ct.id()+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%w (%s): %w", ErrLocked, f.Name(), err)
	}
	if err := change(); errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	} else if err != nil {
		return err
	}
	return nil
}

// appendLines writes the whole file in one write: the cluster's file system has
// no partial one, and a reader must not see half of it. Snapshots would follow
// in sections of their own; a container of nativ's has none.
func appendLines(path string, lines []RawLine) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := len(b); n > 0 && b[n-1] != '\n' {
		b = append(b, '\n')
	}
	for _, l := range lines {
		if !strings.HasPrefix(l.Key, "lxc.") || strings.ContainsAny(l.Key+l.Value, "\n\r") {
			return fmt.Errorf("%q is not a line for LXC", l.Key)
		}
		b = fmt.Appendf(b, "%s: %s\n", l.Key, l.Value)
	}
	tmp := tempPath(path)
	if err := os.WriteFile(tmp, b, 0o640); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}

func tempPath(conf string) string { return conf + ".nativ" }

// Start starts the container and returns what PVE warned of.
func (ct *CT) Start(ctx context.Context) ([]string, error) {
	if _, err := ct.look(ctx); err != nil {
		return nil, err
	}
	a, err := ct.c.change(ctx, "pct", "start", ct.id())
	if err != nil {
		return nil, err
	}
	s, err := ct.c.Status(ctx, ct.ID)
	if err == nil && (!s.Running || s.PID == 0) {
		err = fmt.Errorf("start container %d: %w: it ended at once", ct.ID, ErrStart)
	}
	return warnings(a.stdout, a.stderr), err
}

// Stop ends the container at once; one that does not run is no error.
func (ct *CT) Stop(ctx context.Context) error {
	if _, err := ct.look(ctx); err != nil {
		return err
	}
	return ct.stop(ctx)
}

func (ct *CT) stop(ctx context.Context) error {
	s, err := ct.c.Status(ctx, ct.ID)
	if err != nil || !s.Running {
		return err
	}
	if _, err := ct.c.change(ctx, "pct", "stop", ct.id()); err != nil && !errors.Is(err, ErrNotRunning) {
		return err
	}
	return nil
}

// Trim gives the free space of the container's file systems back to the drive
// and the pool, from the host.
func (ct *CT) Trim(ctx context.Context) error {
	if _, err := ct.look(ctx); err != nil {
		return err
	}
	_, err := ct.c.change(ctx, "pct", "fstrim", ct.id())
	return err
}

// Destroy ends the container, removes it with its volumes, and looks whether
// they are gone. One that is gone is no error. ErrWiping says that all is gone
// but the storage still overwrites the blocks.
func (ct *CT) Destroy(ctx context.Context) error {
	err := ct.destroy(ctx)
	if err != nil {
		return fmt.Errorf("remove container %d: %w", ct.ID, err)
	}
	return nil
}

func (ct *CT) destroy(ctx context.Context) error {
	cfg, volumes, err := ct.tidy(ctx)
	if errors.Is(err, ErrNoSuch) {
		return ct.removeTemp()
	}
	if err != nil {
		return err
	}
	if cfg != nil {
		_, err = ct.c.change(ctx, "pct", "destroy", ct.id(), "--purge", "1")
		if err != nil && !errors.Is(err, ErrNoSuch) {
			return err
		}
		if _, err := ct.c.Config(ctx, ct.ID); err == nil {
			return errors.New("pct says that it was destroyed, and its configuration is still there")
		} else if !errors.Is(err, ErrNoSuch) {
			return err
		}
	}
	return errors.Join(ct.removeTemp(), ct.freeAll(ctx, volumes))
}

// removeTemp removes what AppendRaw leaves when it is killed between writing and
// renaming.
func (ct *CT) removeTemp() error {
	if err := os.Remove(tempPath(ct.confPath())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// freeAll frees those of the container's volumes that are still there.
func (ct *CT) freeAll(ctx context.Context, volumes []string) error {
	var errs []error
	for _, v := range volumes {
		if err := ct.c.Free(ctx, v); err != nil {
			errs = append(errs, err)
			continue
		}
		// One that pct itself removed may still be overwritten.
		errs = append(errs, ct.c.wiped(ctx, v))
	}
	return errors.Join(errs...)
}
