package record

import (
	"encoding/json"
	"fmt"
)

// missingParts returns the names of the parts that every record has and this
// JSON does not.
func missingParts(have map[string]json.RawMessage) (missing []string) {
	for _, name := range []string{"tool", "id", "plan", "host", "target", "rounds"} {
		if _, ok := have[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

// check reports the first count, size or time of r that is negative: no such
// thing was ever measured, and every sum with it would be wrong.
func (r *Record) check() error {
	c := checker{}
	c.not(r.Plan.FileSize, "plan.file_size_bytes")
	c.not(r.Plan.WantedSize, "plan.wanted_size_bytes")
	c.not(r.Plan.MaxWritten, "plan.max_written_bytes")
	c.not(r.Plan.EstimateNS[0], "plan.estimate_ns")
	c.not(r.Plan.EstimateNS[1], "plan.estimate_ns")
	c.maybe(r.Plan.Memory, "plan.memory_bytes")
	for i := range r.Plan.Steps {
		c.not(r.Plan.Steps[i].RuntimeNS, "plan.steps.runtime_ns")
		c.not(r.Plan.Steps[i].MaxBytes, "plan.steps.max_bytes")
	}
	c.not(r.Host.MemoryBytes, "host.memory_bytes")
	c.not(r.Target.TotalBytes, "target.total_bytes")
	c.not(r.Target.FreeBytes, "target.free_bytes")
	c.maybe(r.Target.UsedBytes, "target.used_bytes")
	for i := range r.Target.Drives {
		c.not(r.Target.Drives[i].SizeBytes, "target.drives.size_bytes")
	}
	if s := r.Target.Storage; s != nil {
		for i := range s.Pools {
			p := &s.Pools[i]
			for _, n := range []*int64{p.ChunkBytes, p.DataBytes, p.DataUsed, p.MetadataBytes, p.MetadataUsed} {
				c.maybe(n, "target.storage.thin_pools")
			}
		}
	}
	if p := r.Prefill; p != nil {
		c.not(p.Bytes, "prefill.bytes")
		c.not(p.ElapsedNS, "prefill.elapsed_ns")
		c.outcome(p.Outcome, "prefill.outcome")
		if t := p.Twin; t != nil {
			c.not(t.Bytes, "prefill.twin.bytes")
			c.not(t.ElapsedNS, "prefill.twin.elapsed_ns")
			c.outcome(t.Outcome, "prefill.twin.outcome")
		}
	}
	for i := range r.Rounds {
		for j := range r.Rounds[i].Passes {
			p := &r.Rounds[i].Passes[j]
			c.at = fmt.Sprintf("pass %d: ", p.Index)
			c.not(int64(p.Index), "index")
			c.outcome(p.Outcome, "outcome")
			for k := range p.Intervals {
				c.interval(&p.Intervals[k])
			}
			c.sample(p.Watch.Before, "watch.before")
			for k := range p.Watch.Samples {
				c.sample(&p.Watch.Samples[k], "watch.samples")
			}
			c.sample(p.Watch.After, "watch.after")
		}
	}
	return c.err
}

// A checker keeps the first thing that it finds.
type checker struct {
	at  string
	err error
}

func (c *checker) not(v int64, path string) {
	if v < 0 && c.err == nil {
		c.err = fmt.Errorf("%s%s is negative (%d)", c.at, path, v)
	}
}

func (c *checker) maybe(v *int64, path string) {
	if v != nil {
		c.not(*v, path)
	}
}

func (c *checker) outcome(o *Outcome, path string) {
	if o == nil {
		return
	}
	for _, f := range []struct {
		flow *Flow
		name string
	}{{o.Read, ".read"}, {o.Write, ".write"}, {o.Sync, ".sync"}, {o.Mixed, ".mixed"}} {
		if f.flow != nil {
			c.not(f.flow.IOs, path+f.name+".ios")
			c.not(f.flow.Bytes, path+f.name+".bytes")
		}
	}
	for i := range o.Errors {
		c.not(o.Errors[i].Count, path+".errors.count")
	}
	c.not(o.Outstanding, path+".outstanding")
	c.not(o.Usage.UserNS, path+".usage.user_ns")
	c.not(o.Usage.SystemNS, path+".usage.system_ns")
	for i := range o.Clones {
		c.outcome(&o.Clones[i], path+".clones")
	}
}

func (c *checker) interval(i *Interval) {
	c.not(i.LenNS, "intervals.len_ns")
	c.not(i.ReadIOs, "intervals.read_ios")
	c.not(i.ReadBytes, "intervals.read_bytes")
	c.not(i.WriteIOs, "intervals.write_ios")
	c.not(i.WriteBytes, "intervals.write_bytes")
	c.not(i.SyncIOs, "intervals.sync_ios")
}

func (c *checker) sample(s *Sample, path string) {
	if s == nil {
		return
	}
	for _, d := range s.Devices {
		c.not(min(d.ReadIOs, d.ReadBytes, d.WriteIOs, d.WriteBytes, d.BusyNS, d.QueueNS), path+".devices")
		for _, v := range []*int64{d.FlushIOs, d.ReadMerges, d.WriteMerges, d.ReadNS, d.WriteNS} {
			c.maybe(v, path+".devices")
		}
	}
	for _, t := range s.CPUs {
		c.not(min(t.BusyNS, t.TotalNS), path+".cpus")
	}
	if g := s.Cgroup; g != nil {
		for _, v := range []*int64{g.UsageNS, g.NrThrottled, g.ThrottledNS, g.OOMKills, g.MemoryMax} {
			c.maybe(v, path+".cgroup")
		}
	}
}
