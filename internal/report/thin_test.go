package report

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawCourse(t *rapid.T, most int) []Point {
	n := rapid.IntRange(0, most).Draw(t, "points")
	points := make([]Point, n)
	x := 0.0
	for i := range points {
		x += rapid.Float64Range(0.1, 10).Draw(t, "step")
		points[i] = Point{X: x, Y: rapid.Float64Range(0, 1e10).Draw(t, "y")}
	}
	return points
}

// TestThin holds what thin promises of any course: so many points at most, each of
// the course's, in their order, with both ends and both extremes among them.
func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := drawCourse(t, 400)
		n := rapid.IntRange(leastThin, 120).Draw(t, "n")
		picked := thin(points, n)
		if len(points) <= n {
			if len(picked) != len(points) {
				t.Fatalf("%d points of %d, and %d were allowed", len(picked), len(points), n)
			}
			return
		}
		if len(picked) > n {
			t.Fatalf("%d points, and %d were allowed", len(picked), n)
		}
		for i := 1; i < len(picked); i++ {
			if picked[i] <= picked[i-1] {
				t.Fatalf("not ascending: %v", picked)
			}
		}
		if picked[0] != 0 || picked[len(picked)-1] != len(points)-1 {
			t.Fatalf("an end is missing: %v of %d", picked, len(points))
		}
		byY := func(a, b Point) int { return int(sign3(a.Y - b.Y)) }
		var kept []Point
		for _, i := range picked {
			kept = append(kept, points[i])
		}
		if slices.MinFunc(kept, byY).Y != slices.MinFunc(points, byY).Y || slices.MaxFunc(kept, byY).Y != slices.MaxFunc(points, byY).Y {
			t.Fatalf("an extreme is missing: %v of %v", kept, points)
		}
	})
}

func sign3(v float64) float64 {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// TestThinKeepsOneStall has one bad second in a day, which a mean or the largest
// triangle of a noisy bucket would lose.
func TestThinKeepsOneStall(t *testing.T) {
	day := make([]Point, 86400)
	for i := range day {
		day[i] = Point{X: float64(i), Y: 1000 + float64(i*7919%997)}
	}
	day[50_000].Y = 0
	if !slices.Contains(thin(day, mostPoints), 50_000) {
		t.Error("the second without any I/O is gone")
	}
}

// TestThinPartsKeepsGaps: what was apart stays apart, and each point in its part.
func TestThinPartsKeepsGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawCourse(t, 300)
		var parts []Part
		of := map[Point]int{}
		for len(all) > 0 {
			n := rapid.IntRange(1, len(all)).Draw(t, "part")
			for _, p := range all[:n] {
				of[p] = len(parts)
			}
			parts = append(parts, Part{BlockSize: int64(len(parts)), Points: slices.Clone(all[:n])})
			all = all[n:]
		}
		n := rapid.IntRange(leastThin, 60).Draw(t, "n")
		last, sum := int64(-1), 0
		for _, p := range thinParts(parts, n) {
			if p.BlockSize <= last {
				t.Fatalf("part %d after %d", p.BlockSize, last)
			}
			last = p.BlockSize
			sum += len(p.Points)
			for _, point := range p.Points {
				if of[point] != int(p.BlockSize) {
					t.Fatalf("a point of part %d lies in part %d", of[point], p.BlockSize)
				}
			}
		}
		if sum > n {
			t.Fatalf("%d points, and %d were allowed", sum, n)
		}
	})
}
