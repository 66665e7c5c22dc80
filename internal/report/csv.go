package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"nativ/internal/record"
)

// csvHead are the columns of CSV, one measurement a row (long form), in base units
// and with a point as the decimal sign, whatever the language. What is not known has
// no row.
var csvHead = []string{"run", "simulated", "phase", "place", "round", "void", "pass", "role", "second", "metric", "unit", "value"}

// CSV writes every number of a record: of each pass, of each of its seconds, and
// what the sensors said.
func CSV(w io.Writer, rec *record.Record) error {
	c := csvWriter{w: csv.NewWriter(w), rec: rec}
	c.err = c.w.Write(csvHead)
	for i := range rec.Rounds {
		for k := range rec.Rounds[i].Passes {
			c.pass(i, &rec.Rounds[i].Passes[k])
		}
	}
	c.w.Flush()
	if c.err == nil {
		c.err = c.w.Error()
	}
	if c.err != nil {
		return fmt.Errorf("write CSV: %w", c.err)
	}
	return nil
}

type csvWriter struct {
	w    *csv.Writer
	rec  *record.Record
	err  error
	head []string // of the pass
}

// row writes one measurement; second is "" for the whole pass.
func (c *csvWriter) row(second, metric, unit, value string) {
	if c.err == nil {
		c.err = c.w.Write(append(slices.Clone(c.head), second, metric, unit, value))
	}
}

func (c *csvWriter) int(second, metric, unit string, v int64) {
	c.row(second, metric, unit, strconv.FormatInt(v, 10))
}

func (c *csvWriter) float(second, metric, unit string, v float64) {
	c.row(second, metric, unit, strconv.FormatFloat(v, 'f', -1, 64))
}

func (c *csvWriter) pass(round int, p *record.Pass) {
	simulated := "0"
	if c.rec.Simulated != nil {
		simulated = "1"
	}
	c.head = []string{c.rec.ID, simulated, p.Phase, p.Place, strconv.Itoa(round), c.rec.Rounds[round].Void, strconv.Itoa(p.Index), p.Role}
	if pub := p.Published; pub != nil {
		if pub.IOPS != nil {
			c.float("", "iops", "1/s", *pub.IOPS)
		}
		if pub.BytesPerSec != nil {
			c.float("", "bandwidth", "B/s", *pub.BytesPerSec)
		}
	}
	if o := p.Outcome; o != nil {
		ns := o.ElapsedNS()
		c.int("", "elapsed", "ns", ns)
		for _, f := range []struct {
			name string
			flow *record.Flow
		}{{"read", o.Read}, {"write", o.Write}, {"sync", o.Sync}, {"mixed", o.Mixed}} {
			if f.flow != nil {
				c.flow(f.name, f.flow, ns)
			}
		}
	}
	for i := range p.Intervals {
		c.interval(&p.Intervals[i])
	}
	c.samples(p)
}

func (c *csvWriter) flow(name string, f *record.Flow, ns int64) {
	c.int("", name+" ios", "1", f.IOs)
	c.int("", name+" bytes", "B", f.Bytes)
	if ns > 0 {
		c.float("", name+" iops", "1/s", float64(f.IOs)/float64(ns)*1e9)
		c.float("", name+" bandwidth", "B/s", float64(f.Bytes)/float64(ns)*1e9)
	}
	for _, h := range []struct {
		name string
		hist *record.Histogram
	}{{"lat", f.Lat}, {"clat", f.Clat}, {"slat", f.Slat}} {
		if h.hist == nil || h.hist.N() == 0 {
			continue
		}
		for _, p := range []float64{50, 99, 99.9, 99.99} {
			// As in the tables: none with fewer than ten I/Os beyond it.
			if v, ok := h.hist.Percentile(p); ok && float64(h.hist.N())*(100-p)/100 >= 10 {
				c.int("", fmt.Sprintf("%s %s p%g", name, h.name, p), "ns", v)
			}
		}
	}
}

func (c *csvWriter) interval(v *record.Interval) {
	second := strconv.FormatFloat(float64(v.EndNS)/1e9, 'f', 3, 64)
	for _, m := range []struct {
		name, unit string
		v          int64
		flow       bool
	}{
		{"read ios", "1", v.ReadIOs, v.ReadIOs > 0}, {"read bytes", "B", v.ReadBytes, v.ReadIOs > 0},
		{"write ios", "1", v.WriteIOs, v.WriteIOs > 0}, {"write bytes", "B", v.WriteBytes, v.WriteIOs > 0},
		{"sync ios", "1", v.SyncIOs, v.SyncIOs > 0}, {"length", "ns", v.LenNS, true},
	} {
		if m.flow {
			c.int(second, m.name, m.unit, m.v)
		}
	}
	if v.ReadIOs+v.WriteIOs+v.SyncIOs == 0 {
		c.int(second, "ios", "1", 0) // a second without I/O was measured, too
	}
	for _, m := range []struct {
		name string
		v    *int64
	}{{"lat p50", v.P50NS}, {"lat p99", v.P99NS}, {"lat max", v.MaxNS}} {
		if m.v != nil {
			c.int(second, m.name, "ns", *m.v)
		}
	}
}

// samples are temperatures, at their time in the pass.
func (c *csvWriter) samples(p *record.Pass) {
	if p.Outcome == nil {
		return
	}
	all := []*record.Sample{p.Watch.Before}
	for i := range p.Watch.Samples {
		all = append(all, &p.Watch.Samples[i])
	}
	for _, sm := range append(all, p.Watch.After) {
		if sm == nil {
			continue
		}
		second := strconv.FormatFloat(float64(sm.MonoNS-p.Outcome.StartNS)/1e9, 'f', 3, 64)
		for _, name := range slices.Sorted(maps.Keys(sm.Temperatures)) {
			c.float(second, "temperature "+name, "°C", float64(sm.Temperatures[name])/1000)
		}
	}
}
