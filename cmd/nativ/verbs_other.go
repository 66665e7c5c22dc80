//go:build !linux

package main

import (
	"errors"
	"os"
	"runtime"

	"github.com/spf13/cobra"
)

// kernelVerbs are the verbs that need the Linux kernel: elsewhere they say so.
func kernelVerbs(*env) []*cobra.Command {
	var verbs []*cobra.Command
	for _, name := range []string{"bench", "fio", "clean", "selftest", "info", "watch"} {
		verbs = append(verbs, &cobra.Command{
			Use:                name,
			Short:              "Only on Linux",
			DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return exit(exitMissing, "%s needs Linux, and this is %s", name, runtime.GOOS).
					next("Run it on the machine to measure; nativ report works here with its record.json.")
			},
		})
	}
	return verbs
}

func classify(err error) *exitError { return &exitError{code: exitFailed, err: err} }

// memoryMB is not known here.
func memoryMB() int64 { return 0 }

func isTerminal(*os.File) bool { return false }

func stateDir(*env) (string, error) {
	return "", errors.New("there is no history of runs on this system: name a record file")
}
