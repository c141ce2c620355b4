// The barrier of a cluster: arriving and waiting are operations of their own, and a thread may do
// other things in between. What comes before an arrival is known to whoever waits, unless it is
// relaxed: then it is what comes before the last fence.
#pragma once

#include "ptx/machine/cluster/cluster.h"

namespace ptx {

// Op::mode of an arrival.
enum ClusterArrival : std::uint8_t { is_relaxed = 1, is_aligned = 2 };

// Lets those go that wait, if all threads that have not returned have arrived.
void complete_cluster_barrier(Cluster&);

// Reports that threads wait at it for others; false if none does.
bool report_cluster_barrier(Block&);

}  // namespace ptx
