// A file that takes its time: what stands under the final name, and when; what is left when its process is killed.
#include "traces/files/pending_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "platform/files/whole_file.h"
#include "tests/support/child.h"
#include "tests/support/child_outcome.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"
#include "traces/files/open_file.h"
#include "traces/files/output.h"
#include "traces/files/temporary_file.h"

namespace kernwave::traces::pending_file_test {
namespace {

namespace fs = std::filesystem;

using platform::read_file;
using platform::write_file_atomically;
using Naming = TemporaryFile::Naming;

[[nodiscard]] std::string reason_of(const std::function<void()>& action) {
  return testing::error_of<WriteError>(action);
}

/// Both ways to wait for a name.
class PendingFiles : public kernwave::testing::TemporaryFolderTest, public ::testing::WithParamInterface<Naming> {
 protected:
  [[nodiscard]] PendingFile pending(const std::string& name) const {
    return PendingFile(path(name), PendingFile::Kind::any, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Of, PendingFiles, ::testing::Values(Naming::where_needed, Naming::always),
                         [](const auto& naming) {
                           return naming.param == Naming::always ? "HiddenNames" : "NamesWhereNeeded";
                         });

TEST_P(PendingFiles, StandUnderTheirNameOnlyOnceCommitted) {
  // Given a new file and one that replaces another
  write_file_atomically(path("older"), "older");
  PendingFile fresh = pending("fresh");
  PendingFile replacing = pending("older");
  // When they are written
  fresh.write("one");
  replacing.write("two");
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

TEST_P(PendingFiles, ReplaceAFileThatHasComeInTheMeantime) {
  PendingFile file = pending("a");
  file.write("later");
  write_file_atomically(path("a"), "sooner");
  file.commit();
  EXPECT_EQ(read_file(path("a")), "later");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(PendingFiles, ThatAreNotCommittedLeaveNothing) {
  write_file_atomically(path("older"), "older");
  pending("older").write("newer");
  EXPECT_EQ(read_file(path("older")), "older");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(PendingFiles, TakeThePermissionsOfWhatTheyReplace) {
  write_file_atomically(path("a"), "older");
  fs::permissions(path("a"), fs::perms::owner_read);
  PendingFile file = pending("a");
  // While it is written it is no less private.
  struct stat status {};
  ASSERT_EQ(::fstat(file.descriptor(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  file.write("newer");
  file.commit();
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read);
  EXPECT_EQ(read_file(path("a")), "newer");
}

TEST_P(PendingFiles, BehindALinkReplaceTheFileAndLeaveTheLink) {
  fs::create_directory(path("folder"));
  write_file_atomically(path("folder/target"), "older");
  fs::create_symlink("folder/target", path("link"));
  PendingFile file = pending("link");
  file.write("newer");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("folder/target")), "newer");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(PendingFiles, OnADeviceAreWrittenInPlace) {
  PendingFile file("/dev/null");
  file.write("x");
  file.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  // A writer that seeks cannot do with it.
  EXPECT_EQ(reason_of([] { const PendingFile seeking("/dev/null", PendingFile::Kind::regular); }),
            "it is not a regular file");
}

TEST_F(PendingFiles, OnAFifoAreWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(reason_of([this] { const PendingFile file(path("pipe")); }), "nobody reads it");
  const OpenFile reader(open_file(path("pipe"), O_RDONLY | O_NONBLOCK));
  PendingFile file(path("pipe"));
  file.write("text");
  file.commit();
  char text[8] = {};
  EXPECT_EQ(::read(reader.get(), text, sizeof(text)), 4);
  EXPECT_STREQ(text, "text");
  EXPECT_EQ(entries(), 1U);
}

// N17: what a shell has opened is written where it stands, by whatever name it is reached.
TEST_F(PendingFiles, OnAnOpenDescriptorGoOnWhereItStands) {
  write_file_atomically(path("log.txt"), "before\n");
  const OpenFile log(open_file(path("log.txt"), O_WRONLY | O_APPEND));
  const std::string number = std::to_string(log.get());
  fs::create_symlink("/dev/fd/" + number, path("link"));
  for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number, path("link")}) {
    PendingFile file(name);
    file.write(name + "\n");
    file.commit();
    EXPECT_EQ(reason_of([&name] { const PendingFile seeking(name, PendingFile::Kind::regular); }),
              "it is not a regular file");
  }
  EXPECT_EQ(read_file(path("log.txt")),
            "before\n/dev/fd/" + number + "\n/proc/self/fd/" + number + "\n" + path("link") + "\n");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(PendingFiles, OnADescriptorThatCannotBeWrittenAreRefused) {
  write_file_atomically(path("a"), "older");
  const OpenFile reading(open_file(path("a"), O_RDONLY));
  EXPECT_EQ(reason_of([&] { const PendingFile file("/dev/fd/" + std::to_string(reading.get())); }),
            "it is not open for writing");
  EXPECT_EQ(reason_of([] { const PendingFile file("/dev/fd/987654"); }), "it is not open");
}

TEST_F(PendingFiles, ThatCannotBeWrittenAreRefusedAtOnce) {
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(reason_of([&] { const PendingFile file(folder_.string()); }), "it is a folder");
  EXPECT_EQ(reason_of([&] { const PendingFile file(path("absent/a")); }),
            "its folder \"" + path("absent") + "\" does not exist");
  EXPECT_EQ(reason_of([&] { const PendingFile file(path(std::string(256, 'n'))); }),
            "the name is too long: 256 bytes, of which its folder takes 255");
  EXPECT_EQ(reason_of([&] { const PendingFile file(path(std::string(300, 'n') + "/a")); }), "the name is too long");
  EXPECT_EQ(reason_of([&] { const PendingFile file(path("loop")); }), "Too many levels of symbolic links");
  EXPECT_EQ(entries(), 1U);
}

// ---- processes that end before they are done

/// Does `end` in a process that has written to a file.
void end_while_pending(const std::string& path, Naming naming, const std::function<void()>& end) {
  const auto outcome = testing::run_child_process(
      [&] {
        const PendingFile file(path, PendingFile::Kind::any, naming);
        file.write("half");
        end();
        return std::string();
      },
      testing::usual_time_limit);
  EXPECT_NE(outcome.problem, "");
}

TEST_F(PendingFiles, OfAProcessThatEndsEarlyLeaveNothing) {
  for (const auto& end : {std::function<void()>([] { std::abort(); }), std::function<void()>([] { ::_exit(0); }),
                          std::function<void()>([] { (void)std::raise(SIGKILL); })}) {
    end_while_pending(path("new"), Naming::where_needed, end);
    EXPECT_EQ(entries(), 0U);
  }
}

TEST_F(PendingFiles, WithHiddenNamesOfAKilledProcessAreRemovedByTheNextOne) {
  // Given what a killed process has left
  end_while_pending(path("new"), Naming::always, [] { (void)std::raise(SIGKILL); });
  ASSERT_EQ(entries(), 1U);
  EXPECT_FALSE(fs::exists(path("new")));
  // When another one writes into the folder
  const PendingFile next(path("next"));
  // Then it is gone.
  EXPECT_EQ(entries(), 0U);
}

TEST_F(PendingFiles, WithHiddenNamesOfAProcessThatLivesStay) {
  // Given one of another process and one of this
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const PendingFile file(path("a"), PendingFile::Kind::any, Naming::always);
    (void)!::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  PendingFile mine(path("b"), PendingFile::Kind::any, Naming::always);
  ASSERT_EQ(entries(), 2U);
  // When dead ones are looked for, then both stay
  remove_dead_files(folder_.string());
  EXPECT_EQ(entries(), 2U);
  // until their processes have ended.
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  remove_dead_files(folder_.string());
  EXPECT_EQ(entries(), 1U);
  mine.write("whole");
  mine.commit();
  EXPECT_EQ(read_file(path("b")), "whole");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PendingFiles, OfOtherHostsAndOfUsersStayWhoeverLooks) {
  const pid_t nobody = 999'999'999;
  const std::string kept[] = {
      temporary_name("another-host", nobody, 0),      // of a host that shares the folder
      temporary_name(host_name() + "-2", nobody, 0),  // whose name begins like this one's
      temporary_name("", nobody, 0),
      ".kernwave-notes.tmp",
      temporary_name(host_name(), nobody, 0) + ".txt",
      "log.tmp",
  };
  for (const std::string& name : kept) write_file_atomically(path(name), "x");
  fs::create_directory(path(temporary_name(host_name(), nobody, 1)));
  ASSERT_EQ(::mkfifo(path(temporary_name(host_name(), nobody, 2)).c_str(), 0600), 0);
  fs::create_symlink("log.tmp", path(temporary_name(host_name(), nobody, 3)));
  write_file_atomically(path(temporary_name(host_name(), nobody, 4)), "dead");
  remove_dead_files(folder_.string());
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(path(name))) << name;
  EXPECT_EQ(entries(), 6U + 3U) << "a folder, a FIFO and a link; the dead file is gone";
}

TEST_F(PendingFiles, WithHiddenNamesNameHostAndProcess) {
  const PendingFile file(path("a"), PendingFile::Kind::any, Naming::always);
  EXPECT_TRUE(fs::exists(path(".kernwave-" + host_name() + "-" + std::to_string(::getpid()) + "-0.tmp")));
  EXPECT_EQ(file.path(), path("a"));
}

TEST_F(PendingFiles, WhoseHiddenNameWasTakenAwayFailAndLeaveTheOldFile) {
  write_file_atomically(path("a"), "older");
  PendingFile file(path("a"), PendingFile::Kind::any, Naming::always);
  fs::remove(path(temporary_name(host_name(), ::getpid(), 0)));
  EXPECT_EQ(reason_of([&] { file.commit(); }), "it does not exist");
  EXPECT_EQ(read_file(path("a")), "older");
}

}  // namespace
}  // namespace kernwave::traces::pending_file_test
