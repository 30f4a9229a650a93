// The command of the package as users run it: by npx, in a project that has the package and a driver.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { install, linkDatabase, run, write } from '../installed.js';

const SESSION = {
  id: 's1',
  appName: 'shop',
  userId: 'ada',
  state: { topic: 'tea' },
  events: [{ id: 'e1', invocationId: 'i1', author: 'user', timestamp: 1_700_000_000_000 }],
  lastUpdateTime: 1_700_000_000_000,
};

describe('the command', () => {
  let folder = '';

  before(() => {
    linkDatabase();
    // Like `npm install` for the commands of packages.
    run('npm', ['rebuild', '--ignore-scripts', '--no-audit'], install().project);
    folder = write('command', { 's1.session.json': JSON.stringify(SESSION, undefined, 2) });
  });

  const npx = (...args: string[]) =>
    run('npx', ['--no-install', 'adk-session-wasm', ...args], folder);

  it('prints its usage', () => {
    assert.match(npx('--help'), /^Usage: adk-session-wasm copy FROM TO/);
  });

  it('copies a session file to a database, and the database to a file', () => {
    assert.match(npx('copy', 's1.session.json', 'sqlite:s1.db'), /TO +1 +1\n/);
    assert.match(npx('copy', 'sqlite:s1.db', 's1.jsonl'), /TO +1 +1\n/);
    const lines = readFileSync(join(folder, 's1.jsonl'), 'utf8').trimEnd().split('\n');
    const session = JSON.parse(lines.at(-1)!) as typeof SESSION;
    assert.deepEqual(
      [session.id, session.state, session.events.length],
      ['s1', { topic: 'tea' }, 1],
    );
  });
});
