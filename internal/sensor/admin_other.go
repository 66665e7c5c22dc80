//go:build !linux

package sensor

import "errors"

var errNotLinux = errors.New("NVMe commands need Linux")

func healthLog(string) ([]byte, error) { return nil, errNotLinux }

func admin(string) (controller, error) { return nil, errNotLinux }
