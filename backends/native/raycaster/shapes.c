/* Rays in packets, one lane per ray, and where they enter and leave shapes. The same formulas, in the same order, as
   core/rendering/shapes_numpy.py. */
#define FAR 1e30f
#define TINY 1e-30f
INLINE M ISPL(int32_t x) { return (M){0} + x; }
INLINE M ISEL(M m, M a, M b) { return (m & a) | (~m & b); }
INLINE V VABS(V x) { return SEL(x < SPL(0.0f), -x, x); }
typedef struct { V x, y, z; } V3;
typedef struct { V enter, leave; } span;
typedef struct { V3 o, d; V near, far; } rays;
typedef struct { V t, u, v; M element, triangle; } hits;
INLINE V3 v3(V x, V y, V z) { V3 r = {x, y, z}; return r; }
INLINE V3 spl3(const float *p) { return v3(SPL(p[0]), SPL(p[1]), SPL(p[2])); }
INLINE V3 add3(V3 a, V3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
INLINE V3 sub3(V3 a, V3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
INLINE V3 mul3(V3 a, V3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }
INLINE V3 times(V s, V3 a) { return v3(s * a.x, s * a.y, s * a.z); }
INLINE V dot3(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE V3 cross3(V3 a, V3 b) { return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
INLINE V3 sel3(M m, V3 a, V3 b) { return v3(SEL(m, a.x, b.x), SEL(m, a.y, b.y), SEL(m, a.z, b.z)); }
INLINE V3 unit3(V3 a) {
  const V length = VMAX(VSQRT(dot3(a, a)), SPL(1e-20f));
  return v3(a.x / length, a.y / length, a.z / length);
}
/* a matrix of nine numbers times a vector, and its transpose */
INLINE V3 turned(const float *m, V3 a) {
  return v3(m[0] * a.x + m[1] * a.y + m[2] * a.z, m[3] * a.x + m[4] * a.y + m[5] * a.z,
            m[6] * a.x + m[7] * a.y + m[8] * a.z);
}
INLINE V3 turned_back(const float *m, V3 a) {
  return v3(m[0] * a.x + m[3] * a.y + m[6] * a.z, m[1] * a.x + m[4] * a.y + m[7] * a.z,
            m[2] * a.x + m[5] * a.y + m[8] * a.z);
}

INLINE span around(V middle, V square) {
  const V half = VSQRT(VMAX(square, SPL(0.0f)));
  const M hit = square > SPL(0.0f);
  span s = {SEL(hit, middle - half, SPL(FAR)), SEL(hit, middle + half, SPL(-FAR))};
  return s;
}
INLINE span ball(V3 o, V3 d, float radius) {
  const V length = dot3(d, d), middle = -dot3(o, d) / length;
  const V3 closest = add3(o, times(middle, d));
  return around(middle, (SPL(radius * radius) - dot3(closest, closest)) / length);
}
INLINE span tube(V3 o, V3 d, float radius) {
  const V across = VMAX(d.x * d.x + d.y * d.y, SPL(TINY)), middle = -(o.x * d.x + o.y * d.y) / across;
  const V x = o.x + middle * d.x, y = o.y + middle * d.y;
  return around(middle, (SPL(radius * radius) - (x * x + y * y)) / across);
}
INLINE span slab(V o, V d, float half) {
  const V steep = SEL(VABS(d) < SPL(TINY), SPL(TINY), d);
  const V one = (SPL(-half) - o) / steep, other = (SPL(half) - o) / steep;
  span s = {VMIN(one, other), VMAX(one, other)};
  return s;
}
INLINE span common(span a, span b) {
  span s = {VMAX(a.enter, b.enter), VMIN(a.leave, b.leave)};
  return s;
}
INLINE span either(span a, span b) {
  const M one = a.enter <= a.leave, two = b.enter <= b.leave;
  const V e1 = SEL(one, a.enter, SPL(FAR)), e2 = SEL(two, b.enter, SPL(FAR));
  const V l1 = SEL(one, a.leave, SPL(-FAR)), l2 = SEL(two, b.leave, SPL(-FAR));
  span s = {VMIN(e1, e2), VMAX(l1, l2)};
  return s;
}
INLINE span plane(V3 o, V3 d, const float *size) {
  const M falling = VABS(d.z) > SPL(TINY);
  const V t = SEL(falling, -o.z / SEL(falling, d.z, SPL(TINY)), SPL(-FAR));
  M inside = falling;
  if (size[0] > 0) inside &= VABS(o.x + t * d.x) <= SPL(size[0]);
  if (size[1] > 0) inside &= VABS(o.y + t * d.y) <= SPL(size[1]);
  const M above = o.z > SPL(0.0f);
  span s = {SEL(inside, SEL(above, t, SPL(-FAR)), SPL(FAR)), SEL(inside, SEL(above, SPL(FAR), t), SPL(-FAR))};
  return s;
}

enum { PLANE = 0, SPHERE = 2, CAPSULE = 3, ELLIPSOID = 4, CYLINDER = 5, BOX = 6, SURFACE = 7 };

static span spans(int kind, V3 o, V3 d, const float *size) {
  switch (kind) {
    case PLANE: return plane(o, d, size);
    case SPHERE: return ball(o, d, size[0]);
    case ELLIPSOID: {
      const V3 s = spl3(size);
      return ball(v3(o.x / s.x, o.y / s.y, o.z / s.z), v3(d.x / s.x, d.y / s.y, d.z / s.z), 1.0f);
    }
    case CYLINDER: return common(tube(o, d, size[0]), slab(o.z, d.z, size[2]));
    case CAPSULE: {
      const span side = common(tube(o, d, size[0]), slab(o.z, d.z, size[2]));
      const V h = SPL(size[2]);
      return either(side, either(ball(v3(o.x, o.y, o.z + h), d, size[0]), ball(v3(o.x, o.y, o.z - h), d, size[0])));
    }
    default:
      return common(common(slab(o.x, d.x, size[0]), slab(o.y, d.y, size[1])), slab(o.z, d.z, size[2]));
  }
}

/* outward, of any length */
static V3 shape_normal(int kind, V3 p, const float *size) {
  const V zero = SPL(0.0f), one = SPL(1.0f);
  switch (kind) {
    case PLANE: return v3(zero, zero, one);
    case SPHERE: return p;
    case ELLIPSOID:
      return v3(p.x / SPL(size[0] * size[0]), p.y / SPL(size[1] * size[1]), p.z / SPL(size[2] * size[2]));
    case CAPSULE: return v3(p.x, p.y, p.z - VMAX(VMIN(p.z, SPL(size[2])), SPL(-size[2])));
    case CYLINDER: {
      const V across = VSQRT(p.x * p.x + p.y * p.y);
      const M cap = VABS(p.z) - SPL(size[2]) > across - SPL(size[0]);
      return v3(SEL(cap, zero, p.x), SEL(cap, zero, p.y), SEL(cap, SEL(p.z > zero, one, -one), zero));
    }
    default: {
      const V x = VABS(p.x) - SPL(size[0]), y = VABS(p.y) - SPL(size[1]), z = VABS(p.z) - SPL(size[2]);
      const M on_x = (x >= y) & (x >= z), on_y = NOT(on_x) & (y >= z), on_z = NOT(on_x) & NOT(on_y);
      return v3(SEL(on_x, SEL(p.x > zero, one, -one), zero), SEL(on_y, SEL(p.y > zero, one, -one), zero),
                SEL(on_z, SEL(p.z > zero, one, -one), zero));
    }
  }
}

/* logarithm and power to the base 2, right to some 1e-7 */
INLINE V VLOG2(V x) {
  const M bits = (M)x;
  const M fraction = (bits & ISPL(0x007fffff)) | ISPL(0x3f800000);
  V m = (V)fraction, e = __builtin_convertvector(((bits >> 23) & ISPL(255)) - ISPL(127), V);
  const M large = m > SPL(1.41421356f);
  m = SEL(large, m * SPL(0.5f), m);
  e = SEL(large, e + SPL(1.0f), e);
  const V s = (m - SPL(1.0f)) / (m + SPL(1.0f)), q = s * s;
  return e + s * SPL(2.88539008f) *
                 (SPL(1.0f) + q * (SPL(0.333333333f) + q * (SPL(0.2f) + q * SPL(0.142857143f))));
}
INLINE V VEXP2(V y) {
  y = VMAX(VMIN(y, SPL(126.0f)), SPL(-126.0f));
  const V whole_part = VFLOOR(y + SPL(0.5f)), x = (y - whole_part) * SPL(0.693147181f);
  const V p = SPL(1.0f) +
              x * (SPL(1.0f) +
                   x * (SPL(0.5f) +
                        x * (SPL(0.166666667f) +
                             x * (SPL(0.0416666667f) + x * (SPL(0.00833333333f) + x * SPL(0.00138888889f))))));
  return p * (V)((__builtin_convertvector(whole_part, M) + ISPL(127)) << 23);
}
INLINE V VPOW(V x, V y) { return VEXP2(y * VLOG2(VMAX(x, SPL(1e-6f)))); }
