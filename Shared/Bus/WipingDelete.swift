internal import CZMQ
internal import Glibc

// libzmq encrypts from a buffer of its own and decrypts into one, and gives both back with what
// they held; whoever reads the heap later finds half a passcode there. The buffers are C++'s, and
// C++ lets a program put its own `operator delete` in the place of the library's ([new.delete]). So
// everything that C++ frees in this process is wiped.

/// `operator delete(void *, std::size_t)`, by the name that compilers give it.
///
/// Package.swift has it shown to the libraries. It must not allocate.
@_cdecl("_ZdlPvm")
public func wipingSizedDelete(_ block: UnsafeMutableRawPointer?, _ count: Int) {
    wipingDelete(block)
}

/// `operator delete(void *)`.
@_cdecl("_ZdlPv")
public func wipingDelete(_ block: UnsafeMutableRawPointer?) {
    guard let block else { return }
    explicit_bzero(block, malloc_usable_size(block))
    free(block)
}
