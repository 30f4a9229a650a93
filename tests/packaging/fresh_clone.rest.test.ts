// `npm pack` in a clone where nothing is installed, and which has no tests: publishing needs none of their files.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { install, root, run } from './installed.js';

it(
  'npm pack of an example installs and builds what the package needs',
  { timeout: 600_000 },
  () => {
    const clone = mkdtempSync(join(tmpdir(), 'clone-'));
    try {
      const files = run(
        'git',
        ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        root,
      );
      for (const file of files.split('\0')) {
        if (file !== '' && !file.startsWith('tests/')) cpSync(join(root, file), join(clone, file));
      }
      const folder = join(clone, 'examples/plain_page');
      const answer = run('npm', ['pack', '../..', '--json'], folder, 500_000);
      const results = JSON.parse(answer) as
        { files: { path: string }[] }[] | Record<string, { files: { path: string }[] }>;
      const [packed] = Object.values(results);
      assert.deepEqual(packed?.files.map(({ path }) => path).sort(), install().files);
    } finally {
      rmSync(clone, { recursive: true, force: true });
    }
  },
);
