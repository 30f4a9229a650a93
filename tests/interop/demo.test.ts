import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { applyDelta, entriesOf } from '../../examples/demo/display/changes.js';
import { Printer } from '../../examples/demo/display/printing.js';
import { NOT_RECORDED, pythonSession, RECORDED } from '../js/files/python_session.js';

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
      'Notice of the house: Today all cups are handmade.',
      'adviser is told',
      'Guest: Ada',
      'Found in this turn: {"name":"Rooibos","price":5}',
      'host is told',
      'Rooibos, for 5: it lets you sleep.',
    ]);
  });

  it('shows what each event changes: set, changed and removed', () => {
    assertInOrder(run, [
      'adviser changes + session turns 1',
      'adviser calls remember_guest {"name":"Ada"}',
      'adviser changes + user name "Ada"',
      '+ temp found {"name":"Rooibos","price":5}',
      'adviser changes + temp advice',
      'host changes + session last_answer',
      'session evening · turn 2',
      'adviser changes ~ session turns 2',
      'adviser changes + session order ["Rooibos"]',
      '+ user favourite "Rooibos"',
      '+ app served 1',
      'session evening · turn 3',
      'adviser changes − session order ["Rooibos"]',
    ]);
  });

  it('shows the state by scope after each turn, and the keys that ended with it', () => {
    assertInOrder(run, [
      'session evening · turn 1',
      'state stored session topic "tea"',
      'user name "Ada"',
      'app motd "Today all cups are handmade."',
      'state gone temp found',
      'temp advice',
    ]);
  });

  it('shows that another session sees user: and app: values', () => {
    assertInOrder(run, [
      'session morning · turn 1',
      'Guest: Ada',
      'Likes: Rooibos',
      'Order:',
      'Notice of the house: Today all cups are handmade.',
      'Found in this turn:',
    ]);
  });

  it('shows the stored data at the end, without temp: keys', () => {
    assertInOrder(run, [
      'in the end',
      'evening events 18 stored',
      'evening stored session topic "tea"',
      'session turns 3',
      'morning events 4 stored',
      'user: stored user name "Ada"',
      'app: stored app motd',
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
      'python.json: session s-1 of ada with shop, 4 events from 2025-03-05T23:46:54Z on.',
      'state stored session seed_key {"nested_key":1}',
      'turn 1 · 2025-03-05T23:46:54Z',
      'user says hi',
      'user changes + session asked true',
      'shop_agent calls find_item {"item_id":"a_1"}',
      'shop_agent changes ~ session asked false',
      '+ user user_name "Ada"',
      '+ temp scratch_pad 1',
      'state stored session seed_key',
      'state gone temp scratch_pad 1',
      'turn 2',
      'shop_agent says bye',
      'shop_agent changes − session asked false',
      'in the end',
      'stored events 4 of 4',
      'stored state session seed_key {"nested_key":1}',
      'user user_name "Ada"',
      'recorded state the same',
      'temp: gone',
    ]);
  });

  it('replays a long session recorded by Python', { skip: NOT_RECORDED }, async () => {
    const run = await demo([RECORDED]);
    assert.equal(run.code, 0, run.stderr);
    assert.ok(narrow(run));
    assertInOrder(run, [
      'of test_user with',
      'customer_service_agent, 34 events from 2025-03-05T23:46:54Z on.',
      'state stored session customer_profile {"account_number":"428765091"',
      'turn 6 · 2025-03-05T23:49:13Z',
      'cymbal_retail_agent calls modify_cart {"items_to_remove":[],"customer_id":"123"',
      'turn 11',
      'stored events 34 of 34',
      'recorded state the same',
    ]);
  });

  const broken: [what: string, path: () => string, message: RegExp][] = [
    ['is missing', () => join(folder, 'gone.json'), /gone\.json does not exist$/],
    [
      'is no JSON',
      () => file('broken.json', '{"id": '),
      /broken\.json is not an ADK session: .* is not JSON: /,
    ],
    ['is no session', () => file('list.json', []), /list\.json is not an ADK session: /],
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

describe('The output of the demo', () => {
  it('splits a delta by scope, and does not count unchanged values', () => {
    const state = new Map<string, unknown>([
      ['a', 1],
      ['b', [1]],
      ['user:c', 1],
    ]);
    const delta = {
      'temp:t': 1,
      a: 2,
      b: [1],
      'user:c': undefined,
      'app:d': null,
      gone: undefined,
    };
    assert.deepEqual(applyDelta(delta, state), [
      { kind: 'changed', scope: 'session', name: 'a', value: 2 },
      { kind: 'removed', scope: 'user', name: 'c', value: 1 },
      { kind: 'set', scope: 'app', name: 'd', value: null },
      { kind: 'set', scope: 'temp', name: 't', value: 1 },
    ]);
    assert.deepEqual([...state.keys()], ['a', 'b', 'temp:t', 'app:d']);
  });

  it('has colours on a terminal only, fits its columns, and passes on no control characters', () => {
    for (const color of [true, false]) {
      let text = '';
      const write = (line: string) => void (text += line);
      const printer = new Printer({ write, columns: 80, color, actor: 10 });
      printer.heading('h'.repeat(200));
      printer.step(
        'a very long name',
        'says',
        `\u001b[2J${'한국어 '.repeat(40)}${'x'.repeat(300)}`,
      );
      printer.state('s', 'stored', entriesOf({ k: '😀'.repeat(90), ['n'.repeat(90)]: () => 1 }));
      assert.equal(text.includes('\u001b['), color);
      assert.ok(!text.includes('\u001b[2J'));
      // eslint-disable-next-line no-control-regex -- that is what colours are made of
      const plain = text.replaceAll(/\u001b\[\d+m/g, '');
      for (const line of plain.split('\n')) {
        const wide = line.match(/[한국어😀]/gu)?.length ?? 0;
        assert.ok([...line].length + wide <= 80, line);
      }
    }
  });
});
