#include <libpq-fe.h>
// the reactor's alarm clock, which Swift's own Glibc module leaves out
#include <sys/eventfd.h>
