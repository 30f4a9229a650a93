#!/usr/bin/env bash
# WebKitGTK's browser has no headless mode, so it gets a virtual screen.
exec xvfb-run -a WebKitWebDriver "$@"
