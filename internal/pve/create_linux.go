package pve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Spec is a container to be made. It has no network, does not start with the
// host, and is kept out of backups.
type Spec struct {
	// Hostname begins with HostPrefix.
	Hostname string
	Template string // volume ID
	Storage  string
	// RootGiB and BenchGiB are the sizes of its volumes; 0 for BenchGiB makes
	// one volume only.
	RootGiB, BenchGiB float64
	// BenchPath is where the container sees the second volume.
	BenchPath  string
	Cores      int
	MemoryMiB  int
	Privileged bool
	Features   string // such as nesting=1
	OSType     string // "" for unmanaged
	Arch       string // "" lets PVE look
	Entrypoint string // PVE 9.1 and later; "" for /sbin/init
	// Description is for whoever meets the container; the run's mark is added.
	Description string
	// Mark is what only this run has.
	Mark string
}

// Tag is on every container of nativ's, and HostPrefix before its name. Both and
// the mark make it one of a run's.
const (
	Tag        = "nativ"
	HostPrefix = "nativ"
)

// markLine is the line of the description that names the run.
func markLine(mark string) string { return "nativ run " + mark }

// args is the command line of pct create.
func (s *Spec) args(id int) []string {
	gib := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	args := []string{"create", strconv.Itoa(id), s.Template, "--rootfs", s.Storage + ":" + gib(s.RootGiB)}
	if s.BenchGiB > 0 {
		args = append(args, "--mp0", fmt.Sprintf("%s:%s,mp=%s,backup=0", s.Storage, gib(s.BenchGiB), s.BenchPath))
	}
	unprivileged, ostype := "1", s.OSType
	if s.Privileged {
		unprivileged = "0"
	}
	if ostype == "" {
		ostype = "unmanaged"
	}
	args = append(args, "--cores", strconv.Itoa(s.Cores), "--memory", strconv.Itoa(s.MemoryMiB), "--swap", "0",
		"--unprivileged", unprivileged, "--hostname", s.Hostname, "--tags", Tag, "--onboot", "0", "--ostype", ostype,
		"--description", strings.TrimSpace(s.Description+"\n"+markLine(s.Mark)))
	for _, o := range [][2]string{{"--features", s.Features}, {"--arch", s.Arch}, {"--entrypoint", s.Entrypoint}} {
		if o[1] != "" {
			args = append(args, o[0], o[1])
		}
	}
	return args
}

func (s *Spec) check() error {
	switch {
	case !strings.HasPrefix(s.Hostname, HostPrefix):
		return fmt.Errorf("the name %q does not begin with %s", s.Hostname, HostPrefix)
	case s.Mark == "" || strings.ContainsAny(s.Mark, " \n\t"):
		return fmt.Errorf("the mark %q is empty or not one word", s.Mark)
	case s.RootGiB <= 0 || s.Cores < 1 || s.MemoryMiB < 16:
		return fmt.Errorf("root of %v GiB, %d cores, %d MiB of memory", s.RootGiB, s.Cores, s.MemoryMiB)
	case s.BenchGiB > 0 && (!strings.HasPrefix(s.BenchPath, "/") || strings.ContainsAny(s.BenchPath, ",=")):
		return fmt.Errorf("the path %q of the second volume", s.BenchPath)
	}
	return nil
}

// Created is a container that was made and not started.
type Created struct {
	CT *CT
	// Warnings are what PVE warned of.
	Warnings []string
}

const (
	mostRaces     = 10
	mostLeftovers = 20
)

// Create makes a container under the next free ID that no volume carries. It
// calls will before it makes anything, so that the ID can be noted as to be
// removed, and wont when the ID has turned out to be another guest's. When it
// fails otherwise, or ctx ends, PVE has rolled back what it could; what is left
// is found by Own or Adopt.
func (c *Client) Create(ctx context.Context, s Spec, will func(id int) error, wont func(id int)) (*Created, error) {
	made, err := c.create(ctx, s, will, wont)
	if err != nil {
		return nil, fmt.Errorf("create container: %w", err)
	}
	return made, nil
}

func (c *Client) create(ctx context.Context, s Spec, will func(id int) error, wont func(id int)) (*Created, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	for range mostRaces {
		id, err := c.cleanID(ctx)
		if err != nil {
			return nil, err
		}
		if err := will(id); err != nil {
			return nil, err
		}
		a, err := c.change(ctx, "pct", s.args(id)...)
		if errors.Is(err, ErrExists) {
			wont(id)
			continue
		}
		if err != nil {
			return nil, err
		}
		ct, err := c.Own(ctx, id, s.Mark)
		if err != nil {
			return nil, err
		}
		return &Created{CT: ct, Warnings: warnings(a.stdout, a.stderr)}, nil
	}
	return nil, fmt.Errorf("others took the next free ID %d times: %w", mostRaces, ErrExists)
}

// upperID is the end of the IDs that the cluster may give: asked for one by
// number, PVE does not look at it.
func (c *Client) upperID() (int, error) {
	b, err := os.ReadFile(c.path("etc/pve/datacenter.cfg"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return parseUpperID(string(b)), nil
}

// cleanID is the next free ID of which no volumes are left: PVE does not look
// at volumes, and destroying the container would take them with it.
func (c *Client) cleanID(ctx context.Context) (int, error) {
	id, err := c.NextID(ctx)
	if err != nil {
		return 0, err
	}
	upper, err := c.upperID()
	if err != nil {
		return 0, err
	}
	var left []string
	for end := min(id+mostLeftovers, upper); id < end; id++ {
		// The first is free, as the cluster said.
		if left != nil {
			if free, err := c.free(ctx, id); err != nil {
				return 0, err
			} else if !free {
				continue
			}
		}
		if left, err = c.Leftovers(ctx, id); err != nil || len(left) == 0 {
			return id, err
		}
	}
	return 0, fmt.Errorf("no ID up to %d will do: %w, such as %s; look with pvesm list, and remove them with pvesm free if they are not needed",
		id-1, ErrLeftover, strings.Join(left, ", "))
}
