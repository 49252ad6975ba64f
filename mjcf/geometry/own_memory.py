"""Reading this process's own memory through the operating system: a wrong address is an error, not a crash."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np

_PAGE_BITS = 12
PAGE = 1 << _PAGE_BITS
"""What is read at once: no system has smaller pages, so none is readable in part."""
_WITHIN = PAGE - 1
WORD = 8
_END = 1 << 47
"""User addresses lie below."""
_THIS_PROCESS = -1
"""Windows' handle of the calling process."""
Reader = Callable[[int, int], bytes]


class Memory:
    """Words of eight bytes at addresses; OSError for those that cannot be read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._pages: dict[int, memoryview] = {}

    def word(self, address: int) -> int:
        """The word at one address."""
        page = self._pages.get(address >> _PAGE_BITS)
        if page is None:
            page = self._page(address >> _PAGE_BITS)
        return int(page[(address & _WITHIN) // WORD])

    def words(self, addresses: np.ndarray) -> np.ndarray:
        """The words at many addresses."""
        if not len(addresses):
            return np.zeros(0, np.int64)
        numbers, where = np.unique(addresses >> _PAGE_BITS, return_inverse=True)
        pages = [self._pages.get(number) or self._page(number) for number in numbers.tolist()]
        table = np.frombuffer(b"".join(pages), np.int64)
        return np.asarray(table[where.reshape(-1) * (PAGE // WORD) + (addresses & _WITHIN) // WORD])

    def follow(self, first: int, offset: int, limit: int) -> list[int]:
        """The addresses of a linked list until null, `limit` at most; links are `offset` bytes into the elements."""
        found: list[int] = []
        pages, link = self._pages, first
        for _ in range(limit):
            found.append(link)
            place = link + offset
            try:
                link = pages[place >> _PAGE_BITS][(place & _WITHIN) >> 3]
            except KeyError:
                link = self._page(place >> _PAGE_BITS)[(place & _WITHIN) >> 3]
            if not link:
                break
        return found

    def span(self, address: int, size: int) -> bytes:
        """The bytes from an address on, less where not all can be read, in whole words."""
        first, last = address >> _PAGE_BITS, (address + size - 1) >> _PAGE_BITS
        pages: list[bytes] = []
        with suppress(OSError):
            pages.extend(bytes(self._pages.get(k) or self._page(k)) for k in range(first, last + 1))
        content = b"".join(pages)[address & _WITHIN :][:size]
        return content[: len(content) // WORD * WORD]

    def _page(self, number: int) -> memoryview:
        address = number << _PAGE_BITS
        if not PAGE <= address < _END:
            raise OSError(f"{address:#x} is not an address")
        content = self._reader(address, PAGE)
        if len(content) != PAGE:
            raise OSError(f"{address:#x} cannot be read")
        page = self._pages[number] = memoryview(content).cast("Q")
        return page


@contextmanager
def own_memory() -> Iterator[Memory]:
    """The memory of this process as it is now; OSError where the system does not let it be read."""
    if sys.byteorder != "little" or sys.maxsize < _END:
        raise OSError("only the memory of 64-bit little-endian processes is read")
    if sys.platform == "win32":
        yield Memory(_windows_reader())
    elif sys.platform == "darwin":
        yield Memory(_mac_reader())
    else:
        with _open_memory() as descriptor:
            yield Memory(lambda address, size: os.pread(descriptor, size, address))


@contextmanager
def _open_memory() -> Iterator[int]:
    """Opened anew each time: after a fork the descriptor would still show the parent's memory."""
    descriptor = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _windows_reader() -> Reader:
    library = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - unknown to type checkers elsewhere
    read = library.ReadProcessMemory
    read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    read.restype = ctypes.c_int

    def reader(address: int, size: int) -> bytes:
        content, count = ctypes.create_string_buffer(size), ctypes.c_size_t(0)
        done = read(_THIS_PROCESS, address, content, size, ctypes.byref(count))
        return content.raw[: count.value] if done else b""

    return reader


def _mac_reader() -> Reader:
    library = ctypes.CDLL("/usr/lib/libSystem.B.dylib")
    task = ctypes.c_uint32.in_dll(library, "mach_task_self_")
    read = library.mach_vm_read_overwrite
    read.argtypes = [ctypes.c_uint32, *[ctypes.c_uint64] * 3, ctypes.c_void_p]
    read.restype = ctypes.c_int

    def reader(address: int, size: int) -> bytes:
        content, count = ctypes.create_string_buffer(size), ctypes.c_uint64(0)
        failed = read(task.value, address, size, ctypes.addressof(content), ctypes.byref(count))
        return b"" if failed else content.raw[: count.value]

    return reader
