package host

import (
	"encoding/json"
	"os"
	"testing"
)

func TestDbg(t *testing.T) {
	h, err := Facts(Roots{})
	b, _ := json.MarshalIndent(h, "", " ")
	t.Logf("%s %v", b, err)
	_ = os.Args
}
