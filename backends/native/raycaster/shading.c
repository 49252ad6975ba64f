/* Colours: textures, lights, shadows, mirrors. The same formulas as core/rendering/sampling_numpy.py and
   shading_numpy.py. */
#define SHADOW_OFFSET 5e-4f
#define GRAZING 0.05f
#define SHARP 1.5f
#define CUBE_SHARP 0.5f
enum { NONE = 0, ALONG_Z = 1, OWN = 2, CUBE = 3 };

typedef struct {
  const arguments *a;
  int world;
  float pixel;
  const int32_t *opaque; /* of the tile */
  int nopaque;
  const int32_t *clear; /* of the tile, the nearest first */
  int nclear;
  const int32_t *everything; /* opaque elements of the world */
  int neverything;
  const int32_t *casters; /* of the world */
  int ncasters;
} context;

#if defined(__AVX512F__) && BYTES == 64
INLINE M gathered(const int32_t *base, M at) { return (M)_mm512_i32gather_epi32((__m512i)at, base, 4); }
#elif defined(__AVX2__) && BYTES == 32
INLINE M gathered(const int32_t *base, M at) { return (M)_mm256_i32gather_epi32(base, (__m256i)at, 4); }
#else
INLINE M gathered(const int32_t *base, M at) {
  M r = at;
  for (int i = 0; i < W; i++) SETLANE(r, i, base[LANE(at, i)]);
  return r;
}
#endif
INLINE V gathered_reals(const float *base, M at) { return (V)gathered((const int32_t *)base, at); }
INLINE V as_reals(M x) { return __builtin_convertvector(x, V); }
INLINE M as_whole(V x) { return __builtin_convertvector(x, M); }
INLINE M IMIN(M a, M b) { return ISEL(a < b, a, b); }
INLINE M IMAX(M a, M b) { return ISEL(a > b, a, b); }
/* -1 and beyond the end once around */
INLINE M wrapped(M x, M n) { return ISEL(x < ISPL(0), x + n, ISEL(x >= n, x - n, x)); }

/* between the four texels around a place of a level */
static V3 between_texels(const arguments *a, M level, M face, V x, V y, int repeats) {
  const M start = gathered(a->texture_levels, level * 3), w = gathered(a->texture_levels, level * 3 + 1),
          h = gathered(a->texture_levels, level * 3 + 2);
  if (repeats) {
    x = x - VFLOOR(x);
    y = y - VFLOOR(y);
  }
  x = x * as_reals(w) - SPL(0.5f);
  y = y * as_reals(h) - SPL(0.5f);
  const V left = VFLOOR(x), top = VFLOOR(y), right_share = x - left, bottom_share = y - top;
  V3 total = v3(SPL(0.0f), SPL(0.0f), SPL(0.0f));
  for (int below = 0; below < 2; below++) {
    const V row_share = below ? bottom_share : SPL(1.0f) - bottom_share;
    M row = as_whole(top) + below;
    row = repeats ? wrapped(row, h) : row;
    row = IMIN(IMAX(row, ISPL(0)), h - 1);
    for (int beside = 0; beside < 2; beside++) {
      const V share = row_share * (beside ? right_share : SPL(1.0f) - right_share);
      M column = as_whole(left) + beside;
      column = repeats ? wrapped(column, w) : column;
      column = IMIN(IMAX(column, ISPL(0)), w - 1);
      const M texel = gathered((const int32_t *)a->texels, start + (face * h + row) * w + column);
      const V scaled = share * SPL(1.0f / 255.0f);
      total.x += as_reals(texel & 255) * scaled;
      total.y += as_reals((texel >> 8) & 255) * scaled;
      total.z += as_reals((texel >> 16) & 255) * scaled;
    }
  }
  return total;
}

static V3 sampled(const arguments *a, int texture, M face, V x, V y, V detail, int repeats) {
  const int first = a->first_level[texture], last = a->first_level[texture + 1] - 1;
  const int32_t *l = a->texture_levels + 3 * first;
  const float size = (float)(l[1] > l[2] ? l[1] : l[2]);
  V level = VLOG2(VMAX(detail * SPL(size), SPL(1.0f)));
  level = VMIN(VMAX(level, SPL(0.0f)), SPL((float)(last - first)));
  const V lower = VFLOOR(level), share = level - lower;
  const M one = as_whole(lower) + first;
  const V3 fine = between_texels(a, one, face, x, y, repeats);
  if (!ANY(share > SPL(0.0f))) return fine;
  const V3 coarse = between_texels(a, IMIN(one + 1, ISPL(last)), face, x, y, repeats);
  return add3(fine, times(share, sub3(coarse, fine)));
}

/* OpenGL 1.3, 3.8.6 */
static V3 in_direction(const arguments *a, int texture, V3 d, V detail) {
  const V x = VABS(d.x), y = VABS(d.y), z = VABS(d.z), zero = SPL(0.0f);
  const M on_x = (x >= y) & (x >= z), on_y = NOT(on_x) & (y >= z);
  const V along = SEL(on_x, d.x, SEL(on_y, d.y, d.z)), longest = VMAX(VABS(along), SPL(1e-20f));
  const M back = along < zero;
  const M face = ISEL(on_x, ISPL(0), ISEL(on_y, ISPL(2), ISPL(4))) + (back & 1);
  const V across = SEL(on_x, SEL(back, d.z, -d.z), SEL(on_y, d.x, SEL(back, -d.x, d.x))) / longest;
  const V down = SEL(on_y, SEL(back, -d.z, d.z), -d.y) / longest;
  return sampled(a, texture, face, (across + SPL(1.0f)) * SPL(0.5f), (down + SPL(1.0f)) * SPL(0.5f), detail, 0);
}

/* values of three corners, `width` numbers each, at places on triangles */
INLINE V mixed(const float *corners, M triangle, int width, int at, const hits *h) {
  const M row = triangle * (3 * width) + at;
  const V one = gathered_reals(corners, row), two = gathered_reals(corners, row + width),
          three = gathered_reals(corners, row + 2 * width);
  return one + h->u * (two - one) + h->v * (three - one);
}

static V3 painted(const context *c, int e, V3 point, const rays *r, const hits *h, V3 normal) {
  const arguments *a = c->a;
  const float *scale = a->texture_scale + 3 * e;
  const int use = a->texture_use[e], texture = a->texture[e];
  const V slope = VABS(dot3(r->d, normal)) / VSQRT(dot3(r->d, r->d));
  const V stretch = SPL(1.0f) / (SPL(SHARP) * VMAX(slope, SPL(GRAZING)));
  const V footprint = h->t * SPL(c->pixel) * VMAX(SPL(1.0f), stretch);
  const float x = SMAX(scale[0], -scale[0]), y = SMAX(scale[1], -scale[1]), z = SMAX(scale[2], -scale[2]);
  float density = SMAX(x, y);
  if (use == CUBE) {
    const V3 d = mul3(point, spl3(scale));
    const V reach = VMAX(VMAX(VMAX(VABS(d.x), VABS(d.y)), VABS(d.z)), SPL(1e-20f));
    return in_direction(a, texture, d, footprint * SPL(SMAX(density, z) * 0.5f * CUBE_SHARP) / reach);
  }
  V u, v;
  if (use == OWN) {
    u = mixed(a->texcoords, h->triangle, 2, 0, h) * SPL(scale[0]);
    v = mixed(a->texcoords, h->triangle, 2, 1, h) * SPL(scale[1]);
    density *= a->density[a->surface[e]];
  } else {
    u = point.x * SPL(scale[0]) - SPL(0.5f);
    v = point.y * SPL(scale[1]) - SPL(0.5f);
  }
  return sampled(a, texture, ISPL(0), u, v, footprint * SPL(density), 1);
}

typedef struct { V3 place, normal, rgb, paint; V emission, specular, shininess, reflectance; M mirrors; } surfaces;

/* what is where rays met something: one element after the other */
static surfaces looked_at(const context *c, const rays *r, const hits *h, M active) {
  const arguments *a = c->a;
  const V zero = SPL(0.0f), one = SPL(1.0f);
  surfaces s;
  s.place = add3(r->o, times(h->t, r->d));
  s.normal = s.rgb = v3(zero, zero, zero);
  s.paint = v3(one, one, one);
  s.emission = s.specular = s.shininess = s.reflectance = zero;
  s.mirrors = ISPL(0);
  M left = active;
  while (ANY(left)) {
    int lane = 0;
    while (!LANE(left, lane)) lane++;
    const int e = LANE(h->element, lane), kind = a->kind[e];
    const M some = left & (h->element == ISPL(e));
    left &= NOT(some);
    V3 o, d;
    localise(a, e, r, &o, &d);
    const V3 point = add3(o, times(h->t, d));
    V3 own;
    if (kind == SURFACE) {
      const M triangle = h->triangle & some;
      own = v3(mixed(a->normals, triangle, 3, 0, h), mixed(a->normals, triangle, 3, 1, h),
               mixed(a->normals, triangle, 3, 2, h));
    } else
      own = shape_normal(kind, point, a->size + 3 * e);
    const V3 normal = unit3(turned_back(a->inverse + 9 * e, own));
    s.normal = sel3(some, normal, s.normal);
    s.rgb = sel3(some, spl3(a->rgba + 4 * e), s.rgb);
    const float *gloss = a->gloss + 4 * e;
    s.emission = SEL(some, SPL(gloss[0]), s.emission);
    s.specular = SEL(some, SPL(gloss[1]), s.specular);
    s.shininess = SEL(some, SPL(gloss[2]), s.shininess);
    s.reflectance = SEL(some, SPL(gloss[3]), s.reflectance);
    if (gloss[3] > 0 && (kind == PLANE || kind == BOX)) s.mirrors |= some;
    if (a->texture_use[e]) {
      hits safe = *h;
      safe.triangle &= some;
      s.paint = sel3(some, painted(c, e, point, r, &safe, normal), s.paint);
    }
  }
  return s;
}

INLINE V clipped(V x) { return VMIN(VMAX(x, SPL(0.0f)), SPL(1.0f)); }
INLINE V3 clipped3(V3 a) { return v3(clipped(a.x), clipped(a.y), clipped(a.z)); }

/* what lights give; shadows are cast by a list of elements for each light, or by all that cast any */
static V3 lit(const context *c, const rays *r, const hits *h, const surfaces *s, M active, int32_t *const *lists,
              const int *counts) {
  const arguments *a = c->a;
  V3 base = times(s->emission, s->rgb), cast = v3(SPL(0.0f), SPL(0.0f), SPL(0.0f));
  const V3 viewer = times(SPL(-1.0f), unit3(r->d)), above = add3(s->place, times(SPL(SHADOW_OFFSET) * h->t, s->normal));
  const int begin = a->light_first[c->world], end = a->light_first[c->world + 1];
  for (int l = begin; l < end; l++) {
    const V3 dir = spl3(a->light_dir + 3 * l), way = sub3(spl3(a->light_pos + 3 * l), s->place);
    V3 towards;
    V away, strength = SPL(1.0f);
    if (a->directional[l]) {
      towards = times(SPL(-1.0f), dir);
      away = -dot3(way, dir);
    } else {
      away = VSQRT(dot3(way, way));
      const V length = VMAX(away, SPL(1e-20f));
      towards = v3(way.x / length, way.y / length, way.z / length);
      const float *k = a->attenuation + 3 * l;
      strength = SPL(1.0f) / VMAX(SPL(k[0]) + SPL(k[1]) * away + SPL(k[2]) * away * away, SPL(1e-10f));
      if (a->cutoff[l] > -1) {
        const V inside = -dot3(towards, dir);
        strength = SEL(inside >= SPL(a->cutoff[l]), strength * VPOW(inside, SPL(a->exponent[l])), SPL(0.0f));
      }
    }
    const V facing = dot3(s->normal, towards);
    const M front = facing > SPL(0.0f);
    if (a->castshadow[l] && ANY(active & front & (strength > SPL(0.0f)))) {
      rays to = {above, towards, SPL(0.0f), SEL(active & front & (strength > SPL(0.0f)), away, SPL(-1.0f))};
      const hits met = lists ? nearest_met(a, lists[l - begin], counts[l - begin], &to, 1)
                             : nearest_met(a, c->casters, c->ncasters, &to, 1);
      strength = SEL(met.element >= ISPL(0), SPL(0.0f), strength);
    }
    V highlight = SPL(0.0f);
    const float *shine = a->specular + 3 * l;
    if (shine[0] > 0 || shine[1] > 0 || shine[2] > 0) {
      const V glance = dot3(s->normal, unit3(add3(towards, viewer)));
      highlight = SEL(front, VPOW(glance, s->shininess * SPL(128.0f)), SPL(0.0f)) * s->specular;
    }
    const V diffuse = VMAX(facing, SPL(0.0f));
    const V3 ambient = spl3(a->ambient + 3 * l), scattered = times(diffuse, spl3(a->diffuse + 3 * l));
    const V3 given = times(strength, add3(mul3(s->rgb, add3(ambient, scattered)), times(highlight, spl3(shine))));
    if (a->castshadow[l]) cast = add3(cast, clipped3(given));
    else base = add3(base, given);
  }
  return mul3(add3(clipped3(base), cast), s->paint);
}

/* the colour of what rays met, with what planes and boxes mirror */
static V3 surface_colour(const context *c, const rays *r, const hits *h, M active, int mirrors, int32_t *const *lists,
                         const int *counts) {
  const arguments *a = c->a;
  const surfaces s = looked_at(c, r, h, active);
  V3 colour = lit(c, r, h, &s, active, lists, counts);
  const M mirroring = s.mirrors & active;
  if (mirrors && ANY(mirroring)) {
    const V twice = SPL(2.0f) * dot3(r->d, s.normal);
    const rays bounced = {add3(s.place, times(SPL(SHADOW_OFFSET) * h->t, s.normal)), sub3(r->d, times(twice, s.normal)),
                          SPL(0.0f), SEL(mirroring, SPL(FAR), SPL(-1.0f))};
    const hits others = nearest_met(a, c->everything, c->neverything, &bounced, 0);
    const M met = others.element >= ISPL(0);
    if (ANY(met)) {
      const V3 own = surface_colour(c, &bounced, &others, met, 0, 0, 0);
      colour = sel3(met, add3(colour, times(s.reflectance, own)), colour);
    }
  }
  return clipped3(colour);
}

static V3 behind(const context *c, const rays *r) {
  const arguments *a = c->a;
  if (a->skybox < 0) return v3(SPL(0.0f), SPL(0.0f), SPL(0.0f));
  return in_direction(a, (int)a->skybox, v3(r->d.x, r->d.z, -r->d.y), SPL(c->pixel * 0.5f));
}

/* blend what is transparent over a colour: each element twice, the nearest first, then all again, the nearest last */
static V3 through(const context *c, const rays *r, const hits *h, V3 colour) {
  for (int i = 0; i < 2 * c->nclear; i++) {
    const int e = c->clear[i < c->nclear ? i : 2 * c->nclear - 1 - i];
    hits own = {h->t, SPL(0.0f), SPL(0.0f), ISPL(-1), ISPL(0)};
    meet(c->a, e, r, 0, &own);
    if (c->a->kind[e] == PLANE) meet(c->a, e, r, 1, &own);
    const M met = own.element >= ISPL(0);
    if (!ANY(met)) continue;
    const V3 seen = surface_colour(c, r, &own, met, 0, 0, 0);
    const V3 blended = add3(colour, times(SPL(c->a->rgba[4 * e + 3]), sub3(seen, colour)));
    colour = sel3(met, blended, colour);
  }
  return colour;
}
