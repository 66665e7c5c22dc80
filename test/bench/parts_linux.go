package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"nativ/internal/record"
)

// overhead compares the CPU time of an I/O that the page cache answers: what is
// left is the tool and the kernel.
func (b *bench) overhead() (string, error) {
	shm, err := newFile(b.shm, hotSize)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(shm.ticket.Path) }() // memory, which the rest can use
	t := table{head: []string{"file, jobs", "side", "user ns/IO", "user+sys ns/IO", "thousand IOPS"}}
	for _, fs := range []struct {
		name string
		file *testFile
	}{{"ext4", b.hot}, {"tmpfs", shm}} {
		for _, jobs := range []int{1, 2} {
			l := load{file: fs.file, depth: 32, jobs: jobs, seconds: b.seconds}
			b.say("overhead: %s, page cache, %s", fs.name, count(jobs, "job"))
			sides := []side{b.nativ, b.fio}
			all, err := alternate(b.ctx, b.rounds, l, sides)
			if err != nil {
				return "", err
			}
			for i, r := range all {
				t.add(fmt.Sprintf("%s, %d", fs.name, jobs), sides[i].name, r.user().text(1, 1), r.total().text(1, 0), r.iops().text(1e3, 0))
			}
			n, f := all[0], all[1]
			user := n.user().median() / f.user().median()
			total := n.total().median() / f.total().median()
			iops := n.iops().median() / f.iops().median()
			t.add(fmt.Sprintf("%s, %d", fs.name, jobs), "**nativ / fio**", fmt.Sprintf("**%.3f**", user), fmt.Sprintf("**%.2f**", total), fmt.Sprintf("**%.2f**", iops))
			where := fmt.Sprintf("%s, %s: ", fs.name, count(jobs, "job"))
			if fs.name == "ext4" {
				b.target(metIf(user <= 0.1), where+"user CPU at most 1/10 of fio's", "%.3f", user)
				b.target(metIf(total <= 0.65), where+"total CPU at most 0.65 of fio's", "%.2f", total)
				b.target(metIf(iops >= 1.5), where+"IOPS at least 1.5 times fio's", "%.2f", iops)
			} else {
				b.target(metIf(user <= 0.2), where+"user CPU at most 1/5 of fio's", "%.3f", user)
				b.target(metIf(iops >= 1), where+"IOPS no fewer than fio's", "%.2f", iops)
			}
			if fs.name == "ext4" && jobs == 1 {
				b.command("overhead", b.nativ, l)
				b.command("overhead", b.fio, l)
			}
		}
	}
	return `## Overhead

Random reads of 4 KiB from a file that the page cache holds, direct=0, iodepth 32, latencies recorded by both.

` + t.markdown() + "\n", nil
}

// rate is what the engine can do: the bare ring, and the hot file.
func (b *bench) rate() (string, error) {
	b.say("rate: no-ops")
	var nops, singles, clock sample
	var last record.Calibration
	for range b.rounds {
		out, err := run(b.bin, "selftest", "--time", "1s", "--json")
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal([]byte(out), &last); err != nil {
			return "", fmt.Errorf("read the selftest's JSON: %w", err)
		}
		nops, singles, clock = append(nops, last.NopsPerSec), append(singles, last.SinglesPerSec), append(clock, last.ClockNS)
	}
	l := load{file: b.hot, depth: 32, jobs: 1, seconds: b.seconds}
	b.say("rate: ext4, page cache, one job; fio with its fast options")
	fast := fioSide("fio, fast options", "--registerfiles=1", "--fixedbufs=1", "--lat_percentiles=1", "--clat_percentiles=0", "--disable_slat=1", "--disable_clat=1", "--disable_bw_measurement=1")
	bare := fioSide("fio, no latencies", "--registerfiles=1", "--fixedbufs=1", "--gtod_reduce=1")
	sides := []side{b.nativ, fast, bare}
	all, err := alternate(b.ctx, b.rounds, l, sides)
	if err != nil {
		return "", err
	}
	t := table{head: []string{"what", "million/s on one core"}}
	t.add(fmt.Sprintf("no-ops, %d with each call", last.Batch), nops.text(1e6, 2))
	t.add("no-ops, one with each call", singles.text(1e6, 2))
	for i, r := range all {
		t.add("ext4 page cache, 4K randread, iodepth 32: "+sides[i].name, r.iops().text(1e6, 3))
		b.command("rate", sides[i], l)
	}
	b.target(metIf(nops.median() >= 11.5e6), "no-ops: at least 11.5 M/s on one core", "%.2f M/s", nops.median()/1e6)
	return `## Rate

` + "`nativ selftest`" + ` measures the bare ring on one CPU, the best of many slices of 2 ms. The file is that of above; nativ records every latency, and does not register buffers (an unprivileged container could not). fio's fast options are registered file and buffers with only lat recorded; then no latencies at all. Reading the clock costs ` + clock.text(1, 0) + ` ns.

` + t.markdown() + `
fio's own ` + "`t/io_uring`" + `, which records no latencies, is not part of Debian's package; it is not run here.

`, nil
}

// agreement compares what both sides say of the same device.
func (b *bench) agreement() (string, error) {
	doc := "## Agreement\n\n"
	if os.Geteuid() != 0 {
		doc += "The comparison at a fixed rate needs root for a loop device and a cgroup, and was left out.\n\n"
	} else {
		s, err := b.fixedRate()
		if err != nil {
			return "", err
		}
		doc += s
	}
	s, err := b.disk()
	return doc + s, err
}

func (b *bench) fixedRate() (doc string, err error) {
	const iops = 2000
	d, err := newLoopDisk(b.dir, iops)
	if err != nil {
		return "", fmt.Errorf("make a loop device: %w", err)
	}
	defer func() { err = errors.Join(err, d.close()) }()
	sides := []side{b.nativ, b.fio}

	b.say("agreement: counts")
	l := load{file: d.file, direct: true, depth: 8, jobs: 1, seconds: 60, bytes: 64 << 20}
	counts := table{head: []string{"side", "I/Os", "bytes", "device: I/Os", "device: bytes"}}
	exact := true
	for _, s := range sides {
		for _, warm := range []bool{true, false} { // the filesystem's own blocks are then cached
			ios0, bytes0, err := d.reads()
			if err != nil {
				return "", err
			}
			r, err := s.run(b.ctx, l)
			if err != nil {
				return "", err
			}
			ios, bytes, err := d.reads()
			if err != nil {
				return "", err
			}
			if ios, bytes = ios-ios0, bytes-bytes0; !warm {
				counts.add(s.name, fmt.Sprint(r.ios), fmt.Sprint(r.bytes), fmt.Sprint(ios), fmt.Sprint(bytes))
				exact = exact && r.bytes == l.bytes && r.ios == l.bytes/blockSize && ios == r.ios && bytes == r.bytes
			}
		}
		b.command("counts", s, l)
	}
	b.target(metIf(exact), "I/Os and bytes exact, as the device counted them", "%s", map[bool]string{true: "exact", false: "see below"}[exact])

	// The kernel counts in slices of a tenth of a second, at whose beginning it
	// lets all of the slice's I/Os through (block/blk-throttle.c). A run may
	// hold one slice more or less, which must be no more than the 1 %.
	const seconds = 10
	l = load{file: d.file, direct: true, depth: 8, jobs: 1, seconds: seconds, cgroup: d.cgroup}
	b.say("agreement: device held at %d IOPS", iops)
	all, err := alternate(b.ctx, b.rounds, l, sides)
	if err != nil {
		return "", err
	}
	t := table{head: []string{"side", "IOPS", "mean lat µs"}}
	for i, r := range all {
		t.add(sides[i].name, r.iops().text(1, 1), r.mean().text(1e3, 1))
		b.command("fixed rate", sides[i], l)
	}
	n, f := all[0], all[1]
	b.target(agrees(n.iops(), f.iops(), 0.01), "fixed rate: IOPS within 1 %", "%.2f %%", 100*apart(n.iops(), f.iops()))
	b.target(agrees(n.mean(), f.mean(), 0.02), "fixed rate: mean lat within 2 %", "%.2f %%", 100*apart(n.mean(), f.mean()))
	return fmt.Sprintf(`A loop device with ext4, direct=1, random reads of 4 KiB at iodepth 8. First 64 MiB as fast as it goes, against the device's own counters:

%s
Then held at %d reads a second by the kernel (%d s a run; the kernel lets reads through a tenth of a second's worth at a time, so that a run is true to 1 %%):

%s
`, counts.markdown(), iops, l.seconds, t.markdown()), nil
}

// disk compares latencies at iodepth 1 on the disk itself.
func (b *bench) disk() (string, error) {
	// Many short runs in turn rather than few long ones: what the disk does
	// besides changes from second to second.
	l := load{file: b.hot, direct: true, lat: true, depth: 1, jobs: 1, seconds: 1}
	b.say("agreement: the disk at iodepth 1")
	sides := []side{b.nativ, b.fio}
	all, err := alternate(b.ctx, 3*b.rounds, l, sides)
	if err != nil {
		return "", err
	}
	t := table{head: []string{"side", "IOPS", "mean lat µs", "p50 µs", "p99 µs"}}
	for i, r := range all {
		t.add(sides[i].name, r.iops().text(1, 0), r.mean().text(1e3, 1), r.p50().text(1e3, 1), r.p99().text(1e3, 1))
		b.command("disk", sides[i], l)
	}
	n, f := all[0], all[1]
	for _, q := range []struct {
		name  string
		n, f  sample
		limit float64
	}{{"p50", n.p50(), f.p50(), 0.03}, {"p99", n.p99(), f.p99(), 0.03}, {"mean", n.mean(), f.mean(), 0.02}} {
		b.target(agrees(q.n, q.f, q.limit), fmt.Sprintf("disk, iodepth 1: %s of lat within %.0f %% or fio's own spread", q.name, 100*q.limit),
			"%.1f %% (fio's spread %.1f %%)", 100*apart(q.n, q.f), 100*q.f.spread())
	}
	return fmt.Sprintf("The disk itself, direct=1, iodepth 1, lat (submission to reaping) of both, %s of 1 s each:\n\n", count(3*b.rounds, "round")) + t.markdown() + `
fio's own spread is that of the middle half of its runs. Percentiles of both come from histograms of the same geometry, whose buckets are up to 1.6 % wide.

`, nil
}

// start measures how long a worker takes to its first I/O, and its memory.
func (b *bench) start() (string, error) {
	b.say("start and memory")
	var starts sample
	l := load{file: b.hot, depth: 32, jobs: 4, seconds: 60, bytes: 1 << 20}
	for range 4 * b.rounds {
		r, err := b.nativ.run(b.ctx, l)
		if err != nil {
			return "", err
		}
		starts = append(starts, float64(r.startNS))
	}
	b.command("start", b.nativ, l)
	// What a job adds, over enough of them to drown the rest.
	const more = 8
	peak := func(jobs int) (float64, error) {
		var s sample
		for range b.rounds {
			// Direct, so that the jobs sleep and the machine stays usable.
			r, err := b.nativ.run(b.ctx, load{file: b.hot, direct: true, depth: 32, jobs: jobs, seconds: 2})
			if err != nil {
				return 0, err
			}
			if r.peakKB == 0 {
				return 0, errors.New("the worker's memory could not be read")
			}
			s = append(s, float64(r.peakKB)*1024)
		}
		return s.median(), nil
	}
	one, err := peak(1)
	if err != nil {
		return "", err
	}
	many, err := peak(1 + more)
	if err != nil {
		return "", err
	}
	const buffers = 32 * blockSize
	each := (many-one)/more - buffers
	b.target(metIf(starts.median() < 50e6), "start to first I/O under 50 ms", "%.1f ms", starts.median()/1e6)
	b.target(metIf(each < 2<<20), "memory of a job below 2 MiB beside its buffers", "%.2f MiB", each/(1<<20))
	return fmt.Sprintf(`## Start and memory

From exec of the worker to the common start of its 4 jobs, with the conversation with its parent: %s ms, over %d runs.

A job takes %.2f MiB beside its buffers (iodepth × bs = 128 KiB): the difference of VmHWM, the largest resident size, between %d jobs and one after a second of the pass, over %d. A worker with one job has %.1f MiB in all.

`, starts.text(1e6, 1), len(starts), each/(1<<20), 1+more, more, one/(1<<20)), nil
}
