#!/usr/bin/env bash
# WebKitGTK's browser has no headless mode: it gets a screen of its own.
exec xvfb-run -a WebKitWebDriver "$@"
