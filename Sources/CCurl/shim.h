#include <curl/curl.h>

// Swift imports no variadic functions: one wrapper for each kind of value that an option takes.

static inline CURLcode curl_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

// libcurl copies the string.
static inline CURLcode curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}

// libcurl keeps the list: it must outlive the transfer.
static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode curl_set_reader(CURL *handle, curl_read_callback function, void *data) {
    CURLcode code = (curl_easy_setopt)(handle, CURLOPT_READFUNCTION, function);
    return code == CURLE_OK ? (curl_easy_setopt)(handle, CURLOPT_READDATA, data) : code;
}

static inline CURLcode curl_set_progress(CURL *handle, curl_xferinfo_callback function, void *data) {
    CURLcode code = (curl_easy_setopt)(handle, CURLOPT_XFERINFOFUNCTION, function);
    return code == CURLE_OK ? (curl_easy_setopt)(handle, CURLOPT_XFERINFODATA, data) : code;
}

// The last reply's code; 0 when there was none.
static inline long curl_response_code(CURL *handle) {
    long code = 0;
    (curl_easy_getinfo)(handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
}
