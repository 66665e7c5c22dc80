package target

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"nativ/internal/record"
)

// DriveKeys names what a run on the target keeps busy: its drives; where there
// are none to see, the server's or the filesystem's name.
func DriveKeys(t *record.Target) []string {
	var keys []string
	for _, d := range t.Drives {
		keys = append(keys, d.Name)
	}
	switch {
	case len(keys) > 0:
	case t.Network:
		keys = append(keys, "net:"+t.Source)
	case t.FSType == "zfs":
		pool, _, _ := strings.Cut(t.Source, "/")
		keys = append(keys, "zfs:"+pool)
	default:
		keys = append(keys, "dev:"+devString(unix.Mkdev(t.DevMajor, t.DevMinor)))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

const (
	// answerTime bounds how long one run waits for the other's words.
	answerTime = time.Second
	// bindTries and bindPause are for the moment between bind and listen, or
	// between the end of one run and ours.
	bindTries = 20
	bindPause = 10 * time.Millisecond
)

// LockDrives takes all the drives that keys name, or none. Another run that
// has one of them is a *Busy that names it.
//
// A lock is an abstract Unix socket: it vanishes with its process however that
// ends, needs no directory that root and users alike can write, and answers who
// holds it. It is one for all in a network namespace; runs in different ones
// (containers) do not see each other.
func LockDrives(keys []string, who Holder) (release func(), err error) {
	line, err := json.Marshal(who)
	if err != nil {
		return nil, fmt.Errorf("lock drives: %w", err)
	}
	line = append(line, '\n')
	var locks []*net.UnixListener
	var answering sync.WaitGroup
	release = sync.OnceFunc(func() {
		for _, l := range locks {
			l.Close()
		}
		answering.Wait()
	})
	// In one order everywhere, so that of two runs that want the same drives
	// one gets all of them.
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		l, err := lockDrive(key)
		if err != nil {
			release()
			return nil, err
		}
		locks = append(locks, l)
		answering.Go(func() { answer(l, line) })
	}
	return release, nil
}

func lockDrive(key string) (*net.UnixListener, error) {
	addr := &net.UnixAddr{Net: "unix", Name: "@nativ/drive/" + socketKey(key)}
	for try := 1; ; try++ {
		l, err := net.ListenUnix("unix", addr)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("lock drive %s: %w", key, err)
		}
		who, err := ask(addr)
		if err == nil || try == bindTries || !errors.Is(err, unix.ECONNREFUSED) {
			return nil, &Busy{Key: key, Holder: who}
		}
		time.Sleep(bindPause)
	}
}

// socketKey fits the key into the 107 bytes of a socket's name.
func socketKey(key string) string {
	if len(key) <= 64 {
		return key
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
}

// answer tells everybody who connects who holds the lock.
func answer(l *net.UnixListener, line []byte) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: the lock still holds
			time.Sleep(bindPause)
			continue
		}
		// The line fits into the socket's buffer, so that nobody can keep us.
		_ = c.SetDeadline(time.Now().Add(answerTime))
		_, _ = c.Write(line)
		c.Close()
	}
}

// ask asks the holder of a lock for its name. An error means that nobody
// answered; what the kernel knows of it is in the holder all the same.
func ask(addr *net.UnixAddr) (Holder, error) {
	c, err := net.DialTimeout("unix", addr.Name, answerTime)
	if err != nil {
		return Holder{}, err
	}
	defer c.Close()
	who := peer(c.(*net.UnixConn))
	if err := c.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return who, err
	}
	line, err := bufio.NewReaderSize(c, 4096).ReadSlice('\n')
	if err != nil {
		return who, err
	}
	var said Holder
	if err := json.Unmarshal(line, &said); err != nil {
		return who, err
	}
	// Anybody can hold the name, and what he says ends up on a terminal.
	if strings.ContainsFunc(said.RunID+said.Dir, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return who, nil
	}
	// The kernel's word counts more where it has one: 0 is a process of
	// another namespace.
	if who.PID != 0 {
		said.PID, said.UID = who.PID, who.UID
	}
	return said, nil
}

func peer(c *net.UnixConn) (who Holder) {
	raw, err := c.SyscallConn()
	if err != nil {
		return who
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			who.PID, who.UID = int(cred.Pid), int(cred.Uid)
		}
	})
	return who
}
