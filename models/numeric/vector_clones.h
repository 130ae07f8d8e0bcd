// A macro that compiles a loop for several vector widths of the host.
#pragma once

/// KERNWAVE_VECTOR_CLONES in front of a function whose loops the compiler vectorises: it is compiled for the processor
/// of the build and for wider vectors, and the widest that the host has are taken when the program starts. Where that
/// does not exist, it is compiled once. For loops alone whose elements do not depend on each other: what is computed is
/// the same bits in all of them, since `-ffp-contract=off` keeps products and sums apart.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define KERNWAVE_VECTOR_CLONES [[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]]
#else
#define KERNWAVE_VECTOR_CLONES
#endif
