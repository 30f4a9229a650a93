// What a channel between processes may do to runs: texts that come cut, again or late, texts of another version and of other
// apps, many feeds, and clocks that differ.

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';

import { APP, KEY } from '../fixture.js';
import { asked, EVENTS } from './fixture.js';
import { mockProcesses, pass, Process, processes } from './processes.js';

mockProcesses();

describe('Texts of a channel', () => {
  it('that come cut and again change no run', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    for (const text of ['Green', ' tea', ' leaves']) {
      a.agent.say(text);
      await pass(400);
      for (const told of [...hub.texts]) {
        const half = Math.floor(told.length / 2);
        for (const given of [told, told.slice(0, half), told.slice(half)]) {
          hub.deliver(hub.names[0], given);
        }
      }
      await pass(100);
    }
    assert.deepEqual([feed.report()?.status, feed.drafts()], ['running', ['Green tea leaves']]);
    a.agent.say(undefined);
    await pass(400);
    assert.equal(feed.report(), undefined);
  });

  it('that come late to a process let it take no other for gone, and end there', async () => {
    const { a, b, channels } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    const hear = channels[1]!.onmessage;
    const late: { readonly data: unknown }[] = [];
    channels[1]!.onmessage = (message) => late.push(message);
    for (let number = 0; number < 40; number += 1) {
      a.agent.say(`${number} `);
      await pass(500);
    }
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 409);
    a.agent.say(undefined);
    await pass(400);
    channels[1]!.onmessage = hear;
    for (const message of late) hear?.(message);
    await pass(400);
    assert.equal(feed.report(), undefined);
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 200);
    b.agent.say(undefined);
    await pass(400);
  });

  it('of an older version are taken beside those of this one, and unknown types are left out', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    const older = { ...KEY, messageId: 'm1', invocationId: 'i-m1', wholes: [] };
    const event = {
      id: 'd1',
      author: 'guide',
      content: { role: 'model', parts: [{ text: 'Green' }] },
    };
    let number = 0;
    const tell = async (...messages: readonly object[]): Promise<void> => {
      const from = 'older';
      const processRuns = messages.map((message) => ({ ...message, from }));
      const text = JSON.stringify([from, (number += 1), { format: 1, processRuns }]);
      hub.deliver(hub.names[0], text);
      await pass(400);
    };
    const run = { ...older, status: 'running', drafts: [{ event }] };
    await tell({ type: 'later' }, { type: 'run', step: 1, run });
    assert.deepEqual([feed.report()?.status, feed.drafts()], ['running', ['Green']]);
    const changes = [{ index: 0, text: ' tea' }];
    await tell({ type: 'run', step: 2, run: { ...older, status: 'running', changes } });
    assert.deepEqual(feed.drafts(), ['Green tea']);
    await tell({ type: 'run', step: 3, run: { ...older, status: 'ended', drafts: [] } });
    assert.equal(feed.report(), undefined);
    assert.equal((await a.ask(EVENTS, asked('m2'))).status, 200);
    a.agent.say(undefined);
    await pass(400);
  });

  it('of one app come to no feed of another', async () => {
    const { a, b } = await processes(2);
    const own = await b.feed();
    const other = await b.feed({ appName: `${APP}2`, userId: KEY.userId });
    const ofUser = await b.feed({ appName: APP, userId: 'bob' });
    const before = [other, ofUser].map(({ data }) => data.length);
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    assert.equal(own.report()?.status, 'running');
    assert.deepEqual(
      [other, ofUser].map(({ data }) => data.length),
      before,
    );
    a.agent.say(undefined);
    await pass(400);
  });
});

describe('1,000 feeds of a process', () => {
  it('get the run of their own user each, by a few texts', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    const others = Array.from({ length: 999 }, (_, number) => `u${number}`);
    const data = await Promise.all(
      others.map(async (userId) => (await b.feed({ appName: APP, userId }, 0)).data),
    );
    await pass(500);
    const before = data.map(({ length }) => length);
    hub.texts.splice(0);
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(1000);
    assert.deepEqual(feed.drafts(), ['Green']);
    assert.deepEqual(
      data.map(({ length }) => length),
      before,
    );
    assert.ok(hub.texts.length < 20, `${hub.texts.length} texts`);
    a.agent.say(undefined);
    await pass(400);
    assert.equal(feed.report(), undefined);
  });
});

describe('Clocks of processes that differ by a minute', () => {
  for (const aheadMs of [60_000, -60_000]) {
    it(`(${aheadMs} ms) let no second run begin: the channel tells the run`, async () => {
      const { a, b, events } = await processes(2);
      // By its clock the run may be older than a run can be.
      const other = new Process(b.service, { maxRunMs: 20_000 });
      const feed = await b.feed();
      await a.ask(EVENTS, asked('m1'));
      await pass(300);
      const began = Date.now();
      mock.method(Date, 'now', () => began + aheadMs);
      assert.equal((await other.ask(EVENTS, asked('m2'))).status, 409);
      assert.equal(feed.report()?.status, 'running');
      a.agent.say('Green');
      a.agent.say(undefined);
      await pass(400);
      assert.deepEqual(
        (await events()).map(({ author }) => author),
        ['user', 'guide'],
      );
      assert.equal((await other.ask(EVENTS, asked('m2'))).status, 200);
      other.agent.say(undefined);
      await pass(400);
    });
  }
});
