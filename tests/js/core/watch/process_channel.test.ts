// The channel between processes. Two services over two objects of one storage stand for two processes.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';

import {
  type Diagnostic,
  openSessionService,
  type OpenChannel,
  type OpenSessionServiceOptions,
  type SessionService,
} from '../../../../js/index.js';
import { failsWith } from '../../fails_with.js';
import { passTimeUntil } from '../../mocked_time.js';
import { KEY, says, USER } from '../../service/fixture.js';
import { wholeStorage } from '../../service/whole_storage.js';
import { Hub } from './hub.js';
import { kinds, listen } from './notices.js';

const SECRET = '0123456789abcdef0123456789abcdef';
const services: SessionService[] = [];

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));

afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  mock.timers.reset();
});

/** Opens services of as many processes over one storage, and returns them with the diagnostics of the channel. */
async function processes(open: OpenChannel, count = 2) {
  const storage = wholeStorage();
  const told: Diagnostic[] = [];
  const onDiagnostic = (diagnostic: Diagnostic): void => {
    if (diagnostic.kind === 'channel') told.push(diagnostic);
  };
  const opened: SessionService[] = [];
  for (let number = 0; number < count; number += 1) {
    const channel = { open, secret: SECRET };
    opened.push(await openSessionService({ storage: { ...storage }, channel, onDiagnostic }));
  }
  services.push(...opened);
  const [one, other, third] = opened;
  return { one: one!, other: other!, third: third!, told };
}

/** Lets the channels open, and what was posted arrive. */
async function arrived(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise(setImmediate);
    mock.timers.tick(50);
  }
  await new Promise(setImmediate);
}

describe('The channel between processes', () => {
  it('tells changes of all kinds to the watchers of another process', async () => {
    const { one, other } = await processes(new Hub().open);
    const notices = listen(other);
    await arrived();
    const session = await one.createSession(KEY);
    await arrived();
    await one.appendEvent({ session, event: says('1') });
    await arrived();
    await one.updateSession(KEY, { title: 'Tea' });
    await one.updateState({ ...USER, stateDelta: { 'user:a': 1 } });
    await arrived();
    await one.deleteSession(KEY);
    await arrived();
    await one.deleteUser(USER);
    await arrived();
    const { userId, sessionId } = KEY;
    assert.deepEqual(kinds(notices), [
      `created ${userId} ${sessionId}`,
      `appended ${userId} ${sessionId}`,
      `updated ${userId} ${sessionId}`,
      `stateChanged ${userId} user`,
      `deleted ${userId} ${sessionId}`,
      `deleted ${userId} all`,
    ]);
  });

  it('has the name of its secret, and is opened by the first watch or write', async () => {
    const hub = new Hub();
    const { one, other } = await processes(hub.open);
    await arrived();
    assert.deepEqual(hub.names, []);
    listen(one);
    await other.createSession(KEY);
    await arrived();
    const name = `adk_session_wasm_${SECRET}`;
    assert.deepEqual(hub.names, [name, name]);
  });

  it('drops the texts of its own process', async () => {
    const { one, told } = await processes(new Hub({ echoes: true, tellsMissed: true }).open);
    const notices = listen(one);
    await one.createSession(KEY);
    await arrived();
    assert.deepEqual([kinds(notices).length, told], [1, []]);
  });

  it('takes a BroadcastChannel', async () => {
    const { one, other } = await processes((name) => new BroadcastChannel(name));
    const notices = listen(other);
    await arrived();
    notices.splice(0);
    await one.createSession(KEY);
    while (notices.length === 0) await arrived();
    assert.equal(kinds(notices)[0], `created ${KEY.userId} ${KEY.sessionId}`);
  });

  it('tells watchers to read again if a text was lost', async () => {
    const hub = new Hub();
    const { one, other, told } = await processes(hub.open);
    const notices = listen(other);
    const session = await one.createSession(KEY);
    await arrived();
    notices.splice(0);
    hub.isCut = true;
    await one.updateSession(KEY, { title: 'Tea' });
    await arrived();
    assert.deepEqual(kinds(notices), []);
    hub.isCut = false;
    await one.appendEvent({ session, event: says('1') });
    await arrived();
    // It replaces what was not read yet.
    assert.deepEqual([kinds(notices), told], [['resync'], []]);
  });

  it('tells watchers to read again if its channel may have lost texts', async () => {
    const hub = new Hub();
    const { one } = await processes(hub.open);
    const notices = listen(one);
    await arrived();
    assert.deepEqual(kinds(notices), []);
    hub.channels[0]!.onmissed!();
    await arrived();
    assert.deepEqual(kinds(notices), ['resync']);
  });

  it('tells early watchers to read again once it is open, if it cannot tell when it hears', async () => {
    const { one } = await processes(new Hub({}).open);
    const notices = listen(one);
    await arrived();
    assert.deepEqual(kinds(notices), ['resync']);
  });

  it('drops repeated texts, and those of another form', async () => {
    const hub = new Hub();
    const { one, other, told } = await processes(hub.open);
    const notices = listen(other);
    await one.createSession(KEY);
    await arrived();
    const [text = ''] = hub.texts;
    const [name] = hub.names;
    const [, , data] = JSON.parse(text) as [string, number, object];
    notices.splice(0);
    const refused = [
      text,
      text.slice(0, -1),
      undefined,
      7,
      { data },
      '',
      'text',
      '{}',
      '[]',
      JSON.stringify([1, 1, data]),
      JSON.stringify(['forger', 0, data]),
      JSON.stringify(['forger', 1.5, data]),
      JSON.stringify(['forger', '1', data]),
      JSON.stringify(['forger', 1, null]),
      JSON.stringify(['forger', 1, data, 4]),
    ];
    for (const given of refused) hub.deliver(name, given);
    await arrived();
    assert.deepEqual(kinds(notices), []);
    // Each process reports it.
    assert.deepEqual(
      told.map((diagnostic) => 'code' in diagnostic && diagnostic.code),
      ['corrupt_record', 'corrupt_record'],
    );
  });

  it('reports how many texts it has dropped, at most once a minute', async () => {
    const now = mock.method(performance, 'now', () => 0);
    const hub = new Hub();
    const { one, told } = await processes(hub.open);
    listen(one);
    await arrived();
    const countAt = (ms: number): string | undefined => {
      now.mock.mockImplementation(() => ms);
      hub.deliver(hub.names[0], 'forged');
      const last = told.at(-1);
      return last?.kind === 'channel' ? / \d+ /.exec(last.message ?? '')?.[0] : undefined;
    };
    assert.deepEqual([countAt(0), countAt(1), countAt(59_999)], [' 1 ', ' 1 ', ' 1 ']);
    assert.deepEqual([countAt(60_000), told.length], [' 3 ', 2]);
    now.mock.restore();
  });

  it('drops what it does not know of a text, and keeps the rest', async () => {
    const hub = new Hub();
    const { other, told } = await processes(hub.open);
    const notices = listen(other);
    await arrived();
    const appended = { type: 'appended', ...KEY, revision: 3, scopes: [] };
    const later = { format: 1, of_a_later_version: [1], notices: [{ type: 'renamed' }, appended] };
    hub.deliver(hub.names[0], JSON.stringify(['later', 1, later]));
    hub.deliver(hub.names[0], JSON.stringify(['later', 2, { format: 2, notices: [appended] }]));
    await arrived();
    assert.deepEqual(notices, [appended]);
    assert.deepEqual(told, []);
  });

  it('that cannot be opened is tried again with growing pauses, and reported once', async () => {
    const hub = new Hub();
    const times: number[] = [];
    let passedMs = 0;
    const open: OpenChannel = (name) => {
      times.push(passedMs);
      if (times.length <= 4) throw new Error('no connection');
      return hub.open(name);
    };
    const { one, told } = await processes(open, 1);
    const notices = listen(one);
    for (; times.length < 5 && passedMs < 60_000; passedMs += 100) {
      await new Promise(setImmediate);
      mock.timers.tick(100);
    }
    const pauses = times.map((time, index) => time - (times[index - 1] ?? 0)).slice(1);
    assert.ok(pauses[0]! <= 1100 && pauses[3]! >= 4000, String(pauses));
    assert.deepEqual(
      told.map((diagnostic) => diagnostic.kind === 'channel' && diagnostic.message),
      ['The channel failed: no connection'],
    );
    assert.deepEqual(notices, []);
  });

  it('reports what sending fails with, and no call fails', async () => {
    const hub = new Hub();
    let sends = 0;
    const open: OpenChannel = (name) => {
      const channel = hub.open(name);
      channel.postMessage = () => {
        sends += 1;
        if (sends === 1) throw new Error('at once');
        return Promise.reject(new Error('later'));
      };
      return channel;
    };
    const { one, told } = await processes(open, 1);
    const session = await one.createSession(KEY);
    await arrived();
    await one.appendEvent({ session, event: says('1') });
    await arrived();
    assert.deepEqual(
      told.map((diagnostic) => diagnostic.kind === 'channel' && diagnostic.message),
      ['The channel failed: at once', 'The channel failed: later'],
    );
  });

  it('sends what was stored before the service closes', async () => {
    const hub = new Hub();
    const { one, other } = await processes(hub.open);
    const notices = listen(other);
    await arrived();
    const creating = one.createSession(KEY);
    await passTimeUntil(one.close());
    await creating;
    await arrived();
    assert.deepEqual(kinds(notices), [`created ${KEY.userId} ${KEY.sessionId}`]);
    assert.equal(hub.channels.length, 1);
  });

  it('reports what closing it fails with, and the service closes', async () => {
    for (const fail of [
      () => Promise.reject(new Error('later')),
      () => {
        throw new Error('at once');
      },
    ]) {
      const hub = new Hub();
      const open: OpenChannel = (name) => Object.assign(hub.open(name), { close: fail });
      const { one, told } = await processes(open, 1);
      await one.createSession(KEY);
      await passTimeUntil(one.close());
      await arrived();
      assert.deepEqual(
        told.map(({ kind }) => kind),
        ['channel'],
      );
    }
  });

  it('needs a function and a secret of 128 bits', async () => {
    const { open } = new Hub();
    const storage = wholeStorage();
    const invalid: unknown[] = [
      7,
      open,
      { open },
      { secret: SECRET },
      { open, secret: 'tea' },
      { open, secret: SECRET.slice(1) },
      { open, secret: SECRET.toUpperCase() },
    ];
    for (const channel of invalid) {
      const opening = openSessionService({ storage, channel } as OpenSessionServiceOptions);
      await assert.rejects(opening, failsWith('invalid_argument', /channel/));
    }
    const opening = openSessionService({ storage, channel: { open, secret: 's3cret' } });
    await assert.rejects(opening, failsWith('invalid_argument'));
  });
});
