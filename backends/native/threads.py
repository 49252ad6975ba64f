"""The pool of threads that kernels share tiles out to: one for the process, written in C, compiled when first needed.

A launch over several slots calls `dovetail_parallel`; the calling thread works as slot 0. If the pool is busy with a
launch of another thread, or threads cannot be had, the caller takes all tiles alone: slots take tile after tile, so
none is left. In a forked process, which has lost its threads, the pool begins anew.
"""

from __future__ import annotations

import ctypes

from dovetail.backends.native import libraries
from dovetail.backends.native.compilers import Compiler
from dovetail.backends.native.prelude import SELFTEST

_pool: list[int] = []
"""The address of the pool's function, once it is there."""


def pool_address(compiler: Compiler, flags: tuple[str, ...]) -> int:
    """The address of `dovetail_parallel`."""
    if not _pool:
        loaded = libraries.load(libraries.library([SOURCE], compiler, flags))
        address = ctypes.cast(loaded.dovetail_parallel, ctypes.c_void_p).value
        assert address is not None
        _pool.append(address)
    return _pool[0]


_POOL = r"""/* A pool of threads for the kernels of a process. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
typedef void (*job_type)(void *, int64_t);
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static job_type job;
static void *subject;
static int64_t threads, wanted, begun, left;
static uint64_t launch;
static int watching;

static void *worker(void *unused) {
  uint64_t seen = 0;
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (launch == seen || begun >= wanted) {
      seen = launch;
      pthread_cond_wait(&wake, &lock);
    }
    const int64_t slot = begun++;
    const job_type work = job;
    void *const on = subject;
    seen = launch;
    pthread_mutex_unlock(&lock);
    work(on, slot);
    pthread_mutex_lock(&lock);
    if (--left == 0) pthread_cond_signal(&done);
  }
  return 0;
}

static void forget(void) {
  pthread_mutex_init(&turn, 0);
  pthread_mutex_init(&lock, 0);
  pthread_cond_init(&wake, 0);
  pthread_cond_init(&done, 0);
  threads = wanted = begun = left = 0;
}

static void hire(int64_t number) {
  if (!watching) {
    watching = 1;
    pthread_atfork(0, 0, forget);
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  while (threads < number) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, worker, 0)) break;
    threads++;
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, 0);
}

EXPORTED void dovetail_parallel(job_type work, void *on, int64_t slots) {
  if (slots < 2 || pthread_mutex_trylock(&turn)) {
    work(on, 0);
    return;
  }
  pthread_mutex_lock(&lock);
  hire(slots - 1);
  const int64_t others = threads < slots - 1 ? threads : slots - 1;
  job = work;
  subject = on;
  begun = 1;
  wanted = 1 + others;
  left = others;
  launch++;
  pthread_cond_broadcast(&wake);
  pthread_mutex_unlock(&lock);
  work(on, 0);
  pthread_mutex_lock(&lock);
  /* who has not begun when all tiles are taken need not begin */
  left -= wanted - begun;
  wanted = begun;
  while (left) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&turn);
}
"""

SOURCE = SELFTEST + _POOL
