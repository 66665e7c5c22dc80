package report

import (
	"fmt"
	"strings"

	"nativ/internal/record"
)

// effectMessages are what each layer does to a number, and what nativ does about it.
type effectMessages struct {
	head string
	// does and nativ are by the code of the effect, with variants behind a slash.
	does, nativ                      map[string]string
	chunk, zeroing, noZeroing        string
	data, metadata                   string
	pool, devices, degraded          string
	version, recordSize, arc, direct string
	primarycache, compression        string
	file, controller                 string
	unknown                          string
}

// effectRows are the layers of a target, from the filesystem down, with what each
// does to a number and what nativ does about it.
func (i *informer) effectRows(target string) Facts {
	var f Facts
	m := &i.storageWords.effects
	for k := range i.in.Effects {
		e := &i.in.Effects[k]
		if e.Target != target {
			continue
		}
		does, nativ := m.text(m.does, e), m.text(m.nativ, e)
		parts := i.effectFacts(e)
		text := does
		if len(parts) > 0 {
			text = strings.Join(parts, ", ") + ": " + does
		}
		if does == "" {
			text = i.data(e.Code) // of a later version
		}
		if nativ != "" {
			text += " → " + nativ
		}
		f.add(i.data(e.Layer), text)
	}
	return f
}

// text finds the text of an effect, in the variant that fits it where there are
// several.
func (m *effectMessages) text(from map[string]string, e *record.Effect) string {
	variant := ""
	switch {
	case e.Code == record.EffectServed:
		variant = e.Words["by"]
	case e.Code == record.EffectZFS && e.Words["caches"] == "yes":
		variant = "caches"
	case e.Code == record.EffectArray && e.Words["action"] != "":
		variant = "busy"
	case e.Code == record.EffectThinPool && e.Words["reason"] != "":
		variant = "unknown"
	}
	if t, ok := from[e.Code+"/"+variant]; ok {
		return t
	}
	return from[e.Code]
}

// effectFacts are what is known of the layer.
func (i *informer) effectFacts(e *record.Effect) []string {
	m := &i.storageWords.effects
	var parts []string
	word := func(format, key string) {
		if v := i.data(e.Words[key]); v != "" {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	value := func(format, key string, say func(float64) string) {
		if v, ok := e.Values[key]; ok {
			parts = append(parts, fmt.Sprintf(format, say(v)))
		}
	}
	binary := func(v float64) string { return i.binary(int64(v)) }
	percent := func(v float64) string { return unit(i.percent(v), "%") }
	count := func(v float64) string { return i.int(int64(v)) }
	switch e.Code {
	case record.EffectThinPool:
		word(m.pool, "pool")
		value(m.chunk, "chunk_bytes", binary)
		switch e.Words["zeroing"] {
		case "yes":
			parts = append(parts, m.zeroing)
		case "no":
			parts = append(parts, m.noZeroing)
		}
		value(m.data, "data", percent)
		value(m.metadata, "metadata", percent)
		if r := e.Words["reason"]; r != "" {
			parts = append(parts, fmt.Sprintf(m.unknown, i.reason(r)))
		}
	case record.EffectArray:
		word("%s", "level")
		value(m.devices, "devices", count)
		if e.Values["degraded"] > 0 {
			value(m.degraded, "degraded", count)
		}
		if a := e.Words["action"]; a != "" {
			name := i.storageWords.actions[a]
			if name == "" {
				name = i.data(a)
			}
			parts = append(parts, name)
			if v, ok := e.Values["done"]; ok {
				parts = append(parts, strings.TrimPrefix(fmt.Sprintf(i.storageWords.done, percent(v)), ", "))
			}
		}
	case record.EffectZFS:
		word(m.version, "version")
		value(m.recordSize, "record_bytes", binary)
		word(m.compression, "compression")
		word(m.primarycache, "primarycache")
		word(m.direct, "direct")
		value(m.arc, "arc_bytes", binary)
	case record.EffectCrypt:
		word("%s", "format")
	case record.EffectLoopCached, record.EffectLoopDirect:
		word(m.file, "file")
	case record.EffectRemote:
		word("%s", "transport")
	case record.EffectDrive, record.EffectVirtual:
		word(m.controller, "controller")
		if w, ok := e.Values["width"]; ok {
			parts = append(parts, "PCIe"+glue+pcie(e.Values["speed_mts"], w))
		}
	}
	return parts
}
