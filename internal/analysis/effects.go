package analysis

import (
	"slices"

	"nativ/internal/record"
)

// Effects says of each layer of a target what it does to a number, from the
// filesystem down to the drives.
func Effects(t *record.Target) []record.Effect {
	e := &effects{t: t, s: t.Storage}
	if e.s == nil {
		e.s = &record.Storage{}
	}
	if t.Device == nil {
		e.filesystem()
	}
	for i := range t.Stack {
		e.layer(&t.Stack[i])
	}
	return e.all
}

type effects struct {
	t   *record.Target
	s   *record.Storage
	all []record.Effect
}

// add adds an effect without the words and values that are empty or not known.
func (e *effects) add(layer, code string, w map[string]string, values map[string]*float64) {
	f := record.Effect{Target: e.t.Dir, Layer: layer, Code: code}
	for k, v := range w {
		if v != "" {
			if f.Words == nil {
				f.Words = map[string]string{}
			}
			f.Words[k] = v
		}
	}
	for k, v := range values {
		if v != nil {
			if f.Values == nil {
				f.Values = map[string]float64{}
			}
			f.Values[k] = *v
		}
	}
	e.all = append(e.all, f)
}

func (e *effects) filesystem() {
	t, s := e.t, e.s
	switch {
	case s.Served != "" && len(t.Drives) == 0:
		e.add(t.FSType, record.EffectServed, words("by", s.Served, "what", NetworkName(t)), nil)
	case s.ZFS != nil && !s.ZFS.Volume:
		e.zfs(t.FSType)
	case s.Btrfs != nil && s.Btrfs.Buffered:
		e.add(t.FSType, record.EffectInPlace, nil, nil)
	case s.Btrfs != nil && !s.Btrfs.Checksums:
		e.add(t.FSType, record.EffectDirect, nil, nil)
	case slices.Contains([]string{"btrfs", "bcachefs"}, t.FSType):
		e.add(t.FSType, record.EffectCopies, words("fstype", t.FSType), nil)
	case s.Served == record.ServedByProgram:
		e.add(t.FSType, record.EffectServed, words("by", s.Served, "what", t.FSType), nil)
	case s.LazyInit != nil && *s.LazyInit:
		e.add(t.FSType, record.EffectLazyInit, nil, nil)
	default:
		e.add(t.FSType, record.EffectDirect, nil, nil)
	}
}

func (e *effects) zfs(layer string) {
	z := e.s.ZFS
	caches := ""
	if zfsCaches(z) {
		caches = "yes"
	}
	e.add(layer, record.EffectZFS, words("version", z.Version, "direct", z.Direct, "primarycache", z.PrimaryCache, "compression", z.Compression, "caches", caches),
		map[string]*float64{"record_bytes": floatOf(z.RecordBytes), "arc_bytes": floatOf(z.ARCMax)})
}

func (e *effects) layer(l *record.Layer) {
	s := e.s
	if i := slices.IndexFunc(s.Pools, func(p record.ThinPool) bool { return p.Device == l.Name }); i >= 0 {
		p := &s.Pools[i]
		zeroing := ""
		if p.Zeroing != nil {
			zeroing = map[bool]string{true: "yes", false: "no"}[*p.Zeroing]
		}
		e.add(l.Name, record.EffectThinPool, words("pool", p.Name, "zeroing", zeroing, "reason", p.Unknown), map[string]*float64{
			"chunk_bytes": floatOf(p.ChunkBytes), "data": share(p.DataUsed, p.DataBytes), "metadata": share(p.MetadataUsed, p.MetadataBytes)})
		return
	}
	if i := slices.IndexFunc(s.Arrays, func(a record.Array) bool { return a.Device == l.Name }); i >= 0 {
		a := &s.Arrays[i]
		action := ""
		if a.Rebuilding() {
			action = a.Action
		}
		e.add(l.Name, record.EffectArray, words("level", a.Level, "action", action),
			map[string]*float64{"devices": floatOf(a.Devices), "degraded": floatOf(a.Degraded), "done": a.Done})
		return
	}
	switch l.Kind {
	case "partition":
		e.add(l.Name, record.EffectPartition, nil, nil)
	case "md":
		e.add(l.Name, record.EffectArray, words("level", l.Title), nil)
	case "crypt":
		format := ""
		for _, c := range s.Crypts {
			if c.Device == l.Name {
				format = c.Format
			}
		}
		e.add(l.Name, record.EffectCrypt, words("format", format), nil)
	case "loop":
		code := record.EffectLoopCached
		if l.DirectIO != nil && *l.DirectIO {
			code = record.EffectLoopDirect
		}
		e.add(l.Name, code, words("file", l.Title), nil)
	case "bcache":
		e.add(l.Name, record.EffectBcache, nil, nil)
	case "multipath":
		e.add(l.Name, record.EffectMultipath, nil, nil)
	case "zvol":
		if s.ZFS != nil {
			e.zfs(l.Name)
		}
	case "disk":
		e.drive(l.Name)
	default:
		e.add(l.Name, record.EffectVolume, nil, nil)
	}
}

func (e *effects) drive(name string) {
	i := slices.IndexFunc(e.t.Drives, func(d record.Drive) bool { return d.Name == name })
	if i < 0 {
		e.add(name, record.EffectDrive, nil, nil)
		return
	}
	d := &e.t.Drives[i]
	switch {
	case d.Transport == "memory":
		e.add(name, record.EffectMemory, nil, nil)
	case e.t.Network:
		e.add(name, record.EffectRemote, words("transport", d.Transport), nil)
	default:
		code := record.EffectDrive
		if VirtualDrive(d) {
			code = record.EffectVirtual
		}
		controller := ""
		if d.Controller != nil {
			controller = *d.Controller
		}
		v := map[string]*float64{}
		if d.Link != nil {
			v["speed_mts"], v["width"] = new(float64(d.Link.SpeedMTs)), new(float64(d.Link.Width))
		}
		e.add(name, code, words("controller", controller), v)
	}
}

func floatOf(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func share(part, of *int64) *float64 {
	if part == nil || of == nil || *of <= 0 {
		return nil
	}
	return new(float64(*part) / float64(*of))
}
