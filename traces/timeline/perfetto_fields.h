// The numbers of the fields of Perfetto's trace format that a timeline uses.
#pragma once

#include <cstdint>

/// As in the files below protos/perfetto/trace/ of github.com/google/perfetto, one namespace a message.
namespace kernwave::traces::perfetto {

using Field = std::uint32_t;

namespace trace {
inline constexpr Field packet = 1;
}

namespace trace_packet {
inline constexpr Field timestamp = 8;  // in ns
inline constexpr Field trusted_packet_sequence_id = 10;
inline constexpr Field track_event = 11;
inline constexpr Field interned_data = 12;
inline constexpr Field sequence_flags = 13;
inline constexpr Field track_descriptor = 60;
inline constexpr Field first_packet_on_sequence = 87;

inline constexpr std::uint64_t incremental_state_cleared = 1;
inline constexpr std::uint64_t needs_incremental_state = 2;
}  // namespace trace_packet

namespace interned_data {
inline constexpr Field event_names = 2;
inline constexpr Field debug_annotation_names = 3;
inline constexpr Field debug_annotation_string_values = 29;
}  // namespace interned_data

/// EventName, DebugAnnotationName and InternedString alike.
namespace interned_text {
inline constexpr Field iid = 1;
inline constexpr Field text = 2;
}  // namespace interned_text

namespace track_descriptor {
inline constexpr Field uuid = 1;
inline constexpr Field name = 2;
inline constexpr Field process = 3;
inline constexpr Field parent_uuid = 5;
inline constexpr Field counter = 8;
inline constexpr Field child_ordering = 11;
inline constexpr Field sibling_order_rank = 12;
inline constexpr Field process_ordering = 19;

inline constexpr std::uint64_t explicit_children = 3;
inline constexpr std::uint64_t explicit_processes = 1;
}  // namespace track_descriptor

namespace process_descriptor {
inline constexpr Field pid = 1;
inline constexpr Field process_name = 6;
}  // namespace process_descriptor

namespace counter_descriptor {
inline constexpr Field unit = 3;
inline constexpr Field unit_name = 6;

inline constexpr std::uint64_t size_bytes = 3;
}  // namespace counter_descriptor

namespace track_event {
inline constexpr Field debug_annotations = 4;
inline constexpr Field type = 9;
inline constexpr Field name_iid = 10;
inline constexpr Field track_uuid = 11;
inline constexpr Field name = 23;
inline constexpr Field counter_value = 30;
inline constexpr Field double_counter_value = 44;
inline constexpr Field flow_ids = 47;
inline constexpr Field terminating_flow_ids = 48;

inline constexpr std::uint64_t slice_begin = 1;
inline constexpr std::uint64_t slice_end = 2;
inline constexpr std::uint64_t instant = 3;
inline constexpr std::uint64_t counter = 4;
}  // namespace track_event

namespace debug_annotation {
inline constexpr Field name_iid = 1;
inline constexpr Field uint_value = 3;
inline constexpr Field string_value_iid = 17;
}  // namespace debug_annotation

}  // namespace kernwave::traces::perfetto
