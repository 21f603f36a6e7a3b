package kernel

import "math"

// Constants of the approximations. The assembly generator has its own copies; the
// test that compares tiers checks that they agree. The coefficients were fitted by
// linear programming to minimise the largest error.
const (
	// roundMagic is 1.5 × 2²³: adding it rounds a float32 of less than 2²²
	// to an integer, to nearest even, and leaves that integer in the low bits.
	roundMagic = 12582912
	roundBits  = 0x4B400000

	// tinyRange is the spread below which a row is treated as zero: its inverse would
	// overflow.
	tinyRange = 1e-30

	// geluLimit is where Φ is treated as 0 or 1.
	geluLimit = 4.5
	geluScale = 0.09876543283462524 // 2 / geluLimit²

	// expFloor is the lowest binary exponent that Softmax distinguishes: far below
	// the range of 15 bits, and far above denormal numbers.
	expFloor = -80

	// probabilityOne represents a probability of 1 in Softmax's result.
	probabilityOne = 32767
)

// geluCoefficients are the coefficients of P, constant first, in
// Φ(x) ≈ ½ + u P(2u²/4.5² − 1), where u is x clamped to ±4.5.
// |x Φ(x) − GELU(x)| ≤ 3.5e-5 for all x, with P(1) × 4.5 = ½.
var geluCoefficients = [...]float32{
	0.156902015209198, -0.07717247307300568, 0.05482327938079834,
	-0.04054955765604973, 0.027598027139902115, -0.01676146127283573,
	0.012272712774574757, -0.009315266273915768, 0.003313843859359622,
}

// exp2Coefficients approximate 2^f for |f| ≤ ½ to within 3e-6.
var exp2Coefficients = [...]float32{
	1, 0.6931243538856506, 0.24024145305156708, 0.05590597167611122, 0.009581047110259533,
}

// round rounds to the nearest integer, to even when halfway. |x| < 2²².
func round(x float32) int32 {
	return int32(math.Float32bits(x+roundMagic)) - roundBits
}

// gelu is x Φ(x), where Φ is the standard normal distribution function.
func gelu(x float32) float32 {
	u := min(max(x, -geluLimit), geluLimit)
	w := float32(float32(u*u)*geluScale) - 1
	p := polynomial(w, geluCoefficients[:])
	return x * (float32(u*p) + 0.5)
}

// exp2 is 2^x for expFloor ≤ x ≤ 0; lower values are clamped to expFloor.
func exp2(x float32) float32 {
	if x < expFloor {
		x = expFloor
	}
	n := round(x)
	f := x - float32(n)
	p := polynomial(f, exp2Coefficients[:])
	return math.Float32frombits(math.Float32bits(p) + uint32(n)<<23)
}

// polynomial is Horner's rule: c[n] x^n + … + c[0].
func polynomial(x float32, c []float32) float32 {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = float32(p*x) + c[i]
	}
	return p
}

// sumLanes adds the lanes of a row in the order that all tiers use.
func sumLanes(lanes *[Lanes]float32) float32 {
	for half := Lanes / 2; half > 0; half /= 2 {
		for i := range half {
			lanes[i] += lanes[i+half]
		}
	}
	return lanes[0]
}
