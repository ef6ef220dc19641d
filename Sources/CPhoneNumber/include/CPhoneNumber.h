#ifndef CPHONENUMBER_H
#define CPHONENUMBER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A valid number as libphonenumber knows it. Strings end in NUL; nothing is to be freed.
typedef struct {
    // "+", country code and number: at most 15 digits by E.164, 17 in libphonenumber's own limits.
    char e164[24];
    // ISO 3166-1, upper case; empty where a number belongs to no country.
    char region[3];
    // As in 33, without the "+".
    int country_code;
    // 1 for a mobile number, or one that may be mobile or fixed; 0 for every other kind, such as premium rate.
    int takes_texts;
} phone_number;

// Reads `length` bytes of text in international form. Returns 1 and fills `number` when it is a valid one, else 0,
// also on any failure inside the library. No exception leaves it. Thread-safe.
int phone_number_read(const char *text, size_t length, phone_number *number);

// Whether the library knows the country, an ISO 3166-1 code in upper case.
int phone_number_region_is_known(const char *region);

// Writes a regular expression (ECMA-262) of the mobile numbers of all countries in international form, from the
// library's metadata, and a NUL. Returns its length, or 0 when it can't be had or `capacity` is too small.
size_t phone_number_mobile_pattern(char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
