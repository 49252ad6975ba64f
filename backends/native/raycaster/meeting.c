/* What packets of rays meet: shapes, surfaces of triangles through their trees, lists of elements. */
#define LEAF 4
#define SLACK 1.00001f
#define EDGE 1e-6f

INLINE void localise(const arguments *a, int e, const rays *r, V3 *o, V3 *d) {
  *o = turned(a->inverse + 9 * e, sub3(r->o, spl3(a->offset + 3 * e)));
  *d = turned(a->inverse + 9 * e, r->d);
}

/* one box of six numbers: whether it is passed between near and far by any ray */
INLINE int passes(const float *b, V3 o, V3 slope, V near, V far) {
  const V x1 = (SPL(b[0]) - o.x) * slope.x, x2 = (SPL(b[3]) - o.x) * slope.x;
  const V y1 = (SPL(b[1]) - o.y) * slope.y, y2 = (SPL(b[4]) - o.y) * slope.y;
  const V z1 = (SPL(b[2]) - o.z) * slope.z, z2 = (SPL(b[5]) - o.z) * slope.z;
  const V enter = VMAX(VMAX(VMIN(x1, x2), VMIN(y1, y2)), VMIN(z1, z2));
  const V leave = VMIN(VMIN(VMAX(x1, x2), VMAX(y1, y2)), VMAX(z1, z2)) * SPL(SLACK);
  return ANY((enter <= leave) & (leave > near) & (enter < far));
}

/* whether the left of two boxes comes first for the first ray */
INLINE int left_first(const float *l, const float *r, V3 d) {
  return (l[0] + l[3] - r[0] - r[3]) * LANE(d.x, 0) + (l[1] + l[4] - r[1] - r[4]) * LANE(d.y, 0) +
             (l[2] + l[5] - r[2] - r[5]) * LANE(d.z, 0) <= 0;
}

/* the nearest front of a triangle before h->t; Möller and Trumbore, 1997. Of two at the same distance the one with the
   lower number counts, in whatever order they come. */
static void meet_surface(const arguments *a, int e, V3 o, V3 d, V near, hits *h) {
  const int s = a->surface[e], levels = a->levels[s], leaves = 1 << levels, two_sided = a->two_sided[e];
  const float *nodes = a->nodes + 6 * (int64_t)a->first_node[s];
  const V tiny = SPL(TINY);
  const V3 slope = v3(SPL(1.0f) / SEL(VABS(d.x) < tiny, tiny, d.x), SPL(1.0f) / SEL(VABS(d.y) < tiny, tiny, d.y),
                      SPL(1.0f) / SEL(VABS(d.z) < tiny, tiny, d.z));
  int stack[64], depth = 0;
  stack[depth++] = 0;
  while (depth) {
    const int node = stack[--depth];
    if (!passes(nodes + 6 * (int64_t)node, o, slope, near, h->t)) continue;
    if (node < leaves - 1) {
      const int left = 2 * node + 1, right = left + 1;
      const int first = left_first(nodes + 6 * (int64_t)left, nodes + 6 * (int64_t)right, d);
      stack[depth++] = first ? right : left;
      stack[depth++] = first ? left : right;
      continue;
    }
    const int begin = a->first_triangle[s] + (node - (leaves - 1)) * LEAF;
    for (int triangle = begin; triangle < begin + LEAF; triangle++) {
      const float *p = a->triangles + 9 * (int64_t)triangle;
      const V3 first = spl3(p + 3), second = spl3(p + 6), across = cross3(d, second);
      const V volume = dot3(first, across), scale = SPL(1.0f) / volume;
      const V3 away = sub3(o, spl3(p));
      const V u = dot3(away, across) * scale;
      const V3 twisted = cross3(away, first);
      const V v = dot3(d, twisted) * scale, t = dot3(second, twisted) * scale;
      M hit = (VABS(volume) > tiny) & (u >= SPL(-EDGE)) & (v >= SPL(-EDGE)) & (u + v <= SPL(1 + EDGE)) & (t > near);
      if (!two_sided) hit &= volume > SPL(0.0f);
      const M own = (h->element == ISPL(e)) & (t == h->t) & (ISPL(triangle) < h->triangle);
      hit &= (t < h->t) | own;
      if (!ANY(hit)) continue;
      h->t = SEL(hit, t, h->t);
      h->u = SEL(hit, u, h->u);
      h->v = SEL(hit, v, h->v);
      h->element = ISEL(hit, ISPL(e), h->element);
      h->triangle = ISEL(hit, ISPL(triangle), h->triangle);
    }
  }
}

/* where rays enter an element before what they have met; with `leaving`, where they leave a shape */
static void meet(const arguments *a, int e, const rays *r, int leaving, hits *h) {
  V3 o, d;
  localise(a, e, r, &o, &d);
  if (a->kind[e] == SURFACE) {
    meet_surface(a, e, o, d, r->near, h);
    return;
  }
  const span s = spans(a->kind[e], o, d, a->size + 3 * e);
  const V t = leaving ? s.leave : s.enter;
  const M hit = (s.enter <= s.leave) & (t > r->near) & (t < h->t);
  h->t = SEL(hit, t, h->t);
  h->element = ISEL(hit, ISPL(e), h->element);
}

INLINE hits no_hits(const rays *r) {
  hits h = {r->far, SPL(0.0f), SPL(0.0f), ISPL(-1), ISPL(0)};
  return h;
}

/* whether any ray passes the ball around an element */
INLINE int passes_ball(const arguments *a, int e, const rays *r, V square) {
  const float radius = a->radius[e];
  if (radius >= FAR) return 1;
  const V3 away = sub3(spl3(a->centre + 3 * e), r->o);
  const V along = dot3(away, r->d) / square;
  const V3 closest = sub3(away, times(VMAX(along, SPL(0.0f)), r->d));
  return ANY((dot3(closest, closest) <= SPL(radius * radius)) & (r->far > r->near));
}

#if defined(__AVX512F__) && BYTES == 64
INLINE float largest(V x) { return _mm512_reduce_max_ps((__m512)x); }
#else
INLINE float largest(V x) {
  float m = LANE(x, 0);
  for (int i = 1; i < W; i++) m = LANE(x, i) > m ? LANE(x, i) : m;
  return m;
}
#endif
INLINE float least(V x) { return -largest(-x); }

/* the nearest of a list, which is sorted by nearest distance from the camera; columns and rows of the packet's pixels */
static hits nearest_seen(const arguments *a, const int32_t *list, int count, const rays *r, const int *pixels) {
  hits h = no_hits(r);
  for (int i = 0; i < count; i++) {
    const int e = list[i];
    if (!ANY(h.t > SPL(a->near[e]))) break;
    const int32_t *c = a->rect + 4 * e;
    if (c[0] >= pixels[1] || c[1] <= pixels[0] || c[2] >= pixels[3] || c[3] <= pixels[2]) continue;
    meet(a, e, r, 0, &h);
  }
  return h;
}

/* the nearest of a list for rays from anywhere; with `any`, something is enough */
static hits nearest_met(const arguments *a, const int32_t *list, int count, const rays *r, int any) {
  hits h = no_hits(r);
  rays left = *r;
  const V square = dot3(r->d, r->d);
  for (int i = 0; i < count; i++) {
    if (!passes_ball(a, list[i], &left, square)) continue;
    meet(a, list[i], r, 0, &h);
    if (!any) continue;
    left.far = SEL(h.element >= ISPL(0), SPL(-1.0f), r->far);
    if (!ANY(left.far > r->near)) break;
  }
  return h;
}
