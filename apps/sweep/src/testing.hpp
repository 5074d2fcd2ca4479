// A folder for a test, gone with it.
#pragma once

#include "ww/core/temporary_folder.hpp"

namespace ww::sweep {

class TestFolder : public ScratchFolder {
 public:
  TestFolder() : ScratchFolder(create("sweep").value()) {}
};

}  // namespace ww::sweep
