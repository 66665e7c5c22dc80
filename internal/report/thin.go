package report

import "math"

// leastThin is the least number of points that thin leaves: both ends, the lowest,
// the highest and one between.
const leastThin = 5

// thin picks at most n points, n at least leastThin, of a course that is sorted by
// X, so that its picture looks the same: the ends, and of each of so many parts of
// the same number of points the lowest, the highest, and the one that makes the
// largest triangle with its neighbours (largest-triangle-three-buckets,
// Steinarsson 2013, "Downsampling Time Series for Visual Representation"). That
// alone may pass by a single stall of a second, which is what such a chart is
// looked at for: so the extremes are kept beside it.
//
// The result is indices, ascending.
func thin(points []Point, n int) []int {
	if len(points) <= n {
		all := make([]int, len(points))
		for i := range all {
			all[i] = i
		}
		return all
	}
	last := len(points) - 1
	buckets := max(1, (n-2)/3)
	// Between the ends: bucket k holds the points from at(k) to at(k+1).
	at := func(k int) int { return 1 + k*(last-1)/buckets }
	picked := []int{0}
	previous := points[0]
	for k := range buckets {
		from, until := at(k), at(k+1)
		if from == until {
			continue
		}
		next := points[last] // or the mean of the next bucket
		if k+1 < buckets {
			next = meanPoint(points[until:at(k+2)])
		}
		low, high, corner, most := from, from, from, -1.0
		for i := from; i < until; i++ {
			p := points[i]
			if p.Y < points[low].Y {
				low = i
			}
			if p.Y > points[high].Y {
				high = i
			}
			area := math.Abs((previous.X-next.X)*(p.Y-previous.Y) - (previous.X-p.X)*(next.Y-previous.Y))
			if area > most {
				corner, most = i, area
			}
		}
		a, b, c := min(low, high), max(low, high), corner
		// Ascending, each once.
		if c < a {
			a, c = c, a
		}
		if c > b {
			b, c = c, b
		}
		for _, i := range []int{a, c, b} {
			if i != picked[len(picked)-1] {
				picked = append(picked, i)
			}
		}
		previous = points[corner]
	}
	return append(picked, last)
}

func meanPoint(points []Point) Point {
	var m Point
	for _, p := range points {
		m.X += p.X / float64(len(points))
		m.Y += p.Y / float64(len(points))
	}
	return m
}

// thinParts is thin over parts that follow each other on X; the gaps between them
// stay. A part of which no point is picked is gone: it lay within others.
func thinParts(parts []Part, n int) []Part {
	var all []Point
	var of []int
	for i := range parts {
		all = append(all, parts[i].Points...)
		for range parts[i].Points {
			of = append(of, i)
		}
	}
	if len(all) <= n {
		return parts
	}
	var out []Part
	in := -1
	for _, i := range thin(all, max(n, leastThin)) {
		if of[i] != in {
			in = of[i]
			part := parts[in]
			part.Points = nil
			out = append(out, part)
		}
		out[len(out)-1].Points = append(out[len(out)-1].Points, all[i])
	}
	return out
}

func count(s *Series) (points int) {
	for i := range s.Parts {
		points += len(s.Parts[i].Points)
	}
	return points
}

// thinSeries leaves at most about n points to all series of a panel, each as many
// as it has of them.
func thinSeries(series []Series, n int) {
	total := 0
	for i := range series {
		total += count(&series[i])
	}
	if total <= n {
		return
	}
	for i := range series {
		series[i].Parts = thinParts(series[i].Parts, max(leastThin, n*count(&series[i])/total))
	}
}
