package pve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Volumes are those of a storage; with an ID, those that carry it.
func (c *Client) Volumes(ctx context.Context, storage string, id int) ([]Volume, error) {
	args := []string{"list", storage}
	if id != 0 {
		args = append(args, "--vmid", strconv.Itoa(id))
	}
	a, err := c.run(ctx, "pvesm", args...)
	if err != nil {
		return nil, err
	}
	return parseVolumes(a.stdout)
}

// Leftovers are the volumes that carry an ID, on all storages of this host that
// may hold a guest's.
func (c *Client) Leftovers(ctx context.Context, id int) ([]string, error) {
	list, err := c.Storages(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range list {
		if !s.Active || !s.Holds("rootdir") && !s.Holds("images") {
			continue
		}
		volumes, err := c.Volumes(ctx, s.Name, id)
		if err != nil {
			return nil, err
		}
		for _, v := range volumes {
			// A backup carries the ID, too, and is none.
			if v.Type == "rootdir" || v.Type == "images" {
				out = append(out, v.ID)
			}
		}
	}
	return out, nil
}

// Alloc makes a volume that belongs to a guest. name may be empty, and else has
// the storage's form; size is in bytes and rounded up to KiB.
func (c *Client) Alloc(ctx context.Context, storage string, id int, name, format string, size int64) (string, error) {
	args := []string{"alloc", storage, strconv.Itoa(id), name, strconv.FormatInt((size+1023)>>10, 10)}
	if format != "" {
		args = append(args, "--format", format)
	}
	a, err := c.change(ctx, "pvesm", args...)
	if err != nil {
		return "", err
	}
	return parseAlloc(a.stdout)
}

// Path is where the host has a volume: a device, a file or a directory. Whether
// it is there, PVE does not look at.
func (c *Client) Path(ctx context.Context, volume string) (string, error) {
	a, err := c.run(ctx, "pvesm", "path", volume)
	if err != nil {
		return "", err
	}
	p := strings.TrimSpace(a.stdout)
	if !strings.HasPrefix(p, "/") || strings.Contains(p, "\n") {
		return "", fmt.Errorf("find volume %s: pvesm path says %q", volume, oneLine(a.stdout))
	}
	return p, nil
}

// Free removes a volume and looks whether it is gone: pvesm says Removed, and
// ends well, when it is not. A volume that is not there is no error. ErrWiping
// says that its blocks are still being overwritten.
func (c *Client) Free(ctx context.Context, volume string) error {
	storage, _, ok := strings.Cut(volume, ":")
	if !ok {
		return fmt.Errorf("free %q: it is no volume ID", volume)
	}
	if there, err := c.exists(ctx, storage, volume); err != nil || !there {
		return err
	}
	said, err := c.change(ctx, "pvesm", "free", volume)
	if err != nil {
		return err
	}
	if there, err := c.exists(ctx, storage, volume); err != nil {
		return err
	} else if there {
		return fmt.Errorf("free %s: %w; pvesm said %q", volume, ErrNotFreed, oneLine(said.stderr+said.stdout))
	}
	return c.wiped(ctx, volume)
}

func (c *Client) exists(ctx context.Context, storage, volume string) (bool, error) {
	list, err := c.Volumes(ctx, storage, 0)
	return slices.ContainsFunc(list, func(v Volume) bool { return v.ID == volume }), err
}

// wiped waits until a removed volume does not take the drive's time any more: on
// LVM with saferemove it lives on as del-NAME while it is overwritten.
func (c *Client) wiped(ctx context.Context, volume string) error {
	name, rest, _ := strings.Cut(volume, ":")
	s, err := c.storage(ctx, name)
	if err != nil || !s.SafeRemove || s.VG == "" {
		return err
	}
	return c.until(ctx, func() (bool, error) {
		a, err := c.run(ctx, "lvs", "--reportformat", "json", "-o", "vg_name,lv_name", s.VG)
		if err != nil {
			return true, err
		}
		volumes, err := parseLVs(a.stdout)
		if err != nil || !slices.Contains(volumes, "del-"+rest) {
			return true, err
		}
		return false, fmt.Errorf("free %s: %w as del-%s of volume group %s", volume, ErrWiping, rest, s.VG)
	})
}

// PhysicalVolumes are the device nodes that a volume group lies on.
func (c *Client) PhysicalVolumes(ctx context.Context, vg string) ([]string, error) {
	a, err := c.run(ctx, "pvs", "--reportformat", "json", "-o", "pv_name,vg_name")
	if err != nil {
		return nil, err
	}
	return parsePVs(a.stdout, vg)
}

// parsePVs reads the devices of a volume group from the JSON of pvs.
func parsePVs(text, vg string) ([]string, error) {
	var doc struct {
		Report []struct {
			PV []struct {
				Name string `json:"pv_name"`
				VG   string `json:"vg_name"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("read pvs: %w", err)
	}
	var out []string
	for _, r := range doc.Report {
		for _, v := range r.PV {
			if v.VG == vg {
				out = append(out, v.Name)
			}
		}
	}
	if out == nil {
		return nil, fmt.Errorf("read pvs: it shows no device of volume group %s", vg)
	}
	return out, nil
}

// parseLVs reads the names of logical volumes from the JSON of lvs.
func parseLVs(text string) ([]string, error) {
	var doc struct {
		Report []struct {
			LV []struct {
				Name string `json:"lv_name"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("read lvs: %w", err)
	}
	if doc.Report == nil {
		return nil, errors.New("read lvs: it reports nothing")
	}
	var out []string
	for _, r := range doc.Report {
		for _, v := range r.LV {
			out = append(out, v.Name)
		}
	}
	return out, nil
}
