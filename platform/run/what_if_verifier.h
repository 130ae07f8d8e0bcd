// The check of what-if predictions, by simulations of the same run on the faster machine.
#pragma once

#include <sys/types.h>

#include "platform/json/json.h"
#include "platform/run/simulate.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// Runs the faster machines in a separate process. Make the verifier before this process simulates anything: SystemC
/// elaborates once in a process, and a process forked afterwards could not simulate. The workload must outlive it.
class WhatIfVerifier {
 public:
  WhatIfVerifier(const RunRequest& request, const Workload& workload);
  WhatIfVerifier(const WhatIfVerifier&) = delete;
  WhatIfVerifier& operator=(const WhatIfVerifier&) = delete;
  /// Ends the process.
  ~WhatIfVerifier();

  /// Simulates the first `most` predictions of a `critical_path` and records their latencies. A prediction that cannot
  /// be simulated (the process was interrupted) keeps null.
  void verify(Json& critical_path, std::size_t most) const;

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace kernwave::platform
