// A copied database of Python: Python continues in the copy.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';

import { command } from '../../js/command/stores.js';
import { type PythonSession, type PythonSessions, startPythonSessions } from '../python.js';
import { PYTHON_KEY, pythonEvent, firstText } from '../shared_session.js';
import { postgres, sqliteFiles } from './shared_databases.js';

async function copy(from: string, to: string): Promise<void> {
  const { code, err } = await command('copy', from, to);
  assert.equal(code, 0, err);
}

/** Python's own times are as fine as its numbers; in the tables they are microseconds. */
function inMicroseconds(session: PythonSession): unknown {
  const events = session.events.map((event) => {
    return { ...event, timestamp: event.timestamp.toFixed(6) };
  });
  return { ...session, events };
}

describe('Copied sessions of Python', { timeout: 120_000 }, () => {
  const newFile = sqliteFiles();
  const newServerDatabase = postgres();
  let python: PythonSessions;
  before(() => {
    python = startPythonSessions();
  });
  after(() => python.end());

  it('are continued by Python on another engine and back, and the source file is unchanged', async () => {
    const state = { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'KRW', none: null };
    const urls = [await newFile(), await newServerDatabase(), await newFile()];
    await python.open(urls[0]?.python ?? '');
    await python.ask('create', { ...PYTHON_KEY, state });
    const said = ['0'];
    await python.ask('append', pythonEvent('0', { topic: 'milk', 'user:n': 0 }));
    let before = await python.ask('get', PYTHON_KEY);

    for (const [at, { ours, python: url }] of urls.slice(1).entries()) {
      const from = urls[at]?.ours ?? '';
      const path = from.replace(/^sqlite:/, '');
      const hash = () => createHash('sha256').update(readFileSync(path)).digest('hex');
      const untouched = path === from ? undefined : hash();
      await copy(from, ours);
      if (untouched !== undefined) assert.equal(hash(), untouched);

      await python.open(url);
      const copied = await python.ask('get', PYTHON_KEY);
      assert.deepEqual(inMicroseconds(copied), inMicroseconds(before));
      const text = String(at + 1);
      const appended = await python.ask('append', pythonEvent(text, { 'user:n': at + 1 }));
      assert.equal(appended.error, undefined);
      said.push(text);
      before = await python.ask('get', PYTHON_KEY);
      assert.deepEqual(before.events.map(firstText), said);
      assert.equal(before.state['user:n'], at + 1);
    }
  });
});
