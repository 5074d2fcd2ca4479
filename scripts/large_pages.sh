# Sourced by scripts here that start large or many programs: glibc's malloc() takes pages of 2 MB, unless the user's
# own GLIBC_TUNABLES is set. On a virtual machine the first use of a page can take 10 us and more.
export GLIBC_TUNABLES=${GLIBC_TUNABLES-glibc.malloc.hugetlb=1}
