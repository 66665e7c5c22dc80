package sensor

import "nativ/internal/sys"

// healthLog reads the health log of the controller at dev. It is opened each
// time: a source has no end at which it could be closed.
func healthLog(dev string) ([]byte, error) {
	n, err := sys.OpenNVMe(dev)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	b, err := n.HealthLog()
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), b...), nil
}

// admin opens the controller at dev for Identify and Get Features.
func admin(dev string) (controller, error) { return sys.OpenNVMe(dev) }
