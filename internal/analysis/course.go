package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"nativ/internal/record"
)

// LeastRuns is the number of runs from which on a course is searched for changes
// of level.
const LeastRuns = 10

const (
	// leastLevel is the shortest level of a course, in runs.
	leastLevel = 3
	// negligible is the change of a level, as a fraction, that is not named: the
	// margin within which throughputs count as equivalent.
	negligible = 0.03
	// levelRisk is the two-sided level of the t test that a change has to pass.
	// The search has already picked the best place for it, so that a test at 5 %
	// would let chance pass in most courses. At this level independent runs
	// without a change show one in less than 1 % of the courses of 10 to 100 runs
	// (TestCoursesOfNoise). Runs whose neighbours resemble each other look like
	// levels, and so many more are named there.
	levelRisk = 1e-4
)

// A Course is what one phase came to in one place, over the runs of one drive
// with the same settings.
type Course struct {
	Setting record.Setting
	Points  []Point // in the order of time
	// Levels divide the points; there is one at least. Below LeastRuns points
	// nothing was looked for.
	Levels []Level
}

// A Point is one run of a course.
type Point struct {
	Run               *record.RunSummary
	IOPS, BytesPerSec float64
}

// A Level is a stretch of a course without a change.
type Level struct {
	// From and To are the indices of its first point and of the one after its
	// last.
	From, To int
	// IOPS and BytesPerSec are geometric means.
	IOPS, BytesPerSec float64
	// Change is the difference to the level before as a fraction of that, nil
	// for the first.
	Change *float64
	// Differs is what else differs between the last run of the level before and
	// the first of this one: in the same place, and so perhaps a cause.
	Differs []Difference
}

// A Difference between two runs. What is one of the Differs constants; From and
// To are empty where it is not known.
type Difference struct{ What, From, To string }

// What can differ between two runs of a course.
const (
	DiffersKernel     = "kernel"
	DiffersFirmware   = "firmware"
	DiffersPVE        = "pve"
	DiffersFilesystem = "filesystem"
	DiffersPreset     = "preset"
	DiffersLink       = "link" // "16000 4": MT/s and lanes
	DiffersOS         = "os"
	DiffersCPU        = "cpu"
	DiffersTool       = "tool"
)

// Courses returns the courses of the drive with a key over runs that are sorted
// by time, and the number of runs that have a part in none: those that were not
// measured, those over several drives, whose numbers are not the drive's, and
// those without a phase whose passes are all there.
func Courses(runs []record.RunSummary, drive string) (courses []Course, left int) {
	at := map[string]int{}
	for i := range runs {
		r := &runs[i]
		used := false
		if r.Origin == record.OriginMeasured && len(r.Drives) == 1 && r.Drives[0].Key == drive {
			for j := range r.Numbers {
				n := &r.Numbers[j]
				if n.Passes == 0 || n.Passes != n.Planned || n.IOPS == nil || *n.IOPS <= 0 || n.BytesPerSec == nil {
					continue
				}
				key, err := json.Marshal(n.Setting)
				if err != nil {
					continue // a Setting always is JSON
				}
				k, ok := at[string(key)]
				if !ok {
					k = len(courses)
					at[string(key)] = k
					courses = append(courses, Course{Setting: n.Setting})
				}
				courses[k].Points = append(courses[k].Points, Point{r, *n.IOPS, *n.BytesPerSec})
				used = true
			}
		}
		if !used {
			left++
		}
	}
	// Those of the same phase together, and what was measured most before.
	slices.SortStableFunc(courses, func(a, b Course) int {
		return cmp.Or(cmp.Compare(a.Setting.Phase.Name, b.Setting.Phase.Name), cmp.Compare(placeRank(a.Setting.Place), placeRank(b.Setting.Place)),
			cmp.Compare(len(b.Points), len(a.Points)))
	})
	for i := range courses {
		courses[i].findLevels(drive)
	}
	return courses, left
}

func placeRank(place string) int {
	return slices.Index([]string{record.PlaceHost, record.PlacePinned, record.PlaceLXC, record.PlacePVE}, place)
}

func (c *Course) findLevels(drive string) {
	x := make([]float64, len(c.Points))
	for i := range x {
		x[i] = math.Log(c.Points[i].IOPS)
	}
	ends := append(runLevels(x), len(x))
	from := 0
	for k, to := range ends {
		l := Level{From: from, To: to}
		var bytes float64
		for _, p := range c.Points[from:to] {
			bytes += math.Log(p.BytesPerSec)
		}
		l.IOPS, l.BytesPerSec = math.Exp(mean(x[from:to])), math.Exp(bytes/float64(to-from))
		if k > 0 {
			l.Change = new(l.IOPS/c.Levels[k-1].IOPS - 1)
			l.Differs = differences(c.Points[from-1].Run, c.Points[from].Run, drive)
		}
		c.Levels = append(c.Levels, l)
		from = to
	}
}

// runLevels returns where the level of the runs' log means changes. PELT, as for
// the seconds of a pass, proposes changes; of these, the weakest is dropped until
// each is larger than the margin and than chance would make it in a t test with
// the scatter within the levels. The penalty alone does not hold the error rate
// with so few points: the scatter of ten runs can only be guessed.
func runLevels(x []float64) []int {
	n := float64(len(x))
	if len(x) < LeastRuns {
		return nil
	}
	sd := max(scale(x, 1)/math.Sqrt2, leastNoise)
	found := changePoints(x, 3*sd*sd*math.Log(n), leastLevel)
	for len(found) > 0 {
		bounds := slices.Concat([]int{0}, found, []int{len(x)})
		var square float64
		means := make([]float64, len(bounds)-1)
		for i := range means {
			level := x[bounds[i]:bounds[i+1]]
			means[i] = mean(level)
			for _, v := range level {
				square += (v - means[i]) * (v - means[i])
			}
		}
		freedom := n - float64(len(means))
		sd := max(math.Sqrt(square/freedom), leastNoise)
		limit := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(1 - levelRisk/2)
		weakest, worst := 0, math.Inf(1)
		for i := range found {
			before, after := float64(bounds[i+1]-bounds[i]), float64(bounds[i+2]-bounds[i+1])
			d := math.Abs(means[i+1] - means[i])
			strength := min(d/sd/math.Sqrt(1/before+1/after)/limit, d/math.Log1p(negligible))
			if strength < worst {
				weakest, worst = i, strength
			}
		}
		if worst >= 1 {
			break
		}
		found = slices.Delete(found, weakest, weakest+1)
	}
	return found
}

// differences lists what differs between two runs, the likeliest causes first.
func differences(a, b *record.RunSummary, drive string) (list []Difference) {
	add := func(what, from, to string) {
		if from != to {
			list = append(list, Difference{what, from, to})
		}
	}
	of := func(r *record.RunSummary) (d record.DriveSummary) {
		for _, d := range r.Drives {
			if d.Key == drive {
				return d
			}
		}
		return d
	}
	link := func(d record.DriveSummary) string {
		if d.LinkMTs == nil || d.LinkWidth == nil {
			return ""
		}
		return fmt.Sprintf("%d %d", *d.LinkMTs, *d.LinkWidth)
	}
	da, db := of(a), of(b)
	add(DiffersKernel, a.Kernel, b.Kernel)
	add(DiffersFirmware, da.Firmware, db.Firmware)
	add(DiffersLink, link(da), link(db))
	add(DiffersFilesystem, a.Filesystem, b.Filesystem)
	add(DiffersPreset, a.Preset, b.Preset)
	add(DiffersPVE, a.PVE, b.PVE)
	add(DiffersOS, a.OS, b.OS)
	add(DiffersCPU, a.CPU, b.CPU)
	add(DiffersTool, a.Tool, b.Tool)
	return list
}
