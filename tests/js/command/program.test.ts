// The program itself: its streams, pipes as files, and its exit code.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'node:test';

import { LOADER } from '../loader.js';
import { pythonSession } from '../service/files/python_session.js';
import { newFolder } from '../../new_folder.js';

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
    for (const from of ['-', '/dev/stdin', '<(cat lines.jsonl)']) {
      const { code, out } = shell(`cat lines.jsonl | adk copy ${from} sqlite:pipe.db`);
      assert.equal(code, 0);
      assert.match(out, /TO +2 +8/);
    }
  });

  it('copies one session of a pipe, in several lines', () => {
    writeFileSync(join(folder, 'one.json'), JSON.stringify(pythonSession, undefined, 2));
    const { out } = shell('cat one.json | adk copy - sqlite:one.db');
    assert.match(out, /TO +1 +4/);
  });

  it('writes only JSON Lines to standard output', () => {
    writeFileSync(join(folder, 'one.json'), JSON.stringify(pythonSession));
    const { code, out, err } = shell('adk copy one.json -');
    assert.equal(code, 0);
    const [header, session] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    assert.deepEqual(Object(header), { format: 'adk-sessions', version: 1 });
    assert.equal((session as { id: string }).id, 's-1');
    assert.match(err, /TO +1 +4/);
  });

  for (const args of [
    'schema sqlite',
    '--help',
    'copy one.json sqlite:closed.db',
    'copy one.json -',
  ]) {
    it(`ends without a stack if nobody reads its output: ${args}`, () => {
      writeFileSync(join(folder, 'one.json'), JSON.stringify(pythonSession));
      const { code, err } = shell(`(sleep 0.1; adk ${args}) | true; exit \${PIPESTATUS[0]}`);
      assert.deepEqual([code, err], [1, '']);
    });
  }

  for (const args of ['schema sqlite', 'copy one.json -']) {
    it(`names the error if its output cannot be written: ${args}`, () => {
      writeFileSync(join(folder, 'one.json'), JSON.stringify(pythonSession));
      const { code, err } = shell(`adk ${args} > /dev/full`);
      assert.equal(code, 1);
      assert.match(err, /^adk-session-wasm: ENOSPC[^\n]*\n$/);
    });
  }
});
