package audit

import (
	"math"

	"nativ/internal/job"
)

// slack is what rates may be apart that belong together, as a share, beside the
// worth of their last digits: publications round twice.
const slack = 0.002

// differs reports whether IOPS times block size is not the bandwidth, and how much
// it is.
func differs(r *Row) (product, tolerance float64, ok bool) {
	if r.IOPS == nil || r.BPS == nil || r.BS <= 0 || r.Dir == "mixed" || r.IOs != nil {
		return 0, 0, false // a file with counts has one from the other
	}
	product = r.IOPS.V * float64(r.BS)
	tolerance = r.BPS.ULP + r.IOPS.ULP*float64(r.BS) + slack*product
	return product, tolerance, math.Abs(product-r.BPS.V) > tolerance
}

// binaryFactors are what KiB, MiB and GiB are more than kB, MB and GB.
var binaryFactors = []float64{1.024, 1.024 * 1.024, 1.024 * 1.024 * 1.024}

// confused reports the factor by which a bandwidth is off where it is that of units
// mixed up.
func confused(bps, product float64) (float64, bool) {
	for _, f := range append([]float64{1000, 1024, 8}, binaryFactors...) {
		for _, by := range []float64{f, 1 / f} {
			if math.Abs(bps/product/by-1) < 0.003 {
				return by, true
			}
		}
	}
	return 0, false
}

func bandwidthIOPS(s *Subject, f *finder) {
	s.each(func(side *Side, r *Row) {
		product, _, off := differs(r)
		if !off {
			return
		}
		if _, unit := confused(r.BPS.V, product); unit {
			return // a finding of its own
		}
		f.add(Error, "", []string{r.Where}, vals{"bandwidth": r.BPS.V, "iops": r.IOPS.V, "bs": float64(r.BS), "product": product,
			"off": r.BPS.V/product - 1}, words{"side": side.Name, "test": r.Name})
	})
}

func units(s *Subject, f *finder) {
	s.each(func(side *Side, r *Row) {
		if product, _, off := differs(r); off {
			if by, ok := confused(r.BPS.V, product); ok {
				f.add(Error, "binary", []string{r.Where}, vals{"bandwidth": r.BPS.V, "product": product, "factor": by}, words{"side": side.Name, "test": r.Name})
			}
		}
		depth, mean, ok := inFlight(r)
		if !ok {
			return
		}
		for _, by := range []float64{1e3, 1e6} {
			for _, by := range []float64{by, 1 / by} {
				// A factor of a thousand is not a queue that is half full.
				if q := r.IOPS.V * mean.V / 1e9 / by; q > 0.5*depth && q < 1.1*depth {
					f.add(Error, "latency", []string{r.Where}, vals{"lat": mean.V, "iops": r.IOPS.V, "depth": depth, "factor": by}, words{"side": side.Name, "test": r.Name})
					return
				}
			}
		}
	})
}

// inFlight is how many I/Os can be in flight, and the mean of how long one is.
func inFlight(r *Row) (depth float64, mean *Number, ok bool) {
	if depth = r.Set.depth(); depth == 0 || r.IOPS == nil || r.Dir == "mixed" {
		return 0, nil, false
	}
	for i := range r.Lat {
		if l := &r.Lat[i]; l.Kind != "slat" && l.Mean != nil && l.Mean.V > 0 && (mean == nil || l.Kind == "lat") {
			mean = l.Mean
		}
	}
	return depth, mean, mean != nil
}

func littlesLaw(s *Subject, f *finder) {
	s.each(func(side *Side, r *Row) {
		depth, mean, ok := inFlight(r)
		if !ok {
			return
		}
		q := r.IOPS.V * mean.V / 1e9
		tolerance := r.IOPS.ULP*mean.V/1e9 + mean.ULP*r.IOPS.V/1e9 + 0.05*depth + 1
		if q <= depth+tolerance || q > 300*depth { // beyond that it is a unit
			return
		}
		f.add(Error, "", []string{r.Where}, vals{"iops": r.IOPS.V, "lat": mean.V, "inflight": q, "depth": depth,
			"iodepth": float64(r.Set.Depth), "numjobs": float64(r.Set.Jobs)}, words{"side": side.Name, "test": r.Name})
	})
}

func aboveLink(s *Subject, f *finder) {
	if s.Drive.LinkBytes == 0 {
		return
	}
	s.each(func(side *Side, r *Row) {
		if r.BPS != nil && r.BPS.V-r.BPS.ULP > s.Drive.LinkBytes && r.Dir != "mixed" { // a link carries both ways at a time
			f.add(Error, "", []string{r.Where}, vals{"bandwidth": r.BPS.V, "link": s.Drive.LinkBytes}, words{"side": side.Name, "test": r.Name, "linkname": s.Drive.Link})
		}
	})
}

// odd is the severity of what is odd in a publication and a fact in a record of
// nativ, which names the caches that it saw.
func odd(s *Subject) Severity {
	if s.Kind == KindRecord {
		return Info
	}
	return Warning
}

// aboveRating is how much more than "up to" a figure may be before it is odd.
const aboveRating = 1.03

func aboveDrive(s *Subject, f *finder) {
	d := &s.Drive
	s.each(func(side *Side, r *Row) {
		bytes, ios := d.ReadBytes, d.ReadIOPS
		if r.Dir == "write" {
			bytes, ios = d.WriteBytes, d.WriteIOPS
		}
		if r.Dir == "mixed" || r.Dir == "" {
			return
		}
		if r.BPS != nil && bytes > 0 && r.BPS.V > bytes*aboveRating {
			f.add(odd(s), "bandwidth", []string{r.Where}, vals{"bandwidth": r.BPS.V, "rated": bytes}, words{"side": side.Name, "test": r.Name})
		}
		if r.IOPS != nil && ios > 0 && r.Mode.Random() && r.BS == 4096 && r.IOPS.V > ios*aboveRating {
			f.add(odd(s), "iops", []string{r.Where}, vals{"iops": r.IOPS.V, "ratediops": ios}, words{"side": side.Name, "test": r.Name})
		}
	})
}

func readSlower(s *Subject, f *finder) {
	d := &s.Drive
	if d.ReadBytes == 0 || d.WriteBytes == 0 || d.ReadBytes < d.WriteBytes {
		return
	}
	for i := range s.Sides {
		side := &s.Sides[i]
		if side.Hot {
			continue // what a hot drive does first is not known
		}
		for k := range side.Rows {
			for l := range side.Rows {
				r, w := &side.Rows[k], &side.Rows[l]
				if r.Mode != job.Read || w.Mode != job.Write || r.BS != w.BS || r.BPS == nil || w.BPS == nil || r.BPS.V > w.BPS.V*0.97 {
					continue
				}
				f.add(odd(s), "", []string{r.Where, w.Where}, vals{"read": r.BPS.V, "write": w.BPS.V, "ratedread": d.ReadBytes, "ratedwrite": d.WriteBytes},
					words{"side": side.Name})
			}
		}
	}
}

func percentiles(s *Subject, f *finder) {
	s.each(func(side *Side, r *Row) {
		for i := range r.Lat {
			l := &r.Lat[i]
			say := func(variant string, a, b float64, p float64) {
				f.add(Error, variant, []string{r.Where}, vals{"a": a, "b": b, "p": p}, words{"side": side.Name, "test": r.Name, "kind": l.Kind})
			}
			for k := 1; k < len(l.Percentiles); k++ {
				if a, b := l.Percentiles[k-1], l.Percentiles[k]; b.P > a.P && b.V < a.V {
					say("order", a.V, b.V, b.P)
					break
				}
			}
			// fio reports the upper bound of a bucket, 1/64 wide (FIO_IO_U_PLAT_BITS).
			const bucket = 1.0 / 64
			for _, p := range l.Percentiles {
				if l.Max != nil && p.V > l.Max.V*(1+bucket)+p.ULP {
					say("above-max", p.V, l.Max.V, p.P)
					break
				}
				if l.Min != nil && p.V < l.Min.V*(1-bucket)-p.ULP && p.V > 0 {
					say("below-min", p.V, l.Min.V, p.P)
					break
				}
			}
			if l.Mean != nil && (l.Max != nil && l.Mean.V > l.Max.V+l.Max.ULP || l.Min != nil && l.Mean.V < l.Min.V-l.Min.ULP) {
				least, most := math.NaN(), math.NaN()
				if l.Min != nil {
					least = l.Min.V
				}
				if l.Max != nil {
					most = l.Max.V
				}
				if !math.IsNaN(least) && !math.IsNaN(most) {
					f.add(Error, "mean", []string{r.Where}, vals{"mean": l.Mean.V, "min": least, "max": most}, words{"side": side.Name, "test": r.Name, "kind": l.Kind})
				}
			}
		}
	})
}
