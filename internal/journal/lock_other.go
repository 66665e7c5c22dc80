//go:build !linux

package journal

import (
	"errors"
	"fmt"
	"os"
)

// Runs, and so journals, exist on Linux only; elsewhere only the format does.
var errNoRuns = fmt.Errorf("journals need Linux: %w", errors.ErrUnsupported)

func openFile(string, int) (*os.File, error) { return nil, errNoRuns }
func checkOwner(*os.File) error              { return errNoRuns }
func lock(*os.File) error                    { return errNoRuns }
func locked(*os.File) (bool, error)          { return false, errNoRuns }
