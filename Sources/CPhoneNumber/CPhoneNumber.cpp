#include "CPhoneNumber.h"

#include <cstring>
#include <string>

#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

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

}  // namespace

extern "C" int phone_number_read(const char *text, size_t length, phone_number *number) {
    try {
        return read(std::string(text, length), number) ? 1 : 0;
    } catch (...) {
        return 0;
    }
}
