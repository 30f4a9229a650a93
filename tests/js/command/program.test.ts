// The program itself: its streams, pipes as files, and its exit code.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'node:test';

import { LOADER } from '../loader.js';
import { pythonSession } from '../files/python_session.js';
import { newFolder } from './stores.js';

const folder = newFolder();
const program = fileURLToPath(import.meta.resolve('../../../js/command/index.js'));
const command = [process.execPath, ...LOADER, program].join(' ');

/** Runs a line of the shell in which `adk` is the command. */
function shell(line: string): { code: number | null; out: string; err: string } {
  const script = `adk() { ${command} "$@"; }; ${line}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

describe('The program', () => {
  it('copies the sessions of a pipe', () => {
    const lines = ['a', 'b'].map((id) => JSON.stringify({ ...pythonSession, id }));
    writeFileSync(join(folder, 'lines.jsonl'), lines.join('\n'));
    for (const from of ['/dev/stdin', '<(cat lines.jsonl)']) {
      const { code, out } = shell(`cat lines.jsonl | adk migrate ${from} sqlite:pipe.db`);
      assert.equal(code, 0);
      assert.match(out, /verified +2 +8/);
    }
  });

  it('copies one session of a pipe, in several lines', () => {
    writeFileSync(join(folder, 'one.json'), JSON.stringify(pythonSession, undefined, 2));
    const { out } = shell('cat one.json | adk migrate /dev/stdin sqlite:one.db');
    assert.match(out, /verified +1 +4/);
  });

  for (const args of ['schema sqlite', '--help', 'migrate lines.jsonl sqlite:closed.db']) {
    it(`ends without a stack if nobody reads its output: ${args}`, () => {
      const { code, err } = shell(`(sleep 0.1; adk ${args}) | true; exit \${PIPESTATUS[0]}`);
      assert.deepEqual([code, err], [1, '']);
    });
  }

  it('names the error if its output cannot be written', () => {
    const { code, err } = shell('adk schema sqlite > /dev/full');
    assert.equal(code, 1);
    assert.equal(err, 'adk-session-wasm: The output cannot be written: ENOSPC.\n');
  });

  it('takes - for no file', () => {
    writeFileSync(join(folder, 'one.json'), JSON.stringify(pythonSession));
    for (const [args, name] of [
      ['- sqlite:dash.db', 'FROM'],
      ['one.json -', 'TO'],
    ] as const) {
      const { code, err } = shell(`adk migrate ${args}`);
      assert.equal(code, 2);
      assert.match(err, new RegExp(`${name} must be a path`));
    }
  });
});
