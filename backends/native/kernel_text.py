"""The C source of a fused kernel: a header that explains it, the stages as functions, and the loop over tiles.

Sizes and offsets are literals of the source, loops are loops, Model values are read from the packed buffers at run
time; so editing the Model in place needs no new kernel. A large kernel is printed as several units, which compile
side by side; the first has the loop over tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from dovetail.backends.lanes.exports import Buffer, Exports
from dovetail.backends.lanes.fuse import FusedKernel, FusedStage, Role, Run
from dovetail.backends.lanes.landings import PlacedLanding, PlacedLandings
from dovetail.backends.lanes.lifetimes import Lasts
from dovetail.backends.lanes.program import DONE
from dovetail.backends.native.poison import FILL
from dovetail.backends.native.prelude import SELFTEST, prelude
from dovetail.backends.native.stage_text import PARAMETERS, stage_body
from dovetail.contracts.types import DATA_SPECS

POINTERS = {
    "D": ("V", "Data, tile by tile"),
    "C": ("V", "fields that Data does not hold as reals, converted"),
    "S": ("V", "scratch: numbers per world of each slot"),
    "SI": ("int", "scratch: uniform integers of each slot"),
    "R": ("fp", "scratch: uniform reals of each slot"),
    "TI": ("int", "constant integers: the stages' tables, then how often each group runs"),
    "MR": ("fp", "reals of the Model"),
    "MI": ("int", "integers of the Model"),
    "MB": ("unsigned char", "bytes of the Model"),
    "MF": ("float", "single precision numbers of the Model"),
    "taken": (
        "int",
        f"at 0 the next tile; then by tile: 0 to be run, {DONE} run, else the room its lists lack",
    ),
    "E": ("V", "exported numbers, tile by tile"),
    "EI": ("int", "exported integers"),
    "EL": ("int", "lengths of the exported lists"),
    "G": ("V", "imported (given) numbers, tile by tile"),
    "GI": ("int", "imported integers"),
    "GL": ("int", "lengths of the imported lists"),
    "alarm": ("int", "not 0 if what was exported says that somebody must look at it"),
    "LR": ("fp", "growing fields of Data that are reals, tile by tile"),
    "LI": ("int", "growing fields of Data that are integers"),
    "LC": ("int", "other fields of Data that are integers"),
    "LO": ("int64_t", "the first row of each field that lands there"),
    "P": (
        "V",
        "as D: what a tile was loaded with, as it was before the last step; 0 if nobody wants to know",
    ),
    "watched": ("int64_t", "triples: memory that must not have changed, what it held, and how many bytes"),
    "noted": (
        "int64_t",
        "triples: memory of the Model, a copy that is to hold what is used of it, how many bytes",
    ),
    "MD": ("double", "the Model's reals in double precision, to be taken over into MR; 0 if they have been"),
    "B": ("unsigned char", "Data that is bytes, tile by tile"),
    "BC": ("int64_t", "triples: rows of a tile of B that become rows of C, where those begin, how many"),
    "poison": (
        "int64_t",
        "memory to be filled wherever it must not be read: how long it lasts, kind, place, count",
    ),
    "poison_real": ("fp", "what to fill numbers and reals with"),
}
"""What a launch points to: the type of each array, and what it holds."""

NUMBERS = {
    "stride": "rows of a tile of D",
    "converted": "rows of a tile of C",
    "ntile": "tiles",
    "nslot": "slots: threads that take tiles",
    "nstep": "steps",
    "first": "the evaluation to begin with",
    "room": "rows that there are for exported lists",
    "given_room": "rows that imported lists have",
    "anew": "whether all tiles are to be run, not only those whose place in `taken` holds 0",
    "parallel": "the function of the pool of threads, 0 without one",
    "land_room": "entries that lists which land have room for",
    "lr_rows": "rows of a tile of LR",
    "li_rows": "rows of a tile of LI",
    "lc_rows": "rows of a tile of LC",
    "nwatched": "triples of watched",
    "nnoted": "triples of noted",
    "nreal": "numbers of MD",
    "byte_rows": "rows of a tile of B",
    "nbyte": "triples of BC",
    "npoison": "rows of poison, 0 to fill nothing",
    "poison_integer": "what to fill integers with",
}
"""The numbers of a launch."""

ARGUMENTS = (*POINTERS, *NUMBERS)
"""The struct that a launch hands over, in its order; each entry has eight bytes."""

AT = {name: place for place, name in enumerate(ARGUMENTS)}

MODEL = {"MR": "float64", "MI": "int32", "MB": "uint8", "MF": "float32"}
"""The pointers to the Model's numbers, by their types."""
"""Where each argument stands in it."""

_SHORT = {
    "e": "which forward evaluation of the step",
    "tN, vN, iN": "temporaries, variables and loop indices of a stage",
}

SLOT_ROUNDING = 16
"""Integers and reals of two slots do not share a cache line."""

UNIT_LINES = 1500
"""Lines for which another unit is worth it."""

_STRUCT = "typedef struct {{\n{fields}\n}} arguments;\n"

_PASSED = "S, SI, R, TI, MR, MI, MB, MF"

_WORK = """static __attribute__((noinline)) void work(const arguments *A, I slot) {{
  V *__restrict__ S = A->S + slot * {numbers};
  int *__restrict__ SI = A->SI + slot * {integers};
  fp *__restrict__ R = A->R + slot * {reals};
  const int *__restrict__ TI = A->TI;
  const fp *__restrict__ MR = A->MR;
  const int *__restrict__ MI = A->MI;
  const unsigned char *__restrict__ MB = A->MB;
  const float *__restrict__ MF = A->MF;
  (void)SI, (void)R, (void)TI, (void)MR, (void)MI, (void)MB, (void)MF;
  for (;;) {{
    const I tile = __atomic_fetch_add(A->taken, 1, __ATOMIC_RELAXED);
    if (tile >= A->ntile) return;
    if (A->taken[1 + tile] != 0) continue;
    V *D = A->D + tile * A->stride;"""

_RUN = r"""
typedef void (*parallel_type)(void (*)(void *, int64_t), void *, int64_t);
static void slot_work(void *A, int64_t slot) {
  const mode before = enter();
  work((const arguments *)A, slot);
  leave(before);
}
/* Keep what these steps use of the Model, which is mostly what the last ones used. */
static void note(const arguments *A) {
  for (I k = 0; k < 3 * A->nnoted; k += 3) {
    const void *from = (const void *)A->noted[k];
    void *to = (void *)A->noted[k + 1];
    if (memcmp(to, from, A->noted[k + 2])) memcpy(to, from, A->noted[k + 2]);
  }
}
/* Take over what a launch that was kept ready has not been given as it is now. */
static void prepare(const arguments *A) {
  if (A->MD) for (I i = 0; i < A->nreal; i++) ((fp *)A->MR)[i] = (fp)A->MD[i];
  for (I k = 0; k < 3 * A->nbyte; k += 3)
    for (I tile = 0; tile < A->ntile; tile++) {
      const unsigned char *from = A->B + (tile * A->byte_rows + A->BC[k]) * W;
      fp *to = (fp *)(A->C + tile * A->converted + A->BC[k + 1]);
      for (I i = 0; i < A->BC[k + 2] * W; i++) to[i] = (fp)from[i];
    }
}
/* 0, or bits: 1 some tile's lists lack room, 2 some exported list is too long, 4 somebody must look at an export;
   or 8: what is watched has changed, and nothing was done */
EXPORTED int run(const arguments *A) {
  for (I k = 0; k < 3 * A->nwatched; k += 3)
    if (memcmp((const void *)A->watched[k], (const void *)A->watched[k + 1], A->watched[k + 2])) return 8;
  note(A);
  prepare(A);
  A->taken[0] = 0;
  A->alarm[0] = 0;
  if (A->anew) for (I i = 1; i <= A->ntile; i++) A->taken[i] = 0;
  if (A->nslot > 1) ((parallel_type)A->parallel)(slot_work, (void *)A, A->nslot);
  else slot_work((void *)A, 0);
  int found = 0;
  for (I i = 1; i <= A->ntile; i++) found |= A->taken[i] > 0 ? 1 : A->taken[i] == 0 ? 2 : 0;
  return found | (A->alarm[0] ? 4 : 0);
}
"""


def slot_rows(fused: FusedKernel) -> tuple[int, int, int]:
    """Lengths of a slot's numbers, integers and reals, with what keeps slots apart."""

    def rounded(rows: int) -> int:
        return -(-rows // SLOT_ROUNDING) * SLOT_ROUNDING

    return fused.rows.numbers, rounded(fused.rows.integers), rounded(fused.rows.reals)


def kernel_sources(fused: FusedKernel, units: int = 1) -> list[str]:
    """The texts of at most so many translation units."""
    bodies = {t.function: stage_body(fused, t) for t in fused.stages}
    bodies = {name: body for name, body in bodies.items() if body}
    head = "\n".join([*_header(fused), prelude(fused.lanes, fused.precision)])
    lines = sum(body.count("\n") for body in bodies.values())
    kernel = _kernel_text(fused, set(bodies))
    units = max(1, min(units, lines // UNIT_LINES))
    if units == 1:
        functions = [_function("static __attribute__((noinline)) void", *named) for named in bodies.items()]
        return ["\n".join([head, *functions, kernel])]
    hidden = '__attribute__((visibility("hidden"))) void'
    declared = [f"{hidden} {name}({PARAMETERS});" for name in bodies]
    texts = []
    for names in _shared_out(bodies, units):
        texts.append("\n".join([head, *(_function(hidden, name, bodies[name]) for name in names)]))
    texts[0] = "\n".join([texts[0], *declared, kernel])
    return texts


def _function(kind: str, name: str, body: str) -> str:
    return f"{kind} {name}({PARAMETERS}) {{\n{body}\n}}"


def _shared_out(bodies: dict[str, str], units: int) -> list[list[str]]:
    """Names of functions, unit by unit, so that the units are about as long."""
    groups: list[list[str]] = [[] for _ in range(units)]
    lengths = [0] * units
    for name in sorted(bodies, key=lambda name: -len(bodies[name])):
        least = lengths.index(min(lengths))
        groups[least].append(name)
        lengths[least] += len(bodies[name])
    return groups


# ---- header


def _header(fused: FusedKernel) -> list[str]:
    """The plan, and what the names mean."""
    numbers, integers, reals = fused.rows
    text = [
        f"A fused kernel of {len(fused.stages)} stages: {fused.lanes} lanes of {fused.precision}, "
        f"{fused.evaluations} evaluation{'s' if fused.evaluations > 1 else ''} per step; scratch of a slot: "
        f"{numbers} numbers per world, {integers} integers, {reals} reals.",
        "",
        *(f"{t.function}: {t.title}" for t in fused.stages),
        "",
        *(f"{name}: {text}" for name, (_, text) in POINTERS.items()),
        *(f"{name}: {text}" for name, text in {**NUMBERS, **_SHORT}.items()),
    ]
    return ["/*", *(f" * {line}".rstrip().replace("*/", "* /") for line in text), " */"]


# ---- the loop over tiles


def _kernel_text(fused: FusedKernel, present: set[str]) -> str:
    """The struct of a launch, the loop over tiles, and what is called from outside.

    A tile whose lists lack room stores nothing but that number, in its place of `taken`. One whose lists are too long
    to be exported stores nothing at all. Tiles whose place does not hold 0 are passed over.
    """
    numbers, integers, reals = slot_rows(fused)
    fields = [f"  {kind} *{name};" for name, (kind, _) in POINTERS.items()]
    fields += [f"  int64_t {name};" for name in NUMBERS]
    lacking = _integer(fused.lacking)
    lines = [
        _STRUCT.format(fields="\n".join(fields)),
        FILL,
        _WORK.format(numbers=numbers, integers=integers, reals=reals),
        _fill_line("A->npoison", Lasts.ALWAYS),
        *([f"    {lacking} = 0;"] if lacking else []),
        *(f"    for (I i = 0; i < {p.count}; i++) SI[{p.offset} + i] = 0;" for p in fused.forgotten),
        *(_copy("S", run.scratch, "D", run.far, run.count) for run in fused.load),
        *(
            _copy("S", run.scratch, "A->C", f"tile * A->converted + {run.far}", run.count)
            for run in fused.converted
        ),
        *_import_lines(fused.imports),
        *_step_lines(fused, present, lacking),
        *([f"    if ({lacking} != 0) {{ A->taken[1 + tile] = {lacking}; continue; }}"] if lacking else []),
        *_export_lines(fused.exports),
        *_landing_lines(fused.landed),
        *_store_lines(fused.store),
        f"    A->taken[1 + tile] = {DONE};",
        "  }",
        "}",
        SELFTEST,
        _RUN,
    ]
    return "\n".join(lines)


def _integer(place: int | None) -> str:
    """An integer of the slot; empty if the kernel has no such."""
    return "" if place is None else f"SI[{place}]"


def _copy(to: str, at: object, source: str, place: object, count: object) -> str:
    return f"    for (I i = 0; i < {count}; i++) {to}[{at} + i] = {source}[{place} + i];"


def _store_lines(runs: Iterable[Run]) -> list[str]:
    return [_copy("D", run.far, "S", run.scratch, run.count) for run in runs]


def _step_lines(fused: FusedKernel, present: set[str], lacking: str) -> list[str]:
    """All steps of a tile, and the looks at the worlds around them."""
    number = f"({lacking} == 0 ? {fused.evaluations} : 0)" if lacking else str(fused.evaluations)
    return [
        *_look_lines(fused, "begin", present, "A->first"),
        "    for (I step = 0; step < A->nstep; step++) {",
        _fill_line("A->npoison && step > 0", Lasts.STEP),
        *_remember_lines(fused.load),
        f"      const I last = A->first + {number};",
        "      for (I e = A->first; e < last; e++) {",
        _fill_line("A->npoison && e > A->first", Lasts.EVALUATION),
        *_evaluation_lines(fused, present),
        "      }",
        "    }",
        *_look_lines(fused, "end", present, "A->first"),
    ]


def _fill_line(condition: str, lasts: Lasts) -> str:
    """Fill what lasts no longer than that, for who wants to know that nobody reads it."""
    return f"    if ({condition}) fill(A, {int(lasts)}, S, SI, R);"


def _remember_lines(runs: Sequence[Run]) -> list[str]:
    """Keep what a tile was loaded with as it is before the last step, for who wants to repeat that."""
    copies = [_copy("P", run.far, "S", run.scratch, run.count) for run in runs]
    return [
        "    if (A->P && step == A->nstep - 1) {",
        "    V *P = A->P + tile * A->stride;",
        *copies,
        "    }",
    ]


def _evaluation_lines(fused: FusedKernel, present: set[str]) -> list[str]:
    """One forward evaluation, and what integrates it. If the worlds are watched and one of them was bad, the first
    evaluation of a step is repeated before it is integrated."""
    stages, again = fused.with_role("stage"), _integer(fused.again)
    if not again:
        return _call_lines(fused, stages, present)
    forward = [t for t in stages if not t.stage.integrate]
    return [
        "      if (e == 0) {",
        *_look_lines(fused, "before_step", present, "e"),
        "      }",
        f"      {again} = 0;",
        "      for (int attempt = 0; attempt < 2; attempt++) {",
        f"      if (attempt == 0 || {again} > 0) {{",
        _fill_line("A->npoison && attempt > 0", Lasts.EVALUATION),
        *_call_lines(fused, forward, present),
        "      if (e == 0 && attempt == 0) {",
        *_look_lines(fused, "before_integration", present, "e"),
        "      }}}",
        *_call_lines(fused, [t for t in stages if t.stage.integrate], present),
    ]


def _look_lines(fused: FusedKernel, role: Role, present: set[str], evaluation: str) -> list[str]:
    return [
        f"    {t.function}({_PASSED}, {evaluation});" for t in fused.with_role(role) if t.function in present
    ]


def _call_lines(fused: FusedKernel, stages: Sequence[FusedStage], present: set[str]) -> list[str]:
    """The calls of all stages; in a repeatable kernel each group runs as often as the table says."""
    lines = []
    for group, members in groupby(stages, key=lambda t: t.stage.group):
        if fused.repeats:
            lines.append(f"      for (int k = 0; k < TI[{fused.repeats[group]}]; k++) {{")
        for t in members:
            if t.function in present:
                condition = "if (e == 0) " if t.stage.first_only else ""
                lines.append(f"        {condition}{t.function}({_PASSED}, e);")
        if fused.repeats:
            lines.append("      }")
    return lines


# ---- what comes into a tile and leaves it


def _import_lines(imports: Exports) -> list[str]:
    """Copy what is imported: what has a fixed size, then as much of the lists as is filled."""
    lines = []
    if imports.count is not None:
        lines += ["    const I given = A->GL[tile];", f"    SI[{imports.count}] = (int)given;"]
    for buffer, source, scratch in ((imports.numbers, "G", "S"), (imports.integers, "GI", "SI")):
        if buffer.fixed or buffer.lists:
            lines.append(f"    const I {source}_at = tile * {_rows(buffer, 'A->given_room')};")
        for part in buffer.fixed:
            place = f"{source}_at + {part.before}"
            lines.append(_copy(scratch, part.source, f"A->{source}", place, part.width))
        for part in buffer.lists:
            place = f"{source}_at + {buffer.fixed_rows} + A->given_room * {part.before}"
            lines.append(_copy(scratch, part.source, f"A->{source}", place, f"given * {part.width}"))
    return lines


def _export_lines(exports: Exports) -> list[str]:
    """Copy what is exported of a finished tile; one whose lists are too long is not finished."""
    lines = []
    if exports.count is not None:
        lines += [f"    const I listed = SI[{exports.count}];", "    A->EL[tile] = (int)listed;"]
        lines += ["    if (listed > A->room) continue;"]
    for buffer, out, scratch in ((exports.numbers, "E", "S"), (exports.integers, "EI", "SI")):
        if buffer.fixed or buffer.lists:
            lines.append(f"    const I {out}_at = tile * {_rows(buffer, 'A->room')};")
        for part in buffer.fixed:
            lines.append(_copy(f"A->{out}", f"{out}_at + {part.before}", scratch, part.source, part.width))
        for part in buffer.lists:
            place = f"{out}_at + {buffer.fixed_rows} + A->room * {part.before}"
            lines.append(_copy(f"A->{out}", place, scratch, part.source, f"listed * {part.width}"))
    for row in exports.alarms:
        lines.append(f"    if (ANY(S[{row}] != SPL((fp)0))) __atomic_store_n(A->alarm, 1, __ATOMIC_RELAXED);")
    return lines


def _landing_lines(landed: PlacedLandings) -> list[str]:
    """Write counts, and of each world the entries that it has, to their places in Data; a tile whose lists have no
    room there is not finished."""
    if not landed:
        return []
    lines = []
    if landed.count is not None:
        lines += [f"    const I landed = SI[{landed.count}];", "    A->EL[tile] = (int)landed;"]
        lines += ["    if (landed > A->land_room) continue;"]
    lines.append("    for (I l = 0; l < W; l++) {")
    lines += [_landed_count(number, each) for number, each in enumerate(landed.counts)]
    if landed.lists:
        lines += ["      I n = 0;", "      for (I i = 0; i < landed; i++) {"]
        lines.append(f"        if (!(LANE(S[{landed.present} + i], l) > (fp)0.5)) continue;")
        for number, each in enumerate(landed.lists, start=len(landed.counts)):
            buffer, kind = ("LI", "(int)") if is_integer(each.field) else ("LR", "")
            entry = f"{each.width} * n + c"
            lines.append(
                f"        for (I c = 0; c < {each.width}; c++) {_landed_at(buffer, number, entry)} = "
                f"{kind}LANE(S[{each.source} + {each.width} * i + c], l);"
            )
        lines += ["        n++;", "      }"]
    lines.append("    }")
    return lines


def _landed_count(number: int, each: PlacedLanding) -> str:
    """What writes the number of a count in lane l, or its numbers."""
    if each.width == 1:
        return f"      {_landed_at('LC', number)} = (int)LANE(S[{each.source}], l);"
    return (
        f"      for (I c = 0; c < {each.width}; c++) {_landed_at('LC', number, 'c')} = "
        f"(int)LANE(S[{each.source} + c], l);"
    )


def _landed_at(buffer: str, number: int, entry: str = "0") -> str:
    """Where a number of lane l lands."""
    return f"A->{buffer}[(tile * A->{buffer.lower()}_rows + A->LO[{number}] + {entry}) * W + l]"


def is_integer(field: str) -> bool:
    """Whether a Data field holds integers."""
    return DATA_SPECS[field].dtype == "int32"


def _rows(buffer: Buffer, room: str) -> str:
    """Rows of a tile in a buffer of exports or imports."""
    return f"({buffer.fixed_rows} + {room} * {buffer.list_width})" if buffer.lists else str(buffer.fixed_rows)
