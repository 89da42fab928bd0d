// Profiles as JSON, both ways.
#pragma once

#include "measure/profile.h"
#include "report/json.h"

namespace hasten {

Json to_json(const Profile& profile);
Json to_json(const ProfileDiff& diff);

/// What to_json wrote, as far as diff() needs it: times and op types.
/// Error: invalid_argument.
Result<Profile> profile_from_json(const std::string& text, const std::string& place);

}  // namespace hasten
