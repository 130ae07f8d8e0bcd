// Writing all bytes to a descriptor that takes them in pieces, or not at all.
#include "traces/files/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "platform/files/whole_file.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::traces::open_file_test {
namespace {

class WritingAllBytes : public kernwave::testing::TemporaryFolderTest {};

TEST_F(WritingAllBytes, GoesOnUntilASlowReaderHasThemAll) {
  // Given a pipe, which holds less than the text, and a reader
  std::string text(std::size_t{1} << 20, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 26);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::string received;
  std::thread reader([&] {
    std::array<char, 1000> buffer{};
    for (ssize_t count = 1; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
      received.append(buffer.data(), static_cast<std::size_t>(count));
    }
  });
  // When it is written, then every byte arrives
  EXPECT_EQ(write_all(ends[1], text), 0);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(received == text);
}

TEST_F(WritingAllBytes, AtAPlaceLeavesTheOthersAlone) {
  platform::write_file_atomically(path("file"), "0123456789");
  const OpenFile file(open_file(path("file"), O_WRONLY));
  EXPECT_EQ(write_all_at(file.get(), "abc", 4), 0);
  EXPECT_EQ(platform::read_file(path("file")), "0123abc789");
}

TEST_F(WritingAllBytes, TellsTheReasonWhereItCannot) {
  const OpenFile full(open_file("/dev/full", O_WRONLY));
  EXPECT_EQ(write_all(full.get(), "x"), ENOSPC);
  EXPECT_EQ(write_all_at(full.get(), "x", 0), ENOSPC);
  EXPECT_EQ(write_all(-1, "x"), EBADF);
}

}  // namespace
}  // namespace kernwave::traces::open_file_test
