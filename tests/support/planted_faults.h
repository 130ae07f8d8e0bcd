// Tests that fail on purpose, each for a reason that a child process may have.
#pragma once

namespace kernwave::testing {

/// Adds the suite PlantedFaults to the tests of this process. Nobody asks for them but the harness's own tests.
void register_planted_faults();

}  // namespace kernwave::testing
