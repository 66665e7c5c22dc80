package plot

import (
	"math"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// inRounds is a record of four rounds in two places. It is invented; no drive was
// measured for it.
func inRounds() *record.Record {
	const seconds, rounds = 12, 4
	at := time.Date(2026, 11, 30, 21, 59, 0, 0, time.UTC)
	phases := []job.Phase{
		{Name: job.RandWrite4K, Mode: job.RandWrite, BlockSize: 4096, IODepth: 32, NumJobs: 4},
		{Name: job.Write128K, Mode: job.Write, BlockSize: 128 << 10, IODepth: 32, NumJobs: 4},
	}
	rec := &record.Record{
		SchemaVersion: record.SchemaVersion, ID: "20261130-215900-ab12", Started: at, Complete: true,
		Tool: record.Tool{Name: "nativ", Version: "0.1.0"},
		Plan: record.Plan{Preset: "standard", Phases: phases, Places: []string{record.PlaceHost, record.PlaceLXC}},
		Target: record.Target{FSType: "ext4", Stack: []record.Layer{{Name: "dm-0", Kind: "lvm"}}, Drives: []record.Drive{{
			Name: "nvme0n1", Model: new("Example SSD <1> & Söhne"), Controller: new("nvme0"),
			NVMe: &record.NVMe{WarningMC: new(int64(84_000)), CriticalMC: new(int64(88_000))}}}},
		Places: []record.Place{
			{Name: record.PlaceHost, CPUs: []int{0, 1, 2, 3}, Worker: &record.Worker{Engine: record.Engine{Name: "io_uring"}}},
			{Name: record.PlaceLXC, CPUs: []int{0, 1}, Worker: &record.Worker{Engine: record.Engine{Name: "io_uring"}}},
		},
	}
	start, index := int64(1e12), 0
	for k, ph := range phases {
		for n := range rounds {
			order := []string{record.PlaceHost, record.PlaceLXC, record.PlaceLXC, record.PlaceHost}
			if n%2 == 1 {
				order = []string{record.PlaceLXC, record.PlaceHost, record.PlaceHost, record.PlaceLXC}
			}
			round := record.Round{Phase: ph.Name}
			for _, place := range order {
				speed := 6e9
				if place == record.PlaceLXC && k == 0 {
					speed = 5.4e9
				}
				p := record.Pass{Phase: ph.Name, Place: place, Index: index, StartedAt: at.Add(time.Duration(start - 1e12))}
				flow := record.Flow{Lat: &record.Histogram{}}
				for s := range seconds {
					v := int64(speed * (1 + 0.01*math.Sin(float64(index*7+s))))
					p.Intervals = append(p.Intervals, record.Interval{EndNS: int64(s+1) * 1e9, LenNS: 1e9, WriteBytes: v, WriteIOs: v / ph.BlockSize})
					p.Watch.Samples = append(p.Watch.Samples, record.Sample{MonoNS: start + int64(s)*1e9,
						Temperatures: map[string]int64{"nvme0 Composite": 45_000 + int64(index)*1000 + int64(s)*250}})
					flow.Bytes, flow.IOs = flow.Bytes+v, flow.IOs+v/ph.BlockSize
				}
				for i := range 20_000 {
					flow.Lat.Add(int64(60e3 * math.Pow(1.0001, float64(i)) * (1 + 0.1*float64(k))))
				}
				p.Outcome = &record.Outcome{StartNS: start, EndNS: start + seconds*1e9, Write: &flow}
				if index%4 == 0 && index > 0 {
					p.CoolDown = &record.CoolDown{Sensor: "nvme0 Composite", WaitedNS: 8e9, Ended: record.CoolBand}
				}
				round.Passes = append(round.Passes, p)
				rec.Plan.Steps = append(rec.Plan.Steps, record.Step{Round: n, Phase: ph.Name, Place: place, RuntimeNS: seconds * 1e9})
				start, index = start+(seconds+10)*1e9, index+1
			}
			rec.Rounds = append(rec.Rounds, round)
		}
	}
	return rec
}
