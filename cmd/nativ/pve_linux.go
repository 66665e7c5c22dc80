package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"nativ/internal/cgroup"
	"nativ/internal/place"
	"nativ/internal/pve"
	"nativ/internal/record"
	"nativ/internal/sensor"
	"nativ/internal/storage"
	"nativ/internal/target"
)

// A pveWish is the container of Proxmox VE that is asked for: one on a storage, or
// one that runs.
type pveWish struct {
	client  *pve.Client
	options place.PVEOptions
	// cpus are those of a container that runs.
	cpus []int
}

// pveClient speaks to Proxmox VE. For tests, $NATIV_PVE_ROOT is where it has its
// files, and $NATIV_PVE_WAIT how long a lock is waited for.
func pveClient(getenv func(string) string) (c *pve.Client, root string) {
	if root = getenv("NATIV_PVE_ROOT"); root == "" {
		root = "/"
	}
	c = pve.New(root)
	if d, err := time.ParseDuration(getenv("NATIV_PVE_WAIT")); err == nil && d > 0 {
		c.LockWait, c.Poll = d, d/10
	}
	return c, root
}

// onPVE reports whether a container of Proxmox VE is asked for.
func (f *benchFlags) onPVE() bool { return f.storage != "" || f.container != "" }

// checkPVE decides what the flags about Proxmox VE mean, without looking at any.
func (s *session) checkPVE() error {
	f := &s.f
	if !f.onPVE() {
		switch {
		case f.template != "":
			return exit(exitUsage, "--template goes with --storage, on which a container is made from it")
		case f.separateVolumes:
			return exit(exitUsage, "--separate-volumes goes with --storage, on which the volumes are made")
		case f.placesAsked && slices.Contains(f.places, record.PlacePVE):
			return exit(exitUsage, "--places pve: say on which storage, or in which container").
				next("Make one: --storage local-lvm. Use one that runs: --container 105.")
		}
		return nil
	}
	what := "--storage"
	if f.container != "" {
		what = "--container"
	}
	switch {
	case f.simulated:
		return exit(exitUsage, "--simulate and %s: a simulation needs no container", what)
	case f.storage != "" && f.container != "":
		return exit(exitUsage, "--storage and --container: a container is made, or one is used that runs")
	case f.dir != "" || f.device != "":
		return exit(exitUsage, "%s and --dir or --device: only one of them says where to measure", what)
	case f.engine == "fio":
		return exit(exitUsage, "%s and --engine fio: in a container of Proxmox VE only nativ's own engine works", what)
	case f.storage != "" && s.memory == nil:
		return exit(exitUsage, "--memory none: Proxmox VE gives every container a limit; name one, such as 4G")
	case f.storage != "" && *s.memory < 64<<20:
		return exit(exitUsage, "--memory: at least 64M for a container")
	case f.container != "" && (f.cpusAsked || f.memoryAsked || f.privileged || f.template != "" || f.separateVolumes):
		return exit(exitUsage, "--container: CPUs, memory and privileges of a container that runs are its own, and so are its volumes").
			next("Leave out --cpus, --memory, --privileged, --template and --separate-volumes, or have a container made: --storage local-lvm")
	}
	if f.storage != "" {
		*s.memory = *s.memory >> 20 << 20 // Proxmox VE counts in MiB
	}
	if f.container != "" {
		if _, _, err := parseContainer(f.container); err != nil {
			return err
		}
	}
	if f.placesAsked {
		if slices.Contains(f.places, record.PlaceLXC) {
			return exit(exitUsage, "--places lxc and %s: the container is one of Proxmox VE here: pve", what)
		}
		if !slices.Contains(f.places, record.PlacePVE) {
			return exit(exitUsage, "--places: with %s the file lies in the container, so that pve must be among them", what)
		}
		return nil
	}
	f.places = []string{record.PlaceHost, record.PlacePinned, record.PlacePVE}
	if s.preset.Places != nil {
		f.places = slices.Clone(s.preset.Places)
		for i, p := range f.places {
			if p == record.PlaceLXC {
				f.places[i] = record.PlacePVE
			}
		}
		if !slices.Contains(f.places, record.PlacePVE) {
			f.places = append(f.places, record.PlacePVE)
		}
	}
	s.preset.Places = nil
	return nil
}

// findPVE looks at the storage or the container to measure.
func (s *session) findPVE(ctx context.Context) error {
	client, root := pveClient(s.e.getenv)
	if !pve.Detect(root) {
		return exit(exitMissing, "this machine is no Proxmox VE host: it has no /etc/pve, or not all of pct, pvesm and pvesh").
			next("Measure a directory: nativ bench --dir DIR; its container is then a plain one of LXC.")
	}
	if !s.root {
		return exit(exitMissing, "containers of Proxmox VE need root").next("Run it with sudo.")
	}
	s.pve = &pveWish{client: client, options: place.PVEOptions{Client: client, StateDir: s.state, Privileged: s.f.privileged, Twin: s.f.separateVolumes}}
	find := s.findStorage
	if s.f.container != "" {
		find = s.findContainer
	}
	t, err := find(ctx)
	if err != nil {
		return err
	}
	if t.Storage == nil {
		target.DescribeStorage(t, target.Roots{})
	}
	storage.Describe(ctx, t)
	target.Neighbours(t, target.Roots{})
	own := strconv.Itoa(s.pve.options.Existing)
	t.Neighbours = slices.DeleteFunc(t.Neighbours, func(n record.Neighbour) bool { return n.Kind == "container" && n.Name == own })
	for i := range t.Drives {
		sensor.Identify(sensor.Roots{}, &t.Drives[i])
	}
	s.rec = &record.Record{SchemaVersion: record.SchemaVersion, Target: *t}
	return nil
}

// findStorage describes the storage on which a volume is to be made, as far as that
// can be known before it is there.
func (s *session) findStorage(ctx context.Context) (*record.Target, error) {
	list, err := s.pve.client.Storages(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	var found *pve.Storage
	for i := range list {
		if list[i].Active && list[i].Holds("rootdir") {
			names = append(names, list[i].Name)
		}
		if list[i].Name == s.f.storage {
			found = &list[i]
		}
	}
	choose := "No storage of this host takes volumes of containers."
	if len(names) > 0 {
		choose = "Those that take volumes of containers: " + strings.Join(names, ", ")
	}
	switch {
	case found == nil:
		return nil, exit(exitRefused, "--storage %s: this host has no such storage", s.f.storage).next("%s", choose)
	case !found.Active || found.Total == nil || found.Available == nil:
		return nil, exit(exitRefused, "--storage %s: it is not active", s.f.storage).next("%s", choose)
	case !found.Holds("rootdir"):
		return nil, exit(exitRefused, "--storage %s: it takes no volumes of containers (content rootdir)", s.f.storage).next("%s", choose)
	}
	o := &s.pve.options
	o.Storage = *found
	if s.f.template != "" {
		t, err := s.pve.client.FindTemplate(ctx, s.f.template)
		if errors.Is(err, pve.ErrTemplateMissing) {
			return nil, exit(exitMissing, "--template: %w", err)
		}
		if err != nil {
			return nil, err
		}
		o.Template = t.VolID
	} else {
		i := slices.IndexFunc(list, func(t pve.Storage) bool { return t.Active && t.Holds("vztmpl") && t.Path != "" })
		if i < 0 {
			return nil, exit(exitMissing, "no storage of this host takes templates (content vztmpl), so that nativ's own has no place").
				next("Allow it on one, such as local: pvesm set local --content vztmpl,...; or name a template with --template")
		}
		o.TemplateStorage = list[i]
	}
	return s.describeStorage(ctx, found)
}

// describeStorage says what lies under a storage.
func (s *session) describeStorage(ctx context.Context, st *pve.Storage) (*record.Target, error) {
	t := &record.Target{}
	switch {
	case st.VG != "":
		nodes, err := s.pve.client.PhysicalVolumes(ctx, st.VG)
		if err != nil {
			return nil, fmt.Errorf("--storage %s: find its drives: %w", st.Name, err)
		}
		t.Stack, t.Drives = target.ResolveDevices(nodes, target.Roots{})
		t.Stack = append([]record.Layer{{Name: st.VG, Kind: "lvm", Below: layerNames(t.Stack)}}, t.Stack...)
	case st.Path != "":
		below, err := target.Resolve(st.Path, target.Roots{})
		if err != nil {
			return nil, exit(exitRefused, "--storage %s: %w", st.Name, err)
		}
		// Proxmox VE attaches raw files by way of the page cache.
		loop := record.Layer{Name: "loop", Kind: "loop", Title: st.Path, DirectIO: new(false), Below: layerNames(below.Stack)}
		t.Stack, t.Drives, t.Network = append([]record.Layer{loop}, below.Stack...), below.Drives, below.Network
	}
	t.FSType = "ext4"
	if st.Type == "zfspool" {
		t.FSType, t.Source = "zfs", st.Pool
	}
	t.Dir, t.Network = st.Name, t.Network || !st.Local()
	if t.Source == "" {
		t.Source = st.Name
	}
	t.TotalBytes, t.FreeBytes = *st.Total, *st.Available
	t.Volume = &record.Volume{Storage: st.Name, StorageType: st.Type, Inside: "/bench", Made: true,
		SafeRemove: st.SafeRemove, Separate: s.f.separateVolumes}
	return t, nil
}

// layerNames are the names of the topmost devices of a stack.
func layerNames(stack []record.Layer) []string {
	below := map[string]bool{}
	for _, l := range stack {
		for _, b := range l.Below {
			below[b] = true
		}
	}
	var names []string
	for _, l := range stack {
		if !below[l.Name] {
			names = append(names, l.Name)
		}
	}
	return names
}

// parseContainer reads what --container says: an ID, and a directory in it.
func parseContainer(text string) (id int, at string, err error) {
	number, at, hasPath := strings.Cut(text, ":")
	id, err = strconv.Atoi(number)
	if err != nil || id < 100 {
		return 0, "", exit(exitUsage, "--container %s: an ID from 100 on, such as 105, or with a directory in it 105:/srv", text)
	}
	if !hasPath {
		at = "/"
	}
	if !path.IsAbs(at) {
		return 0, "", exit(exitUsage, "--container %s: the directory in the container begins with a slash", text)
	}
	return id, path.Clean(at), nil
}

// findContainer describes the volume of a container that runs.
func (s *session) findContainer(ctx context.Context) (*record.Target, error) {
	id, at, err := parseContainer(s.f.container)
	if err != nil {
		return nil, err
	}
	cfg, err := s.pve.client.Config(ctx, id)
	if errors.Is(err, pve.ErrNoSuch) {
		return nil, exit(exitRefused, "--container %d: this host has no such container", id).next("pct list shows those that it has.")
	}
	if err != nil {
		return nil, err
	}
	status, err := s.pve.client.Status(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !status.Running || status.PID == 0:
		return nil, exit(exitRefused, "--container %d: it does not run, and nativ does not start it", id).next("Start it: pct start %d", id)
	case cfg.Lock() != "":
		return nil, exit(exitRefused, "--container %d: it is locked (%s)", id, cfg.Lock()).next("Measure when that is over.")
	}
	t, err := target.ResolveIn(status.PID, at, target.Roots{})
	if err != nil {
		return nil, exit(exitRefused, "--container %s: %w", s.f.container, err)
	}
	groups, err := cgroup.Detect("/")
	if err != nil {
		return nil, exit(exitMissing, "%w", err)
	}
	state, err := groups.Read(place.PVECgroup(id))
	if err != nil {
		return nil, err
	}
	s.pve.options.Existing, s.pve.options.At = id, at
	s.pve.cpus, s.memory, s.f.privileged = state.CPUs, state.Memory, !cfg.Unprivileged()
	m := place.PVEVolumeAt(cfg, at)
	storage, _, isVolume := strings.Cut(m.Volume, ":")
	t.Volume = &record.Volume{VMID: id, Inside: at, SizeBytes: m.Size}
	if t.Dir = fmt.Sprintf("%d:%s", id, at); isVolume {
		t.Volume.ID, t.Volume.Storage = m.Volume, storage
	}
	list, err := s.pve.client.Storages(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if isVolume && list[i].Name == storage {
			t.Volume.StorageType, t.Network = list[i].Type, t.Network || !list[i].Local()
		}
	}
	return t, nil
}

// pveCPUs is the set of CPUs that a container which runs has.
func (s *session) pveCPUs(all []record.CPU) (record.CPUSet, error) {
	set := record.CPUSet{Online: len(all)}
	for _, c := range all {
		if slices.Contains(s.pve.cpus, c.ID) {
			set.CPUs = append(set.CPUs, c)
		}
	}
	if len(set.CPUs) != len(s.pve.cpus) || len(set.CPUs) == 0 {
		return set, exit(exitRefused, "--container %d: it has CPUs that nativ may not use, so that the host cannot be compared with it", s.pve.options.Existing)
	}
	set.All = len(set.CPUs) == len(all)
	return set, nil
}

// gatePVE decides how large the file on a volume may be.
func (s *session) gatePVE(want, least int64) (int64, error) {
	if s.pve.options.Existing != 0 {
		return target.Gate(&s.rec.Target, want, least)
	}
	wish := target.VolumeWish{Copies: 1, Extra: place.PVERootBytes(s.pve.options.Template != "")}
	if s.f.separateVolumes {
		wish.Copies = 2
	}
	return target.GateStorage(&s.rec.Target, wish, want, least)
}
