#!/usr/bin/env bash
# The three browsers and their WebDriver servers: Chromium, Firefox, WebKit.
# A missing browser fails only the steps that need it, so this script reports it and continues.
set -euo pipefail
. "$(dirname "$0")/cargo-tool.sh"

# The function names differ from the commands, because `command -v` would find the function.
find_chromium() { first_of chromium google-chrome google-chrome-stable chromium-browser '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; }
find_firefox() { first_of firefox-esr firefox /Applications/Firefox.app/Contents/MacOS/firefox; }
# WebKitGTK's test browser is next to the library, not in the PATH.
find_mini_browser() { first_of /usr/lib/*/webkit2gtk-*/MiniBrowser /usr/lib*/webkit2gtk-*/MiniBrowser /usr/libexec/webkit2gtk-*/MiniBrowser; }

set_up_chromium() {
  if ! find_chromium >/dev/null || ! have chromedriver; then
    debian_packages chromium chromium-driver || return 1
  fi
  provide CHROMIUM_BINARY "$(find_chromium)"
  provide CHROMEDRIVER "$(command -v chromedriver)"
}

set_up_firefox() {
  find_firefox >/dev/null || debian_packages firefox-esr || return 1
  have geckodriver || cargo_tool geckodriver 0.37.1 geckodriver || return 1
  provide FIREFOX_BINARY "$(find_firefox)"
  provide GECKODRIVER "$(command -v geckodriver)"
}

# wasm-bindgen-test-runner supports WebKit as Safari. On Linux, WebKitGTK is the same WebKit.
set_up_webkit() {
  if have safaridriver; then
    provide SAFARIDRIVER "$(command -v safaridriver)"
    return 0
  fi
  if ! have WebKitWebDriver || ! have xvfb-run || ! find_mini_browser >/dev/null; then
    debian_packages webkit2gtk-driver xvfb xauth || return 1
  fi
  provide SAFARIDRIVER "$root/tests/toolchain/setup/webkit-driver.sh"
  provide WEBKIT_BINARY "$(find_mini_browser)"
  # The sandbox needs user namespaces, which containers lack. The tests load only their own pages.
  provide WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS 1
}

for browser in chromium firefox webkit; do
  "set_up_$browser" || log "no $browser: its steps will fail"
done
