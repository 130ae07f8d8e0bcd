// A file that a writer writes by its path: what stands under the final name, and when.
#include "platform/pending_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "platform/files.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::pending_file_test {
namespace {

namespace fs = std::filesystem;

class PendingFiles : public kernwave::testing::TemporaryFolderTest {
 protected:
  /// What a writer does: opens the path, writes, closes.
  static void fill(const PendingFile& file, const std::string& text) {
    std::ofstream(file.temporary_path(), std::ios::binary) << text;
  }
};

[[nodiscard]] std::string reason_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.reason();
  }
  return "no error";
}

TEST_F(PendingFiles, StandUnderTheirNameOnlyOnceCommitted) {
  // Given a new file and one that replaces another
  write_file_atomically(path("older"), "older");
  PendingFile fresh(path("fresh"));
  PendingFile replacing(path("older"));
  // When they are written
  fill(fresh, "one");
  fill(replacing, "two");
  // Then nothing is seen of it
  EXPECT_FALSE(fs::exists(path("fresh")));
  EXPECT_EQ(read_file(path("older")), "older");
  // until they are committed.
  fresh.commit();
  EXPECT_EQ(read_file(path("fresh")), "one");
  EXPECT_EQ(read_file(path("older")), "older");
  replacing.commit();
  EXPECT_EQ(read_file(path("older")), "two");
  EXPECT_EQ(entries(), 2U) << "a temporary file is left";
}

TEST_F(PendingFiles, ThatAreNotCommittedLeaveNothing) {
  write_file_atomically(path("older"), "older");
  {
    const PendingFile pending(path("older"));
    fill(pending, "newer");
    EXPECT_EQ(entries(), 2U);
  }
  EXPECT_EQ(read_file(path("older")), "older");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(PendingFiles, WaitHiddenInTheSameFolderUnderNamesOfTheirOwn) {
  const PendingFile a(path("a.vcd"));
  const PendingFile b(path("a.vcd"));
  for (const PendingFile* file : {&a, &b}) {
    const fs::path temporary(file->temporary_path());
    EXPECT_EQ(temporary.parent_path(), folder_);
    EXPECT_EQ(temporary.filename().string().substr(0, 10), ".kernwave-");
    EXPECT_EQ(temporary.extension(), ".tmp");
    EXPECT_TRUE(fs::exists(temporary));
    EXPECT_EQ(file->path(), path("a.vcd"));
  }
  EXPECT_NE(a.temporary_path(), b.temporary_path());
}

TEST_F(PendingFiles, TakeThePermissionsOfWhatTheyReplace) {
  write_file_atomically(path("a"), "older");
  fs::permissions(path("a"), fs::perms::owner_read);
  PendingFile pending(path("a"));
  // While it is written it is no less private, and the writer may write.
  EXPECT_EQ(fs::status(pending.temporary_path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fill(pending, "newer");
  pending.commit();
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read);
  EXPECT_EQ(read_file(path("a")), "newer");
}

TEST_F(PendingFiles, BehindALinkReplaceTheFileAndLeaveTheLink) {
  fs::create_directory(path("folder"));
  write_file_atomically(path("folder/target"), "older");
  fs::create_symlink("folder/target", path("link"));
  PendingFile pending(path("link"));
  EXPECT_EQ(fs::path(pending.temporary_path()).parent_path(), folder_ / "folder");
  fill(pending, "newer");
  pending.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("folder/target")), "newer");
}

TEST_F(PendingFiles, OnADeviceOrPipeAreWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& name : {std::string("/dev/null"), path("pipe")}) {
    PendingFile pending(name);
    EXPECT_EQ(pending.temporary_path(), name);
    pending.commit();
    EXPECT_FALSE(fs::is_regular_file(name));
    // A writer that seeks cannot do with it.
    EXPECT_EQ(reason_of([&] { const PendingFile file(name, PendingFile::Kind::regular); }), "it is not a regular file");
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(PendingFiles, ThatCannotBeWrittenAreRefusedAtOnce) {
  EXPECT_EQ(reason_of([&] { const PendingFile file(folder_.string()); }), "it is a folder");
  EXPECT_EQ(reason_of([&] { const PendingFile file(path("absent/a")); }),
            "its folder \"" + path("absent") + "\" does not exist");
  EXPECT_EQ(entries(), 0U);
}

TEST_F(PendingFiles, WhoseWriterTookThemAwayFailAndLeaveTheOldFile) {
  write_file_atomically(path("a"), "older");
  PendingFile pending(path("a"));
  fs::remove(pending.temporary_path());
  EXPECT_EQ(reason_of([&] { pending.commit(); }), "it does not exist");
  EXPECT_EQ(read_file(path("a")), "older");
}

}  // namespace
}  // namespace kernwave::platform::pending_file_test
