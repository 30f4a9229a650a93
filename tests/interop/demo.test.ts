import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { pythonSession, RECORDED } from '../js/service/files/python_session.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = ['--import', 'tsx', join(root, 'examples/demo/main.ts')];

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
  lines: string[];
}

/** Runs the demo in a new process, as if npm was called from the folder, and without the key of a real model. */
async function demo(args: string[], calledFrom = root): Promise<Run> {
  const env: NodeJS.ProcessEnv = { ...process.env, INIT_CWD: calledFrom };
  for (const name of ['GEMINI_API_KEY', 'FORCE_COLOR']) delete env[name];
  const child = spawn(process.execPath, [...program, ...args], { cwd: root, env });
  const run: Run = { code: null, stdout: '', stderr: '', lines: [] };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (run.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (run.stderr += text));
  run.code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  // Columns are for the eye.
  run.lines = run.stdout.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));
  return run;
}

function assertInOrder({ lines }: Run, expected: readonly string[]): void {
  let from = 0;
  for (const line of expected) {
    const at = lines.findIndex((printed, index) => index >= from && printed.includes(line));
    assert.ok(at >= 0, `"${line}" is missing after line ${from} of\n${lines.join('\n')}`);
    from = at + 1;
  }
}

const narrow = (run: Run) => run.stdout.split('\n').every((line) => [...line].length <= 100);

describe('npm run demo', () => {
  let run: Run;
  before(async () => {
    run = await demo([]);
  });

  it('exits with 0, prints at most 100 columns, and no colours outside of a terminal', () => {
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stderr, '');
    assert.ok(narrow(run));
    assert.ok(!run.stdout.includes('\u001b'));
  });

  it("shows the model's instruction, with values of all scopes", () => {
    assertInOrder(run, [
      'session evening · turn 1',
      'user says Hello, I am Ada.',
      'adviser is told You advise the guests of a tea house on tea.',
      'Guest:',
      'Notice of the house: All cups are handmade.',
      'adviser is told',
      'Guest: Ada',
      'Found in this turn: {"name":"Rooibos","price":5}',
      'host is told',
      'Rooibos, for 5: it lets you sleep.',
    ]);
  });

  it('shows what each event sets and removes', () => {
    assertInOrder(run, [
      'adviser changes turns = 1',
      'adviser calls remember_guest {"name":"Ada"}',
      'adviser changes user:name = "Ada"',
      'adviser changes temp:found = {"name":"Rooibos","price":5}',
      'adviser changes temp:advice',
      'host changes last_answer',
      'session evening · turn 2',
      'adviser changes turns = 2',
      'adviser changes order = ["Rooibos"]',
      'adviser changes user:favourite = "Rooibos"',
      'adviser changes app:served = 1',
      'session evening · turn 3',
      'adviser changes order removed',
    ]);
  });

  it('shows the stored state after each turn', () => {
    assertInOrder(run, [
      'session evening · turn 1',
      'state stored topic = "tea"',
      'state stored user:name = "Ada"',
      'state stored app:motd = "All cups are handmade."',
    ]);
  });

  it('shows that another session sees user: and app: values', () => {
    assertInOrder(run, [
      'session morning · turn 1',
      'Guest: Ada',
      'Likes: Rooibos',
      'Order:',
      'Notice of the house: All cups are handmade.',
      'Found in this turn:',
    ]);
  });

  it('shows the stored data at the end, without temp: keys', () => {
    assertInOrder(run, [
      'in the end',
      'evening stored 18 events',
      'morning stored 4 events',
      'user: stored name = "Ada"',
      'app: stored motd',
      'temp: gone in no stored state, and in no stored event',
    ]);
  });
});

describe('npm run demo -- FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-demo-'));
  after(() => rmSync(folder, { recursive: true }));

  function file(name: string, content: unknown): string {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  it('replays a session recorded by Python', async () => {
    file('python.json', pythonSession);
    const run = await demo(['python.json'], folder);
    assert.equal(run.code, 0, run.stderr);
    assert.ok(narrow(run));
    assertInOrder(run, [
      'python.json',
      'session is s-1 of ada with shop',
      'state before seed_key = {"nested_key":1}',
      '2025-03-05T23:46:54Z',
      'user says hi',
      'user changes asked = true',
      'shop_agent calls find_item {"item_id":"a_1"}',
      'shop_agent changes asked = false',
      'shop_agent changes user:user_name = "Ada"',
      'shop_agent changes temp:scratch_pad = 1',
      'shop_agent says bye',
      'shop_agent changes asked removed',
      'in the end',
      'stored events 4 of 4',
      'stored state seed_key = {"nested_key":1}',
      'stored state user:user_name = "Ada"',
      'recorded state the same',
    ]);
  });

  it('replays a session recorded by Python', async () => {
    const run = await demo([RECORDED]);
    assert.equal(run.code, 0, run.stderr);
    assert.ok(narrow(run));
    assertInOrder(run, [
      'of test_user with',
      'state before customer_profile = {"account_number":"428765091"',
      '2025-03-05T23:46:55Z',
      'tea_seller calls fill_cart {"items_to_add":[{"product_id":"sencha","grams":100}]',
      'stored events 12 of 12',
      'recorded state the same',
    ]);
  });

  const broken: [what: string, path: () => string, message: RegExp][] = [
    ['is missing', () => join(folder, 'gone.json'), /gone\.json/],
    ['is no JSON', () => file('broken.json', '{"id": '), /is not JSON: /],
    ['is no session', () => file('list.json', []), /must be a session|must be an object|is not/],
    [
      'has no events',
      () => file('none.json', { id: 's' }),
      /events must be a list; it is missing\.$/,
    ],
    [
      'has an event of no time',
      () => file('before.json', { ...pythonSession, events: [{ id: 'e', timestamp: -1 }] }),
      /events\[0\]\.timestamp must be a time/,
    ],
  ];
  for (const [what, path, message] of broken) {
    it(`reports in one line that the file ${what}`, async () => {
      const run = await demo([path()]);
      assert.equal(run.code, 1);
      assert.equal(run.stdout, '');
      const lines = run.stderr.trimEnd().split('\n');
      assert.equal(lines.length, 1, run.stderr);
      assert.match(lines[0] ?? '', /^demo: /);
      assert.match(lines[0] ?? '', message);
    });
  }

  it('prints its usage', async () => {
    const run = await demo(['--help']);
    assert.equal(run.code, 0);
    assert.match(run.stdout, /^Usage: npm run demo/);
    assert.equal((await demo(['--colour'])).code, 1);
  });
});
