// Files: errors that say why, and never half a file under the final name.
#include "platform/files/whole_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.h"

namespace kernwave::platform::files_test {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed at its end.
class Files : public kernwave::testing::TemporaryFolderTest {
 protected:
};

std::string reason_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.reason();
  }
  return "no error";
}

/// Lets no file of this process grow beyond `bytes`: a write then fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(Files, AreReadBackAsWritten) {
  const std::string text("line\n\0binary\xff", 13);
  write_file_atomically(path("a"), text);
  EXPECT_EQ(read_file(path("a")), text);
  write_file_atomically(path("empty"), "");
  EXPECT_EQ(read_file(path("empty")), "");
  EXPECT_EQ(entries(), 2U) << "a temporary file is left";
}

TEST_F(Files, LargerThanOneBufferAreReadWhole) {
  const std::string text(1'000'003, 'x');
  write_file_atomically(path("a"), text);
  EXPECT_EQ(read_file(path("a")), text);
}

// C9: a missing file is named.
TEST_F(Files, ThatCannotBeReadSayWhy) {
  EXPECT_EQ(reason_of([&] { (void)read_file(path("absent")); }), "it does not exist");
  EXPECT_EQ(reason_of([&] { (void)read_file(folder_.string()); }), "it is a folder");
  EXPECT_EQ(reason_of([&] { (void)read_file(""); }), "it does not exist");
  try {
    (void)read_file(path("absent"));
  } catch (const FileError& error) {
    EXPECT_EQ(error.what(), "cannot read \"" + path("absent") + "\": it does not exist");
  }
}

TEST_F(Files, WithoutPermissionSaySo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write_file_atomically(path("a"), "x");
  fs::permissions(path("a"), fs::perms::none);
  EXPECT_EQ(reason_of([&] { (void)read_file(path("a")); }), "permission denied");
}

TEST_F(Files, LargerThanTheLimitAreRefused) {
  write_file_atomically(path("a"), std::string(1025, 'x'));
  EXPECT_EQ(read_file(path("a"), 1025).size(), 1025U);
  EXPECT_EQ(reason_of([&] { (void)read_file(path("a"), 1024); }), "it is larger than 1 KiB");
  EXPECT_EQ(reason_of([&] { (void)read_file("/dev/zero", 1024); }), "it is larger than 1 KiB");
}

TEST_F(Files, AreReplacedWholeAndKeepTheirPermissions) {
  write_file_atomically(path("a"), "old and long");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  write_file_atomically(path("a"), "new");
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, ThatAreNewHaveThePermissionsOfTheUsersMask) {
  const mode_t mask = ::umask(027);
  write_file_atomically(path("a"), "x");
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(Files, BehindALinkAreReplacedAndTheLinkStays) {
  write_file_atomically(path("target"), "old");
  fs::create_symlink("target", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(Files, WithTheLongestNameCanBeWritten) {
  const std::string name(255, 'n');
  write_file_atomically(path(name), "x");
  EXPECT_EQ(read_file(path(name)), "x");
}

TEST_F(Files, KeepTheirOldContentsWhenTheDiskIsFull) {
  // Given a file, and a disk that takes 64 KiB and not more
  write_file_atomically(path("a"), "old");
  std::string reason;
  {
    const FileSizeLimit limit(1 << 16);
    // When 1 MiB is written
    reason = reason_of([&] { write_file_atomically(path("a"), std::string(1 << 20, 'x')); });
  }
  // Then the error is reported, the file is as before, and nothing else is left
  EXPECT_EQ(reason, "File too large");
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, OnAFullDeviceFail) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  EXPECT_EQ(reason_of([] { write_file_atomically("/dev/full", "x"); }), "the disk is full");
}

TEST_F(Files, OnADeviceAreWrittenInPlace) {
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, ThatCannotBeWrittenAreRefusedBeforehandAndWhenWritten) {
  write_file_atomically(path("file"), "x");
  struct Case {
    std::string path;
    std::string reason;
  };
  const std::string absent = path("absent");
  const Case cases[] = {
      {"", "the name is empty"},
      {folder_.string(), "it is a folder"},
      {path("new/"), "it names a folder, not a file"},
      {absent + "/a", "its folder \"" + absent + "\" does not exist"},
      {path("file") + "/a", "\"" + path("file") + "\" is not a folder"},
      {std::string("a\0b", 3), "the name holds a zero byte"},
  };
  for (const Case& bad : cases) {
    EXPECT_EQ(reason_of([&] { check_writable(bad.path); }), bad.reason);
    EXPECT_EQ(reason_of([&] { write_file_atomically(bad.path, "x"); }), bad.reason);
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, InAFolderWithoutPermissionAreRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(reason_of([&] { check_writable(path("a")); }).find("may not be written"), std::string::npos);
}

TEST_F(Files, ThatCanBeWrittenPassTheCheckWhichCreatesNothing) {
  EXPECT_NO_THROW(check_writable(path("new")));
  EXPECT_NO_THROW(check_writable("relative_name"));
  EXPECT_EQ(entries(), 0U);
  EXPECT_FALSE(fs::exists("relative_name"));
}

}  // namespace
}  // namespace kernwave::platform::files_test
