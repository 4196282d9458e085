//! Files for build systems: pkg-config and CMake, below `lib`.

use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Linker flags of the system libraries that a host program must link if it links the static library.
const SYSTEM_LIBRARY_FLAGS: &str = "-ldl -lpthread -lm -lgcc_s -lc";

/// Returns the pkg-config file and the two CMake files of an installation below `prefix`, each as its path below `lib`
/// and its contents.
pub fn generate_package_config_files(prefix: &Path) -> [(String, String); 3] {
    [
        ("pkgconfig/tilewright.pc".to_owned(), pkg_config(prefix)),
        ("cmake/Tilewright/TilewrightConfig.cmake".to_owned(), generate_cmake_config()),
        ("cmake/Tilewright/TilewrightConfigVersion.cmake".to_owned(), cmake_version_file()),
    ]
}

fn pkg_config(prefix: &Path) -> String {
    format!(
        "prefix={}\n\
         includedir=${{prefix}}/include\n\
         libdir=${{prefix}}/lib\n\
         \n\
         Name: tilewright\n\
         Description: Tensor layouts, plans of data movement, and code for GPUs\n\
         Version: {VERSION}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -ltilewright\n\
         Libs.private: {SYSTEM_LIBRARY_FLAGS}\n",
        prefix.display()
    )
}

/// Returns the text of the CMake package file. The file derives paths from its own location, so that the prefix can be
/// moved.
fn generate_cmake_config() -> String {
    format!(
        "get_filename_component(_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         foreach(_kind SHARED STATIC)\n\
         \x20 string(TOLOWER ${{_kind}} _name)\n\
         \x20 if(NOT TARGET Tilewright::${{_name}})\n\
         \x20   add_library(Tilewright::${{_name}} ${{_kind}} IMPORTED)\n\
         \x20   set_target_properties(Tilewright::${{_name}} PROPERTIES\n\
         \x20     INTERFACE_INCLUDE_DIRECTORIES \"${{_prefix}}/include\")\n\
         \x20 endif()\n\
         endforeach()\n\
         set_target_properties(Tilewright::shared PROPERTIES\n\
         \x20 IMPORTED_LOCATION \"${{_prefix}}/lib/libtilewright.so\"\n\
         \x20 IMPORTED_SONAME \"libtilewright.so.1\")\n\
         set_target_properties(Tilewright::static PROPERTIES\n\
         \x20 IMPORTED_LOCATION \"${{_prefix}}/lib/libtilewright.a\"\n\
         \x20 INTERFACE_LINK_LIBRARIES \"{SYSTEM_LIBRARY_FLAGS}\")\n"
    )
}

/// Returns the text of the CMake version file. By it CMake accepts a requested version that has the same major and
/// minor number as the installed one and is not newer.
fn cmake_version_file() -> String {
    format!(
        "set(PACKAGE_VERSION {VERSION})\n\
         string(REGEX MATCH \"^[0-9]+\\\\.[0-9]+\" _own \"${{PACKAGE_VERSION}}\")\n\
         string(REGEX MATCH \"^[0-9]+\\\\.[0-9]+\" _requested \"${{PACKAGE_FIND_VERSION}}\")\n\
         if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR (_requested AND NOT _requested STREQUAL _own))\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         else()\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         endif()\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n\
         \x20 set(PACKAGE_VERSION_EXACT TRUE)\n\
         endif()\n"
    )
}
