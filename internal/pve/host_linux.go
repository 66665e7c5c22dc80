package pve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Version says what runs here.
func (c *Client) Version(ctx context.Context) (Version, error) {
	a, err := c.run(ctx, "pveversion")
	if err != nil {
		return Version{}, err
	}
	return parseVersion(a.stdout)
}

// Storages are those that this node knows, by name: what storage.cfg says of
// them, and how they are now.
func (c *Client) Storages(ctx context.Context) ([]Storage, error) {
	name := c.path("etc/pve/storage.cfg")
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list, err := parseStorageCfg(string(b))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	a, err := c.run(ctx, "pvesm", "status")
	if err != nil {
		return nil, err
	}
	now, err := parseStorageStatus(a.stdout)
	if err != nil {
		return nil, err
	}
	// What pvesm does not show is restricted to other nodes.
	list = slices.DeleteFunc(list, func(s Storage) bool { _, here := now[s.Name]; return !here })
	for i := range list {
		s, n := &list[i], now[list[i].Name]
		s.Enabled, s.Active = n.Enabled, n.Active
		s.Total, s.Used, s.Available = n.Total, n.Used, n.Available
	}
	slices.SortFunc(list, func(a, b Storage) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// storage finds one by name.
func (c *Client) storage(ctx context.Context, name string) (Storage, error) {
	list, err := c.Storages(ctx)
	if err != nil {
		return Storage{}, err
	}
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
	}
	return Storage{}, fmt.Errorf("storage %s: %w", name, ErrNoSuch)
}

// Guests are all containers and virtual machines of the cluster.
func (c *Client) Guests(ctx context.Context) ([]Guest, error) {
	a, err := c.run(ctx, "pvesh", "get", "/cluster/resources", "--type", "vm", "--output-format", "json")
	if err != nil {
		return nil, err
	}
	return parseGuests(a.stdout)
}

// Jobs are the backups that are planned.
func (c *Client) Jobs() ([]BackupJob, error) {
	name := c.path("etc/pve/jobs.cfg")
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	jobs, err := parseJobs(string(b))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return jobs, nil
}

// NextID is the ID that the cluster would give to the next guest. Another may
// take it before it is used.
func (c *Client) NextID(ctx context.Context) (int, error) {
	return c.nextID(ctx)
}

// free reports whether no guest has the ID.
func (c *Client) free(ctx context.Context, id int) (bool, error) {
	_, err := c.nextID(ctx, "--vmid", strconv.Itoa(id))
	if errors.Is(err, ErrExists) {
		return false, nil
	}
	return err == nil, err
}

func (c *Client) nextID(ctx context.Context, args ...string) (int, error) {
	a, err := c.run(ctx, "pvesh", append([]string{"get", "/cluster/nextid"}, args...)...)
	if err != nil {
		return 0, err
	}
	id, err := strconv.Atoi(strings.Trim(strings.TrimSpace(a.stdout), `"`))
	if err != nil || id < 100 {
		return 0, fmt.Errorf("read the next free ID: pvesh says %q", oneLine(a.stdout))
	}
	return id, nil
}

// Config is a container's configuration.
func (c *Client) Config(ctx context.Context, id int) (*Config, error) {
	return c.config(ctx, "pct", id)
}

// VMConfig is a virtual machine's configuration.
func (c *Client) VMConfig(ctx context.Context, id int) (*Config, error) {
	return c.config(ctx, "qm", id)
}

func (c *Client) config(ctx context.Context, program string, id int) (*Config, error) {
	a, err := c.run(ctx, program, "config", strconv.Itoa(id))
	if err != nil {
		return nil, err
	}
	return parseConfig(a.stdout)
}

// Status is a container's state.
func (c *Client) Status(ctx context.Context, id int) (Status, error) {
	a, err := c.run(ctx, "pct", "status", strconv.Itoa(id), "--verbose")
	if err != nil {
		return Status{}, err
	}
	return parseStatus(a.stdout)
}

// Templates are those of all storages that are active.
func (c *Client) Templates(ctx context.Context) ([]Template, error) {
	list, err := c.Storages(ctx)
	if err != nil {
		return nil, err
	}
	var out []Template
	for _, s := range list {
		if !s.Active || !s.Holds("vztmpl") {
			continue
		}
		a, err := c.run(ctx, "pveam", "list", s.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, parseTemplates(a.stdout)...)
	}
	return out, nil
}

// FindTemplate finds the template that a user names: by its volume ID, or the
// newest of those whose names begin so.
func (c *Client) FindTemplate(ctx context.Context, name string) (Template, error) {
	list, err := c.Templates(ctx)
	if err != nil {
		return Template{}, err
	}
	if t, ok := pickTemplate(list, name); ok {
		return t, nil
	}
	return Template{}, fmt.Errorf("find template %q: no storage of this host has one; see pveam available and pveam download: %w",
		name, ErrTemplateMissing)
}

func pickTemplate(list []Template, name string) (Template, bool) {
	var best Template
	for _, t := range list {
		if t.VolID == name {
			return t, true
		}
		if name != "" && strings.HasPrefix(t.Name, name) && (best.Name == "" || compareVersions(t.Name, best.Name) > 0) {
			best = t
		}
	}
	return best, best.Name != ""
}

// compareVersions compares names with runs of digits as numbers, so that
// revision 10 comes after 9.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if d := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); d != 0 {
				return d
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if d := cmp.Compare(a[0], b[0]); d != 0 {
			return d
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
