/* Pictures tile by tile: which elements a tile can show, its rays, its edges. See core/rendering/picture_numpy.py. */
#define TILE 16
#define MOST (4 * TILE * TILE / W)
#define EDGE_LEVELS 12
enum { COLOUR = 0, HITS = 1 };

typedef struct { rays r; hits h; V3 colour; V x, y; } packet;

INLINE void aim(const arguments *a, int world, packet *p) {
  const float *w = a->window + 4 * world;
  const V x = SPL(w[0]) + p->x * SPL((w[1] - w[0]) / (float)a->width);
  const V y = SPL(w[3]) - p->y * SPL((w[3] - w[2]) / (float)a->height);
  const V3 right = spl3(a->axes + 9 * world), up = spl3(a->axes + 9 * world + 3), forward = spl3(a->axes + 9 * world + 6);
  const V3 across = add3(times(x, right), times(y, up));
  p->r.o = a->orthographic[world] ? across : v3(SPL(0.0f), SPL(0.0f), SPL(0.0f));
  p->r.d = a->orthographic[world] ? forward : add3(across, forward);
  p->r.near = SPL(a->view_near[world]);
  p->r.far = SPL(a->view_far[world]);
}

INLINE void bounds(const packet *p, int *pixels) {
  pixels[0] = (int)least(p->x);
  pixels[1] = (int)largest(p->x) + 1;
  pixels[2] = (int)least(p->y);
  pixels[3] = (int)largest(p->y) + 1;
}

/* which elements of a world a tile can show */
static void list_elements(const arguments *a, context *c, int32_t *room, const int *tile) {
  const int begin = a->first[c->world], end = a->first[c->world + 1], n = (int)a->most;
  int32_t *opaque = room, *clear = room + n, *everything = room + 2 * n, *casters = room + 3 * n;
  c->nopaque = c->nclear = c->neverything = c->ncasters = 0;
  for (int e = begin; e < end; e++) {
    const int32_t *k = a->rect + 4 * e;
    const int seen = k[0] < tile[1] && k[1] > tile[0] && k[2] < tile[3] && k[3] > tile[2];
    if (a->mode == HITS) {
      if (seen && a->segmented[e]) opaque[c->nopaque++] = e;
      continue;
    }
    if (!a->finite[e]) continue;
    if (a->kind[e] != PLANE) casters[c->ncasters++] = e;
    if (a->transparent[e]) continue;
    if (seen) opaque[c->nopaque++] = e;
    everything[c->neverything++] = e;
  }
  if (a->mode == COLOUR)
    for (int i = a->clear_first[c->world]; i < a->clear_first[c->world + 1]; i++) {
      const int32_t *k = a->rect + 4 * a->clear_order[i];
      if (k[0] < tile[1] && k[1] > tile[0] && k[2] < tile[3] && k[3] > tile[2]) clear[c->nclear++] = a->clear_order[i];
    }
  c->opaque = opaque, c->clear = clear, c->everything = everything, c->casters = casters;
}

/* the casters whose shadows can fall into a box of points */
static int list_casters(const context *c, int light, const float *low, const float *high, int32_t *list) {
  const arguments *a = c->a;
  float middle[3], reach = 0, to[3], length = 0;
  for (int i = 0; i < 3; i++) {
    middle[i] = (low[i] + high[i]) / 2;
    reach += (high[i] - middle[i]) * (high[i] - middle[i]);
    to[i] = a->directional[light] ? -a->light_dir[3 * light + i] : a->light_pos[3 * light + i] - middle[i];
    length += to[i] * to[i];
  }
  reach = SSQRT(reach) * 1.01f + 1e-4f;
  length = SSQRT(length);
  int count = 0;
  for (int k = 0; k < c->ncasters; k++) {
    const int e = c->casters[k];
    float along = 0, square = 0, sum = a->radius[e] + reach;
    for (int i = 0; i < 3; i++) {
      const float away = a->centre[3 * e + i] - middle[i];
      along += away * to[i] / length;
      square += away * away;
    }
    const float distance = square - along * along;
    const int misses = length > 1e-12f && (along < -sum || distance > sum * sum * 1.001f + 1e-6f * square);
    if (!misses) list[count++] = e;
  }
  return count;
}

/* colours of packets whose rays are aimed */
static void colour_packets(const context *c, packet *p, int count, int32_t *room) {
  const arguments *a = c->a;
  const int begin = a->light_first[c->world], lights = a->light_first[c->world + 1] - begin;
  V3 low = v3(SPL(FAR), SPL(FAR), SPL(FAR)), high = v3(SPL(-FAR), SPL(-FAR), SPL(-FAR));
  for (int i = 0; i < count; i++) {
    int pixels[4];
    bounds(p + i, pixels);
    p[i].h = nearest_seen(a, c->opaque, c->nopaque, &p[i].r, pixels);
    const M met = p[i].h.element >= ISPL(0);
    const V3 place = add3(p[i].r.o, times(p[i].h.t, p[i].r.d));
    low = sel3(met, v3(VMIN(low.x, place.x), VMIN(low.y, place.y), VMIN(low.z, place.z)), low);
    high = sel3(met, v3(VMAX(high.x, place.x), VMAX(high.y, place.y), VMAX(high.z, place.z)), high);
  }
  const float lowest[3] = {least(low.x), least(low.y), least(low.z)};
  const float highest[3] = {largest(high.x), largest(high.y), largest(high.z)};
  int32_t *lists[MOST_LIGHTS];
  int counts[MOST_LIGHTS];
  for (int l = 0; l < lights; l++) {
    lists[l] = room + (4 + l) * a->most;
    counts[l] = a->castshadow[begin + l] && lowest[0] <= highest[0]
                    ? list_casters(c, begin + l, lowest, highest, lists[l]) : 0;
  }
  for (int i = 0; i < count; i++) {
    const M met = p[i].h.element >= ISPL(0);
    V3 colour = v3(SPL(0.0f), SPL(0.0f), SPL(0.0f));
    if (ANY(NOT(met))) colour = behind(c, &p[i].r);
    if (ANY(met)) colour = sel3(met, surface_colour(c, &p[i].r, &p[i].h, met, 1, lists, counts), colour);
    p[i].colour = c->nclear ? through(c, &p[i].r, &p[i].h, colour) : colour;
  }
}

INLINE uint8_t level_of(float x) { return (uint8_t)(int)(x * 255.0f + 0.5f); }

/* packets of one ray through each pixel of a tile; lanes beyond the picture repeat its last column and row */
static int aim_at_middles(const arguments *a, int world, const int *tile, packet *p) {
  const int columns = W >= 16 ? 4 : W >= 4 ? W / 2 : W, rows = W / columns;
  int count = 0;
  for (int row = tile[2]; row < tile[3]; row += rows)
    for (int column = tile[0]; column < tile[1]; column += columns, count++) {
      for (int i = 0; i < W; i++) {
        const int x = column + i % columns, y = row + i / columns;
        SETLANE(p[count].x, i, (float)(x < tile[1] ? x : tile[1] - 1) + 0.5f);
        SETLANE(p[count].y, i, (float)(y < tile[3] ? y : tile[3] - 1) + 0.5f);
      }
      aim(a, world, p + count);
    }
  return count;
}

static void first_pass(const context *c, const int *tile, int32_t *room) {
  const arguments *a = c->a;
  packet p[MOST];
  const int count = aim_at_middles(a, c->world, tile, p);
  uint8_t *picture = a->base + (int64_t)c->world * a->height * a->width * 3;
  colour_packets(c, p, count, room);
  for (int k = 0; k < count; k++)
    for (int i = 0; i < W; i++) {
      uint8_t *at = picture + 3 * ((int64_t)LANE(p[k].y, i) * a->width + (int64_t)LANE(p[k].x, i));
      at[0] = level_of(LANE(p[k].colour.x, i));
      at[1] = level_of(LANE(p[k].colour.y, i));
      at[2] = level_of(LANE(p[k].colour.z, i));
    }
}

static void hit_pass(const context *c, const int *tile) {
  const arguments *a = c->a;
  packet p[MOST];
  const int count = aim_at_middles(a, c->world, tile, p);
  const int64_t start = (int64_t)c->world * a->height * a->width;
  for (int k = 0; k < count; k++) {
    int pixels[4];
    bounds(p + k, pixels);
    hits h = nearest_seen(a, c->opaque, c->nopaque, &p[k].r, pixels);
    for (int i = 0; i < c->nopaque; i++)
      if (a->kind[c->opaque[i]] == PLANE) meet(a, c->opaque[i], &p[k].r, 1, &h);
    for (int i = 0; i < W; i++) {
      const int64_t at = start + (int64_t)LANE(p[k].y, i) * a->width + (int64_t)LANE(p[k].x, i);
      const int e = LANE(h.element, i);
      a->depth[at] = LANE(h.t, i);
      a->objects[2 * at] = e < 0 ? -1 : a->object[2 * e];
      a->objects[2 * at + 1] = e < 0 ? -1 : a->object[2 * e + 1];
    }
  }
}

INLINE int differ(const uint8_t *p, const uint8_t *q) {
  for (int i = 0; i < 3; i++) {
    const int d = (int)p[i] - (int)q[i];
    if (d > EDGE_LEVELS || d < -EDGE_LEVELS) return 1;
  }
  return 0;
}

/* four rays instead of one where neighbours differ */
static void edge_pass(context *c, const int *tile, int32_t *room) {
  static const float sx[4] = {-0.125f, 0.375f, -0.375f, 0.125f}, sy[4] = {-0.375f, -0.125f, 0.125f, 0.375f};
  const arguments *a = c->a;
  const int64_t w = a->width, h = a->height, start = (int64_t)c->world * h * w;
  const uint8_t *base = a->base + 3 * start;
  uint8_t *out = a->out + 3 * start;
  int edges[TILE * TILE], count = 0;
  for (int64_t y = tile[2]; y < tile[3]; y++)
    for (int64_t x = tile[0]; x < tile[1]; x++) {
      const uint8_t *p = base + 3 * (y * w + x);
      uint8_t *q = out + 3 * (y * w + x);
      q[0] = p[0], q[1] = p[1], q[2] = p[2];
      if ((x > 0 && differ(p, p - 3)) || (x + 1 < w && differ(p, p + 3)) || (y > 0 && differ(p, p - 3 * w)) ||
          (y + 1 < h && differ(p, p + 3 * w)))
        edges[count++] = (int)((y - tile[2]) * TILE + (x - tile[0]));
    }
  if (!count) return;
  list_elements(a, c, room, tile);
  packet p[MOST];
  const int packets = (4 * count + W - 1) / W;
  for (int k = 0; k < packets; k++) {
    for (int i = 0; i < W; i++) {
      const int n = k * W + i < 4 * count ? k * W + i : 4 * count - 1, e = edges[n / 4];
      SETLANE(p[k].x, i, (float)(tile[0] + e % TILE) + 0.5f + sx[n % 4]);
      SETLANE(p[k].y, i, (float)(tile[2] + e / TILE) + 0.5f + sy[n % 4]);
    }
    aim(a, c->world, p + k);
  }
  colour_packets(c, p, packets, room);
  for (int n = 0; n < count; n++) {
    float sum[3] = {0, 0, 0};
    for (int i = 4 * n; i < 4 * n + 4; i++) {
      sum[0] += LANE(p[i / W].colour.x, i % W);
      sum[1] += LANE(p[i / W].colour.y, i % W);
      sum[2] += LANE(p[i / W].colour.z, i % W);
    }
    uint8_t *q = out + 3 * ((int64_t)(tile[2] + edges[n] / TILE) * w + tile[0] + edges[n] % TILE);
    for (int i = 0; i < 3; i++) q[i] = level_of(sum[i] * 0.25f);
  }
}

/* take tile after tile until none is left */
static void work(void *subject, int64_t slot) {
  arguments *a = (arguments *)subject;
  const mode before = enter();
  const int64_t across = (a->width + TILE - 1) / TILE, down = (a->height + TILE - 1) / TILE;
  int32_t *room = a->room + slot * (4 + a->most_lights) * a->most;
  for (;;) {
    const int64_t job = __atomic_fetch_add(&a->next, 1, __ATOMIC_RELAXED);
    if (job >= a->nworld * across * down) break;
    const int64_t column = job % across * TILE, row = job / across % down * TILE;
    context c = {a, (int)(job / (across * down))};
    const int tile[4] = {(int)column, (int)SMIN(column + TILE, a->width), (int)row, (int)SMIN(row + TILE, a->height)};
    c.pixel = (a->window[4 * c.world + 1] - a->window[4 * c.world]) / (float)a->width;
    if (a->pass == 1) {
      edge_pass(&c, tile, room);
      continue;
    }
    list_elements(a, &c, room, tile);
    if (a->mode == HITS) hit_pass(&c, tile);
    else first_pass(&c, tile, room);
  }
  leave(before);
}

EXPORTED void dovetail_picture(void *subject) {
  arguments *a = (arguments *)subject;
  const int passes = a->mode == COLOUR && a->samples > 1 ? 2 : 1;
  for (a->pass = 0; a->pass < passes; a->pass++) {
    a->next = 0;
    if (a->parallel) ((void (*)(void (*)(void *, int64_t), void *, int64_t))a->parallel)(work, a, a->nslot);
    else work(a, 0);
  }
}
