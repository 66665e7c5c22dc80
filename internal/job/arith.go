package job

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A quantity is a number with the power of its unit: 0 for a plain number, 1
// for a time.
type quantity struct {
	n    int64
	unit int
}

// A calc evaluates integer arithmetic, as fio (built with it) does between
// parentheses and bc does with fio's keywords: + - * / % ^, unary minus and
// parentheses.
type calc struct {
	s     string
	depth int
	// units are the suffixes that a number may have, and their unit's power.
	units map[string]int64
	power int
}

// The suffixes of numbers in arithmetic. Those that fio and people read
// differently (kib) are not among them.
var (
	calcSizes = map[string]int64{
		"k": 1 << 10, "kb": 1 << 10, "ki": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mi": 1 << 20,
		"g": 1 << 30, "gb": 1 << 30, "gi": 1 << 30, "t": 1 << 40, "tb": 1 << 40, "ti": 1 << 40,
		"p": 1 << 50, "pb": 1 << 50, "pi": 1 << 50,
	}
	calcTimes = map[string]int64{
		"us": 1, "usec": 1, "ms": 1e3, "msec": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6, "d": 24 * 3600e6,
	}
)

var errRange = errors.New("the result does not fit into 63 bits")

// evalSize evaluates an expression of bytes or of plain numbers.
func evalSize(s string) (int64, error) {
	q, err := (&calc{s: s, units: calcSizes}).eval()
	return q.n, err
}

// evalTime evaluates an expression of times, in microseconds.
func evalTime(s string) (quantity, error) {
	return (&calc{s: s, units: calcTimes, power: 1}).eval()
}

// evalPlain evaluates an expression of numbers without units.
func evalPlain(s string) (int64, error) {
	q, err := (&calc{s: s}).eval()
	return q.n, err
}

func (c *calc) eval() (quantity, error) {
	q, err := c.sum()
	if err == nil && c.peek() != 0 {
		err = fmt.Errorf("%q is not understood", c.s)
	}
	return q, err
}

// peek skips blanks and returns the next character, 0 at the end.
func (c *calc) peek() byte {
	c.s = strings.TrimLeft(c.s, " \t")
	if c.s == "" {
		return 0
	}
	return c.s[0]
}

func (c *calc) sum() (quantity, error) {
	q, err := c.product()
	for err == nil && (c.peek() == '+' || c.peek() == '-') {
		op := c.s[0]
		c.s = c.s[1:]
		var r quantity
		if r, err = c.product(); err != nil {
			break
		}
		if q.unit != r.unit {
			return q, errors.New("a time and a number without a unit cannot be added")
		}
		if op == '-' {
			r.n = -r.n
		}
		s := q.n + r.n
		if (s > q.n) != (r.n > 0) {
			return q, errRange
		}
		q.n = s
	}
	return q, err
}

func (c *calc) product() (quantity, error) {
	q, err := c.exponent()
	for err == nil && (c.peek() == '*' || c.peek() == '/' || c.peek() == '%') {
		op := c.s[0]
		c.s = c.s[1:]
		var r quantity
		if r, err = c.exponent(); err != nil {
			break
		}
		switch {
		case op == '*':
			q.unit += r.unit
			q.n, err = multiply(q.n, r.n)
		case r.n == 0:
			err = errors.New("division by zero")
		case op == '/':
			q.unit -= r.unit
			q.n /= r.n
		default:
			q.n %= r.n
		}
	}
	return q, err
}

func (c *calc) exponent() (quantity, error) {
	q, err := c.operand()
	if err != nil || c.peek() != '^' {
		return q, err
	}
	c.s = c.s[1:]
	r, err := c.operand()
	switch {
	case err != nil:
		return q, err
	case c.peek() == '^':
		return q, errors.New("a^b^c needs parentheses")
	case r.n < 0 || r.n > 63 || q.unit != 0 || r.unit != 0:
		return q, errors.New("^ takes plain numbers, and at most 63 on its right")
	}
	p := quantity{n: 1}
	for range r.n {
		if p.n, err = multiply(p.n, q.n); err != nil {
			return q, err
		}
	}
	return p, nil
}

func (c *calc) operand() (quantity, error) {
	if c.depth++; c.depth > 64 {
		return quantity{}, errors.New("it is nested too deeply")
	}
	defer func() { c.depth-- }()
	switch b := c.peek(); {
	case b == '-':
		c.s = c.s[1:]
		q, err := c.operand()
		q.n = -q.n
		return q, err
	case b == '(':
		c.s = c.s[1:]
		q, err := c.sum()
		if err == nil && c.peek() != ')' {
			err = errors.New("a closing parenthesis is missing")
		}
		if err == nil {
			c.s = c.s[1:]
		}
		return q, err
	case b < '0' || b > '9':
		return quantity{}, fmt.Errorf("a number is missing before %q", c.s)
	}
	num := c.s[:len(c.s)-len(strings.TrimLeft(c.s, "0123456789"))]
	c.s = c.s[len(num):]
	unit := c.s[:len(c.s)-len(strings.TrimLeft(c.s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
	c.s = c.s[len(unit):]
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return quantity{}, errRange
	}
	if unit == "" {
		return quantity{n: n}, nil
	}
	mult, ok := c.units[strings.ToLower(unit)]
	if !ok {
		return quantity{}, fmt.Errorf("%q is no unit that may stand here", unit)
	}
	n, err = multiply(n, mult)
	return quantity{n, c.power}, err
}

// multiply is a*b or an error where that does not fit.
func multiply(a, b int64) (int64, error) {
	abs := func(v int64) uint64 {
		if v < 0 {
			return -uint64(v)
		}
		return uint64(v)
	}
	hi, lo := bits.Mul64(abs(a), abs(b))
	if hi != 0 || lo > 1<<63-1 {
		return 0, errRange
	}
	return a * b, nil
}
