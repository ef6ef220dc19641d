#include "CPhoneNumber.h"

#include <cstring>
#include <map>
#include <string>

#include <phonenumbers/phonemetadata.pb.h>
#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

// Exported by the library, whose header metadata.h is not installed.
namespace i18n {
namespace phonenumbers {
int metadata_size();
const void *metadata_get();
}  // namespace phonenumbers
}  // namespace i18n

namespace {

bool copy(const std::string &text, char *buffer, size_t capacity) {
    if (text.size() >= capacity) return false;
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    return true;
}

// The library's word for no region, which makes it refuse national forms.
const char *const no_region = "ZZ";

bool read(const std::string &given, phone_number *result) {
    const PhoneNumberUtil &util = *PhoneNumberUtil::GetInstance();
    std::string text = given;
    // Until the form is stable: Mexico's former prefixes, for one, may come off one after the other.
    for (int round = 0; round < 4; round++) {
        PhoneNumber number;
        if (util.Parse(text, no_region, &number) != PhoneNumberUtil::NO_PARSING_ERROR) return false;
        if (!util.IsValidNumber(number)) return false;
        std::string e164;
        util.Format(number, PhoneNumberUtil::E164, &e164);
        if (e164 != text) {
            text = e164;
            continue;
        }
        std::string region;
        util.GetRegionCodeForNumber(number, &region);
        // 001 is the world: satellite and other networks of no country.
        if (region == no_region || region == "001") region.clear();
        result->country_code = number.country_code();
        const PhoneNumberUtil::PhoneNumberType type = util.GetNumberType(number);
        result->takes_texts =
            type == PhoneNumberUtil::MOBILE || type == PhoneNumberUtil::FIXED_LINE_OR_MOBILE ? 1 : 0;
        return copy(e164, result->e164, sizeof result->e164) && copy(region, result->region, sizeof result->region);
    }
    return false;
}

// `\d` would match the digits of every script.
std::string with_ascii_digits(std::string pattern) {
    for (size_t at = 0; (at = pattern.find("\\d", at)) != std::string::npos; at += 5) pattern.replace(at, 2, "[0-9]");
    return pattern;
}

std::string mobile_pattern() {
    i18n::phonenumbers::PhoneMetadataCollection metadata;
    if (!metadata.ParseFromArray(i18n::phonenumbers::metadata_get(), i18n::phonenumbers::metadata_size())) return "";
    // Countries may share a code.
    std::map<int, std::string> patterns;
    for (const auto &country : metadata.metadata()) {
        const std::string &pattern = country.mobile().national_number_pattern();
        if (pattern.empty() || pattern == "NA") continue;
        std::string &all = patterns[country.country_code()];
        all += (all.empty() ? "" : "|") + with_ascii_digits(pattern);
    }
    std::string result;
    for (const auto &entry : patterns) {
        result += (result.empty() ? "" : "|") + std::to_string(entry.first) + "(?:" + entry.second + ")";
    }
    return result.empty() ? "" : "^\\+(?:" + result + ")$";
}

}  // namespace

extern "C" int phone_number_region_is_known(const char *region) {
    try {
        return PhoneNumberUtil::GetInstance()->GetCountryCodeForRegion(region) != 0 ? 1 : 0;
    } catch (...) {
        return 0;
    }
}

extern "C" size_t phone_number_mobile_pattern(char *buffer, size_t capacity) {
    try {
        const std::string pattern = mobile_pattern();
        return copy(pattern, buffer, capacity) ? pattern.size() : 0;
    } catch (...) {
        return 0;
    }
}

extern "C" int phone_number_read(const char *text, size_t length, phone_number *number) {
    try {
        return read(std::string(text, length), number) ? 1 : 0;
    } catch (...) {
        return 0;
    }
}
