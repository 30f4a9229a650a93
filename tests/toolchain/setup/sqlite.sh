#!/usr/bin/env bash
# Builds the driver for SQLite if it is missing: `npm ci --ignore-scripts`, as in `npm run demo`, leaves it out.
node -e "new (require('better-sqlite3'))(':memory:')" 2>/dev/null || npm rebuild better-sqlite3
