package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain also is the process that writes: NATIV_STORE_WRITE is the directory
// and the numbers of the first run and the one after the last.
func TestMain(m *testing.M) {
	if args := strings.Split(os.Getenv("NATIV_STORE_WRITE"), "\n"); len(args) == 3 {
		if err := writer(args[0], args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer puts runs, each with an open and a close of its own as nativ bench
// does, and says which are committed.
func writer(dir, from, to string) error {
	ctx := context.Background()
	first, err := strconv.Atoi(from)
	if err != nil {
		return err
	}
	last, err := strconv.Atoi(to)
	if err != nil {
		return err
	}
	for i := first; i < last; i++ {
		s, err := Create(ctx, dir)
		if err != nil {
			return err
		}
		if err := s.Put(ctx, entry(i)); err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

func startWriter(t *testing.T, dir string, from, to int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("NATIV_STORE_WRITE=%s\n%d\n%d", dir, from, to))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, bufio.NewScanner(out)
}

func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	const each = 15
	for p := range 2 {
		startWriter(t, dir, p*each, (p+1)*each)
	}
	c, _ := startWriter(t, dir, 2*each, 3*each)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	s := create(t, dir)
	for deadline := time.Now().Add(time.Minute); len(list(t, s, Filter{})) < 3*each; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d runs of %d", len(list(t, s, Filter{})), 3*each)
		}
	}
	check(t, s)
}

// TestKilledAtAnyPoint kills a process that writes, again and again, and looks
// whether everything is there that it said was committed.
func TestKilledAtAnyPoint(t *testing.T) {
	dir := t.TempDir()
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	committed := map[string]bool{}
	next := 0
	for round := range rounds {
		c, lines := startWriter(t, dir, next, next+1000)
		// Some never come to their first run, some are killed after several.
		if round%5 > 0 {
			for range r.IntN(4) {
				if !lines.Scan() {
					t.Fatal("the writer ended by itself")
				}
				i, err := strconv.Atoi(lines.Text())
				if err != nil {
					t.Fatal(err)
				}
				committed[entry(i).Summary.ID], next = true, i+1
			}
		}
		time.Sleep(time.Duration(r.IntN(30_000)) * time.Microsecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if i, err := strconv.Atoi(lines.Text()); err == nil {
				committed[entry(i).Summary.ID], next = true, i+1
			}
		}
		c.Wait()
		s := create(t, dir)
		have := map[string]bool{}
		for _, run := range list(t, s, Filter{}) {
			have[run.ID] = true
		}
		for id := range committed {
			if !have[id] {
				t.Errorf("round %d: %s was committed and is not there", round, id)
			}
		}
		check(t, s)
		s.Close()
		// One that was committed but not said so would be put a second time,
		// which is no error; see Put.
	}
	if len(committed) < rounds/2 {
		t.Errorf("only %d runs were committed in %d rounds", len(committed), rounds)
	}
}

// check reads everything.
func check(t *testing.T, s *Store) {
	t.Helper()
	var said string
	if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Fatalf("%v %s", err, said)
	}
	for _, run := range list(t, s, Filter{Numbers: true}) {
		if len(run.Numbers) != 2 || len(run.Drives) != 1 {
			t.Errorf("%s is not whole", run.ID)
		}
		if _, err := s.Record(context.Background(), run.ID); err != nil {
			t.Error(err)
		}
	}
}
